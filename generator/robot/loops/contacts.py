"""Contacts of a robot: frames whose motion stops while they are active."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import hypot, isfinite
from numbers import Real
from typing import TYPE_CHECKING, Any

from elastogen.generator.robot.errors import OutputError, shortened
from elastogen.generator.robot.frames import checked_frames

if TYPE_CHECKING:
    from elastogen.generator.robot.robot import Robot

POINT, FLAT = 3, 6  # rows: a point that may rotate, a foot that may not
MOST_CONTACTS = 12  # more of them make more code than a compiler takes in good time
KEYS = ("frame", "rows", "normal")


@dataclass(frozen=True)
class Contact:
    """A frame that touches: its origin does not move (3 rows), nor does it rotate (6 rows)."""

    frame: str
    rows: int = POINT
    normal: tuple[float, float, float] = (0.0, 0.0, 1.0)  # of what it touches, in the base frame; a unit vector


def with_contacts(robot: Robot, given: Sequence[Any]) -> Robot:
    """The robot with these contacts, in place of those that it had."""
    if not given or len(given) > MOST_CONTACTS:
        fix = "for example contacts=['left_foot', {'frame': 'right_foot', 'rows': 6}]"
        raise OutputError(f"contacts: got {len(given)} of them, expected 1 to {MOST_CONTACTS}. Fix: {fix}")
    contacts = tuple(_contact(robot, each) for each in given)
    checked_frames(robot, [contact.frame for contact in contacts], "contacts")
    base = robot.links[0].name
    if any(contact.frame == base for contact in contacts):
        raise OutputError(f"contacts: {base!r} is the base of {robot.name}, expected a frame that moves. Fix: leave it out")
    return replace(robot, contacts=contacts)


def _contact(robot: Robot, given: Any) -> Contact:
    if isinstance(given, Contact):
        given = {"frame": given.frame, "rows": given.rows, "normal": given.normal}
    if isinstance(given, str):
        given = {"frame": given}
    if not isinstance(given, Mapping) or "frame" not in given or not {*given} <= {*KEYS}:
        expected = "the name of a frame, or a mapping with frame, rows (3 or 6) and normal"
        raise OutputError(
            f"contacts: got {shortened(given)}, expected {expected}. Fix: for example {{'frame': 'foot', 'rows': 6}}"
        )
    frame, rows = given["frame"], given.get("rows", POINT)
    if not isinstance(frame, str):
        raise OutputError(f"contacts: frame {shortened(frame)}, expected a name. Fix: a link, a point or 'tip' of {robot.name}")
    if isinstance(rows, bool) or rows not in (POINT, FLAT):
        raise OutputError(f"contacts: {frame}: rows={shortened(rows)}, expected 3 (a point) or 6 (a flat foot).")
    return Contact(frame, int(rows), _unit(frame, given.get("normal", (0.0, 0.0, 1.0))))


def _unit(frame: str, given: Any) -> tuple[float, float, float]:
    found = unit_vector(given)
    if found is None:
        raise OutputError(
            f"contacts: {frame}: normal={shortened(given)}, expected three numbers that are not all zero, as [0, 0, 1]."
        )
    return found


def unit_vector(given: Any) -> tuple[float, float, float] | None:
    """Three numbers as a unit vector; None where they are not three finite numbers, or all zero."""
    try:
        x, y, z = (float(entry) for entry in given if isinstance(entry, Real))
    except (TypeError, ValueError):
        return None
    length = hypot(x, y, z)
    return (x / length, y / length, z / length) if isfinite(length) and length > 0.0 else None
