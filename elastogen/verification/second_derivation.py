"""Check (a): the programs against Lagrange's equations, both in 50 digits.

The Lagrangian is differentiated along the motion: momenta are bilinear, and the rest are central differences with steps of
1e-17, whose errors are far below those of the programs' constants, which are doubles.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from elastogen.generator.functions.function import Function
from elastogen.generator.loops.analysis import analysis_of
from elastogen.generator.program.numbers import many_digits
from elastogen.generator.robot.robot import Robot
from elastogen.generator.sliding.elements_inside import INDICATORS, indicators_at
from elastogen.verification.findings import Finding, Tell, judged, silent
from elastogen.verification.lagrange.lagrangian import Lagrangian
from elastogen.verification.lagrange.multipliers import closed_accelerations, drive_forces, loop_rows
from elastogen.verification.lagrange.numbers import Array, NotCoveredError
from elastogen.verification.lagrange.own_functions import OwnFunctions

NAME = "second derivation"
LIMIT = 1e-12  # of the largest entry: the programs' constants are doubles
COVERED = (
    "forward_kinematics", "jacobian", "point_positions", "kinetic_energy", "potential_energy", "strain_energy",
    "gravity_vector", "elastic_forces", "mass_matrix", "coriolis_vector", "friction_forces", "inertia_forces",
    "inverse_dynamics",
)  # fmt: skip


class Lagrange:
    """What Lagrange's equations say that the functions of the catalogue must give, by name, at any arguments."""

    def __init__(self, robot: Robot, digits: int = many_digits.DIGITS) -> None:
        self.robot, self.of = robot, Lagrangian(robot, digits)
        self.functions: dict[str, Callable[..., Any]] = {name: getattr(self, f"_{name}") for name in COVERED}
        if any(link.flexible is not None and link.flexible.tip == "linear" for link in robot.links):
            del self.functions["jacobian"]  # a sheared frame has no angular velocity
        if not robot.points:
            del self.functions["point_positions"]
        if robot.loops and not robot.has_load_friction:
            self.functions["forward_dynamics"] = self._forward_dynamics

    def _forward_kinematics(self, q: Any) -> Array:
        (x,) = self.of.start(q)
        frames = self.of.frames.at(x, x * 0)
        return np.array([frames[name][0] for name in (*(link.name for link in self.robot.links[1:]), "tip")])

    def _jacobian(self, q: Any) -> Array:
        (x,) = self.of.start(q)
        columns = []
        for unit in self.of.numbers.unit(self.of.size):
            pose, rate = self.of.frames.at(x, self.of.free(unit))["tip"]
            spin = rate[:3, :3].dot(pose[:3, :3].T)
            columns.append([*rate[:3, 3], spin[2, 1], spin[0, 2], spin[1, 0]])
        return np.array(columns, dtype=object).T

    def _point_positions(self, q: Any) -> Array:
        (x,) = self.of.start(q)
        frames = self.of.frames.at(x, x * 0)
        return np.array([frames[point.name][0][:3, 3] for point in self.robot.points])

    def _kinetic_energy(self, q: Any, qd: Any) -> Any:
        return self.of.kinetic(*self.of.start(q, qd))

    def _strain_energy(self, q: Any) -> Any:
        return self.of.elastic_potential(*self.of.start(q))

    def _potential_energy(self, q: Any) -> Any:
        (x,) = self.of.start(q)
        return self.of.weight_potential(x) + self.of.elastic_potential(x)

    def _gravity_vector(self, q: Any) -> Array:
        return self.of.slopes(self.of.weight_potential, *self.of.start(q))

    def _elastic_forces(self, q: Any) -> Array:
        return self.of.slopes(self.of.elastic_potential, *self.of.start(q))

    def _mass_matrix(self, q: Any) -> Array:
        return self.of.mass_matrix(*self.of.start(q))

    def _coriolis_vector(self, q: Any, qd: Any) -> Array:
        x, xd = self.of.start(q, qd)
        return self.of.inertia_forces(x, xd, xd * 0)

    def _friction_forces(self, q: Any, qd: Any) -> Array:
        return self.of.friction(*self.of.start(q, qd))

    def _inertia_forces(self, q: Any, qd: Any, qdd: Any) -> Array:
        return self.of.inertia_forces(*self.of.start(q, qd, qdd))

    def _inverse_dynamics(self, q: Any, qd: Any, qdd: Any) -> Array:
        held = self._gravity_vector(q) + self._elastic_forces(q)
        forces = self._inertia_forces(q, qd, qdd) + held + self._friction_forces(q, qd)
        forces = self._by_drives(q, forces) if self.robot.loops else forces
        return forces + self.of.load_friction(self.of.start(q, qd)[1], forces)

    def _by_drives(self, q: Any, forces: Array) -> Array:
        """What the drives of a closed mechanism do alone, by multipliers."""
        (x,) = self.of.start(q)
        known, J = analysis_of(self.robot), self._rows(x)
        acting = sorted({*known.choice.independent, *known.driven})
        found: Array = drive_forces(J.astype(float), np.array(forces, dtype=float), acting, list(known.driven))
        return found

    def _rows(self, x: Array) -> Array:
        units = [self.of.free(unit) for unit in self.of.numbers.unit(self.of.size)]
        return loop_rows(self.robot, self.of.frames, x, units)

    def _forward_dynamics(self, q: Any, qd: Any, F: Any) -> Array:
        """Accelerations of a closed mechanism, by multipliers."""
        x, xd = self.of.start(q, qd)
        held = self.of.inertia_forces(x, xd, xd * 0) + self.of.friction(x, xd)
        forces = self.of.start(q, F)[1] - held - self._gravity_vector(q) - self._elastic_forces(q)
        ends = [loop_rows(self.robot, self.of.frames, x + sign * self.of.step * xd, [xd])[:, 0] for sign in (1, -1)]
        bias = (ends[0] - ends[1]) / (2 * self.of.step)
        return closed_accelerations(self.of.numbers.context, self._rows(x), bias, self.of.mass_matrix(x), forces)


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
    robot: Robot,
    functions: Mapping[str, Function],
    states: Mapping[str, Any],
    parameters: Mapping[str, float],
    tell: Tell = silent,
) -> Iterator[Finding]:
    """Findings for every function that Lagrange's equations say something about, the robot's own ones included."""
    try:
        lagrange = Lagrange(robot)
    except NotCoveredError as problem:
        yield Finding(NAME, "all functions", "skipped", str(problem))
        return
    own = OwnFunctions(robot, lagrange.functions, functions, parameters)
    known: dict[str, Callable[..., Any]] = {**lagrange.functions, **own.functions}
    worst: dict[str, float] = {}
    reasons: dict[str, str] = {}
    wanted = [function for name, function in functions.items() if name in known]
    count = len(states["q"])
    for k in range(count):
        state = {name: array[k] for name, array in states.items()}
        for number, function in enumerate(wanted, 1):
            tell(f"  state {k + 1} of {count}, {number} of {len(wanted)}: {function.name}")
            found = evaluated(function, state, parameters)
            if found is None:
                continue
            values = tuple(found.values())
            try:
                expected = known[function.name](*(state[argument.name] for argument in function.inputs))
            except NotCoveredError as problem:
                reasons[function.name] = str(problem)
                continue
            pairs = zip(values, expected if len(values) > 1 else (expected,), strict=True)
            for error in (relative_difference(value, given) for value, given in pairs):
                worst[function.name] = error if error != error else max(worst.get(function.name, 0.0), error)
    for name, error in worst.items():
        yield judged(NAME, name, error, LIMIT)
    for name in sorted({function.name for function in wanted} - set(worst)):
        yield Finding(NAME, name, "skipped", reasons.get(name, "every state is out of the range of a sliding joint"))
