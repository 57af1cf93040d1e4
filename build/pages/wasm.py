"""Emitted C as WebAssembly, by the compiler that the package ``ziglang`` brings."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

from elastogen.build.files.write import write_all
from elastogen.build.module.compilers import run_compiler
from elastogen.build.options import COMPILER_SECONDS
from elastogen.build.pages.page_text import asset
from elastogen.generator.robot.errors import BuildError

FLAGS = (
    "-target", "wasm32-freestanding", "-O2", "-g0", "-std=c99", "-ffp-contract=off", "-nostdlib", "-fno-builtin", "-Iinclude",
    "-Wl,--no-entry", "-Wl,--strip-all",
)  # fmt: skip


def check_zig(name: str) -> None:
    """Refuse to compile without ziglang, before anything is derived."""
    if find_spec("ziglang") is None:
        raise BuildError(f"{name}: WebAssembly needs the compiler of ziglang. Fix: pip install 'elastogen[play]'.")


def compile_wasm(sources: Mapping[str, str], name: str) -> bytes:
    """Compile C files (names and texts) into one WebAssembly module that needs nothing but ``math`` of the page."""
    check_zig(name)
    with tempfile.TemporaryDirectory(prefix="elastogen-wasm-") as scratch:
        folder = Path(scratch)
        write_all(folder, {**sources, "include/math.h": asset("wasm_math.h")})
        files = sorted(file for file in sources if file.endswith(".c"))
        command = [sys.executable, "-m", "ziglang", "cc", *FLAGS, *files, "-o", "robot.wasm"]
        run_compiler(command, folder, COMPILER_SECONDS, f"{name} to WebAssembly")
        return (folder / "robot.wasm").read_bytes()
