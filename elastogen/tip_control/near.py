"""Motions whose tip is nearly on its path, for arms whose tip cannot be there exactly.

The exact inverse needs that the tip, held in its place, leaves inertia to the internal motion. With a heavy load little is
left, and small deflections turn its sign: beyond them there is no bounded exact motion. Then this is solved: the least squares
of the tip's errors and, with a small weight, of the third derivatives of the free coordinates, while no force acts on these.
Where the greatest error is still too large, times with large errors count more.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elastogen.runtime.model.model import Model
from elastogen.tip_control.equations import equations, free_coordinates
from elastogen.tip_control.tip_path import TipPath

Array = NDArray[np.float64]
SMOOTH = (0.3, 1.0, 0.3, 0.1, 0.03, 0.01)  # weights of third derivatives, each from the motion before
TOLERANCE = 1e-3  # of the stroke: what the tip may err
ROUNDS, LEAST = 3, 0.03  # in which large errors count more; what the smallest count
STEPS = 25  # of the Gauss-Newton method
LONGEST, SHORTEST = 0.3, 1 / 64  # step that is taken, in a coordinate; share of a step, at least
ONLY_FORCES = 3  # further ones that do nothing but take the forces away
CHANGE = 1e-8  # of the last one
UNLOADED = 1e-9  # forces on free coordinates, over a mass over the square of the grid's step
AT_REST = 1e-3  # of the greatest deflection: what may be left at the ends
THIRD = (-1.0, 3.0, -3.0, 1.0)


@dataclass(eq=False)
class Search:
    """The least error so far of motions that rest at both ends, found with several weights."""

    model: Model
    path: TipPath
    h: float
    seconds: float
    least: float = np.inf  # greatest error of the best motion, of the stroke
    best: tuple[Array, Array, float] | None = None  # its configurations, its errors over the greatest one, its weight

    def solve(self, start: Array, weight: float, counts: Array) -> Array:
        """Return configurations that were found from a start, and remember them if they are the best."""
        stroke = self.path.stroke
        smooth = weight * (self.seconds / (2 * np.pi)) ** 3 / stroke
        q, is_solved = near_motion(self.model, self.path, start, self.h, smooth, counts / (TOLERANCE * stroke))
        if is_solved and unrested(self.model, self.path, q) is None:
            errors = np.linalg.norm(self.path.errors(self.model, q)[0], axis=1)
            if errors.max() < self.least * stroke:
                self.least, self.best = float(errors.max()) / stroke, (q, errors / errors.max(), weight)
        return q


def nearly(model: Model, path: TipPath, h: float, seconds: float, allowed: float) -> Search:
    """Search until the tip errs by at most ``allowed`` of its stroke, or nothing is left to try."""
    search = Search(model, path, h, seconds)
    q, counts = path.q, np.ones(len(path.q))
    for weight in SMOOTH:
        q = search.solve(q, weight, counts)
        if search.least <= allowed:
            return search
    for _ in range(ROUNDS):
        if search.best is None or search.least <= allowed:
            break
        q, errors, weight = search.best
        counts = counts * np.sqrt(errors + LEAST)
        counts /= counts.max()
        search.solve(q, weight, counts)
    return search


def near_motion(model: Model, path: TipPath, start: Array, h: float, smooth: float, counts: Array) -> tuple[Array, bool]:
    """Return configurations at all times, and whether they solve the equations.

    Minimized are the squares of errors times ``counts`` (times,) [1/m] and of third derivatives times ``smooth`` [s^3/m]. A
    step of the Gauss-Newton method is shortened until the squares or the forces on free coordinates fall.
    """
    from scipy.sparse import bmat as blocks
    from scipy.sparse import csr_matrix, diags, kron, vstack
    from scipy.sparse.linalg import splu

    times, n = start.shape
    free = free_coordinates(model)
    drives = n - len(free)
    pick = csr_matrix((np.ones(len(free)), (np.arange(len(free)), free)), shape=(len(free), n))
    third = kron(diags(THIRD, [0, 1, 2, 3], shape=(times - 3, times)) * (smooth / h**3), pick).tocsr()
    rows = np.arange(times * n).reshape(times, n)
    tip, held = rows[:, :drives].ravel(), rows[:, drives:].ravel()

    def at(q: Array) -> tuple[Any, Any, Array, Array]:
        matrix, residual = equations(model, path, q, h)
        by_q = matrix.tocsr()
        least = vstack([diags(np.repeat(counts, drives)) @ by_q[tip], third])
        left = np.concatenate([(residual[:, :drives] * counts[:, None]).ravel(), third @ q.ravel()])
        return least, by_q[held], left, residual[:, drives:].ravel()

    q: Array = start
    least, by_q, left, forces = at(q)
    for step in range(STEPS + ONLY_FORCES):
        only_forces = step >= STEPS
        squares, greatest = left @ left, np.abs(forces).max()
        try:
            solve = splu(blocks([[least.T @ least, by_q.T], [by_q, None]]).tocsc()).solve
        except RuntimeError:
            return start, False  # singular
        change = solve(-np.concatenate([least.T @ left * (not only_forces), forces]))[: q.size].reshape(q.shape)
        largest = float(np.abs(change).max())
        if not np.isfinite(largest):
            return start, False
        share = min(1.0, LONGEST / max(largest, LONGEST))
        while True:
            least, by_q, left, forces = at(q + share * change)
            if only_forces or left @ left < squares or np.abs(forces).max() < max(greatest, UNLOADED) or share < SHORTEST:
                break
            share /= 2
        q = np.asarray(q + share * change)
        if share * largest < CHANGE:
            break
    return q, bool(np.abs(forces).max() < UNLOADED)


def unrested(model: Model, path: TipPath, q: Array) -> tuple[str, str] | None:
    """Return the end and the coordinate at which the arm does not come to rest, or None."""
    free = free_coordinates(model)
    if not free:
        return None
    away = np.abs(q - path.q)[:, free]
    for end, place in (("before", slice(0, 5)), ("after", slice(-5, None))):
        left = away[place].max(axis=0) - AT_REST * away.max(axis=0)
        if left.max() > 1e-12:
            return end, model.coordinate_names[free[int(np.argmax(left))]]
    return None
