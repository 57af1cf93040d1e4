"""``<equality>`` of MJCF: joints that follow others; what closes loops is refused by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import sympy

from elastogen.generator.description.couplings import couple
from elastogen.generator.joints.coupled import leader
from elastogen.generator.robot.location import Location
from elastogen.generator.robot.robot import Robot

Numbers = Mapping[str, Any]


def constrained(
    robot: Robot, equalities: Sequence[Numbers], joints: Sequence[Numbers], labels: Sequence[str], mimic: str, where: Location
) -> Robot:
    """Return the robot with the active equalities of the compiled model.

    An equality has the numbers of what it ties (``ends``: joints, bodies or, with ``sites``, sites) and MuJoCo's ``data``.
    """
    positions: dict[str, sympy.Expr] = {}
    for equality in equalities:
        here = where.at("equality", equality["name"] or equality["type"])
        if equality["type"] != "joint" or mimic == "error":
            fix = "cut the loop (a robot is a tree), or set active='false' on the constraint"
            raise here.error(f"<{equality['type']}>", "a tree without constraints", fix)
        if mimic == "independent":
            continue
        follower = labels[equality["ends"][0]]
        if follower in positions:
            raise here.error(follower, "joints that follow in one way", "remove one of the two equalities")
        positions[follower] = _polynomial(equality, joints, labels, here)
    return couple(robot, positions, where)


def _polynomial(equality: Numbers, joints: Sequence[Numbers], labels: Sequence[str], here: Location) -> sympy.Expr:
    """Y - y0 = sum a_k (x - x0)^k, where x0 and y0 are where the file draws the joints."""
    first, second = equality["ends"]
    for end in (first, second):
        if end >= 0 and joints[end]["type"] not in ("hinge", "slide"):
            raise here.error(labels[end], "a joint with one coordinate", "name a hinge or a slide")
    coefficients = [_exact(c) for c in equality["data"][:5]]
    start = _exact(joints[first]["reference"])
    if second < 0:
        return start + coefficients[0]
    x = leader(labels[second]) - _exact(joints[second]["reference"])
    return start + sum((a * x**k for k, a in enumerate(coefficients)), sympy.Integer(0))


def _exact(number: float) -> sympy.Expr:
    return sympy.Integer(round(number)) if number == round(number) else sympy.Float(float(number))
