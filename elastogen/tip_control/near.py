"""Motions whose tip is nearly on its path, for arms whose tip cannot be there exactly.

The exact inverse needs that the tip, held in its place, leaves inertia to the internal motion. With a heavy load little is
left, and small deflections turn its sign: beyond them there is no bounded exact motion. Then this is solved: the least squares
of the tip's errors and, with a small weight, of the third derivatives of the free coordinates, while no force acts on these.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from elastogen.runtime.model.model import Model
from elastogen.tip_control.equations import FARTHEST, equations, free_coordinates
from elastogen.tip_control.tip_path import TipPath

Array = NDArray[np.float64]
STEPS = 25  # of the Gauss-Newton method
CHANGE = 1e-8  # of the last one
THIRD = (-1.0, 3.0, -3.0, 1.0)


def near_motion(model: Model, path: TipPath, start: Array, h: float, smooth: float, wanted: float) -> Array | None:
    """Return configurations at all times, or None if the method does not converge.

    Minimized are the squares of errors over ``wanted`` [m] and of third derivatives times ``smooth`` [s^3/m].
    """
    from scipy.sparse import bmat as blocks
    from scipy.sparse import csr_matrix, diags, kron, vstack
    from scipy.sparse.linalg import splu

    count, n = start.shape
    free = free_coordinates(model)
    drives = n - len(free)
    pick = csr_matrix((np.ones(len(free)), (np.arange(len(free)), free)), shape=(len(free), n))
    third = kron(diags(THIRD, [0, 1, 2, 3], shape=(count - 3, count)) * (smooth / h**3), pick).tocsr()
    rows = np.arange(count * n).reshape(count, n)
    q: Array = start.copy()
    for _ in range(STEPS):
        matrix, residual = equations(model, path, q, h)
        matrix = matrix.tocsr()
        least = vstack([matrix[rows[:, :drives].ravel()] / wanted, third])
        left = np.concatenate([residual[:, :drives].ravel() / wanted, third @ q.ravel()])
        held = matrix[rows[:, drives:].ravel()]
        whole = blocks([[least.T @ least, held.T], [held, None]]).tocsc()
        right = -np.concatenate([least.T @ left, residual[:, drives:].ravel()])
        try:
            change = splu(whole).solve(right)[: q.size].reshape(q.shape)
        except RuntimeError:
            return None  # singular
        largest = float(np.abs(change).max())
        if not largest < FARTHEST:
            return None
        q = np.asarray(q + change)
        if largest < CHANGE:
            return q
    return None
