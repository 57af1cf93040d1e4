"""Numbers of many digits: those of a robot's description, moving matrices, and numbers with a rate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
import sympy
from sympy.integrals.quadrature import gauss_legendre

from elastogen.generator.robot.robot import Robot

Array: TypeAlias = Any
"""Object arrays of mpmath numbers."""
Pair: TypeAlias = tuple[Any, Any]
"""A matrix and its time derivative."""


class NotCoveredError(Exception):
    """Why there is no second derivation of a robot."""


@dataclass(frozen=True)
class MovingMatrix:
    """A 4 x 4 matrix that depends on some coordinates."""

    indices: tuple[int, ...]
    values: Callable[..., Any]  # the matrix and its derivatives by each of them, flat

    def at(self, x: Array, xd: Array) -> Pair:
        """Return the matrix and its time derivative."""
        flat = self.values(*(x[k] for k in self.indices))
        total = np.zeros(16, dtype=object)
        for derivative, k in zip(flat[1:], self.indices, strict=True):
            total = total + np.array(derivative, dtype=object) * xd[k]
        return np.array(flat[0], dtype=object).reshape(4, 4), total.reshape(4, 4)


class Numbers:
    """The numbers of a robot in an mpmath context; named parameters have their values."""

    def __init__(self, robot: Robot, context: Any) -> None:
        self.context = context
        self._gauss: dict[int, list[tuple[Any, Any]]] = {}
        self.zero, self.one = context.mpf(0), context.mpf(1)
        self._values = {p.symbol: sympy.Float(p.value, 17) for p in robot.parameters.values()}

    def __call__(self, scalar: Any) -> Any:
        """Convert a scalar of the robot."""
        if isinstance(scalar, sympy.Basic):
            return self.context.mpf(str(sympy.N(scalar.xreplace(self._values), self.context.dps)))
        if isinstance(scalar, Fraction):
            return self.context.mpf(scalar.numerator) / scalar.denominator
        return self.context.mpf(scalar)

    def array(self, entries: Any) -> Array:
        """Convert scalars of the robot, in any shape."""
        flat = np.array(entries, dtype=object)
        return np.array([self(entry) for entry in flat.ravel()], dtype=object).reshape(flat.shape)

    def function(self, symbols: Sequence[sympy.Symbol], expressions: Any) -> Callable[..., Any]:
        """Turn expressions, or nested lists of them, into a function of numbers."""
        return sympy.lambdify(symbols, self._with_values(expressions), modules=self.context, cse=True)  # type: ignore[no-any-return]

    def _with_values(self, expressions: Any) -> Any:
        if isinstance(expressions, list):
            return [self._with_values(part) for part in expressions]
        return sympy.sympify(expressions).xreplace(self._values)

    def moving(self, matrix: sympy.Matrix, symbols: Sequence[sympy.Symbol], indices: tuple[int, ...]) -> MovingMatrix:
        """Return a 4 x 4 matrix of expressions in symbols for these coordinates; SymPy differentiates it."""
        rows = [list(matrix), *([sympy.diff(entry, s) for entry in matrix] for s in symbols)]
        return MovingMatrix(indices, self.function(symbols, rows))

    def unit(self, size: int) -> Array:
        """Return the unit matrix."""
        return np.array([[self.one if r == c else self.zero for c in range(size)] for r in range(size)], dtype=object)

    def gauss(self, count: int) -> list[tuple[Any, Any]]:
        """Return places in (0, 1) and weights that integrate polynomials up to the degree 2 count - 1 exactly."""
        if count not in self._gauss:
            places, weights = gauss_legendre(count, self.context.dps)
            pairs = ((self.context.mpf(str(x)), self.context.mpf(str(w))) for x, w in zip(places, weights, strict=True))
            self._gauss[count] = [((x + 1) / 2, w / 2) for x, w in pairs]
        return self._gauss[count]


class Rated:
    """A number and its rate of change; arithmetic follows the rules of differentiation."""

    __slots__ = ("rate", "value")

    def __init__(self, value: Any, rate: Any = 0) -> None:
        self.value, self.rate = value, rate

    @staticmethod
    def of(number: Any) -> Rated:
        """Return a number, whose rate is zero unless it has one."""
        return number if isinstance(number, Rated) else Rated(number)

    def __neg__(self) -> Rated:
        return Rated(-self.value, -self.rate)

    def __add__(self, other: Any) -> Rated:
        other = Rated.of(other)
        return Rated(self.value + other.value, self.rate + other.rate)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Rated:
        return self + -Rated.of(other)

    def __rsub__(self, other: Any) -> Rated:
        return Rated.of(other) + -self

    def __mul__(self, other: Any) -> Rated:
        other = Rated.of(other)
        return Rated(self.value * other.value, self.value * other.rate + self.rate * other.value)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Rated:
        other = Rated.of(other)
        quotient = self.value / other.value
        return Rated(quotient, (self.rate - quotient * other.rate) / other.value)
