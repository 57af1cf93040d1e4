"""Where every joint and every flexible link has its numbers in q and among the velocities."""

from __future__ import annotations

from dataclasses import dataclass

from elastogen.generator.robot.robot import Robot


@dataclass(frozen=True)
class Places:
    """Where a joint and its child have their numbers: in q, and among the velocities."""

    q: range
    v: range
    deflection: tuple[int, int] | None  # in q and v
    elastic: tuple[range, range]  # in q and v


def places_of(robot: Robot) -> list[Places]:
    """Of every joint, in the order of the joints."""
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
