"""A section of a beam that is fixed in its link: what its shapes and the shortening of bent beams do there, by quadrature."""

from __future__ import annotations

from itertools import pairwise
from math import perm
from typing import Any

import numpy as np

from elastogen.generator.beams.integrals import Mode
from elastogen.generator.robot.bodies.flexible_body import FlexibleBody
from elastogen.verification.lagrange.numbers import Array, Numbers

POINTS = 18  # of Gauss on a piece: products of two slopes of degree 16
REVOLUTIONS = {"y": (2, 1), "z": (1, -1)}  # the axis that bending rotates about, and its sign


class Shape:
    """The function phi(s) of a mode, s = x / L, and its derivatives."""

    def __init__(self, numbers: Numbers, mode: Mode) -> None:
        self.numbers, self.direction = numbers, mode.direction
        self.ends = [numbers(b) for b in mode.shape.breaks]
        self._pieces = [[numbers(c) for c in piece] for piece in mode.shape.pieces]

    def __call__(self, s: Any, order: int = 0) -> Any:
        """Value or derivative at a place; between two pieces that of the inner one."""
        i = max(1, sum(s > end for end in self.ends[:-1])) - 1
        width = self.ends[i + 1] - self.ends[i]
        t, total = (s - self.ends[i]) / width, self.numbers.zero
        for k in range(len(self._pieces[i]) - 1, order - 1, -1):
            total = total * t + self._pieces[i][k] * perm(k, order)
        return total / width**order


def section(numbers: Numbers, body: FlexibleBody, x: Any) -> tuple[Array, Array]:
    """Displacement of the axis by every field, and rotation vector by every coordinate, at the place x."""
    assert body.beam is not None
    length = numbers(body.beam.beam.length)
    s, shapes = x / length, [Shape(numbers, mode) for mode in body.beam.modes]
    shifts = np.array([[numbers.zero] * 3 for _ in body.monomials], dtype=object)
    turns = np.array([[numbers.zero] * 3 for _ in shapes], dtype=object)
    for n, monomial in enumerate(body.monomials):
        if len(monomial) == 2:
            first, second = (shapes[j] for j in monomial)
            half = 2 if monomial[0] == monomial[1] else 1
            shifts[n, 0] = -_slopes(first, second, s) / length / half
            continue
        phi = shapes[monomial[0]]
        if phi.direction == "torsion":
            turns[n, 0] = phi(s)
        elif phi.direction == "extension":
            shifts[n, 0] = phi(s)
        else:
            shifts[n, "xyz".index(phi.direction)] = phi(s)
            axis, sign = REVOLUTIONS[phi.direction]
            turns[n, axis] = sign * phi(s, 1) / length
    return shifts, turns


def _slopes(first: Shape, second: Shape, end: Any) -> Any:
    """int_0^end phi' psi' ds."""
    breaks = sorted({b for shape in (first, second) for b in shape.ends if b < end} | {end})
    total, gauss = first.numbers.zero, first.numbers.gauss(POINTS)
    for a, b in pairwise(breaks):
        for place, weight in gauss:
            at = a + (b - a) * place
            total += weight * (b - a) * first(at, 1) * second(at, 1)
    return total
