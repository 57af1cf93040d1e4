"""Configurations of a model: how they move along velocities, differ, start and are drawn.

Where every velocity is the time derivative of a coordinate, q moves by sums. Floating and spherical joints have a unit
quaternion instead: their part of q moves by exponentials, in the compiled functions of the same names.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from elastogen.runtime.errors import ModelError
from elastogen.runtime.functions.evaluation import Array, Evaluation
from elastogen.runtime.functions.metadata import Metadata
from elastogen.runtime.interface.error import shortened
from elastogen.runtime.real_numbers import real_array


class ConfigurationMethods(Evaluation):
    """Operations on configurations; ``q`` is (..., nq), ``v`` is (..., nv), and dots are batch axes that broadcast."""

    _metadata: Metadata
    nq: Any
    nv: Any
    dtype: Any

    def integrate(self, q: ArrayLike, v: ArrayLike) -> Array:
        """Return where the velocities ``v`` lead from ``q`` in unit time, (..., nq): pass qd times a time step."""
        if self._metadata.quaternions:
            return self._evaluate("integrate", (q, v))
        moved: Array = self._vector("integrate", "q", q, self.nq) + self._vector("integrate", "v", v, self.nv)
        return moved

    def difference(self, q0: ArrayLike, q1: ArrayLike) -> Array:
        """Return the velocities that lead from ``q0`` to ``q1`` in unit time, (..., nv): integrate(q0, result) is q1."""
        if self._metadata.quaternions:
            return self._evaluate("difference", (q0, q1))
        apart: Array = self._vector("difference", "q1", q1, self.nq) - self._vector("difference", "q0", q0, self.nq)
        return apart

    def neutral(self) -> Array:
        """Return the configuration of zeros, with quaternions that do not rotate, (nq,)."""
        q = np.zeros(self.nq, dtype=self.dtype)
        q[[start + 3 for start in self._metadata.quaternions]] = 1.0
        return q

    def random_configuration(self, rng: np.random.Generator | int | None = None, shape: Sequence[int] | int = ()) -> Array:
        """Return configurations ``(*shape, nq)``, by a generator or a seed; a number for ``shape`` is how many.

        Uniform between the limits of the joints; where there are none up to half a revolution or 1 m to both sides; elastic
        coordinates are zero. All turns of floating and spherical joints are equally likely.
        """
        try:
            axes = (shape,) if isinstance(shape, (int, np.integer)) else tuple(shape)
            u = np.random.default_rng(rng).uniform(size=(*axes, self.nq)).astype(self.dtype)
        except (TypeError, ValueError) as problem:
            raise ModelError(
                f"{self._name}.random_configuration: rng={rng!r}, shape={shape!r}, expected a generator or a seed from 0, and "
                f"lengths of axes, for example shape=(3, 2) ({problem})."
            ) from None
        if self._metadata.quaternions:
            return self._evaluate("random_configuration", (u,))
        low, high = np.array([self._range(k) for k in range(self.nq)]).T
        return np.asarray(low + (high - low) * u, dtype=self.dtype)

    def _range(self, k: int) -> tuple[float, float]:
        """Return the range from which a coordinate is drawn."""
        if self._metadata.elastic_coordinates[k]:
            return 0.0, 0.0
        far = np.pi if self._metadata.coordinate_units[k] == "rad" else 1.0
        low, high = self._metadata.limits[k]
        return low if np.isfinite(low) else -far, high if np.isfinite(high) else far

    def _vector(self, function: str, name: str, given: ArrayLike, size: int) -> NDArray[Any]:
        try:
            array = real_array(given, self.dtype)
        except (TypeError, ValueError):
            raise ModelError(
                f"{self._name}.{function}: {name}={shortened(given)}, expected real numbers (..., {size})."
            ) from None
        if array.ndim < 1 or array.shape[-1] != size:
            raise ModelError(f"{self._name}.{function}: {name} has shape {array.shape}, expected (..., {size}).")
        return array
