"""Ranges of coordinates, for random configurations."""

from __future__ import annotations

import math

from elastogen.generator.robot.robot import Robot


def position_ranges(robot: Robot) -> tuple[tuple[float, float], ...]:
    """Per velocity: the limits of a joint, or else half a revolution or 1 m to both sides; modes stay undeformed."""
    found: list[tuple[float, float]] = []
    for joint in robot.joints:
        for velocity in joint.type.velocities:
            far = math.pi if velocity.unit == "rad" else 1.0
            low, high = joint.limits.lower, joint.limits.upper
            found.append((-far if low is None else low, far if high is None else high))
        flexible = robot.link(joint.child).flexible
        count = (joint.elasticity is not None) + (0 if flexible is None else len(flexible.coordinates))
        found += [(0.0, 0.0)] * count
    return tuple(found)
