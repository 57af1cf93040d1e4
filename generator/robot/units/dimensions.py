"""The dimension of an expression in parameters, if their units determine it.

A number in a sum has the dimension of its neighbours: ``l1 + 0.1``. A factor may have any (``9.81 * m1`` is a force to its
author), so only expressions without factors are known for certain.
"""

from __future__ import annotations

from collections.abc import Mapping

import sympy

from elastogen.generator.robot.location import Location
from elastogen.generator.robot.robot import Parameter
from elastogen.generator.robot.units.table import NUMBER, Dimension, parse_unit, shown


def check_dimension(value: object, unit: str, parameters: Mapping[str, Parameter], where: Location) -> None:
    """Refuse an expression whose parameters certainly give another unit; ``""`` is any unit."""
    if not isinstance(value, sympy.Expr) or not value.free_symbols:
        return
    found = _Reader(parameters, where, value).dimension(value)
    if unit and found is not None and found != parse_unit(unit).dimension:
        used = ", ".join(f"{p.name} [{p.unit}]" for p in _used(value, parameters) if p.unit)
        raise where.error(
            f"{value}, which is {shown(found)} by the units of its parameters: {used}",
            f"a value [{unit}]",
            "correct the unit of the parameter, or the expression",
        )


def _used(value: sympy.Expr, parameters: Mapping[str, Parameter]) -> list[Parameter]:
    return [p for p in parameters.values() if p.symbol in value.free_symbols]


class _Reader:
    """Walks one expression; None stands for a dimension that is not known."""

    def __init__(self, parameters: Mapping[str, Parameter], where: Location, whole: sympy.Expr) -> None:
        self.units = {p.symbol: parse_unit(p.unit).dimension if p.unit else None for p in parameters.values()}
        self.where, self.whole = where, whole

    def dimension(self, value: sympy.Basic) -> Dimension | None:
        if isinstance(value, sympy.Symbol):
            return self.units.get(value)
        if isinstance(value, sympy.Add):
            return self._same([term for term in value.args if term.free_symbols])
        if isinstance(value, sympy.Mul):
            return self._product(value)
        if isinstance(value, sympy.Pow) and value.exp.is_Rational:
            base = self.dimension(value.base)
            return None if base is None else tuple(exponent * value.exp.p / value.exp.q for exponent in base)
        if isinstance(value, (sympy.Abs, sympy.Max, sympy.Min)):
            return self._same([argument for argument in value.args if argument.free_symbols])
        if isinstance(value, (sympy.sin, sympy.cos)):
            for argument in value.args:
                found = self.dimension(argument)
                if found not in (None, NUMBER):
                    raise self._refused(f"{argument}, which is {shown(found)}, in {value.func}()", "a number or an angle there")
            return NUMBER
        return None

    def _product(self, value: sympy.Mul) -> Dimension | None:
        dimension = NUMBER
        known = True
        for factor in value.args:
            if factor == -1:
                continue
            one = self.dimension(factor) if factor.free_symbols else None  # a factor of any dimension
            known = known and one is not None
            dimension = tuple(a + b for a, b in zip(dimension, one or NUMBER, strict=True))
        return dimension if known else None

    def _same(self, terms: list[sympy.Basic]) -> Dimension | None:
        known: dict[Dimension, sympy.Basic] = {}
        for term in terms:
            found = self.dimension(term)
            if found is not None:
                known.setdefault(found, term)
        if len(known) > 1:
            kinds = " and ".join(f"{term} [{shown(found)}]" for found, term in known.items())
            raise self._refused(f"a sum of {kinds}", "terms of one dimension")
        return next(iter(known), None)

    def _refused(self, given: str, expected: str) -> Exception:
        return self.where.error(f"{given}, in {self.whole}", expected, "correct the unit of the parameter, or the expression")
