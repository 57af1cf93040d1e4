"""A placement as steps that the recursions take: rotations about coordinate axes, and a position."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import sympy

from elastogen.generator.program.graph import Graph, Value
from elastogen.generator.program.lowering import Lowering
from elastogen.generator.robot.robot import Matrix, Scalar
from elastogen.generator.spatial.vectors import AxisRotation, Matrix3, Rotation, Vec

TINY = 1e-13  # constants of a placement below this [-, m] are rounding errors of our own and become exact zeros
Pair = tuple[float, float]  # cosine and sine


def steps(lower: Lowering, pose: Matrix) -> tuple[Rotation, Vec]:
    """A pose as rotations about z, x, z (few operations: right angles fold away) and a position."""
    graph = lower.graph
    position = [_length(graph, lower, row[3]) for row in pose[:3]]
    if any(isinstance(entry, sympy.Basic) for row in pose[:3] for entry in row[:3]):
        rows = [[lower.value(entry) for entry in row[:3]] for row in pose[:3]]
        return Rotation((Matrix3(rows), AxisRotation(2, graph.value(1), graph.value(0)))), position
    turns = [
        AxisRotation(axis, graph.value(c), graph.value(s))
        for axis, (c, s) in zip((2, 0, 2), _angles(np.array([row[:3] for row in pose[:3]], dtype=float)), strict=True)
    ]
    return Rotation(tuple(turns)), position


def _angles(R: npt.NDArray[np.float64]) -> tuple[Pair, Pair, Pair]:
    """Cosines and sines of phi, alpha, theta with R = Rz(phi) Rx(alpha) Rz(theta).

    A small tilt alpha says little about phi: its error is that of R, divided by alpha. So theta is not read from R, but from
    what the first two rotations leave of it. Then the three make R to rounding errors, whatever the tilt.
    """
    phi = unit_pair(-float(R[1, 2]), float(R[0, 2])) if math.hypot(R[0, 2], R[1, 2]) > TINY else (1.0, 0.0)
    if phi[0] < 0 or phi == (0.0, -1.0):
        phi = (-phi[0], -phi[1])
    c, s = phi
    alpha = unit_pair(float(R[2, 2]), float(s * R[0, 2] - c * R[1, 2]))
    left = [float(c * R[0, k] + s * R[1, k]) for k in (0, 1)]  # the first row of Rz(theta), which Rx(alpha) leaves alone
    return phi, alpha, unit_pair(left[0], -left[1])


def _length(graph: Graph, lower: Lowering, scalar: Scalar) -> Value:
    if isinstance(scalar, sympy.Basic):
        return lower.value(scalar)
    return graph.value(0.0 if abs(scalar) <= TINY else float(scalar))


def unit_pair(c: float, s: float) -> Pair:
    """Cosine and sine in the direction (c, s): unit length, and right angles exact where only rounding errors are missing."""
    length = math.hypot(c, s)
    if abs(length - 1.0) > 1e-15:
        c, s = c / length, s / length
    if abs(s) <= TINY:
        return math.copysign(1.0, c), 0.0
    if abs(c) <= TINY:
        return 0.0, math.copysign(1.0, s)
    return c, s
