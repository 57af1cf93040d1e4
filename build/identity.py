"""What a robot, a set of options and this version of the tool are, as SHA-256 sums."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from importlib import resources
from typing import TYPE_CHECKING, Any

import sympy

import elastogen
from elastogen.build.options import EmitOptions
from elastogen.generator.robot.joint_kind import JointKind
from elastogen.generator.robot.robot import Robot

if TYPE_CHECKING:
    from importlib.abc import Traversable

ROOMS_THAT_SHAPE_CODE = ("elastogen.generator", "elastogen.templates", "elastogen.build")


def canonical(value: Any) -> str:
    """An exact text of plain data: equal texts mean equal data."""
    if isinstance(value, JointKind):
        return canonical(value.name)
    if isinstance(value, sympy.Basic):
        return str(sympy.srepr(value))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        pairs = ((field.name, getattr(value, field.name)) for field in dataclasses.fields(value) if _says(value, field))
        return f"{type(value).__name__}({','.join(f'{name}={canonical(item)}' for name, item in pairs)})"
    if isinstance(value, Mapping):
        return "{" + ",".join(f"{canonical(key)}:{canonical(item)}" for key, item in value.items()) + "}"
    if isinstance(value, (tuple, list)):
        return "(" + ",".join(canonical(item) for item in value) + ")"
    return repr(value)


def _says(value: Any, field: dataclasses.Field[Any]) -> bool:
    """Whether a field counts: those that came later do not where they are empty, so that old robots keep their sums.

    What is not compared repeats what other fields say.
    """
    return field.compare and (not field.metadata.get("later") or bool(getattr(value, field.name)))


def sha256(*parts: str) -> str:
    """The sum over several texts, each with its length, so that no two lists of texts collide."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode()
        digest.update(f"{len(data)}:".encode())
        digest.update(data)
    return digest.hexdigest()


def model_sha256(robot: Robot, options: EmitOptions) -> str:
    """The sum that names an emitted model: the robot and the emission options.

    Not the path the robot was read from, nor its experiment: they shape no code.
    """
    shapes = [canonical(link.flexible.beam) for link in robot.links if robot.points and link.flexible is not None]
    text = canonical(dataclasses.replace(robot, source="", experiment=None))
    return sha256("model", text, canonical(options), *shapes)  # sections of beams follow from the shapes themselves


@lru_cache(maxsize=1)
def tool_sha256() -> str:
    """The sum over the version and the source of everything that shapes emitted code."""
    return sha256(elastogen.__version__, *sources(resources.files(room) for room in ROOMS_THAT_SHAPE_CODE))


def sources(folders: Iterable[Traversable]) -> Iterator[str]:
    """Path and text of every Python file and template in folders and all their sub-folders, in a fixed order."""
    for folder in folders:
        yield from _sources(folder, folder.name)


def _sources(folder: Traversable, path: str) -> Iterator[str]:
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.is_dir():
            yield from _sources(entry, f"{path}/{entry.name}")
        elif entry.name.endswith((".py", ".j2")):
            yield from (f"{path}/{entry.name}", entry.read_text(encoding="utf-8"))
