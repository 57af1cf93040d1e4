"""Collisions: external forces of the momentum observer beyond what the model's own uncertainty explains.

With a model that is wrong in some parameters, the observer also shows forces that are none. How large they can be is known:
a robot whose parameter is p_k + u_k accelerates by qdd_k, forward dynamics with that parameter, and the observer takes what
the nominal model needs more for it as external. The threshold is what these add up to, behind the same low pass, and a floor:

    d' = gain (sum over k of |inverse_dynamics(q, qd, qdd_k; p) - F| - d),    |r_i| > floor_i + margin d_i: a collision.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from elastogen.runtime import real_numbers
from elastogen.runtime.errors import ModelError, suggestion
from elastogen.runtime.online.momentum_observer import MomentumObserver


@dataclass(frozen=True, eq=False)
class Collisions:
    """The collisions in rows of states."""

    force: NDArray[Any]  # (n, nv): the observer's estimate [N m, N]
    threshold: NDArray[Any]  # (n, nv)
    hit: NDArray[np.bool_]  # (n, nv)

    @property
    def first(self) -> int | None:
        """Return the first row with a collision, or None."""
        rows = np.flatnonzero(self.hit.any(axis=1))
        return int(rows[0]) if rows.size else None


class CollisionDetector:
    """Detects collisions: see :meth:`Model.collision_detector`."""

    def __init__(
        self, model: Any, dt: float, gain: ArrayLike, uncertain: Mapping[str, float], floor: ArrayLike, margin: float
    ) -> None:
        label = f"{model.name}.collision_detector"
        self._model, self._observer = model, MomentumObserver(model, dt, gain)
        known = list(model.parameters)
        if not isinstance(uncertain, Mapping):
            raise ModelError(f"{label}: uncertain={uncertain!r}, expected live parameters and by how much they may be wrong.")
        for name, value in uncertain.items():
            if name not in known:
                raise ModelError(
                    f"{label}: uncertain: {name!r} is not a live parameter.{suggestion(name, known)} "
                    "Fix: live: in the robot file, or load(robot, live=[...])."
                )
            if real_numbers.number(f"{label}: uncertain {name}", value) < 0.0:
                raise ModelError(f"{label}: uncertain {name} is {value!r}, expected a number from 0, in the parameter's unit.")
        self._uncertain = dict(uncertain)
        self._margin = real_numbers.number(f"{label}: margin", margin)
        values = real_numbers.finite(f"{label}: floor", floor)
        if values.shape not in ((), (model.nv,)) or not (values > 0.0).all() or self._margin < 0.0:
            raise ModelError(
                f"{label}: floor={floor!r}, margin={margin!r}, expected one or {model.nv} numbers above 0 and a number from 0."
            )
        self._floor = np.broadcast_to(values, (model.nv,)).astype(float)
        self._explained = np.zeros(model.nv)

    def reset(self) -> None:
        """Reset the observer."""
        self._observer.reset()
        self._explained = np.zeros(self._model.nv)

    def update(self, q: ArrayLike, qd: ArrayLike, F: ArrayLike) -> Collisions:
        """Check states (n, nq), (n, nv), ``dt`` apart, or one state; ``F`` acted since the state before each."""
        rows = [np.atleast_2d(np.asarray(value, dtype=float)) for value in (q, qd, F)]
        force = np.atleast_2d(self._observer.update(*rows))
        spread = self._spread(*rows)
        gain, dt = self._observer.gain.astype(float), self._observer.dt
        explained = np.empty_like(spread)
        for k, each in enumerate(spread):  # implicit, as the observer
            self._explained = (self._explained + dt * gain * each) / (1.0 + dt * gain)
            explained[k] = self._explained
        threshold = self._floor + self._margin * explained
        return Collisions(force, threshold, np.abs(force) > threshold)

    def _spread(self, q: NDArray[Any], qd: NDArray[Any], F: NDArray[Any]) -> NDArray[Any]:
        """Return the forces by which the uncertain parameters may change those of the motion, (n, nv)."""
        model, total = self._model, np.zeros(qd.shape)
        if not self._uncertain:
            return total
        for name, by in self._uncertain.items():
            value, seen = float(model.parameters[name]), []
            for sign in (1.0, -1.0):  # what the observer shows of a robot whose parameter is that
                qdd = model.forward_dynamics(q, qd, F, parameters={name: value + sign * by})
                seen.append(np.abs(np.asarray(model.inverse_dynamics(q, qd, qdd)) - F))
            total += np.maximum(*seen)
        return total
