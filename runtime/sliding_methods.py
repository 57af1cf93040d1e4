"""Sliding joints of a model: which elements are inside them, and how a state goes on from one element to the next."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from elastogen.runtime.errors import ModelError
from elastogen.runtime.evaluation import Array, Evaluation


@dataclass(frozen=True)
class Switch:
    """A change of the element inside a joint between two samples of a motion."""

    sample: int  # the first one with the new element
    joint: str
    before: int  # element; -1: out of range
    after: int
    energy_before: float  # kinetic and potential, at the sample before [J]
    energy_after: float  # at this sample [J]


class SlidingMethods(Evaluation):
    """The methods of a model for its sliding joints."""

    metadata: Any
    nq: Any

    def elements(self, q: ArrayLike) -> NDArray[np.int64]:
        """Numbers of the elements inside the sliding joints at the states q, (..., joints); -1 out of range."""
        states = np.asarray(q, dtype=float)
        joints = self.metadata.sliding
        found = [[joint.element(state) for joint in joints] for state in states.reshape(-1, self.nq).tolist()]
        return np.array(found, dtype=np.int64).reshape((*states.shape[:-1], len(joints)))

    def switches(self, q: ArrayLike, qd: ArrayLike) -> list[Switch]:
        """The switches of a motion given by samples (n, nq), with the energy before and after each of them."""
        states, rates = np.asarray(q, dtype=float), np.asarray(qd, dtype=float)
        elements = self.elements(states)
        found = []
        for sample in np.nonzero((elements[1:] != elements[:-1]).any(axis=1))[0] + 1:
            pair = slice(sample - 1, sample + 1)
            kinetic = self._evaluate("kinetic_energy", (states[pair], rates[pair]), None, None, "nan")
            energy = kinetic + self._evaluate("potential_energy", (states[pair],), None, None, "nan")
            for k, info in enumerate(self.metadata.sliding):
                before, after = (int(elements[at, k]) for at in (sample - 1, sample))
                if before != after:
                    found.append(Switch(int(sample), info.joint, before, after, float(energy[0]), float(energy[1])))
        return found

    def switch_element(self, joint: str, q: ArrayLike, qd: ArrayLike) -> tuple[Array, Array]:
        """Carry the state of a smooth sliding joint at the border of an element over to the next one.

        Place and slope of the beam are continuous there, its curvature is not, and with it the mass matrix. What goes on
        are the energy and the momenta of all other coordinates: p+ = M- qd- + lambda e_d. q is moved behind the border by
        less than a rounding error. Raises ModelError where the speed does not suffice to pass.
        """
        info = next((entry for entry in self.metadata.sliding if entry.joint == joint), None)
        if info is None:
            raise ModelError(f"{joint!r} is no sliding joint. Available: {[s.joint for s in self.metadata.sliding]}.")
        before, rate = np.array(q, dtype=float), np.array(qd, dtype=float)
        d = info.coordinate
        after = before.copy()
        near = 1e-9 * info.upper
        places = [bound for terms, bound in info.thresholds if terms == ((d, 1.0),) and abs(before[d] - bound) <= near]
        if not places:
            raise ModelError(f"switch_element: {joint} is at {before[d]:.9g} m, expected the border of an element.")
        border = places[0]
        beyond = np.nextafter(border, math.inf)  # the border itself belongs to the element below
        before[d], after[d] = (border, beyond) if rate[d] > 0 else (beyond, border)
        M, M_next = (np.asarray(self._evaluate("mass_matrix", (at,)), dtype=float) for at in (before, after))
        momenta = M @ rate
        energy = 0.5 * float(rate @ momenta)
        free, unit = np.linalg.solve(M_next, momenta), np.linalg.solve(M_next, np.eye(self.nq)[d])
        a, b, c = 0.5 * float(unit[d]), float(free[d]), 0.5 * float(momenta @ free) - energy
        square = b * b - 4 * a * c
        if square < 0:
            raise ModelError(f"switch_element: {joint} is too slow to pass {border:.9g} m.")
        root = math.copysign(math.sqrt(square), rate[d])  # d's rate behind the border: b + 2 a lambda
        return after, free + unit * ((root - b) / (2 * a))
