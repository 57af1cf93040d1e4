"""Generate and compile a robot's model as a build step of a Python package.

The wheel (``pip wheel .``) holds the compiled model and its C files. Where it is installed, no compiler, no SymPy and
no robot file are needed, only ``elastogen.runtime``.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py

import elastogen

HERE = Path(__file__).resolve().parent


class BuildModel(build_py):
    """Put the compiled model beside the package's Python files."""

    def run(self) -> None:
        """Copy the Python files, then build the model for any processor of this architecture."""
        super().run()
        model = elastogen.build_model(HERE.parent / "arm.yaml", native=False)
        if model.extension is None:
            sys.exit("the model has no file")
        for path in (model.extension, *model.c_files):
            shutil.copy(path, Path(self.build_lib) / "arm_model")


class BinaryDistribution(Distribution):
    """A distribution whose wheel belongs to one platform."""

    def has_ext_modules(self) -> bool:
        """Say that there is compiled code."""
        return True


setup(cmdclass={"build_py": BuildModel}, distclass=BinaryDistribution)  # the rest is in pyproject.toml
