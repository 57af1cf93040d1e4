"""The observer of a loop: a Kalman filter between reading and the controller, so that laws see how the links bend."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from elastogen.runtime import real_numbers
from elastogen.runtime.errors import ModelError
from elastogen.runtime.functions.sensing.kalman_filter import channel_noise
from elastogen.runtime.interface.error import shortened
from elastogen.runtime.loop import checks
from elastogen.runtime.loop.library import LoopLibrary
from elastogen.runtime.loop.pointers import address_of, function_address

TYPE = "eg_loop_observer_t"
LONGEST = (1 << 32) - 2  # cycles in a row


@dataclass(frozen=True, eq=False)
class Observer:
    """An extended Kalman filter as a stage of the loop: the controller sees its estimate of q and qd.

    - ``sensors``: as of :meth:`Model.ekf`; None: those of the robot. Encoders and tachometers are what the plant reads; a
      simulated plant gives the others, or ``read`` does: the address of a C function
      ``int read(void *io, uint64_t tick, real *y)`` that fills in y (NaN: no reading), with ``io`` before it;
    - ``force``: standard deviations of unknown forces, held for a period, (nv,) or those of the drives [N m, N]; ``noise``:
      those of the readings, as of :meth:`Model.ekf`;
    - ``q``: where coordinates without drives begin, (nq,) [rad, m], None: at zero; ``position_error`` and
      ``velocity_error``: standard deviations of the beginning, one or (nv,);
    - ``distance``: squared innovations over their variances, for each reading, beyond which a cycle is doubtful;
      ``patience`` and ``missing``: so many doubtful cycles, or cycles without one of the readings, are borne in a row; one
      more is a fault, STATUS_OBSERVER.

    What the loop watches, and stops the robot by, stays what was measured. For robots without quaternions, loops and sliding
    joints. ``design_observer(...).stage()`` makes one with the levels of a design.
    """

    sensors: Sequence[str] | str | None = None
    force: ArrayLike | None = None
    noise: ArrayLike | Mapping[str, float] | None = None
    q: ArrayLike | None = None
    position_error: ArrayLike = 1e-3
    velocity_error: ArrayLike = 1e-2
    distance: float = 100.0
    patience: int = 10
    missing: int = 10
    read: Any = None
    io: Any = None

    @property
    def asked(self) -> tuple[str, ...]:
        """Names of sensors; none: those of the robot."""
        given = self.sensors
        return () if given is None else (given,) if isinstance(given, str) else tuple(given)


class ObserverStage:
    """The memory of an observer in a loop, and what it found."""

    def __init__(self, library: LoopLibrary, given: Observer) -> None:
        checks.instance("loop: observer", given, Observer, "None or an Observer(...), design_observer(...).stage() for example")
        model, self._what = library.model, f"{library.model.name}: observer"
        if not hasattr(library.lib, "eg_loop_plant_measure"):
            why = "has quaternions or sliding joints" if model.metadata.sensors else "has no sensors"
            raise ModelError(
                f"{self._what}: the robot {why}. Fix: robot.with_sensors('encoders', ...), or model.loop(observer=)"
            )
        self.given, self._library = given, library
        self.channels = model.metadata.sensors
        block = self._block = library.ffi.new(f"{TYPE} *")
        self._set("noise", channel_noise(self.channels, given.noise, self._what))
        self._set("force", self._forces(given.force))
        self._set("q", self._numbers("q", np.zeros(model.nq) if given.q is None else given.q, model.nq, negative=True))
        for name in ("position_error", "velocity_error"):
            self._set(name, self._numbers(name, getattr(given, name), model.nv))
        expected = "a number above 0, of squared innovations over their variances"
        block.distance_max = checks.number(f"{self._what}: distance", given.distance, 1e-9, 1e30, expected)
        block.patience, block.missing_max = (
            checks.whole(f"{self._what}: {name}", getattr(given, name), 0, LONGEST, "a whole number of cycles from 0")
            for name in ("patience", "missing")
        )

    def connect(self, loop: Any, plant: Any) -> None:
        """Take the place between the plant and the controller; the estimate begins in the first cycle."""
        block, ffi, given = self._block, self._library.ffi, self.given
        offered = getattr(plant, "readings", None)
        elsewhere = [c.name for c in self.channels if not self._is_joint(c.name.removesuffix(".rate"))]
        if given.read is not None:
            address, io = function_address(ffi, f"{self._what}: read", given.read), address_of(ffi, given.io)
        elif offered is not None:
            address, io = (address_of(ffi, each) for each in offered(self._library, self.array("noise")))
        elif elsewhere:
            raise ModelError(
                f"{self._what}: nobody reads {', '.join(elsewhere)}. Fix: Observer(read=...), the address of a C function."
            )
        else:
            address, io = 0, 0
        block.read = ffi.cast("eg_loop_readings_t", address)
        block.io = ffi.cast("void *", io)
        block.started = 0
        loop.observer = block

    @property
    def doubt(self) -> str:
        """Return what speaks against the estimate; empty: nothing."""
        block = self._block
        parts = []
        if block.missing:
            parts.append(f"a reading is missing for {block.missing} cycles")
        if block.doubtful:
            name = self.channels[block.worst].name
            parts.append(f"readings contradict the model for {block.doubtful} cycles, most of all {name}")
        return ", ".join(parts)

    @property
    def covariance(self) -> NDArray[np.float64]:
        """Of the errors of q, along the velocities, and of qd, (2 nv, 2 nv)."""
        size = 2 * self._library.model.nv
        found = np.empty((size, size), dtype=self._library.model.dtype)
        ffi = self._library.ffi
        self._library.lib.eg_loop_covariance(self._block, ffi.cast("eg_real_t *", ffi.from_buffer(found)))
        return found.astype(float)

    @property
    def readings(self) -> NDArray[Any]:
        """Of the last cycle."""
        found: NDArray[Any] = self.array("y").copy()
        return found

    def array(self, field: str) -> NDArray[Any]:
        """A field of numbers."""
        return self._library.view(self._block, TYPE, field)

    def _set(self, field: str, values: NDArray[Any]) -> None:
        self.array(field)[:] = values

    def _is_joint(self, name: str) -> bool:
        return name in self._library.model.coordinate_names

    def _numbers(self, name: str, given: ArrayLike, size: int, *, negative: bool = False) -> NDArray[Any]:
        values = real_numbers.finite(f"{self._what}: {name}", given)
        if values.shape not in ((), (size,)) or (not negative and bool((values < 0.0).any())):
            raise ModelError(
                f"{self._what}: {name}={shortened(given)}, expected one or {size} numbers{'' if negative else ' from 0'}."
            )
        return np.broadcast_to(values, (size,)).astype(float)

    def _forces(self, given: ArrayLike | None) -> NDArray[Any]:
        model = self._library.model
        driven = list(model.driven)
        if given is None:
            raise ModelError(
                f"{self._what}: force is missing, the standard deviations of unknown forces. Fix: Observer(force=...), or "
                "design_observer(model, sensors).stage()."
            )
        values = real_numbers.finite(f"{self._what}: force", given)
        if values.shape == (len(driven),) and len(driven) != model.nv:
            full = np.zeros(model.nv)
            full[driven] = self._numbers("force", values, len(driven))
            return full
        return self._numbers("force", values, model.nv)
