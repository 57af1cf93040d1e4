"""The files of a robot description: found by name, read within limits, and remembered with what they include."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path

from elastogen.generator.description.formats.registry import known_endings, known_files
from elastogen.generator.robot.location import Location, did_you_mean

MAX_YAML_BYTES = 512 << 10  # about 1000 joints; the safe YAML reader needs seconds for this much
MAX_XML_BYTES = 8 << 20
MAX_INCLUDES = 100
YAML = (".yaml", ".yml")


def builtin_names() -> list[str]:
    """Return the names of the built-in robots."""
    folder = resources.files("elastogen.generator.description") / "robots"
    return sorted(entry.name.removesuffix(".yaml") for entry in folder.iterdir() if entry.name.endswith(".yaml"))


def builtin_text(name: str) -> str:
    """The file of a built-in robot."""
    return (resources.files("elastogen.generator.description") / "robots" / f"{name}.yaml").read_text(encoding="utf-8")


class Files:
    """The files that were read for one robot, by their absolute paths; what was read once stays as it was.

    ``known`` is what another reading found: a model that is extended later is extended from the same files.
    """

    def __init__(self, known: Mapping[str, bytes] | None = None) -> None:
        self.contents: dict[str, bytes] = dict(known or {})

    def read(self, path: Path, limit: int) -> bytes:
        """The content of a file, at most ``limit`` bytes."""
        key = os.path.abspath(path)
        if key not in self.contents:
            try:
                with path.open("rb") as stream:
                    self.contents[key] = stream.read(limit + 1)
            except OSError as problem:
                raise Location(str(path)).error(problem.strerror, "a readable file", "check its permissions") from None
        check_size(self.contents[key], limit, str(path))
        return self.contents[key]


def _near(path: Path, known: Sequence[str], beside: Sequence[str]) -> str:
    """What was meant: a built-in robot or a file beside it, by names without their endings, which are alike anyway."""
    stems = {Path(name).stem: name for name in beside if Path(name).suffix.lower() in (*YAML, *known_endings())}
    found = did_you_mean(path.stem, [*known, *stems])
    for stem, name in stems.items():
        if found == f"did you mean {stem!r}?":
            return f"did you mean {name!r}?"
    return found


def existing_file(path: Path, given: str, where: Location | None = None) -> Path:
    """The path, if it is that of a description; ``where`` is the place that names it, if that is in another file."""
    where = where or Location(given)
    try:
        if path.is_dir():
            raise where.error("a directory", known_files(), "name the file inside it")
        if not path.exists():
            known = builtin_names()
            beside = [entry.name for entry in path.parent.iterdir()] if path.parent.is_dir() else []
            fix = _near(path, known, beside) or f"built-in robots are {', '.join(known)}"
            found = "no such file" if where.source == given else f"no file {given}"
            raise where.error(found, f"a built-in robot or a path to {known_files()}", fix)
        if not path.is_file():
            raise where.error("not a regular file", known_files(), "copy its content into a file")
    except (OSError, ValueError) as problem:
        raise where.error(str(problem), f"a path to {known_files()}", "check the path") from None
    if path.suffix.lower() not in (*YAML, *known_endings()):
        raise where.error(path.suffix, f"{known_files()[:-5]} file, by its ending", "rename the file")
    return path


def check_size(data: bytes, limit: int, source: str) -> None:
    """Refuse what is too large for a robot description."""
    if len(data) > limit:
        raise Location(source).error("a larger file", f"at most {limit >> 10} KiB", "is this a robot description?")


def decoded(data: bytes, source: str) -> str:
    """The text of a file in UTF-8."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        line = data[: problem.start].count(b"\n") + 1
        shown = data[problem.start : problem.start + 8]
        raise Location(f"{source}:{line}").error(shown, "UTF-8 text", "save the file as UTF-8") from None
