"""Sliding joints of a model: which elements are inside them, and how a state goes on from one element to the next."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from elastogen.runtime.errors import ModelError
from elastogen.runtime.functions.evaluation import Array, ParameterValues
from elastogen.runtime.functions.metadata import SlidingInfo
from elastogen.runtime.real_numbers import real_array
from elastogen.runtime.simulation.simulate import SimulationMethods

if TYPE_CHECKING:
    from elastogen.runtime.simulation.switches import Switch

Terms: TypeAlias = "tuple[tuple[int, float], ...]"


class SlidingMethods(SimulationMethods):
    """The methods of a model for its sliding joints."""

    def elements(self, q: ArrayLike) -> NDArray[np.int64]:
        """Numbers of the elements inside the sliding joints at the states q, (..., joints); -1 out of range, NaN too."""
        joints = self._sliding
        try:
            states = real_array(q)
        except (TypeError, ValueError):
            raise ModelError(f"{self._name}.elements: q={q!r}, expected real numbers (..., {self.nq}).") from None
        if states.ndim < 1 or states.shape[-1] != self.nq:
            raise ModelError(f"{self._name}.elements: q has shape {states.shape}, expected (..., {self.nq}).")
        found = [[joint.element(state) for joint in joints] for state in states.reshape(-1, self.nq).tolist()]
        return np.array(found, dtype=np.int64).reshape((*states.shape[:-1], len(joints)))

    def switch_element(
        self, joint: str, q: ArrayLike, qd: ArrayLike, parameters: ParameterValues = None
    ) -> tuple[Array, Array, Switch]:
        """Carry the state of a sliding joint at the border of an element over to the next one, for integrators of your own.

        :meth:`simulate` does it by itself. ``q`` is within 1e-9 (single precision: 1e-6) of the beam's length of a border,
        ``qd`` says in which direction it passes. Returns positions just beyond the border, velocities, and what happened:
        smooth joints keep energy and the momenta along the border; nodal P_a keeps positions and velocities; nodal P_b clamps
        the new element.
        """
        label = f"{self._name}.switch_element"
        sliding = self._sliding
        place = next((number for number, entry in enumerate(sliding) if isinstance(joint, str) and entry.joint == joint), None)
        if place is None:
            raise ModelError(f"{label}: got joint={joint!r}, expected one of {[s.joint for s in sliding]}.")
        info = sliding[place]
        position, velocity = (np.array(self._state(label, name, x, (False,) * self.nq)) for name, x in (("q", q), ("qd", qd)))
        index, terms, bound = self._border(label, info, position)
        upward = sum(weight * velocity[i] for i, weight in terms) > 0
        position[info.coordinate] -= _value(terms, position) - bound  # the weight of d is 1
        while not (_value(terms, position) > bound if upward else _value(terms, position) < bound):
            position[info.coordinate] = np.nextafter(position[info.coordinate], math.inf if upward else -math.inf)
        elements = [entry.element(position.tolist()) for entry in sliding]
        elements[place] = info.first + info.step * (index if upward else index + 1)
        needed = ("forward_dynamics", *(("mass_matrix",) if info.passage == "refract" else ()))
        values = self._parameters.snapshot if parameters is None else self._parameters.merged(parameters)
        report = self._simulator_for(label, needed).switch(values, elements, position, velocity)
        return position, velocity, report

    @property
    def _sliding(self) -> list[SlidingInfo]:
        """The sliding joints with the borders that the model's precision gives them."""
        single = self.dtype == np.float32
        return [joint.in_single_precision() if single else joint for joint in self.metadata.sliding]

    def _border(self, label: str, info: SlidingInfo, q: NDArray[Any]) -> tuple[int, Terms, float]:
        """Number, weights and bound of the border that a joint is at."""
        near = 1e-6 if self.dtype == np.float32 else 1e-9
        for index, (terms, bound) in enumerate(info.thresholds):
            if abs(_value(terms, q) - bound) <= near * info.upper:
                return index, terms, bound
        raise ModelError(f"{label}: {info.joint} is at {q[info.coordinate]:.9g} m, expected the border of an element.")


def _value(terms: Terms, q: NDArray[Any]) -> float:
    return float(sum(weight * q[i] for i, weight in terms))
