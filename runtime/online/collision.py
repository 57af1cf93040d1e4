"""Collisions: external forces of the momentum observer beyond what the model's own uncertainty explains, in emitted C."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from elastogen.runtime import real_numbers
from elastogen.runtime.errors import ModelError, suggestion
from elastogen.runtime.online.momentum_observer import WHY, ObserverInC


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


class CollisionDetector(ObserverInC):
    """The emitted ``<name>_collision_detector`` of a model: see :meth:`Model.collision_detector`."""

    _why = WHY | {-1: "an option or a step that cannot be"}

    def __init__(
        self, model: Any, dt: float, gain: ArrayLike, uncertain: Mapping[str, float], floor: ArrayLike, margin: float
    ) -> None:
        super().__init__(model, "collision_detector", int(model._lib.eg_collision_detector_size()), dt, gain)
        label, known = self._label, list(model.parameters)
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
        factor = real_numbers.number(f"{label}: margin", margin)
        values = real_numbers.finite(f"{label}: floor", floor)
        if values.shape not in ((), (model.nv,)) or not (values > 0.0).all() or factor < 0.0:
            raise ModelError(
                f"{label}: floor={floor!r}, margin={margin!r}, expected one or {model.nv} numbers above 0 and a number from 0."
            )
        by = [float(uncertain.get(name, 0.0)) for name in known] or [0.0]
        least = np.broadcast_to(values, (model.nv,))
        self._options = np.concatenate([self.gain, least, [factor], by]).astype(model.dtype)

    def update(self, q: ArrayLike, qd: ArrayLike, F: ArrayLike) -> Collisions:
        """Check states (n, nq), (n, nv), ``dt`` apart, or one state; ``F`` acted since the state before each."""
        given = self._states(q, qd, F)
        force, threshold = (np.zeros((len(given[0]), self._owner.nv), self._owner.dtype) for _ in range(2))
        hit = np.zeros(force.shape, np.intc)
        status = self._lib.eg_detect_collisions(
            self._parameters(), len(given[0]), self.dt, *map(self._real, (self._options, *given)), self._place,
            *map(self._real, (force, threshold)), self._ffi.from_buffer(self._ffi.typeof("int[]"), hit),
        )  # fmt: skip
        self._check(int(status))
        return Collisions(force, threshold, hit.astype(bool))
