"""The desired path of the tip: that of the arm at rest, bent only by its weight, along a motion of its joints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elastogen.runtime.errors import ModelError
from elastogen.runtime.model.model import Model

Array = NDArray[np.float64]
STEPS = 40  # of Newton's method, at most
CLOSE = 1e-12  # of its displacements
RANK = 1e-6  # smallest part of the greatest singular value that counts


@dataclass(frozen=True, eq=False)
class TipPath:
    """Poses of the tip at given times, and the directions in which the drives move it."""

    q: Array  # (k, n): the arm at rest, elastic coordinates in equilibrium
    pose: Array  # (k, 4, 4)
    weights: Array  # (k, drives, 6): orthogonal unit rows whose products with the tip's error must vanish

    @property
    def stroke(self) -> float:
        """Greatest distance of the tip from where it begins [m]."""
        return max(float(np.linalg.norm(self.pose[:, :3, 3] - self.pose[0, :3, 3], axis=1).max()), 1e-9)

    def errors(self, model: Model, q: Array) -> tuple[Array, Array]:
        """Return weighted errors (k, drives) of the tip in configurations q, and their derivatives (k, drives, n)."""
        pose, J = np.asarray(model.forward_kinematics(q))[..., -1, :, :], np.asarray(model.jacobian(q))
        turned = np.swapaxes(self.pose[..., :3, :3], -1, -2) @ pose[..., :3, :3]
        spin = np.stack([turned[..., 2, 1], turned[..., 0, 2], turned[..., 1, 0]], axis=-1)
        spin = 0.5 * (spin - np.stack([turned[..., 1, 2], turned[..., 2, 0], turned[..., 0, 1]], axis=-1))
        angle = (self.pose[..., :3, :3] @ spin[..., None])[..., 0]
        e = np.concatenate([pose[..., :3, 3] - self.pose[..., :3, 3], angle], axis=-1)
        return (self.weights @ e[..., None])[..., 0], self.weights @ J


def check_arm(model: Model, what: str) -> None:
    """Refuse robots whose tip cannot be inverted, by name."""
    if model.nq != model.nv or model.metadata.loops is not None or model.metadata.sliding:
        raise ModelError(
            f"{what}: {model.name} has quaternions, loops or sliding joints, expected an arm of one-number joints."
        )
    if model.dtype != np.float64:
        raise ModelError(f"{what}: {model.name} is a model in single precision. Fix: build_model(robot), in double precision.")
    if not model.driven:
        raise ModelError(f"{what}: {model.name} has no drives.")


def equilibrium(model: Model, q: Array, what: str, qd: Array | None = None, qdd: Array | None = None) -> Array:
    """The configurations with undriven coordinates such that no force acts on them: G + Q_e = 0 in their rows.

    With ``qd`` and ``qdd`` of the joints, under the inertia forces of their motion, too.
    """
    free = [k for k in range(model.nv) if k not in model.driven]
    q = q.copy()
    qd, qdd = (np.zeros_like(q) if rate is None else rate for rate in (qd, qdd))
    if not free:
        return q
    for _ in range(STEPS):
        force = np.asarray(model.inverse_dynamics(q, qd, qdd))[..., free]
        K = np.asarray(model.evaluate("inverse_dynamics_derivatives", q=q, qd=qd, qdd=qdd)[0])[..., free, :][..., free]
        change = np.linalg.solve(K, -force[..., None])[..., 0]
        q[..., free] += change
        if np.abs(change).max() < CLOSE:
            return q
    raise ModelError(f"{what}: {model.name} finds no equilibrium of its elastic coordinates along the motion.")


def tip_path(model: Model, joints: Array, what: str) -> TipPath:
    """The path of the tip along positions of the driven joints (k, drives)."""
    start: Any = np.tile(model.neutral(), (len(joints), 1))
    start[:, list(model.driven)] = joints
    q = equilibrium(model, start, what)
    J = np.asarray(model.jacobian(q))[..., list(model.driven)]
    drives = len(model.driven)
    rows = 3 if _moves_freely(model, drives) else 6
    sizes = np.linalg.svd(J[:, :rows], compute_uv=False)
    least = sizes[:, drives - 1] / sizes[:, 0] if drives <= rows else np.zeros(len(joints))
    place = int(np.argmin(least))
    if least[place] < RANK:
        raise ModelError(
            f"{what}: {model.name} has {drives} drives, and its tip does not move in as many directions at joints "
            f"{np.round(joints[place], 4).tolist()}: it is singular there. Fix: keep away from such configurations; lock "
            "joints that the tip does not need."
        )
    weights = np.zeros((len(joints), drives, 6))
    weights[:, :, :rows] = np.swapaxes(np.linalg.qr(J[:, :rows])[0], 1, 2)
    pose: Array = np.array(model.forward_kinematics(q), dtype=np.float64)[..., -1, :, :]
    return TipPath(q, pose, weights)


def _moves_freely(model: Model, drives: int) -> bool:
    """Whether the drives move the position of the tip in as many directions; otherwise its rotation counts."""
    rng = np.random.default_rng(0)
    q: Any = np.tile(model.neutral(), (8, 1))
    q[:, list(model.driven)] += rng.uniform(-1.0, 1.0, (8, drives))
    J = np.asarray(model.jacobian(q))[..., :3, list(model.driven)]
    sizes = np.linalg.svd(J, compute_uv=False)
    ranks = (sizes > RANK * sizes.max(axis=-1, keepdims=True, initial=0.0)).sum(axis=-1)
    return bool(drives <= 3 and (ranks >= drives).any())
