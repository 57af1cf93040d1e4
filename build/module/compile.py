"""Compiles a rendered model to an extension module, in one call of the compiler or in several units at once."""

from __future__ import annotations

import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory

import cffi

from elastogen.build.files.render import ModuleFiles
from elastogen.build.files.write import write_all
from elastogen.build.module.compilers import Compilers, answer, start
from elastogen.build.module.units import Units
from elastogen.build.options import CompileOptions
from elastogen.build.stamps import CANDIDATES, EXTENSION_SUFFIX, ZIG, has_zig, processor, python_identity
from elastogen.generator.robot.errors import BuildError
from elastogen.runtime.interface.error import shortened

GCC_FLAGS = ("-fno-tree-ter", "-fno-tree-slp-vectorize", "-fno-tree-loop-distribute-patterns")
"""Measured on long straight-line code, see benchmarks/README.md; the last one: runs of zeros without a call of memset."""
X86_FLAGS = ("-mtune-ctrl=^inter_unit_moves_from_vec",)  # of gcc: numbers wait on the stack, not in integer registers
LANES_FLAGS = ("-ftree-ter", "-fpeel-loops", "-fschedule-insns", "-fsched-pressure")
"""Of gcc for vectors, whose registers are few: numbers go from rows to lanes and on without a detour over memory, and
instructions are put in an order in which fewer wait: a fifth of the time."""
STRAIGHT_FLAGS = ("-fno-tree-pre", "-fno-tree-vrp", "-fno-tree-dominator-opts", "-fno-gcse", "-fno-rerun-cse-after-loop")
"""Without passes that find nothing in straight lines: the same machine code in nine tenths of the time."""
GLUE_FLAGS = ("-O1",)  # of what only passes arguments on: half of the time, no slower to call
VERSION_SECONDS = 60.0  # a compiler that needs longer to tell its version hangs


@dataclass(frozen=True)
class Toolchain:
    """A compiler and its flags."""

    command: tuple[str, ...]
    version: str  # first line of --version
    flags: tuple[str, ...]
    processor: str  # what -march=native stands for; "" where it is not used

    @property
    def identity(self) -> str:
        """Return text that differs between toolchains whose code may differ."""
        python = f"{python_identity()} cffi {cffi.__version__}"
        return "\n".join((*self.command, self.version, *self.flags, self.processor, python))


def find_toolchain(options: CompileOptions) -> Toolchain:
    """Find a compiler: the one in the options, $CC, or the first on the search path."""
    command = _command(options.compiler)
    version = _version(command, os.environ.get("PATH", ""))
    native = _native_flags(version) if options.native else ()
    flags = (
        "-O2", "-std=c99", "-ftree-vectorize", f"-ffp-contract={options.fp_contract}", "-fPIC", "-fvisibility=hidden",
        *(() if "clang" in version.lower() else GCC_FLAGS), *native, *options.cflags,
    )  # fmt: skip
    return Toolchain(command, version, flags, processor() if native else "")


def compile_model(
    model: ModuleFiles,
    module: str,
    directory: Path,
    toolchain: Toolchain,
    options: CompileOptions,
    units: Units | None = None,
    given: Sequence[Path] = (),
) -> Path:
    """Compile a model into ``directory`` as the extension ``module``; the C files stay beside it.

    The model's functions are objects of their own, which stay beside it for others to link with: of ``units``, or of the
    model's file. ``given`` are such objects that were compiled before.
    """
    include = sysconfig.get_path("include")
    if not os.path.exists(os.path.join(include, "Python.h")):
        raise BuildError(
            f"Python.h is missing (looked in {include}). Fix: install the Python headers, for example "
            "`apt-get install python3-dev`."
        )
    own = {f"{module}.c": module_source(model, module), **model.lanes}
    write_all(directory, {**model.c_files, **model.simulation, **own})
    extension = directory / f"{module}{EXTENSION_SUFFIX}"
    gcc = "clang" not in toolchain.version.lower()
    flags = {f"{module}.c": GLUE_FLAGS} if units else dict.fromkeys(model.lanes, LANES_FLAGS if gcc else ())
    files = [file for file in own if file.endswith(".c")]
    if units:
        files += [file for file in (*model.simulation, *model.kinematics) if file.endswith(".c")]
    elif model.linked and not given:
        files.append(f"{model.name}.c")
    objects: list[str] = []
    with Compilers(options, model.name) if units is None else nullcontext(units.compilers) as compilers:
        if units or len(files) > 1:
            for file in files:
                compilers.start((*command_for(toolchain, options, *flags.get(file, ())), f"-I{include}", "-c", file), directory)
            objects = [f"{file[:-2]}.o" for file in files]
            functions = units.objects() if units else []
            linked = [*map(str, functions), *objects]
            compilers.wait()
        else:
            functions, linked = [], [*files, *map(str, given)]
        shared = ("-bundle", "-undefined", "dynamic_lookup") if sys.platform == "darwin" else ("-shared",)
        whole = (*command_for(toolchain, options), f"-I{include}", *shared, *linked, "-o", extension.name, "-lm")
        compilers.start(whole, directory)
        compilers.wait()
    if not extension.exists():
        raise BuildError(f"compiling {model.name}: {shlex.join(toolchain.command)} did not make {extension.name}.")
    for file in {*own, *objects} - {f"{model.name}.o"}:
        (directory / file).unlink()
    for function in functions:
        os.replace(function, directory / function.name)
    return extension


def unit_command(toolchain: Toolchain, options: CompileOptions) -> tuple[str, ...]:
    """Return the compiler command for units of functions."""
    return command_for(toolchain, options, *(() if "clang" in toolchain.version.lower() else STRAIGHT_FLAGS))


def command_for(toolchain: Toolchain, options: CompileOptions, *extra: str) -> tuple[str, ...]:
    """Return the compiler command: its flags, further ones, and last those of the user, which take precedence."""
    ours = toolchain.flags[: len(toolchain.flags) - len(options.cflags)]
    return (*toolchain.command, *ours, *extra, *options.cflags)


def module_source(model: ModuleFiles, module: str) -> str:
    """Return the C text of the cffi module around the wrapper."""
    ffi = cffi.FFI()
    ffi.cdef(model.cdef)
    ffi.set_source(module, model.wrapper, compiler_verbose=0)
    with TemporaryDirectory() as folder:  # cffi before 2.0 writes to files only
        file = Path(folder) / f"{module}.c"
        ffi.emit_c_code(str(file))
        return file.read_text(encoding="utf-8")


def _command(compiler: str | None) -> tuple[str, ...]:
    given = compiler or os.environ.get("CC", "")
    if given:
        command = shlex.split(given)
        if command and shutil.which(command[0]):
            return tuple(command)
        origin = "compiler=" if compiler else "$CC"
        raise BuildError(
            f"the C compiler {shortened(given)} ({origin}) was not found. Fix: name one that exists, or install one, for "
            "example `apt-get install gcc`."
        )
    for candidate in CANDIDATES:
        if shutil.which(candidate):
            return (candidate,)
    if has_zig():
        return ZIG
    raise BuildError(
        f"no C compiler found (looked for {', '.join(CANDIDATES)} and the Python package ziglang). "
        "Fix: install one, for example `apt-get install gcc`, or `pip install ziglang`."
    )


@lru_cache(maxsize=16)
def _version(command: tuple[str, ...], path: str) -> str:
    """Return the first line of ``--version``; ``path`` only serves as a key of the cache."""
    try:
        output, errors = answer(start([*command, "--version"], None), VERSION_SECONDS)
    except subprocess.TimeoutExpired as error:
        raise BuildError(
            f"the C compiler {shlex.join(command)} does not run: --version took longer than {VERSION_SECONDS:g} s. "
            "Fix: install a working one."
        ) from error
    return (output or errors).strip().partition("\n")[0]


def _native_flags(version: str) -> tuple[str, ...]:
    """Return the flags for this machine's processor."""
    if platform.machine() not in ("x86_64", "AMD64", "i686"):
        return ("-mcpu=native",)
    is_gcc = "clang" not in version.lower() and re.match(r"\S+ \(.*\) \d+\.\d+", version) is not None  # cc (Debian ...) 12.2.0
    return ("-march=native", *(X86_FLAGS if is_gcc else ()))
