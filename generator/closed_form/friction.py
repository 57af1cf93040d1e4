"""Friction of a joint as an expression."""

from __future__ import annotations

import sympy

from elastogen.generator.robot.robot import Actuation


def friction_of(drive: Actuation, rate: sympy.Expr, load: sympy.Expr) -> sympy.Expr:
    """Of a joint at a velocity, whose drive holds a load [N m] or [N]; only what the robot has."""
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
