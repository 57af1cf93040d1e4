"""Symbols in which closed forms are typed in, and the comparison of trigonometric expressions."""

from __future__ import annotations

import sympy
from sympy import Matrix, cos, sin

l1, l2, l3, l4, l5, l6, l7 = sympy.symbols("l1:8", real=True)
g = -sympy.Symbol("gravity_z", real=True)  # the paper's g acts along -z
q1, q2, q3, q4, q5 = sympy.symbols("q1:6", real=True)
d1, d2, d3, d4, d5 = sympy.symbols("qd1:6", real=True)
a1, a2, a3, a4, a5 = sympy.symbols("qdd1:6", real=True)
c2, s2, c4, s4, c5, s5 = cos(q2), sin(q2), cos(q4), sin(q4), cos(q5), sin(q5)


def vanishes(expr: sympy.Expr) -> bool:
    """Whether an expression in sin and cos of single coordinates is zero, by polynomial division by s^2 + c^2 - 1."""
    angles = {function.args[0] for function in expr.atoms(sin, cos)}
    for angle in angles:
        c, s = sympy.Dummy("c"), sympy.Dummy("s")
        expr = expr.subs({cos(angle): c, sin(angle): s})
        expr = sympy.rem(sympy.Poly(expr, c), sympy.Poly(c**2 + s**2 - 1, c)).as_expr()
    return sympy.expand(expr) == 0


def same(derived: Matrix, typed: list) -> bool:
    expected = Matrix(typed)
    assert derived.shape == expected.shape
    return all(vanishes(sympy.expand_trig(entry)) for entry in derived - expected)
