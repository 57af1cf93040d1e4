"""Builds that are known already: from the bytes of a robot file and the options to a compiled module, without the generator.

A note in the cache (``known/<key>.json``) says where a build led to, which compiler made it and what loading the robot
warned of. It is used where the file, the options, this tool, the interpreter and the processor are the same; another
compiler counts, a missing one does not: a shipped model starts without any.
"""

from __future__ import annotations

import dataclasses
import os
import warnings
from dataclasses import dataclass, field
from pathlib import Path

from elastogen.build.module.cache import Cache
from elastogen.build.options import BuildOptions
from elastogen.build.stamps import PACKAGE, compiler_stamp, data_sum, processor, python_identity, sha256, tool_sha256
from elastogen.generator.robot.errors import RobotWarning

SUFFIXES = (".yaml", ".yml", ".urdf", ".sdf", ".world", ".xml", ".mjcf")
MOST_BYTES = 8 << 20  # of a robot file that is looked at; the reader has limits of its own


@dataclass(frozen=True)
class RobotContent:
    """A robot file as it was when a model was asked for: what is built later is built from this."""

    data: bytes
    path: Path
    shown: str  # the file as messages name it
    included: dict[str, bytes] = field(default_factory=dict, hash=False)  # files that it is based on, by absolute paths

    @classmethod
    def read(cls, source: object) -> RobotContent | None:
        """The content of a built-in name or of a path; None: something else, or unreadable: the loader will say."""
        if not isinstance(source, (str, os.PathLike)):
            return None
        given = os.fspath(source)
        if not isinstance(given, str):
            return None
        builtin = PACKAGE / "generator" / "description" / "robots" / f"{given}.yaml"
        is_builtin = isinstance(source, str) and given.isidentifier() and builtin.is_file()
        path = builtin if is_builtin else Path(given)
        if path.suffix.lower() not in SUFFIXES:
            return None
        try:
            with open(path, "rb") as stream:
                data = stream.read(MOST_BYTES + 1)
        except (OSError, ValueError):
            return None
        return cls(data, path.absolute(), path.name if is_builtin else given) if len(data) <= MOST_BYTES else None


class KnownBuild:
    """One build that may be known."""

    def __init__(self, kind: str, content: RobotContent, options: BuildOptions, *texts: str) -> None:
        compile_options = dataclasses.replace(options.compile, timeout=None, verbose=False)
        self._cache, self._compiler = Cache(options.cache_dir), options.compile.compiler
        self._content = content
        self._key = sha256(
            "known", kind, tool_sha256(), python_identity(), processor() if options.compile.native else "",
            os.environ.get("CC", ""), repr(options.emit), repr(compile_options), content.path.name,
            content.data.hex(), *texts,
        )  # fmt: skip

    def find(self) -> Path | None:
        """The compiled module, if it is there and sound; repeats what loading its robot warned of."""
        note = self._cache.read_note("known", self._key)
        if note is None:
            return None
        here = compiler_stamp(self._compiler)
        module = note.get("module")
        if (here is not None and note.get("compiler") != here) or not isinstance(module, str):
            return None
        extension = self._cache.find(module) if self._same_files(note.get("included", {})) else None
        if extension is not None:
            for text in note.get("warnings", ()):
                warnings.warn(str(text), RobotWarning, stacklevel=4)
        return extension

    def note(self, extension: Path, warned: list[str]) -> None:
        """Remember where a build led to."""
        folder = self._content.path.parent
        included = {os.path.relpath(path, folder): data_sum(data) for path, data in self._content.included.items()}
        content: dict[str, object] = {
            "module": extension.parent.name,
            "compiler": compiler_stamp(self._compiler),
            "warnings": warned,
        }
        content["included"] = included
        self._cache.write_note("known", self._key, content)

    def _same_files(self, included: object) -> bool:
        """Whether the files that the robot is based on are what they were; they are remembered."""
        if not isinstance(included, dict):
            return False
        for name, stamp in included.items():
            path = os.path.normpath(self._content.path.parent / str(name))
            try:
                with open(path, "rb") as stream:
                    data = stream.read(MOST_BYTES + 1)
            except OSError:
                return False
            if data_sum(data) != stamp:
                return False
            self._content.included[path] = data
        return True
