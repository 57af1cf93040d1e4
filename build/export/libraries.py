"""Compiled libraries of an export, for this machine or for another one, named by ``target``."""

from __future__ import annotations

import re
import shlex
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from elastogen.build.files.write import write_all
from elastogen.build.module.compile import Toolchain, find_toolchain
from elastogen.build.module.compilers import run_compiler
from elastogen.build.options import CompileOptions
from elastogen.build.stamps import ZIG, has_zig
from elastogen.generator.robot.errors import BuildError, OutputError

_TRIPLE = re.compile(r"[A-Za-z0-9_.]+(-[A-Za-z0-9_.]+){1,3}")
VENDORS = ("unknown", "pc", "none", "apple", "w64")
ZIG_SYSTEMS = {"mingw32": "windows-gnu", "darwin": "macos"}  # names of its own


def library_name(name: str, target: str | None) -> str:
    """Return the file name of a shared library."""
    ending = library_ending(target or sys.platform)
    return f"{name}{ending}" if ending == ".dll" else f"lib{name}{ending}"


def library_ending(system: str) -> str:
    """Return the ending of shared libraries on a system, given by its name or a triple."""
    if "darwin" in system or "macos" in system:
        return ".dylib"
    return ".dll" if any(word in system for word in ("windows", "mingw", "win32")) else ".so"


def compile_shared(
    name: str,
    files: Mapping[str, str],
    target: str | None,
    options: CompileOptions,
    *,
    sources: Sequence[str] | None = None,
    hidden: bool = False,
) -> bytes:
    """Compile the C files, or the ``sources`` among them, to a shared library; ``hidden`` exports only marked functions."""
    toolchain = toolchain_for(target, options)
    flags = [flag for flag in toolchain.flags if hidden or flag != "-fvisibility=hidden"]
    sources = sources or [file for file in files if file.endswith(".c")]
    with tempfile.TemporaryDirectory() as folder:
        write_all(Path(folder), files)
        threads = ["-pthread"] if any("<pthread.h>" in text for text in files.values()) else []
        command = [*toolchain.command, *flags, *threads, "-shared", *sources, "-o", "library", "-lm"]
        run_compiler(command, Path(folder), options.timeout, name)
        return (Path(folder) / "library").read_bytes()


def toolchain_for(target: str | None, options: CompileOptions) -> Toolchain:
    """Return the compiler of shared libraries for this machine or a triple."""
    compiler = options.compiler or (None if target is None else compiler_for(target))
    return find_toolchain(replace(options, compiler=compiler, native=False))


def check_triple(target: object) -> None:
    """Refuse text that is not a triple, since it becomes part of a command and of file names."""
    if not (isinstance(target, str) and _TRIPLE.fullmatch(target)):
        known = "cortex-m4f (STM32F4, nRF52), cortex-m7 (STM32F7, H7) or " if "stm" in str(target).lower() else ""
        raise OutputError(f"target: got {target!r}, expected {known}a triple such as aarch64-linux-gnu.")


def parts_of_triple(target: str) -> tuple[str, str]:
    """Return machine and system of a triple without the vendor: aarch64-unknown-linux-gnu gives ("aarch64", "linux-gnu")."""
    machine, _, system = target.partition("-")
    vendor, _, rest = system.partition("-")
    return machine, rest if rest and vendor in VENDORS else system


def compiler_for(target: str) -> str:
    """Return a command that compiles for a triple such as aarch64-linux-gnu: a gcc of that name, zig, or clang."""
    machine, system = parts_of_triple(target)
    for name in (f"{target}-gcc", f"{machine}-{system}-gcc"):
        if shutil.which(name):
            return name
    if has_zig():
        return shlex.join([*ZIG, "-target", f"{machine}-{ZIG_SYSTEMS.get(system, system)}"])
    if shutil.which("clang"):
        return f"clang --target={target}"
    raise BuildError(
        f"target: got {target!r}, and no compiler for it: neither {target}-gcc nor clang nor zig. "
        "Fix: pip install ziglang, install that gcc, or name a compiler with compiler=."
    )
