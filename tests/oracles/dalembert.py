"""Inverse dynamics by d'Alembert's principle from poses alone, in many digits: sum of int dr/dq_i . (a - g) dm."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import mpmath
import numpy as np

DIGITS = 50
Poses = Callable[[Sequence[Any]], Sequence[Any]]


def pseudo_inertia(mass: float, com: Sequence[float], inertia: dict[str, float]) -> Any:
    """int (r, 1) (r, 1)^T dm of a body whose tensor is about its centre of mass, in the axes of its frame."""
    with mpmath.workdps(DIGITS):
        tensor = mpmath.matrix(3, 3)
        for (r, c), key in {(0, 0): "xx", (1, 1): "yy", (2, 2): "zz", (0, 1): "xy", (0, 2): "xz", (1, 2): "yz"}.items():
            tensor[r, c] = tensor[c, r] = mpmath.mpf(inertia[key])
        half = (tensor[0, 0] + tensor[1, 1] + tensor[2, 2]) / 2
        J = mpmath.matrix(4, 4)
        centre = [mpmath.mpf(x) for x in com]
        for r in range(3):
            for c in range(3):
                J[r, c] = (half if r == c else 0) - tensor[r, c] + mass * centre[r] * centre[c]
            J[r, 3] = J[3, r] = mass * centre[r]
        J[3, 3] = mpmath.mpf(mass)
        return J


def exponential(vector: Sequence[Any]) -> Any:
    """The 4 x 4 matrix of the rotation of a rotation vector, by the series of the matrix exponential."""
    x, y, z = vector
    T = mpmath.eye(4)
    T[:3, :3] = mpmath.expm(mpmath.matrix([[0, -z, y], [z, 0, -x], [-y, x, 0]]), method="taylor")
    return T


def moved(x: Any, y: Any, z: Any) -> Any:
    """The 4 x 4 matrix of a displacement."""
    T = mpmath.eye(4)
    T[0, 3], T[1, 3], T[2, 3] = x, y, z
    return T


def inverse_dynamics(poses: Poses, bodies: Sequence[Any], gravity: Sequence[float], q: Any, qd: Any, qdd: Any) -> np.ndarray:
    """F from the poses of the bodies' frames, as mpmath's numbers; differences of steps 1e-12 are good to 1e-22."""
    with mpmath.workdps(DIGITS):
        h = mpmath.mpf(10) ** -12
        q, qd, qdd = ([mpmath.mpf(x) for x in given] for given in (q, qd, qdd))

        def later(t: Any) -> list[Any]:
            return [x + v * t + a * t * t / 2 for x, v, a in zip(q, qd, qdd, strict=True)]

        now, after, before = poses(q), poses(later(h)), poses(later(-h))
        forces = []
        for i in range(len(q)):
            ahead = poses([x + (h if k == i else 0) for k, x in enumerate(q)])
            behind = poses([x - (h if k == i else 0) for k, x in enumerate(q)])
            total = mpmath.mpf(0)
            for b, J in enumerate(bodies):
                slope = (ahead[b] - behind[b]) / (2 * h)
                second = (after[b] - 2 * now[b] + before[b]) / (h * h)
                product = slope * J * second.T
                total += product[0, 0] + product[1, 1] + product[2, 2]
                total -= sum((slope * J)[r, 3] * mpmath.mpf(gravity[r]) for r in range(3))
            forces.append(total)
        return np.array(forces, dtype=object)
