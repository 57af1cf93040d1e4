"""Compilers of this machine, and the warnings without which all emitted C must compile."""

import shutil

WARNINGS = [
    "-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wdouble-promotion", "-Wfloat-equal", "-Wshadow", "-Wundef",
    "-Wcast-qual", "-Wstrict-prototypes", "-Wmissing-prototypes", "-Werror",
]  # fmt: skip
COMPILERS = [compiler for compiler in ("gcc", "clang") if shutil.which(compiler)]
