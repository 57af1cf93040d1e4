"""Input shaping: a reference is replaced by a sum of delayed ones whose vibrations cancel.

A shaper for a mode of frequency w [rad/s] and damping ratio z is a row of impulses at multiples of half the damped
period, pi / (w sqrt(1 - z^2)). ZV (two impulses) leaves no vibration of that mode; ZVD (three) also leaves little when the
frequency is off, at the price of a delay of a whole period instead of half of one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from elastogen.runtime.errors import ModelError
from elastogen.runtime.real_numbers import finite, number

NOT_ONE = 1e-6  # by which a sum of gains may miss 1


@dataclass(frozen=True, eq=False)
class Shaper:
    """A row of impulses: times [s], ascending from 0, and gains with the sum 1."""

    times: NDArray[np.float64]
    gains: NDArray[np.float64]

    def __post_init__(self) -> None:
        for name in ("times", "gains"):
            object.__setattr__(self, name, np.atleast_1d(finite(f"shaper: {name}", getattr(self, name))))
        if self.times.ndim != 1 or not self.times.size or self.gains.shape != self.times.shape:
            shapes = f"times of shape {self.times.shape} and gains of shape {self.gains.shape}"
            raise ModelError(f"shaper: got {shapes}, expected as many gains as times, at least one.")
        if self.times[0] < 0.0 or (np.diff(self.times) < 0.0).any():
            raise ModelError(f"shaper: times: got {self.times.tolist()}, expected seconds from 0 that ascend.")
        if abs(self.gains.sum() - 1.0) > NOT_ONE:
            raise ModelError(f"shaper: gains: got {self.gains.tolist()}, expected numbers that add up to 1.")

    def __matmul__(self, other: Shaper) -> Shaper:
        """Return the shaper for the modes of both."""
        if not isinstance(other, Shaper):
            return NotImplemented
        times = np.add.outer(self.times, other.times).ravel()
        gains = np.multiply.outer(self.gains, other.gains).ravel()
        order = np.argsort(times, kind="stable")
        return Shaper(times[order], gains[order])

    @property
    def duration(self) -> float:
        """Return how much later a shaped motion ends [s]."""
        return float(self.times[-1])

    def taps(self, period: float) -> tuple[NDArray[np.uint32], NDArray[np.float64]]:
        """Return delays in periods, and gains; an impulse between two periods is divided such that its mean time is exact."""
        if not number("shaper: period", period, "a positive number [s]") > 0.0:
            raise ModelError(f"shaper: period: got {period!r}, expected a positive number [s].")
        sums: dict[int, float] = {}
        for time, gain in zip(self.times, self.gains, strict=True):
            whole = int(np.floor(time / period + 1e-9))
            part = max(0.0, time / period - whole)
            for delay, share in ((whole, gain * (1.0 - part)), (whole + 1, gain * part)):
                if abs(share) > 1e-15:
                    sums[delay] = sums.get(delay, 0.0) + float(share)
        delays = sorted(sums)
        return np.array(delays, dtype=np.uint32), np.array([sums[delay] for delay in delays])

    def residual(self, frequency: float, damping: float = 0.0) -> float:
        """Return the vibration after the shaped impulses in a mode, relative to that after one impulse [-]."""
        w, z = number("shaper: frequency", frequency, "a number [rad/s]"), _ratio(damping)
        wd = w * np.sqrt(1.0 - z**2)
        weights = self.gains * np.exp(z * w * (self.times - self.times[-1]))
        return float(abs(np.sum(weights * np.exp(1j * wd * self.times))))


def zv(frequency: float, damping: float = 0.0) -> Shaper:
    """Zero vibration: two impulses for a mode of ``frequency`` [rad/s] and damping ratio ``damping``."""
    K, half = _decay(frequency, damping)
    return Shaper(np.array([0.0, half]), np.array([1.0, K]) / (1.0 + K))


def zvd(frequency: float, damping: float = 0.0) -> Shaper:
    """Zero vibration and derivative: three impulses for a mode of ``frequency`` [rad/s] and damping ratio ``damping``."""
    K, half = _decay(frequency, damping)
    return Shaper(np.array([0.0, half, 2.0 * half]), np.array([1.0, 2.0 * K, K * K]) / (1.0 + K) ** 2)


def _decay(frequency: float, damping: float) -> tuple[float, float]:
    """Return the decay of an amplitude in half a damped period, and the length of that [s]."""
    w, z = number("shaper: frequency", frequency, "a positive number [rad/s]"), _ratio(damping)
    if not w > 0.0:
        raise ModelError(f"shaper: frequency: got {frequency!r}, expected a positive number [rad/s].")
    root = float(np.sqrt(1.0 - z**2))
    return float(np.exp(-z * np.pi / root)), float(np.pi / (w * root))


def _ratio(damping: object) -> float:
    expected = "a damping ratio from 0 to below 1"
    z = number("shaper: damping", damping, expected)
    if not 0.0 <= z < 1.0:
        raise ModelError(f"shaper: damping: got {damping!r}, expected {expected}.")
    return z
