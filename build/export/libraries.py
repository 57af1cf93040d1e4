"""Compiled libraries of an export, for this machine or, by ``target``, for another one."""

from __future__ import annotations

import importlib.util
import shutil
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from elastogen.build.export.project import Project
from elastogen.build.files.write import write_all
from elastogen.build.module.compile import find_toolchain, run_compiler
from elastogen.build.options import CompileOptions
from elastogen.generator.robot.errors import BuildError


def library_name(name: str, target: str | None) -> str:
    """File name of a shared library."""
    system = target or sys.platform
    if "darwin" in system or "macos" in system:
        return f"lib{name}.dylib"
    return f"{name}.dll" if "windows" in system or "mingw" in system else f"lib{name}.so"


def compile_shared(project: Project, target: str | None, options: CompileOptions) -> bytes:
    """The shared library of all C files of a project."""
    compiler = options.compiler or (None if target is None else compiler_for(target))
    toolchain = find_toolchain(replace(options, compiler=compiler, native=False))
    flags = [flag for flag in toolchain.flags if flag != "-fvisibility=hidden"]
    with tempfile.TemporaryDirectory() as folder:
        write_all(Path(folder), project.c_files)
        threads = ["-pthread"] if project.context.threads else []
        command = [*toolchain.command, *flags, *threads, "-shared", *project.context.sources, "-o", "library", "-lm"]
        run_compiler(command, Path(folder), options.timeout, project.name)
        return (Path(folder) / "library").read_bytes()


def compiler_for(target: str) -> str:
    """A command that compiles for a triple such as aarch64-linux-gnu: a gcc of that name, clang, or zig."""
    if shutil.which(f"{target}-gcc"):
        return f"{target}-gcc"
    if importlib.util.find_spec("ziglang") is not None:
        return f"{sys.executable} -m ziglang cc -target {target}"
    if shutil.which("clang"):
        return f"clang --target={target}"
    raise BuildError(
        f"target: got {target!r}, and no compiler for it: neither {target}-gcc nor clang nor zig. "
        "Fix: pip install ziglang, install that gcc, or name a compiler with compiler=."
    )
