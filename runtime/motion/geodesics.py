"""Motions on the manifold of a robot: geodesics between configurations with one time law, at rest at each of them.

Between two configurations q = integrate(q_0, h(t) x) with x = difference(q_0, q_1): velocities are dh/dt x, accelerations
d2h/dt2 x, whatever the joints are. A spherical joint rotates about a fixed axis, a floating one moves on a screw, all others
along straight lines. As C: ``elastogen.build.files.geodesic``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from itertools import pairwise
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from elastogen.runtime.errors import ModelError
from elastogen.runtime.functions.metadata import Metadata
from elastogen.runtime.functions.quaternions import unit_quaternions
from elastogen.runtime.interface.error import shortened
from elastogen.runtime.motion.profiles import s_curve, trapezoidal
from elastogen.runtime.motion.trajectory import Samples, Trajectory, quintic
from elastogen.runtime.real_numbers import finite, real_array

Array = NDArray[np.float64]
SAME = 1e-14  # displacements [rad, m] that are rounding errors


@runtime_checkable
class Manifold(Protocol):
    """The properties of a model that geodesics need."""

    @property
    def name(self) -> str: ...  # noqa: D102
    @property
    def nq(self) -> int: ...  # noqa: D102
    @property
    def nv(self) -> int: ...  # noqa: D102
    @property
    def dtype(self) -> Any: ...  # noqa: D102
    @property
    def metadata(self) -> Metadata: ...  # noqa: D102
    def integrate(self, q: ArrayLike, v: ArrayLike) -> Any: ...  # noqa: D102
    def difference(self, q0: ArrayLike, q1: ArrayLike) -> Any: ...  # noqa: D102


@dataclass(frozen=True, eq=False)
class Geodesics:
    """Geodesics through ``points`` (m, nq); ``law`` moves one coordinate from 0 to m - 1: leg number plus part of the leg."""

    model: Manifold
    points: Array
    displacements: Array  # (m - 1, nv): displacements from point to point
    law: Trajectory

    @property
    def duration(self) -> float:
        """Return the duration of all legs [s]."""
        return self.law.duration

    def at(self, t: ArrayLike) -> Samples:
        """Return the motion at given times (k,): q is (k, nq), velocities and their derivatives are (k, nv)."""
        place = self.law(t)[..., 0]
        leg = np.clip(np.floor(place).astype(int), 0, len(self.displacements) - 1)
        way = self.displacements[leg]
        q = self.model.integrate(self.points[leg], (place - leg)[..., None] * way)
        rates = [np.asarray(self.law(t, order) * way) for order in (1, 2, 3)]
        return Samples(np.asarray(t, dtype=float), np.asarray(q, dtype=float), rates[0], rates[1], rates[2])

    def sample(self, rate: float) -> Samples:
        """Sample the motion at a loop's rate [1/s]: ``loop.follow(s.q, s.qd, s.qdd)``."""
        return self.at(self.law.sample(rate).t)


def geodesics(
    model: Manifold,
    points: ArrayLike,
    times: ArrayLike | None = None,
    *,
    velocity: ArrayLike | None = None,
    acceleration: ArrayLike | None = None,
    jerk: ArrayLike | None = None,
) -> Geodesics:
    """Geodesics through ``points`` (m, nq), by quintics at ``times`` (m,), or as fast as limits of the velocities allow.

    Limits are numbers or (nv,): ``velocity`` and ``acceleration`` give trapezoidal laws, with ``jerk`` S-curves. Of two points
    the second should be less than half a revolution from the first.
    """
    if not isinstance(model, Manifold):
        raise ModelError(f"geodesics: model={model!r}, expected a model, of elastogen.build_model for example.")
    what = f"{model.name}: geodesics"
    q = finite(f"{what}: points", points)
    if q.ndim != 2 or q.shape[1] != model.nq or len(q) < 2 or not np.isfinite(q).all():
        raise ModelError(f"{what}: got points of shape {q.shape}, expected finite numbers (m, {model.nq}), m >= 2.")
    if model.metadata.quaternions:
        q = unit_quaternions(q, model.metadata.quaternions)
    displacements = np.asarray(model.difference(q[:-1], q[1:]), dtype=float)
    if times is not None:
        if any(limit is not None for limit in (velocity, acceleration, jerk)):
            raise ModelError(f"{what}: got times and limits, expected one of them.")
        moments = finite(f"{what}: times", times)
        if moments.shape != (len(q),) or not (np.diff(moments) > 0).all():
            raise ModelError(f"{what}: got times of shape {moments.shape}, expected {len(q)} that ascend.")
        legs = [quintic([[k], [k + 1]], pair) for k, pair in enumerate(pairwise(moments))]
        return Geodesics(model, q, displacements, reduce(Trajectory.then, legs))
    if velocity is None or acceleration is None:
        raise ModelError(f"{what}: got neither times nor limits, expected times=, or velocity= and acceleration=.")
    if not (np.abs(displacements).max(axis=1) > SAME).all():
        raise ModelError(f"{what}: two points behind each other are the same; there is nothing to move.")
    limits = {"velocity": velocity, "acceleration": acceleration, "jerk": jerk}
    bounds = {name: _bounds(what, name, limit, model.nv) for name, limit in limits.items() if limit is not None}
    law: Any = trapezoidal if jerk is None else s_curve
    moves = []
    for k, way in enumerate(displacements):
        moved = way != 0.0
        slowest = {name: float((bound[moved] / np.abs(way[moved])).min()) for name, bound in bounds.items()}
        moves.append(law([[k], [k + 1]], **slowest))
    return Geodesics(model, q, displacements, reduce(Trajectory.then, moves))


def _bounds(what: str, name: str, given: ArrayLike, size: int) -> Array:
    try:
        bound = np.broadcast_to(real_array(given), (size,))
    except (TypeError, ValueError) as error:
        raise ModelError(f"{what}: {name}={shortened(given)}, expected a number or {size} numbers.") from error
    if not (np.isfinite(bound) & (bound > 0.0)).all():
        raise ModelError(f"{what}: {name}={shortened(given)}, expected positive numbers.")
    return bound
