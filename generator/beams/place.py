"""A place along a beam, which may move with the robot's parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import sympy

from elastogen.generator.beams.piecewise import Curve, Number, as_fraction
from elastogen.generator.robot.expressions import nominal
from elastogen.generator.robot.robot import Parameter, Scalar


@dataclass(frozen=True)
class Place:
    """A place s = x / L along a beam, exact where its numbers are; ``near`` is its value for the nominal parameters."""

    s: Number
    near: Number

    @staticmethod
    def of(x: Scalar, length: Number, parameters: Mapping[str, Parameter]) -> Place:
        """The place x of a beam of that length."""
        s = as_fraction(x) / length
        values = {p.symbol: as_fraction(p.value) for p in parameters.values()}
        near = Curve.polynomial((s,)).substituted(values).start
        return Place(s, as_fraction(nominal(near, parameters)) if isinstance(near, sympy.Expr) else near)

    @property
    def moves(self) -> bool:
        """Whether it depends on parameters."""
        return isinstance(self.s, sympy.Expr) and bool(self.s.free_symbols)

    @property
    def fraction(self) -> Fraction:
        """The place, at the nominal values of parameters."""
        return self.s if isinstance(self.s, Fraction) else Fraction(float(self.near))

    def piece(self, curve: Curve) -> int:
        """The piece that ends at the place or beyond it, the first of them."""
        return next((i for i, end in enumerate(curve.breaks[1:]) if self.near <= end), len(curve.pieces) - 1)

    def within(self, curve: Curve, i: int) -> Number:
        """Where it is in a piece: from 0 to 1."""
        return (self.s - curve.breaks[i]) / curve.widths[i]

    def value(self, curve: Curve) -> Number:
        """The value of a curve here."""
        return self.slope(curve, 0)

    def slope(self, curve: Curve, order: int) -> Number:
        """The derivative by s of a curve, of that order."""
        for _ in range(order):
            curve = curve.derivative()
        i = self.piece(curve)
        t = self.within(curve, i)
        if isinstance(t, Fraction) and any(isinstance(c, float) for c in curve.pieces[i]):
            t = float(t)
        total: Number = Fraction(0)
        for c in reversed(curve.pieces[i]):
            total = total * t + c
        return total
