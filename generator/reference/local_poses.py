"""Poses of one frame in another as series: screws, rotations in the plane, tips of flexible links."""

from __future__ import annotations

from collections.abc import Sequence
from math import factorial

import numpy as np
import numpy.typing as npt

from elastogen.generator.program.numbers.jets import Jet, sine_and_cosine
from elastogen.generator.reference.matrix_series import MatrixSeries

Array = npt.NDArray[np.float64]
TERMS = 14  # of the series of a rotation vector


def product(factors: Sequence[Jet], like: Jet) -> Jet:
    """Of series; 1 without any."""
    total = Jet.constant(1.0, like.data.shape[-1])
    for factor in factors:
        total = total * factor
    return total


def combined(series: Sequence[Jet], numbers: Array, width: int) -> Jet:
    """Sum of series times numbers."""
    used = [Jet(x.data * number) for x, number in zip(series, numbers, strict=True) if number]
    return sum(used[1:], used[0]) if used else Jet.constant(0.0, width)


def even(square: Jet, first: int) -> Jet:
    """sin t / t and (1 - cos t) / t^2 for first = 1 and 2, by t^2."""
    width = square.data.shape[-1]
    total = Jet.constant(0.0, width)
    for k in reversed(range(TERMS)):
        total = square * total + Jet.constant(float((-1) ** k / factorial(2 * k + first)), width)
    return total


def planar(x: Jet, y: Jet, angle: Jet) -> MatrixSeries:
    """A displacement in the plane x, y and a rotation about z."""
    width = x.data.shape[-1]
    (sine, cosine), zero, one = sine_and_cosine(angle), Jet.constant(0.0, width), Jet.constant(1.0, width)
    rows = [[cosine, -sine, zero, x], [sine, cosine, zero, y], [zero, zero, one, zero], [zero, zero, zero, one]]
    return MatrixSeries.of_entries(rows)


def screwed(axis: Array, turns: bool, advance: float, value: Jet) -> MatrixSeries:
    """E + sin {k x} + (1 - cos) {k x}^2 (Rodrigues), and a displacement along k."""
    width = value.data.shape[-1]
    x, y, z = axis
    skew = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    data = np.zeros((*value.data.shape[:-2], 4, 4, 2, width))
    if turns:
        sine, cosine = sine_and_cosine(value)
        data[..., :3, :3, :, :] = skew[:, :, None, None] * sine.data[..., None, None, :, :]
        data[..., :3, :3, :, :] -= (skew @ skew)[:, :, None, None] * cosine.data[..., None, None, :, :]
        data[..., :3, :3, 0, 0] += np.eye(3) + skew @ skew
    else:
        data[..., :3, :3, 0, 0] = np.eye(3)
    if advance:
        data[..., :3, 3, :, :] = advance * axis[:, None, None] * value.data[..., None, :, :]
    data[..., 3, 3, 0, 0] = 1.0
    return MatrixSeries.of_array(data)


def tip_pose(p: Sequence[Jet], delta: Sequence[Jet], *, linear: bool, planar: bool) -> MatrixSeries:
    """A displacement, and exp{delta x} or E + {delta x}; ``planar``: about z only."""
    width = p[0].data.shape[-1]
    zero, one = Jet.constant(0.0, width), Jet.constant(1.0, width)
    if planar and not linear:
        (sine, cosine), rest = sine_and_cosine(delta[2]), [zero, zero, zero, one]
        return MatrixSeries.of_entries([[cosine, -sine, zero, p[0]], [sine, cosine, zero, p[1]], [zero, zero, one, p[2]], rest])
    a, b, c = delta
    skew = [[zero, -c, b], [c, zero, -a], [-b, a, zero]]
    square = a * a + b * b + c * c
    sine, cosine = (one, zero) if linear else (even(square, 1), even(square, 2))
    rows = []
    for i in range(3):
        row = []
        for j in range(3):
            entry = sine * skew[i][j] + cosine * (delta[i] * delta[j] - (square if i == j else zero))
            row.append(entry + one if i == j else entry)
        rows.append([*row, p[i]])
    return MatrixSeries.of_entries([*rows, [zero, zero, zero, one]])
