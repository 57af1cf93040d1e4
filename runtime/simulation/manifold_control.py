"""Controllers of a simulation for robots with quaternions: their errors are displacements on the manifold."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from elastogen.runtime.errors import ModelError
from elastogen.runtime.functions.quaternions import elastic_positions, unit_quaternions
from elastogen.runtime.interface.error import shortened
from elastogen.runtime.joints_only import for_all
from elastogen.runtime.motion.geodesics import Geodesics, Manifold
from elastogen.runtime.real_numbers import real_array
from elastogen.runtime.simulation.inputs import PD, ComputedTorque, InputReader

Law = Callable[[float, NDArray[Any], NDArray[Any]], NDArray[Any]]


class Controlled(Manifold, Protocol):
    """What of a model its controllers call."""

    @property
    def driven(self) -> Sequence[int]: ...  # noqa: D102
    def gravity_vector(self, q: ArrayLike) -> Any: ...  # noqa: D102
    def inverse_dynamics(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike) -> Any: ...  # noqa: D102


def law(label: str, model: Controlled, given: PD | ComputedTorque) -> Law:
    """F(t, q, qd) of a controller that holds a configuration or follows geodesics.

    With e = difference(q, q_r): F = G(q) + kp e + kd (qd_r - qd), or the inverse dynamics of qdd_r + kp e + kd (qd_r - qd);
    zero where no drive acts.
    """
    name, reader = type(given).__name__, InputReader(label, model.metadata.elastic_coordinates, model.driven)
    kp, kd = (reader.gain(f"{name}.{key}", getattr(given, key)) for key in ("kp", "kd"))
    actuated = reader.actuated(given)
    zero = np.zeros(model.nv)
    reference: Any = given.reference
    if isinstance(reference, Geodesics):
        if reference.model.nq != model.nq:
            raise ModelError(f"{label}: F= got {name} on geodesics of {reference.model.name}, expected those of {model.name}.")
        at: Callable[[float], tuple[Any, ...]] = lambda t: reference.at(t)[1:4]  # noqa: E731
    else:
        held = (_configuration(label, name, model, reference), zero, zero)
        at = lambda t: held  # noqa: E731

    def force(t: float, q: NDArray[Any], qd: NDArray[Any]) -> NDArray[Any]:
        place, rate, change = at(t)
        command = kp * model.difference(q, place) + kd * (rate - qd)
        F = model.gravity_vector(q) + command if isinstance(given, PD) else model.inverse_dynamics(q, qd, change + command)
        return np.asarray(F * actuated, dtype=float)

    return force


def _configuration(label: str, name: str, model: Controlled, given: Any) -> Any:
    try:
        q = for_all(real_array(given), elastic_positions(model.metadata))
    except (TypeError, ValueError):
        q = np.empty(0)
    if q.shape != (model.nq,) or not np.isfinite(q).all():
        raise ModelError(
            f"{label}: F= got {name} on {shortened(given)}, expected a configuration, {model.nq} numbers, or "
            "elastogen.runtime.motion.geodesics.geodesics(...) for a robot with floating or spherical joints."
        )
    return unit_quaternions(q, model.metadata.quaternions)
