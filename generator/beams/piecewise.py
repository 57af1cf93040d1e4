"""Functions along a beam: piecewise polynomials in s = x / L, exact where their coefficients are.

Coefficients are fractions (exact), floats (shapes that are not polynomials, see :mod:`beam_shapes`) or SymPy
expressions in the robot's parameters; sums, products, derivatives and integrals are exact for the first and the last.
Finite-element shapes, sampled tables, polynomials and the Taylor pieces of eigenfunctions are all curves, so that one
set of integrals serves every kind of flexible beam.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
import sympy

from elastogen.generator.robot.expressions import tidy_number
from elastogen.generator.robot.robot import Scalar

Number: TypeAlias = "int | Fraction | float | sympy.Expr"
Breaks: TypeAlias = "tuple[Fraction, ...]"

ROUNDING = 1e-13  # integrals below this, relative to the norms of their factors, are zero
MESHED = 24  # most functions on one element of a mesh; more are products of shapes, which no other element repeats
MEETING = 6  # accelerations take the second derivative, rotated frames the third; then two or three more for derivatives
WHOLE: Breaks = (Fraction(0), Fraction(1))
NOTHING: tuple[Number, ...] = (0,)  # the piece of a curve where it vanishes


def as_fraction(number: Number) -> Number:
    """Return a float as the fraction that its decimal digits mean, and any other number unchanged."""
    if isinstance(number, sympy.Float):
        return Fraction(repr(float(number)))
    if isinstance(number, sympy.Rational):
        return Fraction(int(number.p), int(number.q))
    if isinstance(number, sympy.Expr):
        return number.xreplace({f: sympy.Rational(repr(float(f))) for f in number.atoms(sympy.Float)})
    return Fraction(repr(float(number))) if isinstance(number, float) else Fraction(number)


def to_scalar(number: Number) -> Scalar:
    """Return a result as the robot's data has it: an int, a float, or an expanded expression in parameters."""
    if isinstance(number, sympy.Expr):
        expanded = sympy.expand(number)
        if expanded.free_symbols:
            return expanded
        number = as_fraction(expanded) if isinstance(expanded, (sympy.Float, sympy.Rational)) else float(expanded)
    if isinstance(number, Fraction) and number.denominator == 1 and abs(number) < 10**15:
        return int(number)
    return tidy_number(number if isinstance(number, int) else float(number))


def is_zero(number: Number) -> bool:
    """Whether the number is zero as it stands."""
    return bool(number == 0)


@dataclass(frozen=True)
class Curve:
    """A piecewise polynomial of s in [0, 1].

    ``pieces[i]`` holds the coefficients (constant first) in t, which goes from 0 to 1 between breaks[i] and the next.
    """

    breaks: Breaks
    pieces: tuple[tuple[Number, ...], ...]

    @classmethod
    def polynomial(cls, coefficients: Iterable[Number]) -> Curve:
        """The polynomial sum_k coefficients[k] s^k."""
        return cls(WHOLE, (tuple(coefficients) or (0,),))

    @property
    def start(self) -> Number:
        """The value at s = 0."""
        return self.pieces[0][0]

    @property
    def end(self) -> Number:
        """The value at s = 1."""
        return _total(self.pieces[-1])

    def __add__(self, other: Curve) -> Curve:
        """The sum of two curves."""
        left, right = common(self, other)
        return Curve(left.breaks, tuple(_added(a, b) for a, b in zip(left.pieces, right.pieces, strict=True)))

    def __mul__(self, other: Curve) -> Curve:
        """The product of two curves."""
        left, right = common(self, other)
        return Curve(left.breaks, tuple(_product(a, b) for a, b in zip(left.pieces, right.pieces, strict=True)))

    def scaled(self, factor: Number) -> Curve:
        """The curve times a constant."""
        return Curve(self.breaks, tuple(p if p == NOTHING else tuple(factor * c for c in p) for p in self.pieces))

    def derivative(self) -> Curve:
        """The derivative with respect to s (one-sided at breaks where it jumps)."""
        return Curve(
            self.breaks,
            tuple(
                NOTHING if len(piece) == 1 else _slope(piece, right - left)
                for piece, (left, right) in zip(self.pieces, pairwise(self.breaks), strict=True)
            ),
        )

    def integral_from_start(self) -> Curve:
        """The integral from 0 to s."""
        pieces = []
        before: Number = Fraction(0)
        for piece, width in zip(self.pieces, self.widths, strict=True):
            pieces.append((before, *(width * c / (k + 1) for k, c in enumerate(piece))))
            before = _total(pieces[-1])
        return Curve(self.breaks, tuple(pieces))

    @property
    def widths(self) -> tuple[Fraction, ...]:
        """The lengths of the pieces in s."""
        return tuple(b - a for a, b in pairwise(self.breaks))

    def refined(self, breaks: Breaks) -> Curve:
        """The same curve on a finer division."""
        if breaks == self.breaks:
            return self
        if len(self.pieces) == 1 and len(self.pieces[0]) == 1:
            return Curve(breaks, self.pieces * (len(breaks) - 1))
        pieces: list[tuple[Number, ...]] = []
        i = 0
        for left, right in pairwise(breaks):
            while self.breaks[i + 1] <= left:
                i += 1
            if len(self.pieces[i]) == 1:
                pieces.append(self.pieces[i])
                continue
            width = self.breaks[i + 1] - self.breaks[i]
            pieces.append(_restricted(self.pieces[i], (left - self.breaks[i]) / width, (right - left) / width))
        return Curve(breaks, tuple(pieces))

    def value(self, s: float) -> float:
        """The value at s, for curves without parameters."""
        i = next((i for i, b in enumerate(self.breaks[1:-1]) if s < b), len(self.pieces) - 1)
        t = (s - float(self.breaks[i])) / float(self.breaks[i + 1] - self.breaks[i])
        total = 0.0
        for c in reversed(self.pieces[i]):
            total = total * t + float(c)
        return total

    def substituted(self, values: Mapping[sympy.Symbol, Number]) -> Curve:
        """The curve with numbers for parameters."""
        return Curve(self.breaks, tuple(tuple(_substituted(c, values) for c in piece) for piece in self.pieces))


def common(*curves: Curve) -> tuple[Curve, ...]:
    """Return the curves on one division."""
    first = curves[0].breaks
    if all(curve.breaks == first for curve in curves):
        return curves
    divisions = {id(curve.breaks): curve.breaks for curve in curves}  # the shapes of one mesh share theirs
    breaks = tuple(sorted({b for division in divisions.values() for b in division}))
    return tuple(curve.refined(breaks) for curve in curves)


def is_smooth(curve: Curve) -> bool:
    """Whether its pieces are those of one function: where they meet, value and ``MEETING`` derivatives agree."""
    for part in _parts(curve).values():
        for _ in range(MEETING + 1):
            size = max(sum(abs(float(c)) for c in piece) for piece in part.pieces)
            if any(abs(float(_total(a)) - float(b[0])) > 1e-9 * size for a, b in pairwise(part.pieces)):
                return False
            part = part.derivative()
    return True


def gram(weight: Curve, curves: Sequence[Curve], start: Number = 0) -> dict[tuple[int, int], Number]:
    """Return the integrals over s in [0, 1] of weight * curves[i] * curves[j] that are not zero.

    Weight and curves are split into parameters times numbers, so that only numbers are integrated. Those of polynomials can
    begin at ``start``, also where that has parameters.
    """
    parts = [(i, factor, part) for i, curve in enumerate(curves) for factor, part in _parts(curve).items()]
    result: dict[tuple[int, int], Number] = {}
    for scale, numbers in _parts(weight).items():
        functions = [part for _, _, part in parts]
        found = _numeric_gram(numbers, functions) if is_zero(start) else _gram_from(start, numbers, functions)
        for (a, b), value in found.items():
            (i, left, _), (j, right, _) = parts[a], parts[b]
            factor = scale * left * right
            result[i, j] = result.get((i, j), 0) + (value if factor == 1 else factor * value)
    return {key: value for key, value in result.items() if not is_zero(value)}


def _parts(curve: Curve) -> dict[Number, Curve]:
    """The curve as a sum of expressions in parameters times curves without parameters."""
    if not any(isinstance(c, sympy.Basic) for piece in curve.pieces for c in piece):
        return {1: curve}
    found: dict[Number, list[list[Number]]] = {}
    for p, piece in enumerate(curve.pieces):
        for k, coefficient in enumerate(piece if piece != NOTHING else ()):
            for term in sympy.Add.make_args(sympy.expand(sympy.sympify(coefficient))):
                number, factor = term.as_coeff_Mul()
                rows = found.setdefault(factor, [[Fraction(0)] * len(row) for row in curve.pieces])
                rows[p][k] = rows[p][k] + (float(number) if number.is_Float else as_fraction(number))
    return {factor: Curve(curve.breaks, tuple(tuple(row) for row in rows)) for factor, rows in found.items()}


def _numeric_gram(weight: Curve, curves: Sequence[Curve]) -> dict[tuple[int, int], Number]:
    """The integrals of curves without parameters; those of exact curves stay exact beside rounded ones."""
    known = [i for i, curve in enumerate(curves) if not any(isinstance(c, float) for p in curve.pieces for c in p)]
    result: dict[tuple[int, int], Number] = {}
    if len(known) < len(curves):
        result = _summed(weight, curves)
    for (a, b), value in _summed(weight, [curves[i] for i in known]).items():
        result[known[a], known[b]] = value
    for (i, j), value in tuple(result.items()):
        if isinstance(value, float) and abs(value) <= ROUNDING * math.sqrt(abs(result[i, i] * result[j, j])):
            value = result[i, j] = 0  # orthogonal but for rounding
        result[j, i] = value
    return result


def _gram_from(start: Number, weight: Curve, curves: Sequence[Curve]) -> dict[tuple[int, int], Number]:
    """The integrals over s in [start, 1] of polynomials without parameters; ``start`` may have some."""
    (density,), pieces = weight.pieces, [piece for curve in curves for piece in curve.pieces]
    weighted = [_product(density, piece) for piece in pieces]
    degree = max(map(len, weighted), default=0) + max(map(len, pieces), default=0)
    moments = [(1 - start**k) / k for k in range(1, degree + 1)]
    return {
        (i, j): sum((c * moment for c, moment in zip(_product(f, g), moments, strict=False) if c), start=Fraction(0))
        for i, f in enumerate(weighted)
        for j, g in enumerate(pieces)
    }


def _summed(weight: Curve, curves: Sequence[Curve]) -> dict[tuple[int, int], Number]:
    """The integrals for i <= j, piece by piece."""
    weight, *functions = common(weight, *curves)
    result: dict[tuple[int, int], Number] = {}
    for p, width in enumerate(weight.widths):
        active = [i for i, f in enumerate(functions) if not _vanishes(f.pieces[p])]
        if not active or _vanishes(weight.pieces[p]):
            continue
        block = _block(weight.pieces[p], width, [functions[i].pieces[p] for i in active])
        for a, i in enumerate(active):
            for b, j in enumerate(active[a:], start=a):
                result[i, j] = result.get((i, j), 0) + block[a][b]
    return result


def _block(weight: tuple[Number, ...], width: Fraction, functions: list[tuple[Number, ...]]) -> list[list[Number]]:
    """Integrals of weight * f * g over one piece."""
    few = len(functions) <= MESHED
    if few and not any(isinstance(c, float) for f in (weight, *functions) for c in f):
        return [[_exact_integral(weight, width, f, g) for g in functions] for f in functions]
    size = max(len(f) for f in functions)
    rows = [[*f, *(0,) * (size - len(f))] for f in functions]
    moments = _moments(weight, width, 2 * size - 1)
    kind: Any = float if any(isinstance(c, float) for f in functions for c in f) else object
    coefficients = np.array(rows, dtype=kind)
    hankel = np.array([[moments[i + j] for j in range(size)] for i in range(size)], dtype=kind)
    block: list[list[Number]] = (coefficients @ hankel @ coefficients.T).tolist()  # C H C^T, H_ij = moment i + j
    return block


@lru_cache(maxsize=4096)
def _exact_integral(weight: tuple[Number, ...], width: Fraction, f: tuple[Number, ...], g: tuple[Number, ...]) -> Number:
    """The integral of weight * f * g over one piece; equal elements of a mesh have equal ones."""
    product = _product(f, g)
    moments = _moments(weight, width, len(product))
    return sum((c * moment for c, moment in zip(product, moments, strict=True) if c), start=Fraction(0))


def _moments(weight: tuple[Number, ...], width: Fraction, count: int) -> list[Number]:
    """width int_0^1 weight t^k dt for k from 0 on."""
    return [sum((width * w / (i + k + 1) for i, w in enumerate(weight)), start=Fraction(0)) for k in range(count)]


def _vanishes(piece: tuple[Number, ...]) -> bool:
    return all(is_zero(c) for c in piece)


def _total(piece: Sequence[Number]) -> Number:
    return sum(piece[1:], start=piece[0])


def _added(a: tuple[Number, ...], b: tuple[Number, ...]) -> tuple[Number, ...]:
    long, short = (a, b) if len(a) >= len(b) else (b, a)
    return tuple(c + short[k] if k < len(short) else c for k, c in enumerate(long))


def _slope(piece: tuple[Number, ...], width: Fraction) -> tuple[Number, ...]:
    return tuple(k * c / width for k, c in enumerate(piece) if k)


def _product(a: tuple[Number, ...], b: tuple[Number, ...]) -> tuple[Number, ...]:
    result: list[Number] = [Fraction(0)] * (len(a) + len(b) - 1)
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            result[i + j] = result[i + j] + x * y
    return tuple(result)


def _restricted(piece: tuple[Number, ...], start: Fraction, width: Fraction) -> tuple[Number, ...]:
    """Coefficients in u of p(start + width u), by Horner's scheme."""
    if len(piece) == 1:
        return piece
    rounded = any(isinstance(c, float) for c in piece)
    line: tuple[Number, ...] = (float(start), float(width)) if rounded else (start, width)
    result: tuple[Number, ...] = (piece[-1],)
    for c in reversed(piece[:-1]):
        result = _added(_product(result, line), (c,))
    return result


def _substituted(number: Number, values: Mapping[sympy.Symbol, Number]) -> Number:
    if not isinstance(number, sympy.Expr):
        return number
    replaced = number.xreplace({symbol: sympy.sympify(value) for symbol, value in values.items()})
    return as_fraction(replaced) if isinstance(replaced, (sympy.Float, sympy.Rational)) else replaced
