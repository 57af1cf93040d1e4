"""Frames of a robot by name: links, the tip, and points."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from elastogen.generator.robot.errors import OutputError, close_names

if TYPE_CHECKING:
    from elastogen.generator.robot.robot import Robot

TIP = "tip"  # the robot's tip link with its tool, even where a link or a point has the same name


def frame_names(robot: Robot) -> tuple[str, ...]:
    """Names of all frames: every link, the base among them, then ``tip`` and the robot's points.

    Links on fixed joints have frames too. If a link and a point have the same name, it means the link.
    """
    return tuple(dict.fromkeys([*(link.name for link in robot.links), TIP, *(point.name for point in robot.points)]))


def checked_frames(robot: Robot, frames: Sequence[str], what: str = "frames") -> tuple[str, ...]:
    """The frames, if each exists and none comes twice."""
    known = frame_names(robot)
    for name in frames:
        if name not in known:
            near = close_names(name, known, most=3, cutoff=0.5)
            fix = f"did you mean {' or '.join(map(repr, near))}?" if near else f"one of {', '.join(known)}"
            raise OutputError(f"{what}: got {name!r}, expected a link, a point or 'tip' of {robot.name}. Fix: {fix}")
        if list(frames).count(name) > 1:
            raise OutputError(f"{what}: got {name!r} twice, expected each frame once. Fix: remove one of them")
    return tuple(frames)
