"""A section of a beam that is fixed in its link: what its shapes and the shortening of bent beams do there, by quadrature."""

from __future__ import annotations

from typing import Any

import numpy as np

from elastogen.generator.beams.integrals import Mode
from elastogen.generator.robot.robot import FlexibleBody
from elastogen.verification.lagrange.numbers import Array, Numbers

POINTS = 18  # of Gauss on a piece: products of two slopes of degree 16
TURNS = {"y": (2, 1), "z": (1, -1)}  # the axis that bending turns about, and its sign


def section(numbers: Numbers, body: FlexibleBody, x: Any) -> tuple[Array, Array]:
    """Displacement of the axis by every field, and rotation vector by every coordinate, at the place x."""
    assert body.beam is not None
    length = numbers(body.beam.beam.length)
    s, modes = x / length, body.beam.modes
    shifts = np.array([[numbers.zero] * 3 for _ in body.monomials], dtype=object)
    turns = np.array([[numbers.zero] * 3 for _ in modes], dtype=object)
    for n, monomial in enumerate(body.monomials):
        if len(monomial) == 1:
            mode = modes[monomial[0]]
            value, slope = shape(numbers, mode, s), shape(numbers, mode, s, 1) / length
            if mode.direction == "torsion":
                turns[n, 0] = value
            elif mode.direction == "extension":
                shifts[n, 0] = value
            else:
                shifts[n, "xyz".index(mode.direction)] = value
                axis, sign = TURNS[mode.direction]
                turns[n, axis] = sign * slope
        else:
            first, second = (modes[j] for j in monomial)
            half = 2 if monomial[0] == monomial[1] else 1
            shifts[n, 0] = -slopes(numbers, first, second, s) / length / half
    return shifts, turns


def shape(numbers: Numbers, mode: Mode, s: Any, order: int = 0) -> Any:
    """phi or its derivative by s at a place of s = x / L; between two pieces that of the inner one."""
    curve = mode.shape
    ends = [numbers(b) for b in curve.breaks]
    i = max(1, sum(s > end for end in ends[:-1])) - 1
    width = ends[i + 1] - ends[i]
    t, total = (s - ends[i]) / width, numbers.zero
    for k, c in reversed([*enumerate(curve.pieces[i])]):
        factor = numbers.context.ff(k, order)
        if factor:
            total += numbers(c) * factor * t ** (k - order)
    return total / width**order


def slopes(numbers: Numbers, first: Mode, second: Mode, end: Any) -> Any:
    """int_0^end phi' psi' ds."""
    breaks = sorted({numbers(b) for mode in (first, second) for b in mode.shape.breaks if numbers(b) < end} | {end})
    total, gauss = numbers.zero, numbers.gauss(POINTS)
    for a, b in zip(breaks, breaks[1:], strict=False):
        for place, weight in gauss:
            at = a + (b - a) * place
            total += weight * (b - a) * shape(numbers, first, at, 1) * shape(numbers, second, at, 1)
    return total
