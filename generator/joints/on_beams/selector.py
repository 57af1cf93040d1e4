"""Which element of a beam is inside a joint, as a rule on the coordinates (paper 003, 4.3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from elastogen.generator.beams.piecewise import as_fraction


@dataclass(frozen=True)
class Threshold:
    """The condition sum of weight * q[index] > bound."""

    terms: tuple[tuple[int, float], ...]  # index in q, weight
    bound: float

    def holds(self, q: Sequence[float]) -> bool:
        """Whether the state is beyond it."""
        return sum(weight * q[index] for index, weight in self.terms) > self.bound


@dataclass(frozen=True)
class Selector:
    """Element inside a joint: ``first`` + ``step`` times the number of thresholds that the state is beyond."""

    joint: str
    coordinate: int  # index in q of the joint's displacement d
    upper: float  # d is between 0 and this [m]; nothing is computed beyond
    positive: bool  # whether d = 0 is outside
    first: int = 1
    step: int = 1
    thresholds: tuple[Threshold, ...] = ()
    passage: str = "keep"
    """What goes on at a border between elements: "keep" positions and velocities, as the printed P_a; "refract": energy and the
    momenta along the border, where curvature and mass matrix jump; "clamp": the new element's coordinates vanish."""
    nodes: int = 0  # clamp: index in q of the first nodal coordinate
    smooth: bool = False  # whether the beam's shape is the same function on both sides of every border, written in pieces

    @property
    def elements(self) -> tuple[int, ...]:
        """The elements in the order of the number of thresholds passed."""
        return tuple(self.first + self.step * count for count in range(len(self.thresholds) + 1))

    def element(self, q: Sequence[float]) -> int | None:
        """The element inside the joint at a state, or None where d is out of its range."""
        d = q[self.coordinate]
        if not (0 <= d <= self.upper) or (self.positive and d == 0):
            return None
        return self.first + self.step * sum(threshold.holds(q) for threshold in self.thresholds)


def place_on(length: float, part: float) -> float:
    """A part of a length, both meant as the decimals or fractions that they look like, rounded once."""
    fraction = Fraction(part).limit_denominator(1000)
    return float(as_fraction(length) * (fraction if float(fraction) == part else Fraction(part)))
