"""Limits of the joints in a simulation: who passes one first, an end there, or springs beyond them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from elastogen.runtime.choices import one_of
from elastogen.runtime.errors import ModelError, ModelWarning
from elastogen.runtime.interface.error import shortened
from elastogen.runtime.real_numbers import real_array

FREQUENCY = 300.0  # of a joint on a stop with the default stiffness [rad/s]


@dataclass(frozen=True, eq=False)
class Stops:
    """Springs and dampers that push a joint back beyond its limits: F = -stiffness (q - limit) - damping qd, never pulling.

    ``stiffness`` [N m/rad, N/m] and ``damping`` [N m s/rad, N s/m] are numbers or (nq,). None: a joint alone on its stop
    swings with 300 rad/s, critically damped, with the inertia that it has at the start.
    """

    stiffness: ArrayLike | None = None
    damping: ArrayLike | None = None


StopChoice: TypeAlias = Union[Literal["report", "end", "ignore"], Stops]  # noqa: UP007


@dataclass(frozen=True)
class LimitPassed:
    """The first time that a motion went beyond a limit of the robot description."""

    coordinate: str
    limit: float
    """[rad, m]"""
    unit: str
    time: float
    """[s], between two steps by a cubic."""
    motion: tuple[int, ...] = ()
    """Index in the batch."""

    def __str__(self) -> str:
        return f"{self.coordinate} passed its limit {self.limit:.6g} {self.unit} at t = {self.time:.6g} s"


@dataclass(frozen=True)
class StopData:
    """Stops as the C code takes them: arrays (nq,) of double."""

    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    ends: bool = False
    stiffness: NDArray[np.float64] | None = None
    damping: NDArray[np.float64] | None = None


def read_stops(
    label: str,
    given: object,
    limits: tuple[NDArray[Any], NDArray[Any]],
    inertia: Callable[[], NDArray[np.float64]],
) -> StopData | None:
    """Check ``stops=``; ``inertia()`` is what a sudden force on each joint meets. None: there is nothing to watch."""
    lower, upper = (np.ascontiguousarray(limit, dtype=np.float64) for limit in limits)
    if not isinstance(given, Stops):
        one_of(f"{label}: stops", given, ("report", "end", "ignore"), "Stops(stiffness, damping)")
        watched = given != "ignore" and bool(np.isfinite([lower, upper]).any())
        return StopData(lower, upper, given == "end") if watched else None
    if not np.isfinite([lower, upper]).any():
        raise ModelError(
            f"{label}: stops={shortened(given)}, but the robot has no limits. Fix: limits: of its joints in the robot's file."
        )
    met = inertia() if given.stiffness is None or given.damping is None else np.ones(len(lower))
    usual = (met * FREQUENCY**2, 2.0 * met * FREQUENCY)
    values = [_gains(label, name, getattr(given, name), default) for name, default in zip(_NAMES, usual, strict=True)]
    return StopData(lower, upper, False, values[0], values[1])


_NAMES = ("stiffness", "damping")


def _gains(label: str, name: str, given: ArrayLike | None, usual: NDArray[np.float64]) -> NDArray[np.float64]:
    if given is None:
        return np.ascontiguousarray(usual)
    try:
        values = real_array(given)
        full = np.ascontiguousarray(np.broadcast_to(values, usual.shape))
    except (TypeError, ValueError) as error:
        raise ModelError(f"{label}: Stops.{name}={shortened(given)}, expected a number or {len(usual)} numbers.") from error
    if not (np.isfinite(full).all() and (full >= 0.0).all()):
        raise ModelError(f"{label}: Stops.{name}={shortened(given)}, expected finite numbers from 0.")
    return full


def warn_of_limits(label: str, passed: Sequence[LimitPassed], motions: int) -> None:
    """One warning for a simulation that only reports."""
    if passed:
        more = f" (and {len(passed) - 1} more of {motions} motions)" if len(passed) > 1 else ""
        warnings.warn(
            f"{label}: {passed[0]}{more}. Fix: stops='end' or stops=Stops() keep it there; stops='ignore' says nothing.",
            ModelWarning,
            stacklevel=3,
        )
