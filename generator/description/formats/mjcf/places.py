"""Positions and quaternions of MuJoCo as placements."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from elastogen.generator.robot import placement
from elastogen.generator.robot.robot import Matrix


def placed(turn: NDArray[np.float64], position: Sequence[float]) -> Matrix:
    """A rotation and a position as a placement with exact zeros and ones."""
    rows = tuple(tuple(placement.snap(float(entry)) for entry in row) for row in turn)
    x, y, z = position
    return placement.transform(rows, (x, y, z))


def rotation(quaternion: Sequence[float]) -> NDArray[np.float64]:
    """Of a quaternion w, x, y, z."""
    w, x, y, z = np.array(quaternion, dtype=float) / np.linalg.norm(quaternion)
    return np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ])  # fmt: skip
