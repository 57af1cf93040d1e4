"""Moments of bodies about an origin, as one 4 x 4 array: int (r; 1) (r; 1)^T dm, the pseudo-inertia of paper 002 (19).

Arrays of numbers, or of SymPy expressions (dtype object). In another frame with pose X they are X J X^T.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from elastogen.generator.robot.robot import Body

Moments = NDArray[Any]


def moments(mass: Any, first: Any, second: Any) -> Moments:
    """From int dm, int r dm and int r r^T dm."""
    second = np.asarray(second)
    J = np.zeros((4, 4), dtype=second.dtype)
    J[:3, :3] = second
    J[:3, 3] = J[3, :3] = np.asarray(first)
    J[3, 3] = mass
    return J


def pseudo_inertia(mass: Any, com: Any, inertia: Any) -> Moments:
    """From mass, centre of mass and inertia tensor about it: P = tr(I)/2 E - I + m c c^T (002 (17))."""
    com, inertia = np.asarray(com), np.asarray(inertia)
    second = np.eye(3, dtype=int) * np.trace(inertia) / 2 - inertia + mass * np.outer(com, com)
    return moments(mass, mass * com, second)


def rigid_body(J: Moments) -> Body:
    """The body with these moments."""
    mass, first = J[3, 3], J[:3, 3]
    com = first if mass == 0 else first / mass
    central = J[:3, :3] - np.outer(com, first)
    inertia = np.eye(3, dtype=int) * np.trace(central) - central
    rows = tuple(tuple(_plain(inertia[min(i, j), max(i, j)]) for j in range(3)) for i in range(3))  # exactly symmetric
    return Body(_plain(mass), (_plain(com[0]), _plain(com[1]), _plain(com[2])), rows)


def _plain(entry: Any) -> Any:
    return float(entry) if isinstance(entry, np.floating) else entry
