"""Periodic motions by Fourier series that start and end at rest, linear in free numbers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import null_space

from elastogen.identification.measurements.read_table import Array


@dataclass(frozen=True)
class FourierSeries:
    """q(t) = middle + sum_k a_k sin(k w t) + b_k (1 - cos(k w t)), the same harmonics for every joint.

    Velocity and acceleration vanish at the start and after every period: sum_k k a_k = 0 and sum_k k^2 b_k = 0. What is left
    free are 2 harmonics - 2 numbers for each joint, beside its middle.
    """

    harmonics: int
    frequency: float  # of the period [Hz]

    @cached_property
    def _free(self) -> Array:
        """(2 harmonics, 2 harmonics - 2): coefficients of each free number, scaled so that velocities are of equal size."""
        k = np.arange(1, self.harmonics + 1)
        rows = np.zeros((2, 2 * self.harmonics))
        rows[0, : self.harmonics], rows[1, self.harmonics :] = k, k**2
        scale = np.tile(1.0 / k, 2)
        return np.asarray(scale[:, None] * null_space(rows * scale))

    @property
    def size(self) -> int:
        """Free numbers of a joint, its middle included."""
        return 2 * self.harmonics - 1

    def basis(self, t: Array) -> tuple[Array, Array, Array]:
        """Position, velocity, acceleration at times t, each (times, size): times the numbers of a joint."""
        w = 2 * np.pi * self.frequency * np.arange(1, self.harmonics + 1)
        s, c = np.sin(np.outer(t, w)), np.cos(np.outer(t, w))
        zero = np.zeros((len(t), 1))
        position = np.hstack([zero + 1.0, np.hstack([s, 1.0 - c]) @ self._free])
        velocity = np.hstack([zero, np.hstack([c * w, s * w]) @ self._free])
        acceleration = np.hstack([zero, np.hstack([-s * w**2, c * w**2]) @ self._free])
        return position, velocity, acceleration
