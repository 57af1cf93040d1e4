"""Kinetic and potential energy of a robot, the forces without a potential, and Lagrange's equations at a state."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any

import mpmath
import numpy as np

from elastogen.generator.program.numbers import many_digits
from elastogen.generator.robot.robot import Robot
from elastogen.verification.lagrange.bodies import FlexibleMass, Mass, PointMass, RigidMass
from elastogen.verification.lagrange.frames import Frames
from elastogen.verification.lagrange.numbers import Array, Numbers, Pair
from elastogen.verification.lagrange.terms import OwnTerms


class Lagrangian:
    """T(x, xd), V(x) and the forces without a potential, in mpmath numbers; nothing of the recursions is used."""

    def __init__(self, robot: Robot, digits: int = many_digits.DIGITS) -> None:
        self.robot = robot
        context = mpmath.mp.clone()
        context.dps = digits
        self.numbers = numbers = Numbers(robot, context)
        self.step = context.mpf(10) ** (-digits // 3)  # of central differences: both their errors are below 1e-30
        self.frames = Frames(robot, numbers)
        self.size = self.frames.size
        self.terms = OwnTerms(robot, numbers, self.frames)
        self._units = numbers.unit(self.size)
        self._gravity = numbers.array(robot.gravity)
        self._masses = self._bodies()
        self._springs = self._elastic()
        self._drives = self._driven()

    def _bodies(self) -> list[Mass]:
        found: list[Mass] = []
        for link in self.robot.links[1:]:
            found.append(RigidMass(self.numbers, link.name, link.body))
            if link.name in self.frames.moving_beams:
                found.append(PointMass(link.name, self.frames.moving_beams[link.name]))
            elif link.flexible is not None:
                found.append(FlexibleMass(self.numbers, link.name, link.flexible, self.frames.place[link.name]))
            if link.flexible is not None:
                found.append(RigidMass(self.numbers, f"{link.name}.tip", link.tip_body))
        return [*found, RigidMass(self.numbers, "tip", self.robot.payload)]

    def _elastic(self) -> list[tuple[list[int], Array, Array]]:
        """Return constant stiffness and damping with the velocities that they belong to."""
        found = []
        for joint in self.robot.joints:
            if joint.elasticity is not None:
                spring, k = joint.elasticity, self.frames.place[joint.name][-1] + 1
                found.append(([k], self.numbers.array([[spring.stiffness]]), self.numbers.array([[spring.damping]])))
        for link in self.robot.links:
            if link.flexible is not None and link.name not in self.frames.moving_beams:
                body = link.flexible
                found.append(
                    (
                        list(self.frames.place[link.name]),
                        self.numbers.array(body.stiffness),
                        self.numbers.array(body.damping),
                    )
                )
        return found

    def _driven(self) -> list[tuple[int, Any, dict[str, Any]]]:
        """Return for every velocity of a joint: its number, the inertia of the drive, the numbers of its friction."""
        found = []
        for joint in self.robot.joints:
            a = joint.actuation
            inertia = self.numbers(a.motor_inertia) * self.numbers(a.gear_ratio) ** 2
            friction = {field.name: self.numbers(getattr(a, field.name)) for field in fields(a)}
            found += [(k, inertia, friction) for k in self.frames.place[joint.name]]
        return found

    # ---- energies

    def _motions(self, x: Array, xd: Array) -> list[Pair]:
        frames = self.frames.at(x, xd)
        return [mass.motion(frames[mass.frame], x, xd) for mass in self._masses]

    def kinetic(self, x: Array, xd: Array) -> Any:
        """Return the kinetic energy T."""
        total = sum((inertia * xd[k] ** 2 for k, inertia, *_ in self._drives), self.numbers.zero)
        for mass, (_, rate) in zip(self._masses, self._motions(x, xd), strict=True):
            total += (mass.weighed(rate, x) * rate).sum()
        return total / 2

    def momenta(self, x: Array, velocities: Array) -> Array:
        """Return dT/dxd for every row of velocities."""
        units = [self._motions(x, unit) for unit in self._units]
        found = []
        for xd in velocities:
            weighed = [m.weighed(rate, x) for m, (_, rate) in zip(self._masses, self._motions(x, xd), strict=True)]
            row = [
                sum(((w * rate).sum() for w, (_, rate) in zip(weighed, motion, strict=True)), self.numbers.zero)
                for motion in units
            ]
            for k, inertia, *_ in self._drives:
                row[k] += inertia * xd[k]
            found.append(row)
        return np.array(found, dtype=object)

    def weight_potential(self, x: Array) -> Any:
        """Return the potential V of weights and own terms."""
        frames = self.frames.at(x, x * 0)
        total = self.terms.potential(x, frames)
        for mass in self._masses:
            W, _ = mass.motion(frames[mass.frame], x, x * 0)
            total -= self._gravity.dot(mass.total(W, x))
        return total

    def elastic_potential(self, x: Array) -> Any:
        """Return the potential U of deformations and springs."""
        total = sum((beam.strain_energy(x) for beam in self.frames.moving_beams.values()), self.numbers.zero)
        for own, stiffness, _ in self._springs:
            total += x[own].dot(stiffness.dot(x[own])) / 2
        return total

    # ---- forces

    def slopes(self, function: Callable[[Array], Any], x: Array) -> Array:
        """Differentiate by every coordinate."""
        h = self.step
        found = np.array([(function(x + h * e) - function(x - h * e)) / (2 * h) for e in self._units], dtype=object)
        return self.free(found)

    def free(self, forces: Array) -> Array:
        """Leave out the entries of clamped coordinates."""
        forces = forces.copy()
        forces[self.frames.clamped] = self.numbers.zero
        return forces

    def mass_matrix(self, x: Array) -> Array:
        """Return M, with the unit matrix for clamped coordinates (003, 4.3)."""
        M = self.momenta(x, self._units)
        for k in self.frames.clamped:
            M[k, :] = M[:, k] = self.numbers.zero
            M[k, k] = self.numbers.one
        return M

    def inertia_forces(self, x: Array, xd: Array, xdd: Array) -> Array:
        """Return d/dt dT/dxd - dT/dx along the motion."""
        h = self.step
        ends = [
            self.momenta(x + sign * h * xd + h**2 / 2 * xdd, np.array([xd + sign * h * xdd], dtype=object))[0]
            for sign in (1, -1)
        ]
        return self.free((ends[0] - ends[1]) / (2 * h) - self.slopes(lambda place: self.kinetic(place, xd), x))

    def friction(self, x: Array, xd: Array) -> Array:
        """Return D xd plus dry friction plus dR/dqd - Q."""
        result = self.terms.forces(x, xd, self.step)
        for k, _, of in self._drives:
            result[k] += self._of_joint(of, xd[k])
        for own, _, damping in self._springs:
            result[own] += damping.dot(xd[own])
        for beam in self.frames.moving_beams.values():
            own = list(beam.own)
            result[own] += beam.damping(x).dot(xd[own])
        return self.free(result)

    def _of_joint(self, of: dict[str, Any], rate: Any) -> Any:
        """Return the friction of a joint that does not depend on its load."""
        sign = self.numbers.context.tanh(rate / of["coulomb_velocity"])
        dip = self.numbers.context.exp(-((rate / of["stribeck_velocity"]) ** 2))
        dry = of["offset"] + of["coulomb_asymmetry"] * sign**2 + (of["coulomb"] + of["stribeck"] * dip) * sign
        return dry + (of["viscous"] + of["viscous_asymmetry"] * sign) * rate

    def load_friction(self, xd: Array, forces: Array) -> Array:
        """Return the friction that depends on the loads of the drives, given all other ``forces``."""
        result = xd * 0
        for k, _, of in self._drives:
            share = of["load"] * self.numbers.context.tanh(xd[k] / of["coulomb_velocity"])
            load = forces[k] - self._of_joint(of, xd[k])
            result[k] = share * self.numbers.context.sqrt(load**2 + of["load_width"] ** 2)
        return self.free(result)

    def start(self, q: Any, *velocities: Any) -> tuple[Array, ...]:
        """Return coordinates and velocities or accelerations of a state; clamped ones vanish."""
        x = self.frames.start(self._exact(q))
        found = [self._exact(v) for v in velocities]
        return (x, *(self.free(v) for v in found))

    def _exact(self, values: Any) -> Array:
        return np.array([self.numbers.context.mpf(value) for value in np.ravel(values)], dtype=object)
