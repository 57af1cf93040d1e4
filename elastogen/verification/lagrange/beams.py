"""Beams that move through joints, and places on beams: by Hermite's polynomials and mass points (paper 003).

A place is (along, across, slope) in the axes of the beam's link, as numbers with rates. Foreshortening is the integral of
1/2 w'^2 between the clamp and the place.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np

from elastogen.generator.robot.bodies.flexible_body import Centreline, FlexibleBody
from elastogen.verification.lagrange.numbers import Array, Numbers, Pair, Rated

Place: TypeAlias = tuple[Rated, Rated, Rated]
POINTS = 6  # of Gauss on an element: squares of velocities have degree 10 with foreshortening


def rotated(numbers: Numbers, place: Place) -> Pair:
    """Return the frame at a place, rotated about z by the slope there, and its rate."""
    along, across, slope = place
    c, s = numbers.context.cos(slope.value), numbers.context.sin(slope.value)
    A, rate = numbers.unit(4), numbers.unit(4) * 0
    A[:2, :2], A[:2, 3] = [[c, -s], [s, c]], [along.value, across.value]
    rate[:2, :2], rate[:2, 3] = np.array([[-s, -c], [c, -s]], dtype=object) * slope.rate, [along.rate, across.rate]
    return A, rate


class MovingBeam:
    """A beam on a telescopic joint (P_b of paper 003), ``smooth`` or with nodal clamps."""

    def __init__(self, numbers: Numbers, body: FlexibleBody, joint: int, own: tuple[int, ...]) -> None:
        assert body.telescope is not None
        beam = body.telescope
        self.numbers, self.joint, self.own = numbers, joint, own
        self.length, self.mu, self.EI = (numbers(scalar) for scalar in (beam.length, beam.mass_per_length, beam.EI))
        self.elements, self.smooth = beam.elements, not beam.nodal
        self.foreshortening = body.foreshortened
        self.modes = numbers.array(beam.modes) if beam.modes else None
        self._damping = numbers.array(body.damping)
        self._varying = [(exponent, numbers.array(matrix)) for exponent, matrix in beam.damping]
        self._held = [numbers.array(matrix) for matrix in beam.clamped_damping]
        self._gauss, self._few = numbers.gauss(POINTS), numbers.gauss(2)
        self.held = 0  # nodal clamps: the element inside the joint

    def start(self, x: Array) -> None:
        """Find the element inside the joint: k = floor((l - d) / l_e) + 1 (003, 4.3)."""
        if not self.smooth:
            part = (self.length - x[self.joint]) / self.length * self.elements
            self.held = min(int(self.numbers.context.floor(part)) + 1, self.elements)

    @property
    def clamped(self) -> tuple[int, ...]:
        """Return the coordinates that vanish: those of the nodes of the element inside the joint."""
        return () if self.smooth else self.own[2 * self.held - 2 : 2 * self.held + 2]

    def element_at(self, place: Any, x: Array) -> int:
        """Return the element at a place along the beam; 0 is the straight part behind a smooth clamp."""
        start, h = self._mesh(x[self.joint])
        return max(0 if self.smooth else 1, min(self.elements, int(self.numbers.context.ceil((place - start) / h))))

    def _mesh(self, d: Any) -> tuple[Any, Any]:
        """Return where the elements begin, and their length."""
        return (self.length - d, d / self.elements) if self.smooth else (self.numbers.zero, self.length / self.elements)

    def _nodes(self, x: Array, xd: Array) -> tuple[Rated, list[Rated]]:
        """Return the length outside, and deflections and slopes of all nodes."""
        d = Rated(x[self.joint], xd[self.joint])
        u = [Rated(x[k], xd[k]) for k in self.own]
        if self.modes is not None:
            sums = [_total(amplitude * v for v, amplitude in zip(row, u, strict=True)) for row in self.modes]
            u = [total / d if k % 2 else total for k, total in enumerate(sums)]
        zero = Rated(self.numbers.zero, self.numbers.zero)
        return d, [zero, zero, *u] if self.smooth else u

    def _cubic(self, h: Any, u: Sequence[Rated], e: int) -> tuple[Rated, Rated, Rated, Rated]:
        """Return the coefficients of w by powers of t on element e."""
        left, left_slope, right, right_slope = u[2 * e - 2 : 2 * e + 2]
        b, end = left_slope * h, right_slope * h
        return left, b, 3 * (right - left) - 2 * b - end, 2 * (left - right) + b + end

    def place(self, along: Any, x: Array, xd: Array, e: int, *, at_node: bool = False) -> Place:
        """Return the place ``along`` (a number, with a rate if it moves) on element e; ``at_node``: its far node."""
        where = Rated.of(along)
        if e == 0:
            return where, Rated(self.numbers.zero), Rated(self.numbers.zero)
        d, u = self._nodes(x, xd)
        start, h = self._mesh(d)
        t = Rated(self.numbers.one) if at_node else (where - start) / h - (e - 1)
        a, b, c, f = self._cubic(h, u, e)
        across, slope = a + t * (b + t * (c + t * f)), (b + t * (2 * c + 3 * t * f)) / h
        return (where - self._shortening(h, u, e, t) if self.foreshortening else where), across, slope

    def _shortening(self, h: Any, u: Sequence[Rated], e: int, t: Any) -> Rated:
        """1/2 int w'^2 dx from the clamp to t on element e; negative behind nodal clamps."""

        def part(element: int, end: Any) -> Rated:
            _, b, c, f = self._cubic(h, u, element)
            terms = (b * b, 2 * b * c, (4 * c * c + 6 * b * f) / 3, 3 * c * f, 9 * f * f / 5)
            total = Rated(self.numbers.zero)
            for term in reversed(terms):
                total = total * end + term
            return Rated.of(total * end / h / 2)

        total = part(e, t)
        if e >= self.held:
            return total + _total(part(k, self.numbers.one) for k in range(self.held + 1, e))
        return total - _total(part(k, self.numbers.one) for k in range(e, self.held))

    # ---- mass points and energies

    def points(self, x: Array) -> list[tuple[Any, Any, int]]:
        """Return mass, place and element of the points that integrate squares of velocities exactly."""
        start, h = self._mesh(x[self.joint])
        found = []
        if self.smooth:  # the straight part behind the joint
            found += [(self.mu * start * weight, start * place, 0) for place, weight in self._few]
        ends = [start + k * h for k in range(self.elements + 1)]
        for e, (a, b) in enumerate(pairwise(ends), 1):
            found += [(self.mu * (b - a) * weight, a + (b - a) * place, e) for place, weight in self._gauss]
        return found

    def strain_energy(self, x: Array) -> Any:
        """1/2 int EI w''^2 dx."""
        d, u = self._nodes(x, x * 0)
        _, h = self._mesh(d)
        total = Rated(self.numbers.zero)
        for e in range(1, self.elements + 1):
            _, _, c, f = self._cubic(h, u, e)
            for place, weight in self._few:
                bend = (2 * c + 6 * place * f) / (h * h)
                total = total + weight * (bend * bend) * h
        return self.EI * total.value / 2

    def damping(self, x: Array) -> Array:
        """Return D over the beam's own coordinates: constant, or depending on d or on the element inside the joint."""
        total = self._damping
        if self._held:
            total = total + self._held[self.held - 1]
        for exponent, matrix in self._varying:
            d = x[self.joint]
            powers = [d if self.modes is None and k % 2 else self.numbers.one for k in range(len(self.own))]
            total = total + np.outer(powers, powers) * matrix * d**exponent
        return total


class BeamLine:
    """The axis of a beam in a plane that is fixed in its link: a joint can slide along it (P_a of paper 003)."""

    def __init__(self, numbers: Numbers, body: FlexibleBody, line: Centreline, own: tuple[int, ...]) -> None:
        self.numbers, self.own, self.monomials = numbers, own, body.monomials
        length = numbers(line.length)
        self._ends = [length * numbers(b) for b in line.breaks]
        self._pieces = [[[numbers.array(c) for c in part] for part in piece] for piece in line.pieces]

    def element_at(self, place: Any, x: Array) -> int:
        """Return the number of the piece at a place, from 1."""
        return max(1, sum(bool(place > end) for end in self._ends[:-1]))

    def place(self, along: Rated, x: Array, xd: Array, e: int, *, at_node: bool = False) -> Place:
        """Return the place on piece e; ``at_node``: its far end."""
        start, width = self._ends[e - 1], self._ends[e] - self._ends[e - 1]
        t = Rated(self.numbers.one) if at_node else (along - start) / width
        across = slope = Rated(self.numbers.zero)
        for monomial, (first, second) in zip(self.monomials, self._pieces[e - 1], strict=True):
            amplitude = Rated(self.numbers.one)
            for j in monomial:
                amplitude = amplitude * Rated(x[self.own[j]], xd[self.own[j]])
            along = along + amplitude * _value(first, t)
            across = across + amplitude * _value(second, t)
            if len(monomial) == 1:
                slope = slope + amplitude * _value([k * c for k, c in enumerate(second)][1:], t) / width
        return along, across, slope


def _value(coefficients: Sequence[Any], t: Rated) -> Rated:
    total = Rated(0)
    for c in reversed(coefficients):
        total = total * t + c
    return total


def _total(numbers: Iterable[Rated]) -> Rated:
    total = Rated(0)
    for number in numbers:
        total = total + number
    return total
