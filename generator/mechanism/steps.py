"""A placement as steps that the recursions take: turns about coordinate axes, and a position."""

from __future__ import annotations

import math

import numpy as np
import sympy

from elastogen.generator.program.graph import Graph, Value
from elastogen.generator.program.lowering import Lowering
from elastogen.generator.robot.robot import Matrix, Scalar
from elastogen.generator.spatial.vectors import Matrix3, Rotation, Turn, Vec

TINY = 1e-13  # constants of a placement below this [-, m] are rounding errors of our own and become exact zeros


def steps(lower: Lowering, pose: Matrix) -> tuple[Rotation, Vec]:
    """A pose as turns about z, x, z (few operations: right angles fold away) and a position."""
    graph = lower.graph
    position = [_length(graph, lower, row[3]) for row in pose[:3]]
    if any(isinstance(entry, sympy.Basic) for row in pose[:3] for entry in row[:3]):
        rows = [[lower.value(entry) for entry in row[:3]] for row in pose[:3]]
        return Rotation((Matrix3(rows), Turn(2, graph.value(1), graph.value(0)))), position
    R = np.array([row[:3] for row in pose[:3]], dtype=float)
    sine = math.hypot(R[0, 2], R[1, 2])
    if sine <= TINY:
        phi, alpha = (1.0, 0.0), (float(R[2, 2]), 0.0)
        theta = (float(R[0, 0]), float(-R[0, 1]))
    else:
        phi = (-float(R[1, 2]) / sine, float(R[0, 2]) / sine)
        alpha = (float(R[2, 2]), sine)
        if phi[0] < -TINY or (abs(phi[0]) <= TINY and phi[1] < 0):
            phi, alpha = (-phi[0], -phi[1]), (alpha[0], -sine)
        theta = (float(R[2, 1]) / alpha[1], float(R[2, 0]) / alpha[1])
    turns = [
        Turn(axis, graph.value(rounded(c)), graph.value(rounded(s)))
        for axis, (c, s) in zip((2, 0, 2), (phi, alpha, theta), strict=True)
    ]
    return Rotation(tuple(turns)), position


def _length(graph: Graph, lower: Lowering, scalar: Scalar) -> Value:
    if isinstance(scalar, sympy.Basic):
        return lower.value(scalar)
    return graph.value(0.0 if abs(scalar) <= TINY else float(scalar))


def rounded(number: float) -> float:
    """``number`` without rounding errors around 0, 1 and -1."""
    nearest = round(number)
    return float(nearest) if abs(nearest) <= 1 and abs(number - nearest) <= TINY else number
