"""What the watchdog of a loop allows, as numbers over all coordinates or velocities."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from elastogen.runtime import real_numbers
from elastogen.runtime.errors import ModelError
from elastogen.runtime.loop import checks
from elastogen.runtime.model.model import Model

Scatter = Callable[[str, Any, Any], NDArray[Any]]  # name, value, elsewhere: over all velocities, or over all coordinates
LEAST_JUMP = 0.1  # of a position that is taken for one, beyond what its velocity explains [rad, m]
SUDDEN = 200.0  # acceleration that no drive reaches [rad/s^2, m/s^2]: at low rates positions change so much by themselves
BLOCKED = 1.0  # a cycle that ends so much too late is a fault by default [s]
MOST_CYCLES = 2**32 - 1


@dataclass(frozen=True, eq=False)
class Limits:
    """What the watchdog allows. Numbers, or arrays over the driven coordinates; None: the robot's own limit where it has one.

    Commands are cut to ``force`` [N m, N], and change by at most ``force_rate`` [N m/s, N/s]. All others stop the loop: a
    command beyond ``force_trip``, a ``velocity`` [rad/s, m/s], a tracking ``error`` [rad, m], a position outside ``position`` =
    (least, greatest) [rad, m], and a last reference or heartbeat that is older than ``reference_age`` [s]; 0: it may be of any
    age. ``force``, ``velocity`` and ``position`` are those of the robot by default; ``np.inf`` is no limit.

    Sensors: a position that changes by more than ``jump`` [rad, m] beyond what its velocity explains (None: 0.1, more below
    45 Hz), and one that stays the same to the last bit for ``frozen`` seconds while its reference moves (0: for ever), are
    faults. Up to ``bridge`` cycles in a row without numbers in the state are bridged by the model; 0: none.
    ``overruns``: periods in a row that may be over when a cycle ends (None: one second, 0: any number).
    """

    force: ArrayLike | None = None
    force_trip: ArrayLike | None = None
    velocity: ArrayLike | None = None
    error: ArrayLike | None = None
    position: tuple[ArrayLike, ArrayLike] | None = None
    reference_age: float = 0.0
    force_rate: ArrayLike | None = None
    jump: ArrayLike | None = None
    frozen: float = 0.1
    bridge: int = 0
    overruns: int | None = None


def limit_fields(
    model: Model, limits: Limits, period: float, velocities: Scatter, coordinates: Scatter
) -> tuple[dict[str, NDArray[Any]], dict[str, int]]:
    """Arrays and whole numbers of the tuning block, for a loop of that period [s]."""
    name = model.name
    speed, effort = model.velocity_limits, model.force_limits
    least, greatest = _range(model, limits.position)
    step = None if limits.force_rate is None else real_numbers.numbers(f"{name}: force_rate", limits.force_rate) * period
    arrays = {
        "F_max": _or_own(velocities, "F_max", limits.force, effort),
        "F_trip": _or_own(velocities, "F_trip", limits.force_trip, None),
        "qd_max": _or_own(velocities, "qd_max", limits.velocity, speed),
        "error_max": _or_own(velocities, "error_max", limits.error, None),
        "F_step": _or_own(velocities, "F_step", step, None),
        "q_min": coordinates("q_min", least, np.full(model.nq, -np.inf)),
        "q_max": coordinates("q_max", greatest, np.full(model.nq, np.inf)),
        "jump": coordinates(
            "jump", max(LEAST_JUMP, SUDDEN * period**2) if limits.jump is None else limits.jump, np.full(model.nq, np.inf)
        ),
    }
    for field in ("F_max", "F_trip", "qd_max", "error_max", "F_step", "jump"):
        if (arrays[field] < 0.0).any():
            raise ModelError(f"{name}: limits: {field} is {arrays[field]}, expected numbers from 0.")
    if (arrays["q_min"] > arrays["q_max"]).any():
        raise ModelError(f"{name}: limits: position={limits.position!r}, expected (least, greatest).")
    if limits.position is not None and (arrays["q_min"] == arrays["q_max"]).any():
        raise ModelError(
            f"{name}: limits: position={limits.position!r} leaves a coordinate nowhere to move, expected (least, greatest), "
            "each a number or one number for each drive."
        )
    ages = {
        field: checks.number(
            f"{name}: {field}", getattr(limits, field), 0.0, MOST_CYCLES * period,
            f"seconds up to {MOST_CYCLES * period:g}; 0: not watched",
        )
        for field in ("reference_age", "frozen")
    }  # fmt: skip
    whole = {field: max(1, round(age / period)) if age > 0.0 else 0 for field, age in ages.items()}
    whole["bridge"] = checks.whole(f"{name}: bridge", limits.bridge, 0, MOST_CYCLES, "a number of cycles from 0")
    return arrays, whole


def most_overruns(limits: Limits, period: float) -> int:
    """Periods in a row that may be over when a cycle ends; 0: any number."""
    if limits.overruns is None:
        return max(1, round(BLOCKED / period))
    return checks.whole("Limits: overruns", limits.overruns, 0, MOST_CYCLES, "None or a number of periods from 0")


def _or_own(scatter: Scatter, name: str, given: ArrayLike | None, own: NDArray[Any] | None) -> NDArray[Any]:
    """A limit as it is given, or the robot's own, or none."""
    if given is not None:
        return scatter(name, given, np.inf)
    if own is None:
        return scatter(name, np.inf, np.inf)
    return scatter(name, np.where(own > 0.0, own, np.inf), np.inf)  # 0 in a file: nobody knew it


def _range(model: Model, position: Any) -> tuple[Any, Any]:
    if position is None:
        return model.position_limits
    if not isinstance(position, (tuple, list)) or len(position) != 2:
        raise ModelError(f"{model.name}: limits: got position={position!r}, expected a pair (least, greatest).")
    return position[0], position[1]
