"""Springs beside the joints, which a robot file has as a term of its equations: forces that grow with position.

Hoses and cables, balancers, and force sensors whose zero wanders with position give such forces. They are small, but what the
masses of links explain in their place is wrong on other motions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import sympy

from elastogen.generator.robot.own.terms import Symbols
from elastogen.generator.robot.robot import Robot
from elastogen.identification.measurements.read_table import Array

TERM = "identified_springs"  # name of the term


def springs_of(robot: Robot) -> Array:
    """Stiffnesses of the term, per driven velocity [N m/rad] or [N/m]; zero where there is none."""
    found = np.zeros(len(robot.velocities))
    for term in robot.terms:
        if term.name == TERM:
            slopes = [sympy.diff(term.potential, position, 2) for position in Symbols(robot).q]
            if all(slope.is_number for slope in slopes):
                found = np.array([float(slope) for slope in slopes])
    return found


def without_springs(robot: Robot) -> Robot:
    """The robot without that term; all its other terms stay."""
    return replace(robot, terms=tuple(term for term in robot.terms if term.name != TERM))


def with_springs(robot: Robot, stiffnesses: Sequence[float] | Array) -> Robot:
    """The robot with these springs, per driven velocity, in place of those of the term; no term where all are zero."""
    pairs = zip(Symbols(robot).q, map(float, stiffnesses), strict=True)
    potential = sum((sympy.Float(k) / 2 * position**2 for position, k in pairs if k), sympy.S.Zero)
    plain = without_springs(robot)
    return plain if potential == 0 else plain.with_terms(name=TERM, potential=potential)


def potential_text(robot: Robot) -> str:
    """The potential as a robot file has it."""
    names = [coordinate.name for coordinate in robot.coordinates]
    pairs = zip(names, springs_of(robot), strict=True)
    return " + ".join(f"0.5*({k:.10g})*q('{name}')**2" for name, k in pairs if k)
