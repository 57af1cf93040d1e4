"""The operations of a graph in SymPy, and numbers of a graph as numbers of SymPy."""

from __future__ import annotations

from collections.abc import Callable

import sympy

from elastogen.generator.program.operations import Op

LARGEST_INTEGER = 2.0**53  # beyond, neighbours of a floating point number are no integers


def number(value: float) -> sympy.Expr:
    """Convert a floating point number to one of SymPy; whole numbers become integers, so that 2 x - x is x."""
    whole = value.is_integer() and abs(value) < LARGEST_INTEGER
    return sympy.Integer(int(value)) if whole else sympy.Float(value)


def _selected(decides: sympy.Expr, x: sympy.Expr, y: sympy.Expr) -> sympy.Expr:
    condition = sympy.StrictLessThan(decides, 0, evaluate=False)
    return sympy.Piecewise((x, condition), (y, sympy.true), evaluate=False)


FUNCTIONS: dict[Op, Callable[..., sympy.Expr]] = {
    Op.SIN: sympy.sin, Op.COS: sympy.cos, Op.SQRT: sympy.sqrt, Op.TANH: sympy.tanh, Op.EXP: sympy.exp, Op.LOG: sympy.log,
    Op.ASIN: sympy.asin, Op.ACOS: sympy.acos, Op.ATAN: sympy.atan, Op.SINH: sympy.sinh, Op.COSH: sympy.cosh,
    Op.ASINH: sympy.asinh, Op.ACOSH: sympy.acosh, Op.ATANH: sympy.atanh, Op.ABS: sympy.Abs, Op.ERF: sympy.erf,
    Op.FLOOR: sympy.floor, Op.ATAN2: sympy.atan2,
    Op.POW: lambda x, y: sympy.Pow(x, y),
    Op.MIN: lambda x, y: sympy.Min(x, y, evaluate=False),
    Op.MAX: lambda x, y: sympy.Max(x, y, evaluate=False),
    Op.SELECT: _selected,
}  # fmt: skip
"""Operations beside sums, products and quotients. Comparisons stay as they are: SymPy would ask what is known of symbols."""
