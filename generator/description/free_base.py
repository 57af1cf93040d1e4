"""Robots that are not bolted down: their base link on a floating joint."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, TypeAlias

from elastogen.generator.joints.kinds import FLOATING
from elastogen.generator.robot.location import Location
from elastogen.generator.robot.robot import Joint, Link, Robot

Base: TypeAlias = Literal["fixed", "floating", "driven"]
BASES = ("fixed", "floating", "driven")
JOINT, WORLD = "base", "world"


def with_base(robot: Robot, base: str, where: Location) -> Robot:
    """Return the robot with its base as it is ("fixed"), or free in space ("floating"; "driven": with drives on that joint).

    The floating joint is called ``base``, its coordinates are base.x, base.y, base.z, base.qx, ..., base.qw. It carries the
    link that was the base; the new base, in whose frame gravity and poses are, is a link ``world`` without a body.
    """
    if base not in BASES:
        raise where.at("base").error(base, "fixed, floating or driven", "choose one")
    if base == "fixed":
        return robot
    for what, name, names in (
        ("joint", JOINT, [joint.name for joint in robot.joints]), ("link", WORLD, [link.name for link in robot.links])
    ):  # fmt: skip
        if name in names:
            expected = f"no {what} called {name}, which the floating base needs"
            raise where.at("base").error(base, expected, "rename it, or write the floating joint yourself")
    joint = Joint(JOINT, FLOATING, WORLD, robot.links[0].name, driven=True if base == "driven" else None)
    return replace(robot, links=(Link(WORLD), *robot.links), joints=(joint, *robot.joints))
