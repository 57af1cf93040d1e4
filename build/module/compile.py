"""Compiling a rendered model into an extension module: one compiler call, whose failure is told in its own words."""

from __future__ import annotations

import contextlib
import os
import platform
import re
import shlex
import shutil
import signal
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from io import StringIO
from pathlib import Path

import cffi

from elastogen.build.files.render import RenderedModel
from elastogen.build.files.write import write_all
from elastogen.build.options import CompileOptions
from elastogen.build.stamps import CANDIDATES, EXTENSION_SUFFIX, ZIG, has_zig, processor, python_identity
from elastogen.generator.robot.errors import BuildError

GCC_FLAGS = ("-fno-tree-ter", "-fno-tree-slp-vectorize")  # measured on long straight-line code: benchmarks/README.md
X86_FLAGS = ("-mtune-ctrl=^inter_unit_moves_from_vec",)  # of gcc: numbers wait on the stack, not in integer registers
LANES_FLAGS = ("-ftree-ter",)  # of vectors it keeps fewer alive: a tenth of the time
LONGEST_REPORT = 4000  # characters of compiler output in a message


@dataclass(frozen=True)
class Toolchain:
    """A compiler and the flags it is called with."""

    command: tuple[str, ...]
    version: str  # first line of --version
    flags: tuple[str, ...]
    processor: str  # what -march=native stands for; "" where it is not used

    @property
    def identity(self) -> str:
        """Text that changes when the compiled code may change."""
        python = f"{python_identity()} cffi {cffi.__version__}"
        return "\n".join((*self.command, self.version, *self.flags, self.processor, python))


def find_toolchain(options: CompileOptions) -> Toolchain:
    """The compiler that the options, $CC or the machine offer."""
    command = _command(options.compiler)
    version = _version(command, os.environ.get("PATH", ""))
    native = _native_flags(version) if options.native else ()
    flags = (
        "-O2", "-std=c99", "-ftree-vectorize", f"-ffp-contract={options.fp_contract}", "-fPIC", "-fvisibility=hidden",
        *(() if "clang" in version.lower() else GCC_FLAGS), *native, *options.cflags,
    )  # fmt: skip
    return Toolchain(command, version, flags, processor() if native else "")


def compile_model(model: RenderedModel, module: str, directory: Path, toolchain: Toolchain, options: CompileOptions) -> Path:
    """Compile a model into ``directory`` as the extension ``module``; the C files stay beside it."""
    include = sysconfig.get_path("include")
    if not os.path.exists(os.path.join(include, "Python.h")):
        raise BuildError(
            f"Python.h is missing (looked in {include}). Fix: install the Python headers, for example "
            "`apt-get install python3-dev`."
        )
    own = {f"{module}.c": module_source(model, module), **model.lanes}
    write_all(directory, {**model.c_files, **model.simulation, **own})
    extension = directory / f"{module}{EXTENSION_SUFFIX}"
    shared = ("-bundle", "-undefined", "dynamic_lookup") if sys.platform == "darwin" else ("-shared",)
    compiler = (*toolchain.command, *toolchain.flags)

    def run(command: Sequence[str]) -> None:
        if options.verbose:
            print(shlex.join(command), file=sys.stderr)
        run_compiler(list(command), directory, options.timeout, model.name)

    units = [file for file in own if file.endswith(".c")]
    if len(units) > 1:  # on as many cores
        extra = {file: () if "clang" in toolchain.version.lower() else LANES_FLAGS for file in model.lanes}
        with ThreadPoolExecutor(len(units)) as pool:
            list(pool.map(run, [(*compiler, *extra.get(unit, ()), f"-I{include}", "-c", unit) for unit in units]))
        units = [f"{unit[:-2]}.o" for unit in units]
    run((*compiler, f"-I{include}", *shared, *units, "-o", extension.name, "-lm"))
    if not extension.exists():
        raise BuildError(f"compiling {model.name}: {shlex.join(toolchain.command)} did not make {extension.name}.")
    for file in {*own, *units}:
        (directory / file).unlink()
    return extension


def module_source(model: RenderedModel, module: str) -> str:
    """The C text of the cffi module around the wrapper."""
    ffi = cffi.FFI()
    ffi.cdef(model.cdef)
    ffi.set_source(module, model.wrapper, compiler_verbose=0)
    stream = StringIO()
    ffi.emit_c_code(stream)
    return stream.getvalue()


def _command(compiler: str | None) -> tuple[str, ...]:
    given = compiler or os.environ.get("CC", "")
    if given:
        command = shlex.split(given)
        if command and shutil.which(command[0]):
            return tuple(command)
        origin = "compiler=" if compiler else "$CC"
        raise BuildError(
            f"the C compiler {given!r} ({origin}) was not found. Fix: name one that exists, or install one, for "
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
    """The first line of ``--version``; ``path`` is part of the cache's key only."""
    try:
        answer = subprocess.run([*command, "--version"], capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise BuildError(f"the C compiler {shlex.join(command)} does not run ({error}). Fix: install a working one.") from error
    return (answer.stdout or answer.stderr).strip().partition("\n")[0]


def _native_flags(version: str) -> tuple[str, ...]:
    """Flags for this machine's processor."""
    if platform.machine() not in ("x86_64", "AMD64", "i686"):
        return ("-mcpu=native",)
    is_gcc = "clang" not in version.lower() and re.match(r"\S+ \(.*\) \d+\.\d+", version) is not None  # cc (Debian ...) 12.2.0
    return ("-march=native", *(X86_FLAGS if is_gcc else ()))


def run_compiler(command: list[str], directory: Path, timeout: float | None, name: str) -> None:
    """Run the compiler; on a timeout or an interrupt end it and the programs that it started."""
    try:
        process = subprocess.Popen(
            command, cwd=directory, env={**os.environ, "LC_ALL": "C"}, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace", start_new_session=True,
        )  # fmt: skip
    except OSError as error:
        raise BuildError(f"the C compiler {command[0]!r} could not be started ({error}).") from error
    try:
        output, errors = process.communicate(timeout=timeout)
    except BaseException as interruption:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        if not isinstance(interruption, subprocess.TimeoutExpired):
            raise
        raise BuildError(
            f"compiling {name} took longer than timeout={timeout} s and was stopped. "
            "Fix: allow more time, or ask for fewer outputs."
        ) from interruption
    if process.returncode == 0:
        return
    words = (errors or output).strip()
    if len(words) > LONGEST_REPORT:
        words = words[:LONGEST_REPORT] + "\n..."
    ending = _ending(process.returncode, words)
    raise BuildError(f"compiling {name} failed: {ending}\n{shlex.join(command)}\n{words}".rstrip())


def _ending(code: int, words: str) -> str:
    """How the compiler ended; the driver reports the signal that killed its child in words."""
    reported = re.search(r"(\w+) signal terminated program|internal compiler error: (Killed|Segmentation fault)", words)
    if code >= 0 and not reported:
        return f"the compiler returned {code}."
    name = signal.Signals(-code).name if code < 0 or not reported else reported.group(1) or reported.group(2)
    return f"the compiler was killed by a signal ({name}), often for want of memory."
