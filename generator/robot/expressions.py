"""Arithmetic in the scalar fields of a robot file, such as ``"l4 + 0.1"`` or ``"-pi/2"``.

The text is parsed by Python's own grammar, and only a whitelist is accepted: numbers, ``pi``, the robot's named parameters,
``+ - * /``, powers with small integer exponents, ``sqrt sin cos`` and parentheses. It is never evaluated as Python and never
given to ``sympify``. Length, nesting and the size of numbers are limited.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

import sympy

from elastogen.generator.robot.grammar import Grammar, RejectedError
from elastogen.generator.robot.location import Location, did_you_mean
from elastogen.generator.robot.robot import Parameter, Scalar
from elastogen.generator.robot.units.fields import misfit
from elastogen.generator.robot.units.table import UnknownUnitError, parse_unit

MAX_LENGTH = 200  # characters of one expression
LARGEST = 1e18  # of any number of a robot, in SI units; beyond it something else was meant
SMALLEST = 1e-18  # of what is zero or more, in SI units: less is zero that went through some rounding

_GRAMMAR = "a number or an expression of numbers, pi, parameters, + - * / **, sqrt, sin, cos and parentheses"
_FUNCTIONS = {name: (getattr(sympy, name), range(1, 2)) for name in ("sqrt", "sin", "cos")}
_QUANTITY = re.compile(r"(?P<number>[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*(?P<unit>[A-Za-z%][A-Za-z0-9/^*(). %-]*)")
#: Names that mean something in an expression and therefore cannot name a parameter.
RESERVED_NAMES = frozenset(_FUNCTIONS) | {"pi"}


def parse_scalar(
    given: int | float | str, parameters: Mapping[str, Parameter], where: Location, with_unit: str = "write {si_number}"
) -> Scalar:
    """Return the number or SymPy expression that a scalar field of a robot file stands for.

    Anything without parameters becomes an ``int`` or a ``float``; ``0.0`` and ``1.0`` become the integers
    that keep closed forms clean. ``with_unit`` is the fix for a number with its unit behind it, ``3000 g``.
    """
    if not isinstance(given, str):
        return tidy_number(given)
    if len(given) > MAX_LENGTH:
        raise where.error(given, f"at most {MAX_LENGTH} characters", "split it with named parameters")
    misread = _number_with_unit(given, with_unit, where) or _decimal_comma(given)
    if misread is not None:
        raise where.error(given, *misread)
    try:
        result = Grammar(_GRAMMAR, lambda name: named(name, parameters), _FUNCTIONS).parse(given)
    except RejectedError as problem:
        raise where.error(given, problem.expected, problem.fix) from None
    except (SyntaxError, ValueError, MemoryError, RecursionError, OverflowError):
        raise where.error(given, _GRAMMAR, 'write for example 0.3, "l1 + 0.1" or "-pi/2"') from None
    if result.free_symbols:
        if result.has(sympy.zoo, sympy.nan, sympy.oo):
            raise where.error(given, "an expression with a finite value", "remove the division by zero")
        return result
    return _constant(result, given, where)


def _number_with_unit(given: str, fix: str, where: Location) -> tuple[str, str] | None:
    """The expectation instead of ``3000 g``, and the fix with its number in SI units."""
    found = _QUANTITY.fullmatch(given.strip())
    if found is None:
        return None
    number, text = found["number"], found["unit"]
    try:
        unit = parse_unit(text)
    except UnknownUnitError:
        return None
    other = misfit(where.field, unit)
    if other:
        return other, f"compute that number: {text} is the unit of something else"
    expected = "a number in SI units without the unit's name"
    if unit.is_si:
        return expected, fix.format(number=number, unit=text, si_number=number)
    value = unit.in_si(float(number))
    return expected, fix.format(number=number, unit=text, si_number=f"{value:.15g}, which is in {unit.si}")


def _decimal_comma(given: str) -> tuple[str, str] | None:
    """The expectation instead of ``2,0``, and the fix."""
    if not re.fullmatch(r"\s*[-+]?\d+,\d+\s*", given):
        return None
    return "a number with a decimal point", f"write {given.strip().replace(',', '.')}"


def _constant(result: sympy.Expr, given: str, where: Location) -> Scalar:
    if not result.is_number or result.is_real is not True or not math.isfinite(float(result)):
        raise where.error(given, "a finite real number", "check divisions by zero and roots of negative numbers")
    if abs(float(result)) > LARGEST:
        raise where.error(given, f"a number of at most {LARGEST:g} in SI units", "check the unit")
    return tidy_number(int(result) if result.is_Integer else float(result))


def named(name: str, parameters: Mapping[str, Parameter]) -> sympy.Expr:
    """The value of a name in an expression: pi, or a parameter."""
    if name == "pi":
        return sympy.pi
    if name not in parameters:
        known = ", ".join(parameters) or "none"
        fix = did_you_mean(name, [*parameters, *RESERVED_NAMES], "declare it under `parameters`")
        raise RejectedError(f"names of declared parameters ({known})", fix)
    return parameters[name].symbol


def tidy_number(number: int | float) -> int | float:
    """Return 0, 1 and -1 as exact integers and any other number unchanged (as a plain int or float)."""
    if number in (0, 1, -1):
        return int(number)
    return int(number) if isinstance(number, int) else float(number)


def nominal(scalar: Scalar, parameters: Mapping[str, Parameter]) -> float:
    """Return the nominal value of a scalar; NaN if it is not real."""
    if isinstance(scalar, (int, float)):
        return float(scalar)
    values = {p.symbol: sympy.Float(p.value) for p in parameters.values() if p.symbol in scalar.free_symbols}
    result = sympy.sympify(scalar.xreplace(values))
    if result.free_symbols or result.is_real is False:
        return math.nan
    try:
        return float(result)
    except (TypeError, ValueError, OverflowError):
        return math.nan
