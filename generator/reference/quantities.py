"""Masses, forces and energies of a description at some states, by d'Alembert's principle: int dr/dq_k . (r'' - g) dm."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from elastogen.generator.program.graph import Op
from elastogen.generator.program.numbers.jets import Jet, arithmetic
from elastogen.generator.reference.description import Description
from elastogen.generator.reference.evaluated import BodySeries, Evaluated, extent
from elastogen.generator.reference.matrix_series import MatrixSeries
from elastogen.generator.robot.robot import Actuation, Joint

Array = npt.NDArray[np.float64]
SINGULAR = 1e-12  # smallest eigenvalue of a mass matrix whose diagonal was scaled to ones


@dataclass(frozen=True)
class Sized:
    """Numbers, and the size of the terms in them, to which rounding errors are relative."""

    value: Array
    size: Array

    def __add__(self, other: Sized) -> Sized:
        return Sized(self.value + other.value, self.size + other.size)


def without_inverse(mass: Array) -> npt.NDArray[np.bool_]:
    """Which of several mass matrices, scaled to a unit diagonal, are singular."""
    mass = np.nan_to_num(mass, nan=0.0, posinf=0.0, neginf=0.0)
    root = np.sqrt(np.abs(np.einsum("skk->sk", mass)))
    scales = root[:, :, None] * root[:, None, :]
    scaled = np.divide(mass, scales, where=scales > 0, out=np.zeros_like(mass))
    return np.asarray(np.linalg.eigvalsh(scaled)[:, 0] < SINGULAR)


class Quantities:
    """Quantities of one description at states: arrays (states, ...); derivatives along the velocities."""

    def __init__(self, description: Description, states: Mapping[str, Array], frames: Sequence[str] = ()) -> None:
        """``frames`` are those of the functions of frames."""
        self.of, self.states, self.frames = description, states, tuple(frames)
        self.n = description.nv
        self.free = np.ones(self.n)
        self.free[description.clamped] = 0.0

    def elsewhere(self, states: Mapping[str, Array], description: Description | None = None) -> Quantities:
        """The same at other states, or of another description."""
        return Quantities(description or self.of, states, self.frames)

    def at(self, name: str) -> Array:
        """q, qd, ... of the states; velocities without those of clamped coordinates."""
        given = self.states[name]
        return given if name in ("q", "q0", "q1") else given * self.free

    # ---- motion

    def along(self, *names: str) -> Evaluated:
        """Poses and bodies along the motion of the states, with some derivatives."""
        return self.of.evaluated(self.of.series([self.at(name) for name in names]))

    @cached_property
    def unit(self) -> Evaluated:
        """By unit velocities: the coefficients of t are partial derivatives (states, velocities, ...)."""
        steps = np.broadcast_to(np.diag(self.free), (len(self.at("q")), self.n, self.n))
        return self.of.evaluated(self.of.series([self.at("q")[:, None, :], steps]))

    @cached_property
    def moving(self) -> Evaluated:
        """With q, qd and qdd."""
        return self.along("q", "qd", "qdd")

    @cached_property
    def at_rest(self) -> Evaluated:
        """Poses and bodies at rest."""
        poses = {name: MatrixSeries(pose.values[:1]) for name, pose in self.moving.links.items()}
        bodies = [replace(body, P=MatrixSeries(body.P.values[:1])) for body in self.moving.bodies]
        tip = MatrixSeries(self.moving.tip.values[:1])
        return replace(self.moving, links=poses, tip=tip, bodies=bodies)

    @cached_property
    def unit_rates(self) -> Evaluated:
        """With q, qd, and unit directions of the position: slopes are the partial derivatives along the motion."""
        steps = np.broadcast_to(np.diag(self.free), (len(self.at("q")), self.n, self.n))
        series = self.of.series([self.at("q")[:, None, :], self.at("qd")[:, None, :]], [steps], field=True)
        return self.of.evaluated(series)

    # ---- inertia

    @cached_property
    def mass(self) -> Array:
        """M of the bodies and drives; 1 for clamped coordinates."""
        total = np.zeros((len(self.at("q")), self.n, self.n))
        for body in self.unit.bodies:
            total += _products(body.weighted(body.P.values[1]), body.P.values[1])
        total += np.diag(self.drives)
        return total + np.diag(1.0 - self.free)

    @cached_property
    def drives(self) -> Array:
        """Reflected inertia of the drives, by velocity."""
        found = np.zeros(self.n)
        for joint, place in zip(self.of.robot.joints, self.of.places, strict=True):
            a = joint.actuation
            found[list(place.v)] = self.of.number(a.gear_ratio) ** 2 * self.of.number(a.motor_inertia)
        return found

    def _forces(self, evaluated: Evaluated, acceleration: Array | None, gravity: bool) -> Sized:
        """int dr/dq_k . (r'' - g) dm and the drives' inertia times the acceleration."""
        value, size = np.zeros((2, len(self.at("q")), self.n))
        for body, unit in zip(evaluated.bodies, self.unit.bodies, strict=True):
            acc = self.felt(body, gravity)
            value += _products(unit.P.values[1], body.weighted(acc)[:, None])[..., 0]
            size += _products(np.abs(unit.P.values[1]), body.magnitude(extent(acc, axis=-2))[:, None])[..., 0]
        if acceleration is not None:
            value += self.drives * acceleration
            size += np.abs(self.drives * acceleration)
        return Sized(value * self.free, size)

    def felt(self, body: BodySeries, gravity: bool) -> Array:
        """r'' - g in the form of P'': g acts on the column of the 1 in rho, or on every point."""
        acc = 2.0 * body.P.values[2] if body.P.width > 2 else np.zeros_like(body.P.values[0])
        if not gravity:
            return acc
        acc = np.array(acc)
        if body.G_slope is not None:
            return acc - self.of.gravity[:, None]
        acc[..., 3] -= self.of.gravity
        return acc

    @cached_property
    def inertia_forces(self) -> Sized:
        """M qdd + C qd."""
        return self._forces(self.moving, self.at("qdd"), gravity=False)

    @cached_property
    def coriolis_vector(self) -> Sized:
        """C qd: the inertia forces minus M qdd."""
        return self.inertia_forces + self._of_mass(-self.at("qdd"))

    def _of_mass(self, qdd: Array) -> Sized:
        """M qdd."""
        value, size = (np.einsum("sij,sj->si", M, x) for M, x in ((self.mass, qdd), (np.abs(self.mass), np.abs(qdd))))
        return Sized(value * self.free, size)

    @cached_property
    def gravity_vector(self) -> Sized:
        """dV/dq of the weights."""
        return self._forces(self.at_rest, None, gravity=True)

    @cached_property
    def coriolis_matrix(self) -> Sized:
        """C_kj = int dr/dq_k . d/dt(dr/dq_j) dm."""
        total, size = np.zeros((2, len(self.at("q")), self.n, self.n))
        for body in self.unit_rates.bodies:
            P = body.P
            if P.slopes is not None:
                total += _products(body.weighted(P.slopes[0]), P.slopes[1])
                size += _products(body.magnitude(np.abs(P.slopes[0])), np.abs(P.slopes[1]))
        return Sized(total * self.free * self.free[:, None], size)

    @cached_property
    def singular(self) -> npt.NDArray[np.bool_]:
        """States in which M, scaled to a unit diagonal, is singular: massless links without drives."""
        return without_inverse(self.mass)

    def inverse_dynamics(self, qdd: Array) -> Sized:
        """All forces for these accelerations."""
        own = self._forces(self.moving, self.at("qdd"), gravity=True) + self.resistances
        other = qdd * self.free - self.at("qdd")
        return own if not other.any() else own + self._of_mass(other)

    @cached_property
    def resistances(self) -> Sized:
        """Elastic forces and friction."""
        return self.elastic_forces + self.friction_forces

    # ---- energies

    def energy(self, evaluated: Evaluated, order: int, drives: Array | None = None) -> Sized:
        """1/2 int |d^n r/dt^n|^2 dm, n = ``order``, and the same of the drives."""
        factor = float(np.prod(np.arange(1, order + 1))) ** 2
        total = np.zeros(len(self.at("q")))
        for body in evaluated.bodies:
            P = body.P.values[order]
            total += 0.5 * factor * (body.weighted(P) * P).sum(axis=(-1, -2))
        if drives is not None:
            total += 0.5 * (self.drives * drives**2).sum(axis=-1)
        return Sized(total, np.abs(total))

    @cached_property
    def weight_energy(self) -> Sized:
        """-int g . r dm of everything that moves."""
        total, size = np.zeros(len(self.at("q"))), np.zeros(len(self.at("q")))
        for body in self.moving.bodies:
            first = body.weighted(body.P.values[0])
            first = first.sum(axis=-1) if body.G_slope is not None else first[..., 3]
            total -= first @ self.of.gravity
            size += np.abs(first) @ extent(self.of.gravity)
        return Sized(total, size)

    # ---- elasticity and friction

    @cached_property
    def stiffness(self) -> Array:
        """Constant stiffness of joints and links."""
        return self._blocks("stiffness")

    @cached_property
    def damping(self) -> Array:
        """D, at q where it depends on the length of a beam outside."""
        D = self._blocks("damping")
        for joint, place in zip(self.of.robot.joints, self.of.places, strict=True):
            own = list(place.v)
            D[:, own, own] += self.of.number(joint.actuation.viscous)
            body = self.of.robot.link(joint.child).flexible
            beam = None if body is None else body.telescope
            if beam is None:
                continue
            own = list(place.elastic[1])
            for k, held in enumerate(beam.clamped_damping, 1):
                if self.of.inside.of(joint.name)[k].constant == 1.0:
                    D[:, own[0] : own[-1] + 1, own[0] : own[-1] + 1] += self.of.array(held)
            if beam.damping:
                d = self.at("q")[:, place.q[0], None, None]
                slope = np.array([0.0 if beam.modes else float(k % 2) for k in range(len(own))])
                powers = slope[:, None] + slope
                for exponent, matrix in beam.damping:
                    D[:, own[0] : own[-1] + 1, own[0] : own[-1] + 1] += d ** (exponent + powers) * self.of.array(matrix)
        return D * self.free * self.free[:, None]

    def _blocks(self, kind: str) -> Array:
        total = np.zeros((len(self.at("q")), self.n, self.n))
        for joint, place in zip(self.of.robot.joints, self.of.places, strict=True):
            if joint.elasticity is not None and place.deflection is not None:
                k = place.deflection[1]
                total[:, k, k] = self.of.number(getattr(joint.elasticity, kind))
            body = self.of.robot.link(joint.child).flexible
            if body is not None and not (body.clamp_moves and kind == "stiffness"):
                own = place.elastic[1]
                total[:, own.start : own.stop, own.start : own.stop] = self.of.array(getattr(body, kind))
        return total

    @property
    def positions(self) -> Array:
        """q beside the velocities; quaternions, which no spring acts on, as zeros."""
        found = np.zeros((len(self.at("q")), self.n))
        for place in self.of.places:
            pairs = [*zip(*place.elastic, strict=True), *([place.deflection] if place.deflection else [])]
            for k, at in pairs:
                found[:, at] = self.at("q")[:, k]
        return found * self.free

    @cached_property
    def strain_energy(self) -> Sized:
        """U."""
        x = self.positions
        total = 0.5 * np.einsum("si,sij,sj->s", x, self.stiffness, x)
        for joint, place in zip(self.of.robot.joints, self.of.places, strict=True):
            moving = self.of.moving_beam(joint.child)
            if moving is not None:
                q = self.of.series([self.at("q")])
                total = total + moving.strain_energy(q[place.q[0]], [q[k] for k in place.elastic[0]]).data[..., 0, 0]
        return Sized(total, np.abs(total))

    @cached_property
    def elastic_forces(self) -> Sized:
        """dU/dq."""
        x = self.positions
        value = np.einsum("sij,sj->si", self.stiffness, x)
        size = np.einsum("sij,sj->si", np.abs(self.stiffness), np.abs(x))
        for joint, place in zip(self.of.robot.joints, self.of.places, strict=True):
            moving = self.of.moving_beam(joint.child)
            if moving is not None:
                steps = np.broadcast_to(np.eye(self.n), (len(x), self.n, self.n))
                q = self.of.series([self.at("q")[:, None, :]], [steps])
                own = moving.strain_energy(q[place.q[0]], [q[k] for k in place.elastic[0]]).data[..., 1, 0]
                value = value + own
                size = size + np.abs(own).max(axis=-1, keepdims=True)
        return Sized(value * self.free, size)

    def elastic_forces_of(self, link: str) -> Array:
        """dU/dq of a beam that slides through its joint."""
        moving = self.of.moving_beam(link)
        place = next(p for j, p in zip(self.of.robot.joints, self.of.places, strict=True) if j.child == link)
        steps = np.broadcast_to(np.eye(self.n), (len(self.at("q")), self.n, self.n))
        q = self.of.series([self.at("q")[:, None, :]], [steps])
        assert moving is not None
        found: Array = moving.strain_energy(q[place.q[0]], [q[k] for k in place.elastic[0]]).data[..., 1, 0]
        return found

    def damping_of(self, link: str) -> Array:
        """The part of a flexible link in D."""
        place = next(p for j, p in zip(self.of.robot.joints, self.of.places, strict=True) if j.child == link)
        own = list(place.elastic[1])
        found = np.zeros_like(self.damping)
        found[:, own[0] : own[-1] + 1, own[0] : own[-1] + 1] = self.damping[:, own[0] : own[-1] + 1, own[0] : own[-1] + 1]
        return found

    def drive_columns(self, joint: Joint, k: int) -> list[Array]:
        """The factor of every parameter of a drive in its row."""
        a, rate = joint.actuation, self.at("qd")[:, k]
        sign = np.tanh(rate / self.of.number(a.coulomb_velocity))
        share = np.exp(-((rate / self.of.number(a.stribeck_velocity)) ** 2))
        pairs = (
            (self.of.number(a.gear_ratio) ** 2 * self.of.number(a.motor_inertia), self.at("qdd")[:, k]),
            (self.of.number(a.viscous), rate), (self.of.number(a.coulomb), sign),
            (self.of.number(a.offset), np.ones_like(rate)),
            (self.of.number(a.stribeck), sign * share), (self.of.number(a.viscous_asymmetry), sign * rate),
            (self.of.number(a.coulomb_asymmetry), sign * sign),
        )  # fmt: skip
        return [column for value, column in pairs if value]

    @cached_property
    def friction_forces(self) -> Sized:
        """D qd, Coulomb friction."""
        qd = self.at("qd")
        value = np.einsum("sij,sj->si", self.damping, qd)
        size = np.einsum("sij,sj->si", np.abs(self.damping), np.abs(qd))
        dry, sizes = self._dry_friction
        return Sized((value + dry) * self.free, size + sizes)

    @cached_property
    def _dry_friction(self) -> tuple[Array, Array]:
        """Friction that is neither viscous nor load friction (robot.Actuation), and its size."""
        value, size = np.zeros((2, *self.at("qd").shape))
        for number, sign, rate, own in self._drives:
            sliding = number("coulomb") + number("stribeck") * np.exp(-((rate / number("stribeck_velocity")) ** 2))
            uneven = number("viscous_asymmetry") * rate * sign + number("coulomb_asymmetry") * sign**2
            value[:, own] = number("offset") + sliding * sign + uneven
            size[:, own] = np.abs(number("offset")) + np.abs(sliding) + np.abs(uneven)
        return value, size

    def dry_friction_rate(self, order: int) -> Array:
        """d^order/dt^order of it along the motion."""
        value, functions = np.zeros(self.at("qd").shape), arithmetic(order + 1).functions
        names = ("qd", "qdd", "q3", "q4", "q5")[: order + 1]
        series = [self.at(name) / math.factorial(k) for k, name in enumerate(names)]
        for number, _, _, own in self._drives:

            def constant(name: str, number: Callable[[str], float] = number) -> Jet:
                return Jet.constant(number(name), order + 1)

            for k in own:
                data = np.zeros((len(value), 2, order + 1))
                data[:, 0, :] = np.stack([x[:, k] for x in series], axis=-1)
                rate = Jet(data)
                sign, share = functions[Op.TANH](rate / constant("coulomb_velocity")), rate / constant("stribeck_velocity")
                sliding = constant("coulomb") + constant("stribeck") * functions[Op.EXP](-(share * share))
                uneven = constant("viscous_asymmetry") * rate * sign + constant("coulomb_asymmetry") * sign * sign
                value[:, k] = (sliding * sign + uneven).data[..., 0, order] * math.factorial(order)
        return value

    @property
    def _drives(self) -> Iterator[tuple[Callable[[str], float], Array, Array, list[int]]]:
        """Per joint: its drive, the smoothed sign of its velocities, the velocities and their indices."""
        for joint, place in zip(self.of.robot.joints, self.of.places, strict=True):
            if place.v:
                drive, rate = joint.actuation, self.at("qd")[:, list(place.v)]

                def number(name: str, drive: Actuation = drive) -> float:
                    return self.of.number(getattr(drive, name))

                yield number, np.tanh(rate / number("coulomb_velocity")), rate, list(place.v)

    def loaded(self, rows: Sized) -> Sized:
        """Driving forces: load sqrt(L^2 + w^2) s is added, L being the row without the friction of the joint itself."""
        value, dry = np.array(rows.value), self._dry_friction[0]
        for number, sign, rate, own in self._drives:
            if number("load"):
                L = value[:, own] - number("viscous") * rate - dry[:, own]
                value[:, own] += number("load") * sign * np.sqrt(L**2 + number("load_width") ** 2)
        return Sized(value, 2 * rows.size + np.abs(value))

    def unloaded(self, forces: Array) -> Array:
        """Driving forces without load friction: L of L + load sqrt(L^2 + w^2) s, by Newton's method."""
        value, dry = np.array(forces), self._dry_friction[0]
        for number, sign, rate, own in self._drives:
            if number("load"):
                other = number("viscous") * rate + dry[:, own]
                given = value[:, own] - other
                L, slope = np.array(given), number("load") * sign
                for _ in range(60):
                    root = np.sqrt(L**2 + number("load_width") ** 2)
                    L = L - (L + slope * root - given) / (1 + slope * L / root)
                value[:, own] = L + other
        return value


def _products(a: Array, b: Array) -> Array:
    """Sums over rows and columns of products of matrices (..., n, r, c) and (..., m, r, c): (..., n, m)."""
    flat = [x.reshape(*x.shape[:-2], -1) for x in (a, b)]
    return flat[0] @ np.swapaxes(flat[1], -1, -2)
