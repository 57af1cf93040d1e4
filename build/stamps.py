"""What a compiled model depends on beside its robot, found out without the generator: this tool, the processor, the compiler.

Imports nothing that is slow to import: a model that is known already must start at once.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shlex
import shutil
import sys
from collections.abc import Iterable, Iterator
from functools import lru_cache
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import elastogen

PACKAGE = Path(__file__).resolve().parent.parent  # beside the rooms, installed or in a checkout
ROOMS_THAT_SHAPE_CODE = ("generator", "templates", "build", "runtime/interface")
ABI3 = ".abi3.so"  # cffi's modules keep to the stable ABI, except in debug builds of Python
EXTENSION_SUFFIX = ABI3 if ABI3 in EXTENSION_SUFFIXES and not hasattr(sys, "gettotalrefcount") else EXTENSION_SUFFIXES[0]
CANDIDATES = ("cc", "gcc", "clang")  # compilers, where none is named
ZIG = (sys.executable, "-m", "ziglang", "cc")  # the compiler of the package ziglang, where there is no other
_PROCESSOR = (
    "vendor_id", "cpu family", "model", "model name", "stepping", "flags", "Features", "CPU part", "CPU implementer",
)  # fmt: skip


SOURCES = (".py", ".j2", ".c", ".h")
"""Endings of the files that shape emitted code."""


def sha256(*parts: str) -> str:
    """The sum over several texts, each with its length, so that no two lists of texts collide."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode(errors="surrogateescape")  # paths may have bytes that are not text
        digest.update(f"{len(data)}:".encode())
        digest.update(data)
    return digest.hexdigest()


@lru_cache(maxsize=1)
def tool_sha256() -> str:
    """The sum over the version and the source of everything that shapes emitted code."""
    return sha256(elastogen.__version__, *sources(PACKAGE / room for room in ROOMS_THAT_SHAPE_CODE))


def tool_signature() -> tuple[str, int]:
    """The sum over names, sizes and times of these files, without reading them; and the latest of the times [ns]."""
    facts = [(name, found.stat()) for room in ROOMS_THAT_SHAPE_CODE for name, found in _entries(PACKAGE / room, room)]
    lines = [f"{name} {stat.st_size} {stat.st_mtime_ns} {stat.st_ctime_ns} {stat.st_ino}" for name, stat in facts]
    return sha256(elastogen.__version__, *lines), max(max(stat.st_mtime_ns, stat.st_ctime_ns) for _, stat in facts)


def sources(folders: Iterable[Path]) -> Iterator[str]:
    """Path and text of every Python file, template and C file in folders and all their sub-folders, in a fixed order."""
    for folder in folders:
        for name, found in _entries(folder, folder.name):
            with open(found.path, encoding="utf-8") as stream:
                yield from (name, stream.read())


def _entries(folder: Path | str, name: str) -> Iterator[tuple[str, os.DirEntry[str]]]:
    with os.scandir(folder) as found:
        entries = sorted(found, key=lambda entry: entry.name)
    for entry in entries:
        if entry.is_dir():
            yield from _entries(entry.path, f"{name}/{entry.name}")
        elif entry.name.endswith(SOURCES):
            yield f"{name}/{entry.name}", entry


def python_identity() -> str:
    """Text that changes where a compiled module may not fit the interpreter: one build serves all that know abi3."""
    machine = os.uname().machine if hasattr(os, "uname") else sys.platform
    return f"{EXTENSION_SUFFIX if EXTENSION_SUFFIX == ABI3 else sys.version + EXTENSION_SUFFIX} {sys.platform} {machine}"


@lru_cache(maxsize=1)
def processor() -> str:
    """What -march=native stands for on this machine."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as stream:
            first = []
            for line in stream:
                if not line.strip():
                    break
                first.append(line.rstrip("\n"))
    except OSError:
        return sys.platform
    return "\n".join(line for line in first if line.partition(":")[0].strip() in _PROCESSOR)


def compiler_stamp(compiler: str | None) -> list[str | int] | None:
    """File, size and time of the compiler that a build would use, without calling it; None: there is none, or zig only."""
    given = compiler or os.environ.get("CC", "")
    try:
        names = shlex.split(given)[:1] if given else CANDIDATES
    except ValueError:
        return None
    for name in names:
        path = shutil.which(name)
        if path is not None:
            facts = os.stat(path)
            return [os.path.realpath(path), facts.st_size, facts.st_mtime_ns]
    return None


def has_zig() -> bool:
    """Whether the package ziglang is installed."""
    return importlib.util.find_spec("ziglang") is not None


def file_sum(path: Path) -> list[str | int] | None:
    """Size and sum of a file; None where it cannot be read."""
    try:
        data = path.read_bytes()
    except OSError:
        return None
    return data_sum(data)


def data_sum(data: bytes) -> list[str | int]:
    """Size and sum of a file's content."""
    return [len(data), hashlib.sha256(data).hexdigest()]
