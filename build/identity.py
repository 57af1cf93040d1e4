"""SHA-256 checksums of a robot and of options."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import sympy

from elastogen.build.options import EmitOptions
from elastogen.build.stamps import sha256
from elastogen.generator.robot.joint_kind import JointKind
from elastogen.generator.robot.robot import Robot

_PLAIN = frozenset((int, float, str, bool, type(None)))  # nearly all of what a large robot consists of


def canonical(value: Any) -> str:
    """Return an exact text of plain data: equal texts mean equal data."""
    if type(value) in _PLAIN:
        return repr(value)
    if isinstance(value, (tuple, list)):
        return "(" + ",".join([canonical(item) for item in value]) + ")"
    if isinstance(value, JointKind) and not dataclasses.is_dataclass(value):
        return canonical(value.name)
    if isinstance(value, sympy.Basic):
        return str(sympy.srepr(value))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        pairs = ((field.name, getattr(value, field.name)) for field in dataclasses.fields(value) if _says(value, field))
        return f"{type(value).__name__}({','.join(f'{name}={canonical(item)}' for name, item in pairs)})"
    if isinstance(value, Mapping):
        return "{" + ",".join(f"{canonical(key)}:{canonical(item)}" for key, item in value.items()) + "}"
    return repr(value)


def _says(value: Any, field: dataclasses.Field[Any]) -> bool:
    """Whether a field counts.

    What is not compared repeats what other fields say, or shapes no code.
    """
    given = getattr(value, field.name)
    if not field.compare or not field.metadata.get("later"):
        return field.compare
    return bool(given) if field.default is dataclasses.MISSING else bool(given != field.default)


def model_sha256(robot: Robot, options: EmitOptions) -> str:
    """Return the checksum that identifies an emitted model: of the robot and the emission options.

    Not the path the robot was read from, nor its experiment: they shape no code.
    """
    flexible = [link.flexible for link in robot.links if robot.points and link.flexible is not None]
    shapes = [canonical(body.beam) if body.solid is None else body.solid.digest for body in flexible]
    text = canonical(dataclasses.replace(robot, source="", experiment=None))
    return sha256("model", text, canonical(options), *shapes)  # sections of beams follow from the shapes themselves
