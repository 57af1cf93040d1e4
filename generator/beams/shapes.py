"""Functions along a beam from what a robot file gives: expressions in x and L, eigenfunctions, sampled tables.

Polynomials and tables become curves exactly. Other smooth functions (eigenfunctions, expressions with sin, cos, sqrt or
a division by x) become Taylor pieces short enough that the first neglected term is below the rounding of a double.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache
from itertools import pairwise
from typing import Any

import mpmath
import numpy as np
import sympy

from elastogen.generator.beams.piecewise import WHOLE, Curve, Number, as_fraction
from elastogen.generator.robot.location import Location

S = sympy.Symbol("s", real=True)  # x / L
DIGITS = 50  # of the arithmetic in which Taylor pieces are computed
DEGREE = 16
NEGLIGIBLE = 1e-18  # of the last terms of a Taylor piece, relative to the function
MAX_HALVINGS = 12
SMALL_TIP = 1e-3  # tip value of a shape, relative to its largest, below which it is scaled by the largest


def from_expression(expression: Number, where: Location) -> Curve:
    """Return the curve of an expression in :data:`S`; parameters only as coefficients of a polynomial."""
    given = sympy.sympify(as_fraction(expression))
    if given.is_polynomial(S):
        coefficients = sympy.Poly(sympy.expand(given), S).all_coeffs()
        return Curve.polynomial(as_fraction(c) for c in reversed(coefficients))
    symbols = sorted(symbol.name for symbol in given.free_symbols - {S})
    if symbols:
        raise where.error(
            str(given.subs(S, sympy.Symbol("x") / sympy.Symbol("L"))),
            f"a polynomial in x where parameters ({', '.join(symbols)}) occur",
            "write numbers for the parameters, or a polynomial",
        )
    return _smooth(sympy.lambdify(S, given, "mpmath"), str(given), where)


def _smooth(function: Callable[[Any], Any], shown: str, where: Location) -> Curve:
    """Taylor pieces of a smooth function, halved until they converge."""
    breaks: list[Fraction] = [Fraction(0)]
    pieces: list[tuple[Number, ...]] = []
    waiting = [(Fraction(0), Fraction(1), 0)]
    with mpmath.workdps(DIGITS):
        try:
            size = max(abs(function(mpmath.mpf(i) / 16)) for i in range(17))
        except (ZeroDivisionError, ValueError):
            size = mpmath.inf
        while waiting and mpmath.isfinite(size):
            left, right, halvings = waiting.pop()
            width = mpmath.mpf((right - left).numerator) / (right - left).denominator
            start = mpmath.mpf(left.numerator) / left.denominator
            terms = [c * width**k for k, c in enumerate(mpmath.taylor(function, start, DEGREE))]
            if all(mpmath.im(c) == 0 for c in terms) and max(abs(c) for c in terms[-2:]) <= NEGLIGIBLE * size:
                pieces.append(tuple(float(mpmath.re(c)) for c in terms))
                breaks.append(right)
            elif halvings < MAX_HALVINGS:
                middle = (left + right) / 2
                waiting += [(middle, right, halvings + 1), (left, middle, halvings + 1)]
            else:
                size = mpmath.inf
    if not mpmath.isfinite(size):
        raise where.error(shown, "a function that is smooth from s = x/L = 0 to 1", "use a polynomial or a table")
    return Curve(tuple(breaks), tuple(pieces))


def eigenvalue(number: int, tip_mass_ratio: float = 0.0) -> Any:
    """Return z of 1 + cos z cosh z + mu z (cos z sinh z - sin z cosh z) = 0, mu = tip mass / (mass per length L).

    The clamped-free roots are near (n - 1/2) pi; a tip mass moves them down towards those of a beam pinned at its tip,
    near (n - 3/4) pi (and the first towards 0).
    """

    def characteristic(z: Any) -> Any:
        cos, sin, tanh = mpmath.cos(z), mpmath.sin(z), mpmath.tanh(z)
        return 1 / mpmath.cosh(z) + cos + tip_mass_ratio * z * (cos * tanh - sin)

    with mpmath.workdps(DIGITS):
        high = mpmath.pi * (number - mpmath.mpf(1) / 2) + (mpmath.mpf("0.31") if number == 1 else mpmath.mpf("0.03"))
        low = mpmath.pi * (number - mpmath.mpf(3) / 4) - mpmath.mpf("0.01") if number > 1 else mpmath.mpf("1e-6")
        for _ in range(4 * DIGITS):  # bisection: the characteristic changes its sign once in between
            middle = (low + high) / 2
            if (characteristic(middle) > 0) == (number % 2 == 1):
                low = middle
            else:
                high = middle
        return low


@cache
def eigenfunction(number: int, tip_mass_ratio: float = 0.0) -> Curve:
    """Return the n-th bending eigenfunction of a uniform clamped beam, free or with a tip mass, phi(L) = 1.

    phi = cosh zs - cos zs - sigma (sinh zs - sin zs), sigma = (cosh z + cos z) / (sinh z + sin z): no tip moment.
    If a heavy tip mass hardly lets the tip move (below 1e-3 of the largest deflection), the largest deflection is 1.
    """
    with mpmath.workdps(DIGITS + 10 + 2 * number):
        z = eigenvalue(number, tip_mass_ratio)
        sigma = (mpmath.cosh(z) + mpmath.cos(z)) / (mpmath.sinh(z) + mpmath.sin(z))

        def derivatives(s: Any) -> list[Any]:
            """phi and its first three derivatives by zs; the fourth is phi again."""
            cosh, sinh, cos, sin = mpmath.cosh(z * s), mpmath.sinh(z * s), mpmath.cos(z * s), mpmath.sin(z * s)
            return [
                cosh - cos - sigma * (sinh - sin),
                sinh + sin - sigma * (cosh - cos),
                cosh + cos - sigma * (sinh + sin),
                sinh - sin - sigma * (cosh + cos),
            ]

        values = [derivatives(mpmath.mpf(i) / 100)[0] for i in range(101)]
        size = max(values, key=abs)
        size = values[-1] if abs(values[-1]) > SMALL_TIP * abs(size) else size
        count = 2 ** int(mpmath.ceil(mpmath.log(2 * z, 2)))  # pieces of at most half a radian: 0.5^17 / 17! < 1e-19
        count = max(count, 1)
        pieces = []
        for i in range(count):
            cycle = derivatives(mpmath.mpf(i) / count)
            pieces.append(tuple(float(cycle[k % 4] / size * (z / count) ** k / mpmath.factorial(k)) for k in range(DEGREE + 1)))
    return Curve(tuple(Fraction(i, count) for i in range(count + 1)), tuple(pieces))


def from_table(s: Sequence[float], values: Sequence[float], slopes: Sequence[float] | None, clamped_slope: bool) -> Curve:
    """Return the cubic Hermite interpolation of values and slopes d/ds at the places s, 0 first and 1 last.

    Without slopes it is the cubic spline: no slope (``clamped_slope``) or no curvature at s = 0, no curvature at s = 1.
    """
    if slopes is None:
        slopes = _spline_slopes(np.asarray(s, float), np.asarray(values, float), clamped_slope)
    breaks = _breaks(s)
    pieces: list[tuple[Number, ...]] = []
    for i in range(len(breaks) - 1):
        width = breaks[i + 1] - breaks[i]
        left, right, m_left, m_right = (
            as_fraction(float(values[i])),
            as_fraction(float(values[i + 1])),
            width * as_fraction(float(slopes[i])),
            width * as_fraction(float(slopes[i + 1])),
        )
        rise = right - left
        pieces.append((left, m_left, 3 * rise - 2 * m_left - m_right, m_left + m_right - 2 * rise))
    return Curve(breaks, tuple(pieces))


def from_samples(s: Sequence[float], values: Sequence[Number]) -> Curve:
    """Return the piecewise linear interpolation of the values at the places s, 0 first and 1 last."""
    known = [as_fraction(value) for value in values]
    return Curve(_breaks(s), tuple((a, b - a) for a, b in pairwise(known)))


def _breaks(s: Sequence[float]) -> tuple[Fraction, ...]:
    inner = (Fraction(repr(float(place))) for place in s[1:-1])
    return (WHOLE[0], *inner, WHOLE[1])


def _spline_slopes(s: Any, values: Any, clamped_slope: bool) -> list[float]:
    """Slopes of the interpolating cubic spline: continuous second derivative at inner points."""
    n = len(s)
    matrix, right = np.zeros((n, n)), np.zeros(n)
    widths = np.diff(s)
    rates = np.diff(values) / widths
    for i in range(1, n - 1):
        a, b = widths[i - 1], widths[i]
        matrix[i, i - 1 : i + 2] = b, 2 * (a + b), a
        right[i] = 3 * (b * rates[i - 1] + a * rates[i])
    matrix[0, 0] = 1
    if not clamped_slope:
        matrix[0, :2] = 2, 1
        right[0] = 3 * rates[0]
    matrix[-1, -2:] = 1, 2
    right[-1] = 3 * rates[-1]
    return [float(slope) for slope in np.linalg.solve(matrix, right)]
