"""Tip inversion without preactuation: the bending that the path's derivatives bring, at every time by itself.

The bounded inverse of a flexible arm's tip is a series in the derivatives of the path: the arm bends under the
accelerations of the motion, that bending accelerates, and so on. Cut off after a few rounds it needs no future of the path:
the arm begins to move with its tip and rests when the tip does, and the tip leaves its path by what the rounds leave out, of
the order of (w / z)^(2 rounds) for a path of frequency w and internal motions of rate z.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from elastogen.runtime.errors import ModelError
from elastogen.runtime.model.model import Model
from elastogen.runtime.motion.trajectory import Trajectory
from elastogen.tip_control.equations import ACCELERATION, CONVERGED, VELOCITY, differences
from elastogen.tip_control.inversion import TipMotion, drive_forces, rest_to_rest
from elastogen.tip_control.tip_path import TipPath, check_arm, tip_path

Array = NDArray[np.float64]
STEPS_OF_MOVE, NEWTON_STEPS = 400, 30
ORDER, MOST_ROUNDS = 6, 2  # derivatives of the path that vanish at its ends; each round takes two, the forces two more


def causal_tip_inversion(
    model: Model,
    joints: Trajectory | ArrayLike,
    goal: ArrayLike | None = None,
    seconds: float | None = None,
    *,
    rounds: int = MOST_ROUNDS,
) -> TipMotion:
    """A motion in which the tip nearly goes where that of the arm at rest would; arguments as of :func:`tip_inversion`.

    Nothing moves before the tip does. ``rounds`` (0 to 2) of bending are taken in; 0 is the arm at rest. Between ``joints`` and
    ``goal`` the path is a polynomial of degree 13; a Trajectory needs 2 rounds + 2 derivatives that vanish at its ends. For
    moves of two periods of the lowest mode and longer; for faster ones take :func:`tip_inversion`.
    """
    what = "causal_tip_inversion"
    check_arm(model, what)
    if isinstance(rounds, bool) or not isinstance(rounds, int) or not 0 <= rounds <= MOST_ROUNDS:
        raise ModelError(f"{what}: rounds={rounds!r}, expected 0 to {MOST_ROUNDS}.")
    reference = joints if isinstance(joints, Trajectory) else rest_to_rest(model, joints, goal, seconds, what, ORDER)
    if reference.size != len(model.driven):
        raise ModelError(f"{what}: the trajectory has {reference.size} coordinates, expected {len(model.driven)}.")
    h = reference.duration / STEPS_OF_MOVE
    t = h * np.arange(STEPS_OF_MOVE + 1, dtype=np.float64)
    path = tip_path(model, reference(reference.breaks[0] + t), what)
    q = path.q
    for _ in range(rounds):
        q = _bent(model, path, q, differences(q, VELOCITY) / h, differences(q, ACCELERATION) / h**2, what)
    qd, qdd = differences(q, VELOCITY) / h, differences(q, ACCELERATION) / h**2
    return TipMotion(t, q, qd, qdd, drive_forces(model, q, qd, qdd), path.pose[:, :3, 3].copy(), 0.0, 0.0, model)


def _bent(model: Model, path: TipPath, q: Array, qd: Array, qdd: Array, what: str) -> Array:
    """Return configurations with the tip on its path and without force on coordinates without drives, at given rates."""
    free = [k for k in range(model.nv) if k not in model.driven]
    q = q.copy()
    for _ in range(NEWTON_STEPS):
        errors, by_q = path.errors(model, q)
        K = np.asarray(model.evaluate("inverse_dynamics_derivatives", q=q, qd=qd, qdd=qdd)[0])[:, free]
        forces = np.asarray(model.inverse_dynamics(q, qd, qdd))[:, free]
        rows = np.concatenate([by_q, K], axis=1)
        change = np.linalg.solve(rows, -np.concatenate([errors, forces], axis=1)[..., None])[..., 0]
        q += change
        if np.abs(change).max() < CONVERGED:
            return q
    raise ModelError(f"{what}: {model.name} does not bend so far. Fix: a slower move, or fewer rounds=.")
