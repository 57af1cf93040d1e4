"""Dry friction of the joints as expressions, which the polynomials of closed forms exclude."""

from __future__ import annotations

from dataclasses import replace

import sympy

from elastogen.generator.robot.robot import Actuation, Robot

_DRY = ("coulomb", "stribeck", "load", "viscous_asymmetry", "coulomb_asymmetry")


def without_dry_friction(robot: Robot) -> tuple[Robot, dict[int, Actuation]]:
    """The robot without friction, and the drives by the numbers of their velocities.

    If there is no dry friction, or there are quasi-velocities or followers, return the robot itself, and no drive.
    """
    dry = any(getattr(joint.actuation, key) != 0 for joint in robot.joints for key in _DRY)
    if not dry or not all(joint.by_screws for joint in robot.joints):
        return robot, {}
    names = robot.velocity_names
    drives: dict[int, Actuation] = {}
    for joint in robot.joints:
        drives |= {names.index(c.name(joint.name)): joint.actuation for c in joint.type.velocities}
    joints = tuple(
        replace(joint, actuation=replace(joint.actuation, viscous=0, offset=0, **dict.fromkeys(_DRY, 0)))
        for joint in robot.joints
    )
    return replace(robot, joints=joints), drives


def friction_of(drive: Actuation, rate: sympy.Expr, load: sympy.Expr) -> sympy.Expr:
    """The friction of a joint at a velocity, whose drive holds a load [N m] or [N]."""
    sign = sympy.tanh(rate / drive.coulomb_velocity)
    sliding = drive.coulomb
    if drive.stribeck != 0:
        sliding += drive.stribeck * sympy.exp(-((rate / drive.stribeck_velocity) ** 2))
    if drive.load != 0:
        sliding += drive.load * sympy.sqrt(load**2 + drive.load_width**2)
    total = drive.offset + drive.viscous * rate
    if sliding != 0:
        total += sliding * sign
    if drive.viscous_asymmetry != 0:
        total += drive.viscous_asymmetry * rate * sign
    return total + (drive.coulomb_asymmetry * sign**2 if drive.coulomb_asymmetry != 0 else 0)
