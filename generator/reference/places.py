"""The indices of every joint and flexible link in q and in the velocities."""

from __future__ import annotations

from dataclasses import dataclass

from elastogen.generator.robot.robot import Robot


@dataclass(frozen=True)
class Places:
    """The indices of a joint and its child in q and in the velocities."""

    q: range
    v: range
    deflection: tuple[int, int] | None  # in q and v
    elastic: tuple[range, range]  # in q and v


def places_of(robot: Robot) -> list[Places]:
    """The indices of every joint, in order."""
    found, q, v = [], 0, 0
    for joint in robot.joints:
        own = range(q, q + len(joint.type.coordinates)), range(v, v + len(joint.type.velocities))
        q, v = own[0].stop, own[1].stop
        deflection = None
        if joint.elasticity is not None:
            deflection, q, v = (q, v), q + 1, v + 1
        flexible = robot.link(joint.child).flexible
        count = 0 if flexible is None else len(flexible.coordinates)
        found.append(Places(*own, deflection, (range(q, q + count), range(v, v + count))))
        q, v = q + count, v + count
    return found
