"""Equations of an arm's motion on a grid of times, for its tip and its free coordinates, and Newton's method on them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from elastogen.runtime.model.model import Model
from elastogen.tip_control.tip_path import TipPath

Array = NDArray[np.float64]
VELOCITY = {-2: 1 / 12, -1: -8 / 12, 1: 8 / 12, 2: -1 / 12}  # of the differences, over h
ACCELERATION = {-2: -1 / 12, -1: 16 / 12, 0: -30 / 12, 1: 16 / 12, 2: -1 / 12}  # over h^2
NEWTON_STEPS = 20
FARTHEST = 5.0  # that a step of it may go
CONVERGED = 1e-10  # greatest change of a coordinate
ROUGH = 0.5  # second differences of forces over the greatest force; of smooth motions they are near 1e-3
SOLVED, ROUNDED = 1e-11, 1e-7  # where nothing is left to solve but that, such changes are rounding errors


def differences(q: Array, stencil: dict[int, float]) -> Array:
    """Differentiate along the first axis; the arm rests beyond both ends."""
    padded = np.concatenate([np.repeat(q[:1], 2, axis=0), q, np.repeat(q[-1:], 2, axis=0)])
    count = len(q)
    result: Array = sum(weight * padded[2 + k : 2 + k + count] for k, weight in stencil.items())  # type: ignore[assignment]
    return result


def free_coordinates(model: Model) -> list[int]:
    """Return the indices of the coordinates without drives."""
    return [k for k in range(model.nv) if k not in model.driven]


def equations(model: Model, path: TipPath, q: Array, h: float) -> tuple[Any, Array]:
    """Return the sparse derivative and the residuals (times, n): errors of the tip, then of the free coordinates.

    The latter are forces, divided by a mass over the square of the grid's step: all residuals are of one order.
    """
    from scipy.sparse import coo_matrix

    n, count, free = model.nv, len(q), free_coordinates(model)
    drives = n - len(free)
    rows = np.arange(count)[:, None, None] * n
    qd, qdd = differences(q, VELOCITY) / h, differences(q, ACCELERATION) / h**2
    errors, by_q = path.errors(model, q)
    by_position, by_velocity, M = (
        np.asarray(block)[:, free] for block in model.evaluate("inverse_dynamics_derivatives", q=q, qd=qd, qdd=qdd)
    )
    forces = np.asarray(model.inverse_dynamics(q, qd, qdd))[:, free]
    size = np.abs(M).max(axis=(0, 2)) / h**2  # rows of one order
    entries: list[tuple[Array, Array, Array]] = []
    for k in range(-2, 3):
        block = np.zeros((count, n, n))
        block[:, drives:] = by_velocity * (VELOCITY.get(k, 0.0) / h) + M * (ACCELERATION[k] / h**2)
        if k == 0:
            block[:, drives:] += by_position
            block[:, :drives] = by_q
        block[:, drives:] /= size[:, None]
        columns = np.clip(np.arange(count) + k, 0, count - 1)[:, None, None] * n  # beyond the ends: the last one
        shape = block.shape
        r = np.broadcast_to(rows + np.arange(n)[None, :, None], shape)
        c = np.broadcast_to(columns + np.arange(n)[None, None, :], shape)
        entries.append((block.ravel(), r.ravel(), c.ravel()))
    values, r_all, c_all = (np.concatenate(part) for part in zip(*entries, strict=True))
    matrix = coo_matrix((values, (r_all, c_all)), shape=(count * n, count * n))
    return matrix, np.concatenate([errors, forces / size], axis=1)


def exact_motion(model: Model, path: TipPath, start: Array, h: float) -> Array | None:
    """Return configurations at all times whose tip is on its path, by Newton's method, or None if it finds none."""
    from scipy.sparse.linalg import splu

    q: Array = start.copy()
    if not free_coordinates(model):
        return q
    for _ in range(NEWTON_STEPS):
        matrix, residual = equations(model, path, q, h)
        try:
            change = splu(matrix.tocsc()).solve(-residual.ravel()).reshape(q.shape)
        except RuntimeError:
            return None  # singular
        largest = float(np.abs(change).max())
        if not largest < FARTHEST:
            return None
        is_solved = largest < ROUNDED and np.abs(residual).max() < SOLVED
        q = q if is_solved else np.asarray(q + change)
        if is_solved or largest < CONVERGED:
            return q if _is_smooth(model, q, h) else None
    return None


def _is_smooth(model: Model, q: Array, h: float) -> bool:
    """Check that forces do not alternate from time to time: such a motion solves the grid's equations, not those of the arm."""
    F = np.asarray(model.inverse_dynamics(q, differences(q, VELOCITY) / h, differences(q, ACCELERATION) / h**2))
    forces = F[:, list(model.driven)]
    return bool(np.abs(np.diff(forces, 2, axis=0)).max() <= ROUGH * np.abs(forces).max())
