"""Builds the wheel of elastogen-runtime: the front door and the room ``runtime`` of the tree two folders above.

Both distributions have a package ``elastogen``; so that neither overwrites the other's files, this one keeps its package in a
folder of its own, ``elastogen_runtime``, which is looked at where elastogen itself is not installed.
"""

import re
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
HOME = "elastogen_runtime"  # the folder
FRONT_DOOR = f"{HOME}.elastogen"


def packages() -> dict[str, str]:
    """Every folder of the runtime with its place in the tree, relative to this file."""
    folders = sorted(file.parent.relative_to(ROOT) for file in (ROOT / "runtime").rglob("__init__.py"))
    return {f"{FRONT_DOOR}.{'.'.join(folder.parts)}": f"../../{folder.as_posix()}" for folder in folders}


class BuildRuntime(build_py):
    """Takes nothing but ``__init__`` from the front door, and adds the .pth file."""

    def find_package_modules(self, package: str, package_dir: str) -> list[tuple[str, str, str]]:
        """The modules of a package: of the front door only its ``__init__``."""
        found = super().find_package_modules(package, package_dir)
        return [module for module in found if package != FRONT_DOOR or module[1] == "__init__"]

    def run(self) -> None:
        """Build, then write the file that Python reads when it starts."""
        super().run()
        (Path(self.build_lib) / f"{HOME}.pth").write_text(f"import {HOME}\n", encoding="ascii")


version = re.search(r'^__version__ = "(.+)"$', (ROOT / "elastogen" / "__init__.py").read_text(encoding="utf-8"), re.M)
assert version is not None
setup(
    version=version.group(1),
    packages=[HOME, FRONT_DOOR, *packages()],
    package_dir={HOME: HOME, FRONT_DOOR: "../../elastogen", **packages()},
    package_data={
        FRONT_DOOR: ["py.typed"],
        f"{FRONT_DOOR}.runtime.functions": ["catalogue_methods.json", "catalogue_methods.pyi"],
    },
    cmdclass={"build_py": BuildRuntime},
)
