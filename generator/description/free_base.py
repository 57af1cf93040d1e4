"""Robots with a free base: their base link on a floating joint."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

from elastogen.generator.description.load_options import Base
from elastogen.generator.joints.kinds import FLOATING
from elastogen.generator.robot.location import Location
from elastogen.generator.robot.robot import Joint, Link, Robot

BASES = get_args(Base)
JOINTS, WORLDS = ("base", "floating_base"), ("world", "inertial_frame")  # names of what is added: the first that is not taken


def with_base(robot: Robot, base: str, where: Location) -> Robot:
    """Return the robot with its base as it is ("fixed"), or free in space ("floating"; "driven": with drives on that joint).

    The floating joint is called ``base``, its coordinates are base.x, base.y, base.z, base.qx, ..., base.qw. It carries the
    link that was the base; the new base, in whose frame gravity and poses are, is a link ``world`` without a body. Where the
    robot has such names itself, they are ``floating_base`` and ``inertial_frame``.
    """
    if base not in BASES:
        raise where.at("base").error(base, "fixed, floating or driven", "choose one")
    if base == "fixed":
        return robot
    joint = _unused(JOINTS, [joint.name for joint in robot.joints], "joint", base, where)
    world = _unused(WORLDS, [link.name for link in robot.links], "link", base, where)
    free = Joint(joint, FLOATING, world, robot.links[0].name, driven=True if base == "driven" else None)
    return replace(robot, links=(Link(world), *robot.links), joints=(free, *robot.joints))


def _unused(names: tuple[str, ...], taken: list[str], what: str, base: str, where: Location) -> str:
    for name in names:
        if name not in taken:
            return name
    expected = f"no {what} called {names[-1]}, which the floating base needs"
    raise where.at("base").error(base, expected, "rename it, or write the floating joint yourself")
