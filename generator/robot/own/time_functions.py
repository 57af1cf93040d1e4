"""Coordinates written as functions of time, as ``sympy.physics.mechanics.dynamicsymbols`` makes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sympy
from sympy.core.function import AppliedUndef

from elastogen.generator.robot.location import Location, did_you_mean
from elastogen.generator.robot.own.terms import symbol

if TYPE_CHECKING:
    from elastogen.generator.robot.robot import Robot

_CLOCK = "t"  # what dynamicsymbols calls the time
_KINDS = ("q", "qd", "qdd")


def by_symbols(expression: sympy.Expr, robot: Robot, where: Location) -> sympy.Expr:
    """The expression with ``elbow(t)`` and its derivatives by t replaced by the symbols of that coordinate."""
    if not any(_is_time_function(node) for node in expression.atoms(AppliedUndef)):
        return expression
    values: dict[sympy.Basic, sympy.Expr] = {}
    for node in expression.atoms(sympy.Derivative):
        if _is_time_function(node.expr):
            values[node] = _replacement(node.expr, len(node.variables), robot, where)
    for node in expression.atoms(AppliedUndef):
        if _is_time_function(node):
            values[node] = _replacement(node, 0, robot, where)
    return expression.xreplace(values)


def _is_time_function(node: sympy.Basic) -> bool:
    return isinstance(node, AppliedUndef) and [str(argument) for argument in node.args] == [_CLOCK]


def _replacement(function: AppliedUndef, order: int, robot: Robot, where: Location) -> sympy.Expr:
    name = function.func.__name__
    known = robot.coordinate_names if order == 0 else robot.velocity_names
    if name not in known:
        fix = did_you_mean(
            name, known, f"name dynamicsymbols like coordinates ({', '.join(known)}), or use elastogen.symbols(robot)"
        )
        raise where.error(f"{name}({_CLOCK})", "a function of time that has the name of a coordinate", fix)
    if order >= len(_KINDS):
        raise where.error(f"derivative {order} of {name}(t)", "at most second derivatives by time", "remove it")
    return symbol(f"{_KINDS[order]}[{name}]")
