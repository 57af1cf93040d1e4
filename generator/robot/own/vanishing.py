"""Expressions that are identically zero, though SymPy does not see it."""

from __future__ import annotations

import sympy
from sympy.core.relational import Relational

DIGITS, SMALL = 60, sympy.Float("1e-45")
_STEPS = (
    sympy.Piecewise, sympy.Max, sympy.Min, sympy.Abs, sympy.sign, sympy.Heaviside, sympy.floor, sympy.ceiling, sympy.frac,
    sympy.Mod, sympy.Sum, sympy.Product, sympy.Integral, Relational,
)  # fmt: skip


def vanishes(expression: sympy.Expr) -> bool:
    """Whether an expression is zero at three points, to 45 digits, where a smooth function that is not zero is not zero.

    Functions with steps, which may be zero in one region only, never count as vanishing, nor do expressions without a finite
    real value at these points.
    """
    if not expression.is_Add or expression.has(*_STEPS):
        return bool(expression.is_zero)
    symbols = sorted(expression.free_symbols, key=str)
    return all(_is_zero_at(expression, symbols, number) for number in (1, 2, 3))


def _is_zero_at(expression: sympy.Expr, symbols: list[sympy.Symbol], number: int) -> bool:
    """At a point with irrational coordinates between 0 and 1."""
    roots = [sympy.sqrt(sympy.prime(k + 7 * number)) % 1 for k in range(1, len(symbols) + 1)]
    values = {symbol: root.evalf(2 * DIGITS) for symbol, root in zip(symbols, roots, strict=True)}
    found = expression.evalf(DIGITS, subs=values)
    return bool(found.is_number and found.is_real and abs(found) < SMALL)
