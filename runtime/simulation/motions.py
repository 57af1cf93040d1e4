"""The motions of a batch: where they start, where their samples go, how they ended."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from elastogen.runtime.errors import ModelError
from elastogen.runtime.interface.error import shortened
from elastogen.runtime.interface.plane import GroundEvent
from elastogen.runtime.real_numbers import real_array
from elastogen.runtime.simulation.switches import Switch


@dataclass(frozen=True)
class Passed:
    """The first limit that a motion passed."""

    index: int  # of the coordinate
    is_upper: bool
    time: float  # [s]


@dataclass(frozen=True, eq=False)
class Motions(Sequence["Motion"]):
    """All motions of a batch, one after the other in dense arrays."""

    batch: tuple[int, ...]  # shape
    parameters: NDArray[Any]  # (number, ...), of the model's own type
    q0: NDArray[Any]
    qd0: NDArray[Any]
    samples: dict[str, NDArray[Any]]  # fields of the record struct, (number, times, ...)
    each: tuple[Motion, ...]
    controls: Any  # array of the control struct, one for each

    def __len__(self) -> int:
        return len(self.each)

    def __getitem__(self, k: Any) -> Any:
        return self.each[k]

    def forget_what_was_not_reached(self) -> None:
        """NaN in place of samples after the last one of each motion."""
        times = next(iter(self.samples.values())).shape[1]
        for k, motion in enumerate(self.each):
            if motion.control.samples < times:
                for array in self.samples.values():
                    array[k, motion.control.samples :] = np.nan

    def met(self, name: str) -> tuple[Any, ...]:
        """What all motions met, switches or events of the ground, with the places of the motions in the batch."""
        places = [tuple(int(k) for k in np.unravel_index(n, self.batch)) if self.batch else () for n in range(len(self))]
        return tuple(
            replace(m, motion=place) for place, motion in zip(places, self.each, strict=True) for m in getattr(motion, name)
        )

    def shaped(self) -> dict[str, NDArray[Any]]:
        """The samples with the axes of the batch."""
        return {name: array.reshape(*self.batch, *array.shape[1:]) for name, array in self.samples.items()}


@dataclass(eq=False)
class Motion:
    """One motion to compute."""

    parameters: NDArray[Any]
    q0: NDArray[Any]
    qd0: NDArray[Any]
    control: Any
    status: str = "CANCELLED"
    switches: tuple[Switch, ...] = ()
    ground_events: tuple[GroundEvent, ...] = ()
    passed: Passed | None = None


def make_motions(
    label: str, ffi: Any, starts: Mapping[str, NDArray[Any]], sizes: Mapping[str, tuple[int, ...]], count: int
) -> Motions:
    """Broadcast the starts ``q0``, ``qd0`` and ``parameters`` (..., size); ``count`` samples of arrays of these sizes."""
    shapes = {name: array.shape[:-1] for name, array in starts.items()}
    try:
        batch = np.broadcast_shapes(*shapes.values())
    except ValueError:
        given = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
        raise ModelError(f"{label}: the batch axes do not broadcast against each other: {given}.") from None
    number = math.prod(batch)
    if not number:
        raise ModelError(f"{label}: the batch of shape {batch} is empty, expected at least one motion.")
    dense = {
        name: np.ascontiguousarray(np.broadcast_to(array, (*batch, array.shape[-1]))).reshape(number, array.shape[-1])
        for name, array in starts.items()
    }
    controls = ffi.new("eg_sim_control_t[]", number)
    rows = zip(dense["parameters"], dense["q0"], dense["qd0"], strict=True)
    each = tuple(Motion(*row, controls + k) for k, row in enumerate(rows))
    try:
        samples = {name: np.full((number, count, *size), np.nan) for name, size in sizes.items()}
    except MemoryError:
        raise ModelError(
            f"{label}: {count} samples of {number} motions do not fit into memory. Fix: fewer samples, or smaller batches."
        ) from None
    return Motions(batch, dense["parameters"], dense["q0"], dense["qd0"], samples, each, controls)


def sample_times(label: str, given: ArrayLike, samples: int) -> NDArray[np.float64]:
    """Check ``t=`` and ``samples=``: increasing times [s], or the end of as many of them from 0."""
    if isinstance(samples, bool) or not isinstance(samples, (int, np.integer)) or samples < 2:
        raise ModelError(
            f"{label}: samples={shortened(samples)}, expected a whole number of samples, at least 2: start and end."
        )
    try:
        times = real_array(given)
        if samples > sys.maxsize // times.itemsize:  # numpy makes an empty array of so many
            raise MemoryError
        if times.ndim == 0:
            times = np.linspace(0.0, float(times), int(samples))
    except (TypeError, ValueError) as error:
        raise ModelError(f"{label}: t={shortened(given)}, expected a number or increasing times [s].") from error
    except MemoryError:
        raise ModelError(f"{label}: samples={shortened(samples)} do not fit into memory. Fix: fewer samples.") from None
    if (
        isinstance(given, bool)
        or times.ndim != 1
        or not len(times)
        or not np.isfinite(times).all()
        or (np.diff(times) <= 0).any()
    ):
        raise ModelError(f"{label}: t of shape {np.shape(given)}, expected a positive number or increasing times [s].")
    return np.ascontiguousarray(times)
