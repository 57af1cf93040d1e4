"""A robot with further terms: every expression checked before the robot exists."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import sympy

from elastogen.generator.program.symbolic.expression_size import excess
from elastogen.generator.robot.location import Location, did_you_mean
from elastogen.generator.robot.names import check_name, check_parameter_name
from elastogen.generator.robot.own.plain_symbols import by_symbols
from elastogen.generator.robot.own.terms import TIME, Symbols, Term, symbol
from elastogen.generator.robot.robot import Parameter, Robot

_PLAIN = "write a matrix of symbols: sympy.Matrix(sympy.symbols('{}:3', real=True)), or one symbol"


def with_terms(
    robot: Robot,
    *,
    name: str | None = None,
    potential: Any = 0,
    dissipation: Any = 0,
    forces: Mapping[str, Any] | None = None,
    parameters: Mapping[str, float] | None = None,
    live: Iterable[str] = (),
) -> Robot:
    """See :meth:`Robot.with_terms`."""
    label = name if name is not None else f"term{len(robot.terms) + 1}"
    where = Location(robot.source or "python", "terms")
    check_name(label, where)
    where = where.at(label)
    if any(term.name == label for term in robot.terms):
        raise where.error(label, "a name that no other term of the robot has", "choose another name")
    robot = with_parameters(robot, {} if parameters is None else parameters, live, where)
    by_coordinate, by_frame = _forces(robot, {} if forces is None else forces, where.at("forces"))
    term = Term(
        label,
        _expression(potential, robot, where.at("potential")),
        _expression(dissipation, robot, where.at("dissipation")),
        by_coordinate,
        by_frame,
    )
    plain = {
        s: symbol(s.name) for s in term.free_symbols if s.is_Symbol and s.name in robot.parameters
    }  # whatever was assumed of them
    return add_term(robot, term.replaced(plain), where)


def add_term(robot: Robot, term: Term, where: Location) -> Robot:
    """The robot with one more term, whose symbols and functions are checked; a term in time makes ``time`` a live parameter."""
    if all(expression.is_Number and expression.is_zero for expression in term.expressions.values()):  # 0.0, too
        raise where.error("nothing", "a potential, a dissipation or forces", "give at least one that is not zero")
    if symbol(TIME) in term.free_symbols:
        robot = with_time(robot, where)
    check_symbols(robot, term, where)
    _check_code(robot, term, where)
    return replace(robot, terms=(*robot.terms, term))


def with_time(robot: Robot, where: Location) -> Robot:
    """The robot with the live parameter ``time``."""
    known = robot.parameters.get(TIME)
    if known is None:
        clock = Parameter(TIME, 0.0, "s", "time, which simulations set", live=True)
        return replace(robot, parameters={**robot.parameters, TIME: clock})
    if not known.live:
        raise where.error(TIME, "no fixed parameter called `time`: it is what the symbol t stands for", "rename the parameter")
    return robot


def with_parameters(robot: Robot, parameters: Mapping[str, float], live: Iterable[str], where: Location) -> Robot:
    """The robot with new named numbers."""
    wanted = (live,) if isinstance(live, str) or not isinstance(live, Iterable) else tuple(live)
    if not isinstance(parameters, Mapping):
        raise where.at("parameters").error(parameters, "a mapping from names to numbers", "for example {'k': 120.0}")
    fresh: dict[str, Parameter] = {}
    for name, value in parameters.items():
        here = where.at("parameters", str(name))
        check_parameter_name(name, here)
        if name in robot.parameters:
            raise here.error(name, "a name that the robot does not have yet", "choose another name")
        if isinstance(value, bool) or not isinstance(value, numbers.Real) or not math.isfinite(value):
            raise here.error(value, "a finite number", "give its nominal value in SI units")
        fresh[name] = Parameter(name, float(value))
    for name in wanted:
        if not isinstance(name, str) or name not in fresh:
            fix = did_you_mean(name, fresh, "add it to parameters")
            raise where.at("live").error(name, "a name of `parameters`", fix)
        fresh[name] = replace(fresh[name], live=True)
    return replace(robot, parameters={**robot.parameters, **fresh})


def _expression(given: Any, robot: Robot, where: Location) -> sympy.Expr:
    """A scalar expression; a matrix of one element is taken as that element."""
    if isinstance(given, sympy.MatrixBase) and given.shape == (1, 1):
        given = given[0]
    if isinstance(given, (str, bool)) or not isinstance(given, (numbers.Real, sympy.Expr)):
        raise where.error(given, "a SymPy expression", "write it with the symbols of elastogen.symbols(robot)")
    if isinstance(given, (sympy.MatrixBase, sympy.MatrixExpr)):
        raise where.error(given.shape, "one scalar expression", "take one element of it")
    if isinstance(given, sympy.Basic) and (too_much := excess(given)):
        raise where.error("a large expression", "an expression that can become C", too_much)
    return by_symbols(sympy.sympify(given), robot, where)


def _forces(
    robot: Robot, forces: Mapping[str, Any], where: Location
) -> tuple[dict[str, sympy.Expr], dict[str, tuple[sympy.Expr, ...]]]:
    """Forces on coordinates (scalars) and on frames (columns of three, with a moment of six)."""
    if not isinstance(forces, Mapping):
        raise where.error(forces, "a mapping from coordinates or frames to expressions", "for example {'elbow': ...}")
    by_coordinate, by_frame = {}, {}
    frames = Symbols(robot).frames
    for name, force in forces.items():
        here = where.at(str(name))
        if isinstance(force, sympy.MatrixExpr) and not isinstance(force, sympy.MatrixBase):
            raise here.error(
                f"a {type(force).__name__} of {force.shape}", "expressions of symbols of numbers", "write them out"
            )
        is_column = isinstance(force, sympy.MatrixBase) and force.shape != (1, 1)
        known = frames if is_column else robot.velocity_names
        if not is_column and name in frames and name not in known:
            given = f"a matrix of {force.shape}" if isinstance(force, sympy.MatrixBase) else "one expression"
            raise here.error(given, "a column of three components in the base frame for a frame", "give a 3 x 1 matrix")
        if name not in known:
            kind = "frame (for a column of three)" if is_column else "coordinate"
            raise here.error(name, f"the name of a {kind}", did_you_mean(str(name), known, f"known are {', '.join(known)}"))
        if is_column:
            if force.shape not in ((3, 1), (6, 1)):
                expected = "a column of three components in the base frame, or of six with a moment"
                raise here.error(force.shape, expected, "give a 3 x 1 or a 6 x 1 matrix")
            by_frame[name] = tuple(_expression(component, robot, here) for component in force)
        else:
            by_coordinate[name] = _expression(force, robot, here)
    return by_coordinate, by_frame


def check_symbols(robot: Robot, term: Term, where: Location) -> None:
    """Refuse unknown symbols, and velocities where they are not allowed."""
    meanings = Symbols(robot).meanings
    allowed = {
        "potential": ("q", "position", "rotation"),
        "dissipation": ("q", "qd", "position", "rotation", "velocity", "angular_velocity"),
        "forces": ("q", "qd", "position", "rotation", "velocity", "angular_velocity"),
    }
    for field, expression in term.expressions.items():
        for used in sorted(expression.free_symbols, key=str):
            here = where.at(*field.split("."))
            if isinstance(used, sympy.MatrixSymbol):
                raise here.error(f"the MatrixSymbol {used}", "symbols of numbers", _PLAIN.format(used))
            if str(used) in robot.parameters:
                continue
            if used not in meanings:
                element = _element_of(str(used), robot)
                if element:
                    raise here.error(
                        str(used), f"{element}, a parameter, which is one number", f"use sympy.Symbol({element!r})"
                    )
                fix = did_you_mean(str(used), robot.parameters, f"declare it by parameters={{{str(used)!r}: ...}}")
                raise here.error(str(used), "symbols of elastogen.symbols(robot)", fix)
            kind = meanings[used].kind
            if kind not in allowed[field.split(".")[0]]:
                raise here.error(str(used), f"no {kind} in {field}", "use `forces`, which may depend on q and qd")


def _element_of(name: str, robot: Robot) -> str | None:
    """The parameter that a name like k[0] means an element of."""
    before, bracket, _ = name.partition("[")
    return before if bracket and before in robot.parameters else None


def _check_code(robot: Robot, term: Term, where: Location) -> None:
    """Refuse expressions without C, by lowering them once."""
    from elastogen.generator.program.from_sympy import ExpressionLowering, LoweringError
    from elastogen.generator.program.graph import Graph

    graph = Graph()
    lower = ExpressionLowering(graph, {s: graph.input(str(s)) for s in term.free_symbols})
    for field, expression in term.expressions.items():
        try:
            lower(expression)
        except LoweringError as problem:
            raise where.at(*field.split(".")).error(expression, "an expression that can become C", str(problem)) from None
