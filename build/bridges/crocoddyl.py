"""The extension module with which Crocoddyl, a C++ library, calls the functions of models."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

import numpy as np

from elastogen.build.files.write import write_all
from elastogen.build.module.cache import safe_cache
from elastogen.build.module.compilers import run_compiler
from elastogen.build.options import BuildOptions
from elastogen.build.stamps import python_identity, sha256
from elastogen.generator.robot.errors import BuildError

NAME = "elastogen_crocoddyl"
SOURCE = Path(__file__).with_name("crocoddyl_action.cpp")
COMPILERS = ("c++", "g++", "clang++")  # none that brings a C++ library of its own: objects are shared with Crocoddyl
VERSIONS = ("crocoddyl/config.hpp", "eigenpy/config.hpp", "boost/version.hpp")  # headers that say which ones are installed
EIGEN = "Eigen/src/Core/util/Macros.h"


def crocoddyl_module(options: BuildOptions, prefix: Path) -> Path:
    """Return the extension module for the Crocoddyl in ``prefix``; it is compiled once and cached."""
    command, version = _compiler()
    eigen = _eigen(prefix)
    read = [(prefix / "include" / name) for name in VERSIONS] + [eigen / EIGEN]
    try:
        texts = [path.read_text(encoding="utf-8") for path in read]
    except OSError as problem:
        raise BuildError(
            f"Crocoddyl: headers cannot be read ({problem}). Fix: pip install -U 'elastogen[crocoddyl]'."
        ) from None
    source = SOURCE.read_text(encoding="utf-8")
    own = ["-bundle", "-undefined", "dynamic_lookup"] if sys.platform == "darwin" else ["-shared"]
    boost = f"boost_python{sys.version_info.major}{sys.version_info.minor}"
    call = [
        *command, "-O2", "-std=c++17", "-fPIC", "-fvisibility=hidden", *own, "-DPINOCCHIO_ENABLE_COMPATIBILITY_WITH_VERSION_2",
        *(f"-isystem{path}" for path in (sysconfig.get_path("include"), np.get_include(), prefix / "include", eigen)),
        SOURCE.name, "-o", NAME, f"-L{prefix / 'lib'}", "-lcrocoddyl", "-leigenpy", f"-l{boost}",
        *([] if sys.platform == "darwin" else ["-Wl,--allow-shlib-undefined"]),
    ]  # fmt: skip

    def compiled(scratch: Path) -> Path:
        with tempfile.TemporaryDirectory() as folder:
            write_all(Path(folder), {SOURCE.name: source})
            run_compiler(call, Path(folder), options.compile.timeout, "the bridge to Crocoddyl")
            module = scratch / f"{NAME}.so"
            shutil.copyfile(Path(folder) / NAME, module)
        return module

    key = sha256(NAME, source, version, python_identity(), np.__version__, *texts, *map(str, call))
    return safe_cache(options.cache_dir).make(key, compiled)


def _compiler() -> tuple[list[str], str]:
    """Return the C++ compiler of $CXX or of the machine, and its version text."""
    for command in [shlex.split(os.environ.get("CXX", "")), *([each] for each in COMPILERS)]:
        if command and shutil.which(command[0]):
            answer = subprocess.run([*command, "--version"], capture_output=True, text=True, timeout=60, check=False)
            return command, answer.stdout.partition("\n")[0]
    raise BuildError(
        f"no C++ compiler found (looked for $CXX, {', '.join(COMPILERS)}), which the bridge to Crocoddyl needs. "
        "Fix: install one, for example `apt-get install g++`."
    )


def _eigen(prefix: Path) -> Path:
    """Return the folder with the headers of Eigen: beside Crocoddyl, or the system's."""
    for folder in (prefix / "include" / "eigen3", Path("/usr/include/eigen3"), Path("/usr/local/include/eigen3")):
        if (folder / EIGEN).is_file():
            return folder
    raise BuildError(
        f"the headers of Eigen are missing (looked in {prefix / 'include' / 'eigen3'} and in those of the system), which the "
        "bridge to Crocoddyl needs. Fix: pip install 'elastogen[crocoddyl]', or pip install cmeel-eigen."
    )
