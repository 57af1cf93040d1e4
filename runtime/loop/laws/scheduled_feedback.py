"""State feedback whose gains depend on the configuration: a table over the workspace, interpolated."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike, NDArray

from elastogen.runtime import real_numbers
from elastogen.runtime.errors import ModelError, suggestion
from elastogen.runtime.loop.controllers import StateFeedback, lqr
from elastogen.runtime.loop.library import LoopLibrary
from elastogen.runtime.loop.stability import Feedback, LinearRobot
from elastogen.runtime.model.model import Model

MOST_AXES = 3
_KEPT: WeakKeyDictionary[Any, list[Any]] = WeakKeyDictionary()  # arrays that structs of schedules point to


@dataclass(frozen=True, eq=False)
class ScheduledFeedback(StateFeedback):
    """F = F_ref - K(q) (q - q_ref, qd - qd_ref); ``feedforward`` adds the inverse dynamics of the reference.

    ``coordinates`` names one to three coordinates, ``knots`` has increasing places for each [rad, m], and ``K`` is (knots of
    the first, ..., driven, 2 nv): between the knots K is interpolated linearly in each coordinate, beyond them the ends are
    held. :func:`scheduled_lqr` makes it.
    """

    coordinates: Sequence[str] = ()
    knots: Sequence[ArrayLike] = ()
    name: ClassVar[str] = "scheduled_feedback"

    def feedback(self, robot: LinearRobot, kp: NDArray[Any], kd: NDArray[Any]) -> Feedback | None:
        """It depends on the configuration, which is not known here."""
        return None

    def gain_at(self, model: Model, q: NDArray[Any]) -> ArrayLike | None:
        """K of the table's first place: the struct of the schedule has all of them."""
        first: NDArray[Any] = self._table(model)[2].reshape(-1, model.nv, 2 * model.nv)[0]
        return first

    def memory(self, library: LoopLibrary) -> Any:
        """The schedule, for C."""
        model, ffi = library.model, library.ffi
        places, knots, K = self._table(model)
        schedule = ffi.new("eg_loop_schedule_t *")
        kept = [np.ascontiguousarray(part, dtype=model.dtype) for part in (*knots, K)]
        schedule.axes = len(places)
        schedule.coordinate[0 : len(places)] = places
        schedule.count[0 : len(places)] = [len(part) for part in knots]
        pointers = [ffi.cast("eg_real_t *", part.ctypes.data) for part in kept]
        schedule.knots[0 : len(places)] = pointers[:-1]
        schedule.K = pointers[-1]
        _KEPT.setdefault(self, []).append((schedule, kept))
        return schedule

    def _table(self, model: Model) -> tuple[list[int], list[NDArray[Any]], NDArray[Any]]:
        """Indices of the coordinates, knots, and K over all velocities, checked."""
        what = f"{model.name}: ScheduledFeedback"
        places, knots = checked_grid(model, self.coordinates, self.knots, what)
        sizes = tuple(len(part) for part in knots)
        if self.K is None:
            raise ModelError(f"{what} without K. Fix: scheduled_lqr(model, coordinates, knots, ...).")
        K = real_numbers.finite(f"{what}: K", self.K)
        driven, n = list(model.driven), model.nv
        if K.shape not in ((*sizes, len(driven), 2 * n), (*sizes, n, 2 * n)):
            raise ModelError(f"{what}: K has shape {K.shape}, expected {(*sizes, len(driven), 2 * n)}.")
        full = np.zeros((*sizes, n, 2 * n))
        full[..., driven, :] = K if K.shape[-2] == len(driven) else K[..., driven, :]
        return places, knots, full


def checked_grid(
    model: Model, coordinates: Sequence[str], knots: Sequence[ArrayLike], what: str
) -> tuple[list[int], list[NDArray[Any]]]:
    """Indices of coordinates in q, and their knots."""
    names = [coordinates] if isinstance(coordinates, str) else list(coordinates)
    if not 1 <= len(names) <= MOST_AXES or len(set(names)) < len(names) or len(knots) != len(names):
        raise ModelError(
            f"{what}: got coordinates={names} and {len(knots)} rows of knots, expected 1 to {MOST_AXES} different names, and "
            "knots for each."
        )
    for name in names:
        if name not in model.coordinate_names:
            raise ModelError(
                f"{what}: got the coordinate {name!r}, expected one of the robot.{suggestion(name, model.coordinate_names)}"
            )
    rows = [np.atleast_1d(real_numbers.finite(f"{what}: knots", part)) for part in knots]
    for name, row in zip(names, rows, strict=True):
        if row.ndim != 1 or not (np.diff(row) > 0.0).all():
            raise ModelError(f"{what}: knots of {name}: got {row.tolist()}, expected increasing numbers.")
    return [model.coordinate_names.index(name) for name in names], rows


def scheduled_lqr(
    model: Model,
    coordinates: Sequence[str],
    knots: Sequence[ArrayLike],
    weights: Callable[[NDArray[np.float64]], tuple[ArrayLike, ArrayLike]],
    q: ArrayLike | None = None,
    *,
    feedforward: bool = True,
) -> ScheduledFeedback:
    """State feedback by ``lqr`` at rest in every place of the grid; other coordinates are those of ``q`` (None: neutral).

    ``weights(q)`` gives Q (2 nv, 2 nv) and R (driven, driven) of a configuration.
    """
    places, rows = checked_grid(model, coordinates, knots, f"{model.name}: scheduled_lqr")
    base = np.array(model.neutral() if q is None else real_numbers.finite(f"{model.name}: scheduled_lqr: q", q), dtype=float)
    zero, gains = np.zeros(model.nv), []
    for place in itertools.product(*rows):
        at = base.copy()
        at[places] = place
        linear = model.linearize(at, zero, np.asarray(model.inverse_dynamics(at, zero, zero)))
        gains.append(lqr(linear.A, linear.B, *weights(at)))
    K = np.array(gains).reshape(*(len(row) for row in rows), len(model.driven), 2 * model.nv)
    return ScheduledFeedback(K=K, coordinates=tuple(coordinates), knots=tuple(rows), feedforward=feedforward)
