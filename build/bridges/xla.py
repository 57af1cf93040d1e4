"""The library with which XLA, the compiler behind JAX, calls the batch functions of models."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from elastogen.build.export.libraries import compile_shared, library_name
from elastogen.build.module.cache import safe_cache
from elastogen.build.module.compile import find_toolchain
from elastogen.build.options import BuildOptions
from elastogen.build.stamps import sha256
from elastogen.generator.robot.errors import BuildError

SOURCE = Path(__file__).with_name("xla_handler.c")
HEADER = Path("xla", "ffi", "api", "c_api.h")


def xla_library(options: BuildOptions, include: Path) -> Path:
    """Return the shared library for the XLA whose headers are in ``include``; it is compiled once and cached."""
    try:
        header = (include / HEADER).read_text(encoding="utf-8")
    except OSError as problem:
        raise BuildError(f"XLA's header cannot be read ({problem}). Fix: pip install -U 'elastogen[jax]'.") from None
    source = SOURCE.read_text(encoding="utf-8")
    chosen = replace(options.compile, native=False)
    key = sha256("xla", source, header, find_toolchain(chosen).identity)
    name = "elastogen_xla"

    def compiled(scratch: Path) -> Path:
        library = scratch / library_name(name, None)
        library.write_bytes(compile_shared(name, {f"{name}.c": source, HEADER.as_posix(): header}, None, included, hidden=True))
        return library

    included = replace(chosen, cflags=(*chosen.cflags, "-I."))
    return safe_cache(options.cache_dir).make(key, compiled)
