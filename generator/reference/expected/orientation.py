"""Expected position, angles and rates of the tip: rotations by the angles give the described axes."""

from __future__ import annotations

from math import pi

import numpy as np

from elastogen.generator.program.numbers.jets import Jet
from elastogen.generator.reference.expected.plain import Difference, Expectation, Found, coefficient
from elastogen.generator.reference.local_poses import screwed
from elastogen.generator.reference.matrix_series import MatrixSeries
from elastogen.generator.reference.quantities import Quantities
from elastogen.runtime.interface.euler_sets import EULER_SETS

ORTHOGONAL = 1e-10  # largest error of a rotation, for which angles are compared (linear tips shear)
RATES = 1e-9  # sine or cosine of the middle angle below which the rates of the others are not defined
LOCKED = 1e-13  # below, the others are one rotation, and the last is 0


def operational_vector(axes: str) -> Expectation:
    """X, Xd, Xdd of the tip."""
    directions = [np.eye(3)["xyz".index(axis)] for axis in axes]
    again = axes[0] == axes[2]

    def check(of: Quantities, found: Found) -> list[Difference]:
        count = len(of.at("q"))
        T = [coefficient(of.moving.tip, k, (count,)) for k in range(3)]
        taylor = [x / factor for x, factor in zip(found, (1.0, 1.0, 2.0), strict=True)]
        result: list[Difference] = []
        for k in range(3):
            p = T[k][..., :3, 3]
            result.append((taylor[k][..., :3], p, max(1.0, float(np.abs(p).max()))))
        R = T[0][..., :3, :3]
        if np.abs(R @ np.swapaxes(R, -1, -2) - np.eye(3)).max() > ORTHOGONAL:
            return result
        middle = taylor[0][:, 4]
        span = (0.0, pi) if again else (-pi / 2, pi / 2)
        result.append((middle, np.clip(middle, *span), 1.0))
        apart = np.abs(np.sin(middle) if again else np.cos(middle))
        free, locked = apart > RATES, apart < LOCKED
        result.append((taylor[0][locked, 5], np.zeros(locked.sum()), 1.0))
        turned = MatrixSeries.constant(np.eye(4))
        for k, direction in enumerate(directions, 3):
            data = np.zeros((count, 2, 3))
            data[:, 0, :] = np.stack([x[:, k] for x in taylor], axis=-1)
            turned = turned @ screwed(direction, True, 0.0, Jet(data))
        rates = [np.abs(x[free, 3:]).max(initial=0.0) for x in taylor]
        for k, size in enumerate((1.0, 1.0 + rates[1], 1.0 + rates[1] ** 2 + rates[2])):
            some = free if k else np.ones(count, dtype=bool)
            result.append((turned.values[k][some, :3, :3], T[k][some, :3, :3], float(size)))
        return result

    return check


ORIENTATION: dict[str, Expectation] = {f"operational_vector_{axes}": operational_vector(axes) for axes in EULER_SETS}
"""By the names of the catalogue."""
