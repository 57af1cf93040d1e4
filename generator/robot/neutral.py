"""The configuration in which no joint has moved."""

from __future__ import annotations

from elastogen.generator.robot.robot import Robot


def neutral(robot: Robot) -> tuple[float, ...]:
    """Zeros, and quaternions without rotation."""
    found: dict[str, float] = {}
    for joint in robot.joints:
        names = (coordinate.name(joint.name) for coordinate in joint.type.coordinates)
        found |= dict(zip(names, joint.type.neutral, strict=True))
    return tuple(found.get(name, 0.0) for name in robot.coordinate_names)
