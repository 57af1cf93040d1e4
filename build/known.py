"""Builds that are known: from a description and the options to a compiled module, without the generator.

A note in the cache (``known/<key>.json``) says where a build led to, which compiler made it and what loading the robot
warned of. It is used where the description, the options, this tool, the interpreter and the processor are the same; another
compiler counts, a missing one does not: a shipped model starts without any.
"""

from __future__ import annotations

import dataclasses
import os
import time
import warnings
from pathlib import Path
from typing import Any

from elastogen.build.module.cache import Cache, safe_cache
from elastogen.build.options import BuildOptions
from elastogen.build.request import MOST_BYTES, Description
from elastogen.build.stamps import (
    PACKAGE,
    compiler_stamp,
    data_sum,
    processor,
    python_identity,
    sha256,
    tool_sha256,
    tool_signature,
)  # fmt: skip
from elastogen.generator.robot.errors import RobotWarning

LOADED, KNOWN, TOOL = "loaded", "known", "tool"  # kinds of notes
SETTLED_NS = 2_000_000_000  # a file that changed later than this before now may change again within one tick of its clock


def known_tool_sha256(cache: Cache) -> str:
    """``tool_sha256()``, without reading 850 files where sizes and times of all of them are those of the last start."""
    key = sha256(TOOL, str(PACKAGE))
    signature, latest = tool_signature()
    note = cache.read_note(TOOL, key)
    if note is not None and note.get("signature") == signature and isinstance(note.get("sum"), str):
        return str(note["sum"])
    found = tool_sha256()
    if latest < time.time_ns() - SETTLED_NS and tool_signature()[0] == signature:
        cache.write_note(TOOL, key, {"signature": signature, "sum": found})
    return found


class KnownLoad:
    """A description that may have been loaded before for some build; then it is valid, and its warnings are known."""

    def __init__(self, description: Description, cache: Cache) -> None:
        self._description, self._cache = description, cache
        self._key = sha256(LOADED, known_tool_sha256(cache), *description.texts)

    def find(self) -> bool:
        """Whether the description is known to load; its warnings are repeated."""
        note = self._cache.read_note(LOADED, self._key)
        if note is None or not _has_same_files(note, self._description):
            return False
        _warn_again(note)
        return True

    def note(self, facts: dict[str, Any]) -> None:
        """Note that the description was loaded, and for which module; the note is removed with the module."""
        self._cache.write_note(LOADED, self._key, facts)


class KnownBuild:
    """A build that may be known."""

    def __init__(self, kind: str, description: Description, options: BuildOptions, *texts: str) -> None:
        compile_options = dataclasses.replace(options.compile, timeout=None, verbose=False)
        self._cache, self._compiler = safe_cache(options.cache_dir), options.compile.compiler
        self._description = description
        self._key = sha256(
            KNOWN, kind, known_tool_sha256(self._cache), python_identity(), processor() if options.compile.native else "",
            os.environ.get("CC", ""), repr(options.emit), repr(compile_options), *description.texts, *texts,
        )  # fmt: skip

    def find(self) -> Path | None:
        """Return the compiled module if it exists and is intact; the warnings of loading its robot are repeated."""
        note = self._cache.read_note(KNOWN, self._key)
        if note is None:
            return None
        here, module = compiler_stamp(self._compiler), note.get("module")
        if (here is not None and note.get("compiler") != here) or not isinstance(module, str):
            return None
        extension = self._cache.find(module) if _has_same_files(note, self._description) else None
        if extension is not None:
            _warn_again(note)
        return extension

    def note(self, extension: Path, warned: list[str]) -> None:
        """Note the module of a build, and that its robot can be loaded."""
        folder = self._description.path.parent
        included = {os.path.relpath(path, folder): data_sum(data) for path, data in self._description.included.items()}
        facts: dict[str, Any] = {"module": extension.parent.name, "warnings": warned, "included": included}
        self._cache.write_note(KNOWN, self._key, {**facts, "compiler": compiler_stamp(self._compiler)})
        KnownLoad(self._description, self._cache).note(facts)


def _has_same_files(note: dict[str, Any], description: Description) -> bool:
    """Whether the files that the robot is based on are unchanged; they are remembered."""
    included = note.get("included")
    if not isinstance(included, dict):
        return False
    for name, stamp in included.items():
        path = os.path.normpath(description.path.parent / str(name))
        try:
            with open(path, "rb") as stream:
                data = stream.read(MOST_BYTES + 1)
        except OSError:
            return False
        if data_sum(data) != stamp:
            return False
        description.included[path] = data
    return True


def _warn_again(note: dict[str, Any]) -> None:
    for text in note.get("warnings", ()):
        warnings.warn(str(text), RobotWarning, stacklevel=5)
