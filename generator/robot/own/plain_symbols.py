"""Coordinates in plain symbols: ``q1``, ``qd1``, ``elbow``, and functions of time as ``dynamicsymbols`` makes them.

The numbers are those of closed forms (:func:`elastogen.derive`), whose expressions can therefore be used as they are.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import sympy
from sympy.core.function import AppliedUndef

from elastogen.generator.robot.location import Location, did_you_mean
from elastogen.generator.robot.own.terms import symbol

if TYPE_CHECKING:
    from elastogen.generator.robot.robot import Robot

_CLOCK = "t"  # what dynamicsymbols calls the time
_KINDS = ("q", "qd", "qdd")
_NUMBERED = re.compile(r"(q|qd|qdd)_?([1-9][0-9]{0,3})")


def by_symbols(expression: sympy.Expr, robot: Robot, where: Location) -> sympy.Expr:
    """The expression in the symbols of ``elastogen.symbols(robot)``; names of parameters stay what they are."""
    values: dict[sympy.Basic, sympy.Expr] = {}
    for node in expression.atoms(sympy.Derivative):
        if _is_time_function(node.expr):
            values[node] = _of_time(node.expr, len(node.variables), robot, where)
    for node in expression.atoms(AppliedUndef):
        if _is_time_function(node):
            values[node] = _of_time(node, 0, robot, where)
    for node in expression.atoms(sympy.Symbol):
        if node.name not in robot.parameters and (found := _plain(node.name, robot, where)) is not None:
            values[node] = found
    return expression.xreplace(values) if values else expression


def _is_time_function(node: sympy.Basic) -> bool:
    return isinstance(node, AppliedUndef) and [str(argument) for argument in node.args] == [_CLOCK]


def _plain(name: str, robot: Robot, where: Location) -> sympy.Symbol | None:
    """The coordinate of a plain name: its own name, or its number from 1; else None."""
    named = name if name in robot.coordinate_names else None
    numbered = None
    if match := _NUMBERED.fullmatch(name):
        kind, number = match[1], int(match[2])
        known = robot.coordinate_names if kind == "q" else robot.velocity_names
        numbered = f"{kind}[{known[number - 1]}]" if number <= len(known) else None
    if named is not None and numbered not in (None, f"q[{named}]"):
        expected = f"one meaning: {name} is the name of a coordinate, and the number of {numbered}"
        raise where.error(name, expected, "use elastogen.symbols(robot): s.q[0], s.coordinate('...')")
    if named is not None:
        return symbol(f"q[{named}]")
    return None if numbered is None else symbol(numbered)


def _of_time(function: AppliedUndef, order: int, robot: Robot, where: Location) -> sympy.Expr:
    """The symbol of ``elbow(t)`` or ``q2(t)``, or of its derivative of that order by t."""
    name = function.func.__name__
    if order >= len(_KINDS):
        raise where.error(f"derivative {order} of {name}(t)", "at most second derivatives by time", "remove it")
    known = robot.coordinate_names if order == 0 else robot.velocity_names
    if name in known and order:  # quasi-velocities have names of their own
        return symbol(f"{_KINDS[order]}[{name}]")
    numbered = _NUMBERED.fullmatch(name)
    plain = _plain(name if numbered is None or name in known else f"{_KINDS[order]}{numbered[2]}", robot, where)
    if plain is None or (numbered is not None and numbered[1] != "q"):
        fix = did_you_mean(
            name,
            known,
            f"name dynamicsymbols like coordinates ({', '.join(known)} or q1, q2, ...), or use elastogen.symbols(robot)",
        )
        raise where.error(f"{name}({_CLOCK})", "a function of time that has the name of a coordinate", fix)
    return plain
