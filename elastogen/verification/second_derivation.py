"""Check (a): Lagrange's equations, differentiated along the motion in many digits, against the programs.

Momenta are exact, as T is quadratic in the velocities: p_i = (T(qd + e_i) - T(qd - e_i)) / 2. Derivatives by time and by
q are central differences with a step of a third of the digits, which leaves two thirds of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import mpmath
import numpy as np

from elastogen.generator.functions.function import Function
from elastogen.generator.program import many_digits
from elastogen.generator.robot.robot import Robot
from elastogen.generator.sliding.elements_inside import INDICATORS, indicators_at
from elastogen.verification.findings import Finding, judged
from elastogen.verification.lagrangian import Lagrangian, NotCoveredError

NAME = "second derivation"
LIMIT = 1e-12  # of the largest entry: the programs' constants are doubles
COVERED = (
    "forward_kinematics", "kinetic_energy", "potential_energy", "gravity_vector", "mass_matrix", "coriolis_vector",
    "friction_forces", "inertia_forces", "inverse_dynamics",
)  # fmt: skip


class Lagrange:
    """Everything that Lagrange's equations say about a robot at a state of mpmath numbers."""

    def __init__(self, robot: Robot, digits: int = many_digits.DIGITS) -> None:
        self.context = mpmath.mp.clone()
        self.context.dps = digits
        self.of = Lagrangian(robot, self.context)
        self.step = self.context.mpf(10) ** (-digits // 3)
        self._unit = [self.numbers(np.eye(self.of.size)[k]) for k in range(self.of.size)]

    def numbers(self, values: Any) -> Any:
        """Floating point numbers, exactly."""
        return np.array([self.context.mpf(float(value)) for value in values], dtype=object)

    def _momenta(self, q: Any, qd: Any) -> Any:
        return np.array(
            [(self.of.energies(q, qd + e)[0] - self.of.energies(q, qd - e)[0]) / 2 for e in self._unit], dtype=object
        )

    def _slopes(self, function: Callable[[Any], Any], q: Any) -> Any:
        """Derivatives by every coordinate."""
        h = self.step
        return np.array([(function(q + h * e) - function(q - h * e)) / (2 * h) for e in self._unit], dtype=object)

    def mass_matrix(self, q: Any) -> Any:
        """M: momenta of unit velocities."""
        return np.array([self._momenta(q, e) for e in self._unit], dtype=object)

    def gravity_vector(self, q: Any) -> Any:
        """dV/dq without the elastic forces of the robot's own springs, which are linear and taken off."""
        zero = self._unit[0] * 0
        return self._slopes(lambda x: self.of.energies(x, zero)[1], q) - self.elastic_forces(q)

    def elastic_forces(self, q: Any) -> Any:
        """K q of flexible links and joints."""
        return self.of.elastic_forces(q)

    def inertia_forces(self, q: Any, qd: Any, qdd: Any) -> Any:
        """d/dt dT/dqd - dT/dq."""
        h = self.step
        later = self._momenta(q + h * qd + h**2 / 2 * qdd, qd + h * qdd)
        before = self._momenta(q - h * qd + h**2 / 2 * qdd, qd - h * qdd)
        return (later - before) / (2 * h) - self._slopes(lambda x: self.of.energies(x, qd)[0], q)

    def expected(self, names: set[str], state: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
        """What the functions of these names must give."""
        q, qd, qdd = (self.numbers(state[name]) for name in ("q", "qd", "qdd"))
        if "forward_kinematics" in names:
            frames = self.of.frames(q, qd * 0)
            ordered = [link.name for link in self.of.robot.links[1:]]
            yield "forward_kinematics", np.array([frames[name][0] for name in (*ordered, "tip")])
        T, V = self.of.energies(q, qd)
        yield "kinetic_energy", T
        yield "potential_energy", V
        G, R = self.gravity_vector(q), self.of.friction(q, qd)
        yield "gravity_vector", G
        yield "friction_forces", R
        if "mass_matrix" in names:
            yield "mass_matrix", self.mass_matrix(q)
        if "coriolis_vector" in names:
            yield "coriolis_vector", self.inertia_forces(q, qd, qdd * 0)
        inertia = self.inertia_forces(q, qd, qdd)
        yield "inertia_forces", inertia
        yield "inverse_dynamics", inertia + G + R + self.elastic_forces(q)


def evaluated(function: Function, state: Mapping[str, Any], parameters: Mapping[str, float]) -> dict[str, Any] | None:
    """The program of a function in many digits; None where a sliding joint is out of its range."""
    arguments = {argument.name: state[argument.name] for argument in function.inputs}
    if function.selectors:
        inside = indicators_at(function.selectors, [float(x) for x in state["q"]])
        if inside is None:
            return None
        arguments[INDICATORS] = inside
    return many_digits.evaluate(function.program, arguments, parameters)


def relative_difference(found: Any, expected: Any) -> float:
    """Largest difference over the largest entry (at least 1e-6, for what vanishes)."""
    a, b = np.ravel(np.array(found, dtype=object)), np.ravel(np.array(expected, dtype=object))
    largest = max([abs(x) for x in b], default=0)
    return float(max([abs(x - y) for x, y in zip(a, b, strict=True)], default=0) / max(largest, 1e-6))


def check(
    robot: Robot, functions: Mapping[str, Function], states: Mapping[str, Any], parameters: Mapping[str, float]
) -> Iterator[Finding]:
    """Findings for every function that Lagrange's equations say something about."""
    try:
        lagrange = Lagrange(robot)
    except NotCoveredError as problem:
        yield Finding(NAME, "all functions", "skipped", str(problem))
        return
    worst: dict[str, float] = {}
    for k in range(len(states["q"])):
        state = {name: array[k] for name, array in states.items()}
        for name, expected in lagrange.expected(set(functions), state):
            if name in functions:
                found = evaluated(functions[name], state, parameters)
                assert found is not None
                (value,) = found.values()
                error = relative_difference(value, expected)
                worst[name] = error if error != error else max(worst.get(name, 0.0), error)
    for name, error in worst.items():
        yield judged(NAME, name, error, LIMIT)
