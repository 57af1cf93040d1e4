"""Measured against computed forces, and the derivatives by everything that is estimated.

    F = L + f(qd) + load tanh(qd / width) sqrt(L^2 + load_width^2),   L = Y(q, qd, qdd) pi + rotor qdd,

each side through one zero-phase low pass, divided by the noise of the joint. L is linear in the inertial parameters pi and the
rotors; the rest is the law of friction (docs/equations/formulation.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from elastogen.generator.robot.robot import Robot
from elastogen.identification.choices import Choice
from elastogen.identification.equations.bodies import EstimatedBody, without_drives
from elastogen.identification.equations.friction_law import Friction, Unknown, described, law_at, unknowns, with_widths
from elastogen.identification.equations.springs import without_springs
from elastogen.identification.measurements.read_table import Array
from elastogen.identification.measurements.signals import Motion
from elastogen.runtime import Model


@dataclass(frozen=True)
class Problem:
    """What is estimated from which motions; variables are the parameters of the bodies (10 each), unknowns of drives, gains."""

    motions: tuple[Motion, ...]
    bodies: tuple[EstimatedBody, ...]
    law: dict[str, Array]  # of friction, as described, with widths that suit the motion
    unknowns: list[Unknown]
    gains: int  # number of gains that are estimated: one for each joint, or none
    known: tuple[Array, ...]  # per motion: forces of the bodies as described (n, joints)
    columns: tuple[Array, ...]  # per motion: what the bodies' parameters multiply (n, joints, 10 bodies)
    instruments: tuple[Array, ...] | None = None  # per motion: slopes of a simulated motion, which equations are projected on

    @property
    def joints(self) -> int:
        """Number of driven joints."""
        return int(self.motions[0].q.shape[1])

    @property
    def described(self) -> Array:
        """The variables as the robot's description has them."""
        bodies = [body.described for body in self.bodies]
        return np.concatenate([*bodies, [unknown.start for unknown in self.unknowns], np.ones(self.gains)])

    @property
    def has_load(self) -> bool:
        """Whether friction depends on load: then forces are not a linear function of the variables."""
        return bool(np.any(self.law["load"] > 0)) or any(unknown.name == "load" for unknown in self.unknowns)

    @property
    def is_curved(self) -> bool:
        """Whether forces are not linear in all variables."""
        return self.has_load or self.gains > 0 or any(unknown.name in ("breakaway", "log_width") for unknown in self.unknowns)

    def along(self, motions: Sequence[Motion], model: Model) -> Problem:
        """The same unknowns along other motions; ``model`` as :func:`pose` takes it."""
        nominal, part = model.inertial_parameters(), parts(self.bodies, len(model.inertial_parameters()))
        whole = [model.regressor(motion.q, motion.qd, motion.qdd) for motion in motions]
        columns = tuple(Y @ part for Y in whole)
        known: tuple[Array, ...] = tuple(Y @ nominal for Y in whole)
        if "inverse_dynamics" in model.functions:  # the robot has terms of its own
            known = tuple(model.inverse_dynamics(motion.q, motion.qd, motion.qdd) for motion in motions)
        return replace(self, motions=tuple(motions), known=known, columns=columns, instruments=None)

    def split(self, z: Array) -> tuple[Array, Array, Array]:
        """Parameters of bodies, unknowns of drives, gains."""
        first, last = 10 * len(self.bodies), len(z) - self.gains
        return z[:first], z[first:last], z[last:]

    def law_at(self, z: Array) -> dict[str, Array]:
        """The law of friction with the values of the unknowns."""
        return law_at(self.law, self.unknowns, self.split(z)[1])

    @cached_property
    def _breakaway(self) -> frozenset[int]:
        return frozenset(unknown.joint for unknown in self.unknowns if unknown.name == "breakaway")

    def _start(self, k: int, z: Array) -> tuple[Friction, Array]:
        """Friction and loads of a motion."""
        motion, law = self.motions[k], self.law_at(z)
        change = self.split(z)[0] - self.split(self.described)[0]
        loads = self.known[k] + self.columns[k] @ change + law["rotor"] * motion.qdd + law["spring"] * motion.q
        return Friction(law, motion.qd, motion.q, self._breakaway), loads

    def forces(self, k: int, z: Array) -> Array:
        """Computed forces of a motion, not yet filtered."""
        friction, loads = self._start(k, z)
        return np.asarray(loads + friction.dry() + friction.law["load"] * friction.sign * friction.root(loads))

    def gains_at(self, z: Array) -> Array:
        """(joints,): true forces are these times the measured ones."""
        return self.split(z)[2] if self.gains else np.ones(self.joints)

    def differences(self, z: Array) -> list[Array]:
        """Per motion: computed less measured forces, filtered (rows, joints); zero where a joint rests."""
        gains = self.gains_at(z)
        return [
            (motion.compared(self.forces(k, z)) / gains - motion.measured) * motion.counts
            for k, motion in enumerate(self.motions)
        ]

    def slopes(self, z: Array) -> list[Array]:
        """Per motion: derivatives of the differences by the variables (rows, joints, variables)."""
        return [self._slopes_of(k, z) for k in range(len(self.motions))]

    def _slopes_of(self, k: int, z: Array) -> Array:
        motion = self.motions[k]
        friction, loads = self._start(k, z)
        n, width = len(self.split(z)[0]), len(z)
        found = np.zeros((len(motion.rows), self.joints, width))
        factor = 1.0 + friction.law["load"] * friction.sign * loads / friction.root(loads)
        if n:
            found[:, :, :n] = motion.compared(factor[:, :, None] * self.columns[k]) if self.has_load else self._fixed[k]
        own = [friction.column(unknown, loads, motion.qdd) for unknown in self.unknowns]
        for i, unknown in enumerate(self.unknowns):
            if unknown.name in ("rotor", "spring"):
                own[i] = own[i] * factor[:, unknown.joint]
        if own:
            filtered = motion.compared(np.column_stack(own))
            for i, unknown in enumerate(self.unknowns):
                found[:, unknown.joint, n + i] = filtered[:, i]
        if not self.gains:
            return found * motion.counts[:, :, None]
        gains, computed = self.gains_at(z), motion.compared(self.forces(k, z))
        found /= gains[:, None]
        for joint in range(self.gains):
            found[:, joint, width - self.gains + joint] = -computed[:, joint] / gains[joint] ** 2
        return found * motion.counts[:, :, None]

    @cached_property
    def _fixed(self) -> list[Array]:
        return [motion.compared(columns) for motion, columns in zip(self.motions, self.columns, strict=True)]


def pose(robot: Robot, model: Model, motions: Sequence[Motion], bodies: Sequence[EstimatedBody], choice: Choice) -> Problem:
    """The problem; ``model`` is that of :func:`without_drives`, with regressor and parameters."""
    fastest = np.max([np.abs(motion.qd).max(axis=0) for motion in motions], axis=0)
    usual = np.sqrt(np.mean(np.concatenate([motion.measured for motion in motions]) ** 2, axis=0))
    law = with_widths(described(robot), choice, fastest, usual)
    found = unknowns(law, choice, fastest)
    problem = Problem(tuple(motions), tuple(bodies), law, found, len(fastest) if "gains" in choice else 0, (), ())
    return problem.along(motions, model)


def parts(bodies: Sequence[EstimatedBody], size: int) -> Array:
    """(size, 10 bodies): the bodies' part in the parameters of the regressor."""
    return np.concatenate([body.part for body in bodies], axis=1) if bodies else np.zeros((size, 0))


def body_model(robot: Robot) -> Model:
    """The compiled regressor of the bodies of a robot, and the forces of its own terms, if it has any."""
    import elastogen

    plain = replace(without_springs(without_drives(robot)), functions=())
    outputs = ["regressor", "inertial_parameters", *(["inverse_dynamics"] if plain.terms else [])]
    return elastogen.build_model(plain, outputs=outputs)
