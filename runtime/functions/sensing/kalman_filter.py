"""The extended Kalman filter of a robot: the emitted C behind numpy arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from elastogen.runtime import real_numbers
from elastogen.runtime.errors import ModelError
from elastogen.runtime.functions.evaluation import Array
from elastogen.runtime.functions.quaternions import unit_quaternions
from elastogen.runtime.interface.channel import Channel
from elastogen.runtime.interface.error import shortened

NOISE = {"rad": 1e-4, "m": 1e-4, "rad/s": 5e-3, "m/s": 5e-3, "1": 1e-6, "m/s^2": 5e-2}
"""Standard deviations of readings by their units, unless others are given: encoders of 16 bits, gauges, small IMUs."""
STEP, PREDICT, CORRECT = 0, 1, 2


@dataclass(frozen=True, eq=False)
class Estimates:
    """The estimates of a filter, one row for each step."""

    q: Array  # (n, nq)
    qd: Array  # (n, nv)
    position_error: Array  # (n, nv): standard deviations along the velocities
    velocity_error: Array  # (n, nv)
    distance: Array  # (n,): squared innovations over their variances; for n readings it has the mean n


def channel_noise(channels: tuple[Channel, ...], given: ArrayLike | Mapping[str, float] | None, what: str) -> NDArray[Any]:
    """Return standard deviations of readings, given as numbers or by name of the reading, of the sensor, or by unit."""
    if given is not None and not isinstance(given, Mapping):
        values = real_numbers.finite(f"{what}: noise", given, f"{len(channels)} numbers above 0")
        if values.shape not in ((), (len(channels),)) or (values <= 0.0).any():
            raise ModelError(f"{what}: noise={shortened(given)}, expected one or {len(channels)} numbers above 0.")
        same: NDArray[Any] = np.broadcast_to(values, (len(channels),)).copy()
        return same
    known_noise = {**NOISE, **(given or {})}
    known = {name for channel in channels for name in (channel.name, channel.sensor, channel.unit)}
    for name, value in (given or {}).items():
        if name not in known and name not in NOISE:
            raise ModelError(f"{what}: noise of {name!r}, expected one of {', '.join(sorted(known))}.")
        if real_numbers.number(f"{what}: noise of {name}", value) <= 0.0:
            raise ModelError(f"{what}: noise of {name} is {value!r}, expected a number above 0.")
    found = []
    for channel in channels:
        key = next((name for name in (channel.name, channel.sensor, channel.unit) if name in known_noise), None)
        if key is None:
            raise ModelError(
                f"{what}: noise of {channel.name} [{channel.unit}] is not known. Fix: noise={{{channel.name!r}: ...}}"
            )
        found.append(float(known_noise[key]))
    return np.array(found)


class KalmanFilter:
    """The extended Kalman filter of a model: see :meth:`Model.ekf`."""

    def __init__(
        self,
        model: Any,
        q: ArrayLike,
        qd: ArrayLike,
        force: ArrayLike,
        noise: ArrayLike | Mapping[str, float] | None,
        position_error: ArrayLike,
        velocity_error: ArrayLike,
        parameters: Mapping[str, Any],
    ) -> None:
        self._what = f"{model.name}.ekf"
        self._model, self._dtype = model, model.dtype
        self.channels: tuple[Channel, ...] = model.metadata.sensors
        nq, nv = model.nq, model.nv
        place = self._numbers("q", q, nq)
        if model.metadata.quaternions:
            place = unit_quaternions(place, model.metadata.quaternions)
        self._unknown = self._forces(force, nv)
        self._noise = channel_noise(self.channels, noise, self._what).astype(self._dtype)
        errors = [self._errors(name, given, nv) for name, given in (("position", position_error), ("velocity", velocity_error))]
        lib, ffi = model._lib, model._ffi
        self._lib, self._ffi = lib, ffi
        self._params = np.ascontiguousarray(model.parameters.merged(parameters), dtype=self._dtype)
        self._memory = ffi.new("double[]", -(-int(lib.eg_ekf_size()) // 8))
        pointers = [self._pointer(each) for each in (place, self._numbers("qd", qd, nv), *errors)]
        lib.eg_ekf_init(self._memory, *pointers)
        lib.eg_ekf_set(self._memory, self._pointer(self._unknown), self._pointer(self._noise))

    @property
    def q(self) -> Array:
        """Return the estimate of the coordinates (nq,)."""
        found: Array = self._read()[0]
        return found

    @property
    def qd(self) -> Array:
        """Return the estimate of the velocities (nv,)."""
        found: Array = self._read()[1]
        return found

    @property
    def covariance(self) -> Array:
        """Return the covariance (2 nv, 2 nv) of the errors of q, along the velocities, and of qd."""
        found: Array = self._read()[2]
        return found

    @property
    def innovation(self) -> Array:
        """Return readings minus expected readings of the last correction; 0 for readings that were NaN."""
        found: Array = self._read()[3]
        return found

    @property
    def distance(self) -> float:
        """Return the sum of squared innovations over their variances, of the last correction."""
        return float(self._read()[4][0])

    @property
    def used(self) -> int:
        """Return how many readings the last correction used."""
        return int(self._read()[5])

    def step(self, F: ArrayLike, y: ArrayLike, dt: float) -> None:
        """Predict over ``dt`` [s] with the held forces F, then correct with the readings y; NaN marks missing readings."""
        self._run(STEP, F, y, dt)

    def predict(self, F: ArrayLike, dt: float) -> None:
        """Predict over ``dt`` [s] with the held forces F."""
        self._run(PREDICT, F, np.zeros(len(self.channels)), dt)

    def correct(self, F: ArrayLike, y: ArrayLike) -> None:
        """Correct with the readings y of this moment and the forces F that act."""
        self._run(CORRECT, F, y, 1.0)

    def run(self, F: ArrayLike, y: ArrayLike, dt: float) -> Estimates:
        """Run steps over rows: F (n, nv), or (nv,) for all, y (n, readings)."""
        readings = np.asarray(y)
        if readings.ndim != 2:
            raise ModelError(f"{self._what}: y has shape {readings.shape}, expected (steps, {len(self.channels)}).")
        forces = np.asarray(F)
        if forces.ndim == 1:
            forces = np.broadcast_to(forces, (len(readings), *forces.shape))
        return self._run(STEP, forces, readings, dt)

    def _run(self, kind: int, F: ArrayLike, y: ArrayLike, dt: float) -> Estimates:
        nq, nv, count = self._model.nq, self._model.nv, len(self.channels)
        step = real_numbers.number(f"{self._what}: dt", dt, "a positive number of seconds")
        if step <= 0.0:
            raise ModelError(f"{self._what}: dt={dt!r}, expected a positive number of seconds.")
        forces = self._rows("F", F, nv, real_numbers.finite)
        readings = self._rows("y", y, count, _readings)
        if len(forces) != len(readings):
            raise ModelError(f"{self._what}: F has {len(forces)} rows and y {len(readings)}, expected as many.")
        n = len(readings)
        found = [np.empty(shape, dtype=self._dtype) for shape in ((n, nq), (n, nv), (n, 2 * nv), (n,))]
        done = self._lib.eg_ekf_run(
            self._memory,
            self._pointer(self._params),
            n,
            kind,
            step,
            self._pointer(forces),
            self._pointer(readings),
            *map(self._pointer, found),
        )
        if done < n:
            raise ModelError(
                f"{self._what}: step {done} of {n} has no finite result (q={self.q.tolist()}, "
                f"F={forces[done].tolist()}). Fix: smaller errors of the start, a shorter dt, or sound readings."
            )
        spread = np.sqrt(np.maximum(found[2], 0.0))
        return Estimates(found[0], found[1], spread[:, :nv], spread[:, nv:], found[3])

    def _read(self) -> tuple[Any, ...]:
        nq, nv, count = self._model.nq, self._model.nv, len(self.channels)
        found = [np.empty(shape, dtype=self._dtype) for shape in ((nq,), (nv,), (2 * nv, 2 * nv), (count,), (1,))]
        used = self._lib.eg_ekf_read(self._memory, *map(self._pointer, found))
        return (*found, used)

    def _pointer(self, array: NDArray[Any]) -> Any:
        return self._ffi.cast("eg_real_t *", array.ctypes.data)

    def _rows(self, name: str, given: ArrayLike, size: int, check: Any) -> NDArray[Any]:
        rows = np.atleast_2d(check(f"{self._what}: {name}", given))
        if rows.ndim != 2 or rows.shape[1] != size:
            raise ModelError(f"{self._what}: {name} has shape {np.shape(given)}, expected {size} numbers.")
        return np.ascontiguousarray(rows, dtype=self._dtype)

    def _numbers(self, name: str, given: ArrayLike, size: int) -> NDArray[Any]:
        values = real_numbers.finite(f"{self._what}: {name}", given, f"{size} finite numbers")
        if values.shape != (size,):
            raise ModelError(f"{self._what}: {name} has shape {values.shape}, expected ({size},).")
        return np.ascontiguousarray(values, dtype=self._dtype)

    def _errors(self, name: str, given: ArrayLike, size: int) -> NDArray[Any]:
        values = real_numbers.finite(f"{self._what}: {name}_error", given, f"one or {size} numbers from 0")
        if values.shape not in ((), (size,)) or (values < 0.0).any():
            raise ModelError(f"{self._what}: {name}_error={shortened(given)}, expected one or {size} numbers from 0.")
        return np.broadcast_to(values, (size,)).astype(self._dtype)

    def _forces(self, given: ArrayLike, nv: int) -> NDArray[Any]:
        values = real_numbers.finite(f"{self._what}: force", given, f"{nv} numbers from 0")
        driven = list(self._model.driven)
        if values.shape not in ((), (nv,), (len(driven),)) or (values < 0.0).any():
            raise ModelError(
                f"{self._what}: force={shortened(given)}, expected one, {len(driven)} (drives) or {nv} numbers from 0."
            )
        if values.shape == (nv,):
            return values.astype(self._dtype)
        result = np.zeros(nv, dtype=self._dtype)
        result[driven] = values
        return result


def _readings(what: str, given: object) -> NDArray[np.float64]:
    """Check readings; NaN marks missing ones."""
    try:
        values = real_numbers.real_array(given)
    except (TypeError, ValueError) as error:
        raise ModelError(f"{what}: got {shortened(given)}, expected real numbers, NaN where there is no reading.") from error
    if np.isinf(values).any():
        raise ModelError(f"{what}: got infinity, expected numbers, or NaN where there is no reading.")
    return values
