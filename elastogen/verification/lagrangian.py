"""The Lagrangian of a robot from its description alone: SymPy matrices of joints and tips, energies of bodies by moments.

Nothing of the recursions is used: no frames that are moved, no regrouped parameters, no graph. The poses are products
of 4 x 4 matrices, kinetic energy is 1/2 tr(Td J Td^T) with J = int (u, 1) (u, 1)^T dm (paper 002 (19)), of flexible bodies with
u = r + sum_n c_n b_n by their integrals. Numbers are mpmath's, with as many digits as the context has.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy

from elastogen.generator.robot.own.terms import Symbols
from elastogen.generator.robot.robot import Body, FlexibleBody, Joint, Robot

Numbers = Any  # object arrays of mpmath numbers


class NotCoveredError(Exception):
    """Why there is no second derivation of a robot."""


@dataclass(frozen=True)
class Moving:
    """A matrix that depends on some coordinates: its value and its rate."""

    indices: tuple[int, ...]
    values: Callable[..., Any]

    def at(self, q: Numbers, qd: Numbers) -> tuple[Numbers, Numbers]:
        """Matrix and time derivative."""
        flat = self.values(*(q[k] for k in self.indices))
        A = np.array(flat[0], dtype=object).reshape(4, 4)
        rate = np.array(
            sum((np.array(flat[1 + k], dtype=object) * qd[i] for k, i in enumerate(self.indices)), np.zeros(16, object))
        )
        return A, rate.reshape(4, 4)


class Lagrangian:
    """T(q, qd), V(q) and the forces without a potential; ``context`` is an mpmath context."""

    def __init__(self, robot: Robot, context: Any) -> None:
        self.robot, self.context = robot, context
        self._numbers = {p.symbol: p.value for p in robot.parameters.values()}
        self._place: dict[str, tuple[int, ...]] = {}
        self.size = 0
        self._joints = [(joint, self._joint(joint)) for joint in robot.joints]
        self._tips = {link.name: self._tip(link.flexible, link.name) for link in robot.links if link.flexible is not None}
        self._gravity = self._array(robot.gravity)
        self._tool = self._array(robot.tool).reshape(4, 4)
        self._own = self._terms()

    # ---- numbers and matrices

    def _number(self, scalar: Any) -> Any:
        if isinstance(scalar, sympy.Basic):
            exact = scalar.xreplace({s: sympy.Float(self._numbers[s], 17) for s in scalar.free_symbols})
            return self.context.mpf(str(sympy.N(exact, self.context.dps)))
        return self.context.mpf(scalar)

    def _array(self, entries: Any) -> Numbers:
        flat = np.array(entries, dtype=object)
        return np.array([self._number(entry) for entry in flat.ravel()], dtype=object).reshape(flat.shape)

    def _moving(self, matrix: sympy.Matrix, symbols: Sequence[sympy.Symbol], indices: tuple[int, ...]) -> Moving:
        numbers = {s: sympy.Float(value, 17) for s, value in self._numbers.items()}
        exact = [entry.xreplace(numbers) for entry in matrix]
        rows = [exact, *([sympy.diff(entry, s) for entry in exact] for s in symbols)]
        return Moving(indices, sympy.lambdify(symbols, rows, modules=self.context, cse=True))

    def _joint(self, joint: Joint) -> Moving:
        """before . motion . after, the motion by the joint's screws."""
        kind = joint.type
        if kind.rides_parent or kind.feeds_child or (kind.moves and not kind.screws(joint)):
            raise NotCoveredError(f"joint {joint.name} is {kind.name}: its motion is not one of screws")
        count = len(kind.coordinates)
        own = tuple(range(self.size, self.size + count))
        self._place[joint.name] = own
        self.size += count
        symbols = list(sympy.symbols(f"x:{count}", real=True)) if count else []
        motion = sympy.eye(4)
        spring: list[sympy.Symbol] = []
        if joint.elasticity is not None:
            spring, own = [sympy.Symbol("d", real=True)], (*own, self.size)
            self.size += 1
        for screw, s in zip(kind.screws(joint), symbols, strict=True):
            angle = s + (spring[0] if spring else 0)
            motion = motion * _screw(sympy.Matrix(screw.axis), angle, screw.turns, sympy.sympify(screw.advance))
        flexible = self.robot.link(joint.child).flexible
        if flexible is not None:
            self._place[joint.child] = tuple(range(self.size, self.size + len(flexible.coordinates)))
            self.size += len(flexible.coordinates)
        whole = sympy.Matrix(joint.before) * motion * sympy.Matrix(joint.after)
        return self._moving(whole, [*symbols, *spring], own)

    def _tip(self, body: FlexibleBody, link: str) -> Moving:
        """Tip frame of a flexible link in its link frame."""
        if body.telescope is not None:
            raise NotCoveredError(f"link {link} slides through its joint: its clamp moves along the beam")
        x = list(sympy.symbols(f"x:{len(body.coordinates)}", real=True))
        c = [sympy.prod(x[j] for j in monomial) for monomial in body.monomials]
        shift = sum(
            (sympy.Matrix(row) * value for row, value in zip(body.tip_displacements, c, strict=True)), sympy.zeros(3, 1)
        )
        turn = sum((sympy.Matrix(row) * value for row, value in zip(body.tip_rotations, x, strict=True)), sympy.zeros(3, 1))
        moved = sympy.eye(4)
        moved[:3, :3] = _exponential(turn) if body.tip == "exponential" else sympy.eye(3) + _cross(turn)
        pose = sympy.Matrix(body.tip_pose)
        moved[:3, 3] = pose[:3, 3] + shift
        pose[:3, 3] = sympy.zeros(3, 1)
        return self._moving(moved * pose, x, self._place[link])

    # ---- kinematics

    def frames(self, q: Numbers, qd: Numbers) -> dict[str, tuple[Numbers, Numbers]]:
        """Pose and rate of every link frame, of the tips of flexible links (``<link>.tip``), and of ``tip``."""
        zero, one = self.context.mpf(0), self.context.mpf(1)
        still = np.array([[one if r == c else zero for c in range(4)] for r in range(4)], dtype=object)
        found = {self.robot.links[0].name: (still, still * zero)}
        for joint, moving in self._joints:
            T, Td = found[f"{joint.parent}.tip" if joint.parent in self._tips else joint.parent]
            A, Ad = moving.at(q, qd)
            found[joint.child] = (T.dot(A), Td.dot(A) + T.dot(Ad))
            if joint.child in self._tips:
                T, Td = found[joint.child]
                A, Ad = self._tips[joint.child].at(q, qd)
                found[f"{joint.child}.tip"] = (T.dot(A), Td.dot(A) + T.dot(Ad))
        last = self.robot.tip
        T, Td = found[f"{last}.tip" if last in self._tips else last]
        return {**found, "tip": (T.dot(self._tool), Td.dot(self._tool))}

    # ---- energies

    def _rigid(self, body: Body) -> Numbers:
        """J of a rigid body about its frame's origin."""
        m, c, inertia = self._number(body.mass), self._array(body.com), self._array(body.inertia)
        J = np.array([[self.context.mpf(0)] * 4 for _ in range(4)], dtype=object)
        half = (inertia[0, 0] + inertia[1, 1] + inertia[2, 2]) / 2
        for r in range(3):
            for s in range(3):
                J[r, s] = (half if r == s else 0) - inertia[r, s] + m * c[r] * c[s]
            J[r, 3] = J[3, r] = m * c[r]
        J[3, 3] = m
        return J

    def _bodies(self) -> list[tuple[str, Numbers]]:
        found = []
        for link in self.robot.links[1:]:
            found.append((link.name, self._rigid(link.body)))
            if link.flexible is not None:
                found.append((f"{link.name}.tip", self._rigid(link.tip_body)))
        return [*found, ("tip", self._rigid(self.robot.payload))]

    def energies(self, q: Numbers, qd: Numbers) -> tuple[Any, Any]:
        """T and V."""
        frames = self.frames(q, qd)
        T, V = self.context.mpf(0), self.context.mpf(0)
        for name, J in self._cached_bodies():
            pose, rate = frames[name]
            T += (rate.dot(J) * rate).sum() / 2
            V -= (self._gravity * pose.dot(J[:, 3])[:3]).sum()
        for link in self.robot.links:
            if link.flexible is not None:
                kinetic, first = self._flexible(link.name, q, qd, *frames[link.name])
                T += kinetic
                V -= (self._gravity * frames[link.name][0].dot(first)[:3]).sum()
        for k, drive, stiffness, _ in self._drives():
            T += drive * qd[k] ** 2 / 2
            V += stiffness * q[k] ** 2 / 2
        for link in self.robot.links:
            if link.flexible is not None:
                x = q[list(self._place[link.name])]
                V += x.dot(self._integrals(link.name)["K"].dot(x)) / 2
        return T, V + self.own_potential(q, frames)

    def _cached_bodies(self) -> list[tuple[str, Numbers]]:
        if not hasattr(self, "_all_bodies"):
            self._all_bodies = self._bodies()
        return self._all_bodies

    def _integrals(self, link: str) -> dict[str, Numbers]:
        cache: dict[str, dict[str, Numbers]] = self.__dict__.setdefault("_integral_cache", {})
        if link not in cache:
            body = self.robot.link(link).flexible
            assert body is not None
            fields = len(body.monomials)
            cache[link] = {
                "rr": self._array(body.second_moments).reshape(3, 3), "r": self._array(body.first_moments),
                "m": self._number(body.mass), "b": self._array(body.field_integrals).reshape(fields, 3),
                "br": self._array(body.field_position_integrals).reshape(fields, 3, 3),
                "bb": self._array(body.field_field_integrals).reshape(fields, fields, 3, 3),
                "K": self._array(body.stiffness), "D": self._array(body.damping),
            }  # fmt: skip
        return cache[link]

    def _flexible(self, link: str, q: Numbers, qd: Numbers, pose: Numbers, rate: Numbers) -> tuple[Any, Numbers]:
        """Kinetic energy of a flexible body, and int (u, 1) dm."""
        body = self.robot.link(link).flexible
        assert body is not None
        own, I = self._place[link], self._integrals(link)  # noqa: E741
        x, xd = q[list(own)], qd[list(own)]
        one, zero = self.context.mpf(1), self.context.mpf(0)
        c, cd = [], []
        for monomial in body.monomials:
            c.append(np.prod([x[j] for j in monomial]) * one)
            cd.append(
                sum((xd[j] * np.prod([x[i] for n, i in enumerate(monomial) if n != k]) for k, j in enumerate(monomial)), zero)
            )
        count = range(len(c))
        uu = I["rr"] + sum((c[n] * (I["br"][n] + I["br"][n].T) for n in count), zero)
        uu = uu + sum((c[n] * c[m] * I["bb"][n, m] for n in count for m in count), zero)
        u = I["r"] + sum((c[n] * I["b"][n] for n in count), zero)
        ud = sum((cd[n] * I["b"][n] for n in count), zero * I["r"])
        u_ud = sum((cd[n] * I["br"][n].T for n in count), zero * I["rr"])
        u_ud = u_ud + sum((c[n] * cd[m] * I["bb"][n, m] for n in count for m in count), zero)
        ud_ud = sum((cd[n] * cd[m] * I["bb"][n, m] for n in count for m in count), zero * I["rr"])
        J = np.vstack([np.hstack([uu, u[:, None]]), np.append(u, I["m"])[None, :]])
        B = np.vstack([u_ud, ud[None, :]])  # int (u, 1) ud^T dm
        R = pose[:3, :3]
        T = (rate.dot(J) * rate).sum() + 2 * (rate[:3].dot(B) * R).sum() + (R.dot(ud_ud) * R).sum()
        return T / 2, np.append(u, I["m"])

    # ---- drives, friction, own terms

    def _drives(self) -> list[tuple[int, Any, Any, Any]]:
        """Per coordinate of a joint: number, inertia of the drive, stiffness, damping; deflections too."""
        found: list[tuple[int, Any, Any, Any]] = []
        for joint in self.robot.joints:
            a = joint.actuation
            for k in self._place[joint.name]:
                inertia = self._number(a.motor_inertia) * self._number(a.gear_ratio) ** 2
                found.append((k, inertia, self.context.mpf(0), self._number(a.viscous)))
            if joint.elasticity is not None:
                k, spring = self._place[joint.name][-1] + 1, joint.elasticity
                found.append((k, self.context.mpf(0), self._number(spring.stiffness), self._number(spring.damping)))
        return found

    def friction(self, q: Numbers, qd: Numbers) -> Numbers:
        """D qd, Coulomb friction, dR/dqd - Q."""
        result = np.array([self.context.mpf(0)] * self.size, dtype=object)
        for k, _, _, damping in self._drives():
            result[k] += damping * qd[k]
        for joint in self.robot.joints:
            for k in self._place[joint.name]:
                coulomb = self._number(joint.actuation.coulomb)
                result[k] += coulomb * self.context.tanh(qd[k] / self._number(joint.actuation.coulomb_velocity))
        for link in self.robot.links:
            if link.flexible is not None:
                own = list(self._place[link.name])
                result[own] += self._integrals(link.name)["D"].dot(qd[own])
        return result + self._own_forces(q, qd)

    def elastic_forces(self, q: Numbers) -> Numbers:
        """K q of flexible links and joints."""
        result = np.array([self.context.mpf(0)] * self.size, dtype=object)
        for k, _, stiffness, _ in self._drives():
            result[k] += stiffness * q[k]
        for link in self.robot.links:
            if link.flexible is not None:
                own = list(self._place[link.name])
                result[own] += self._integrals(link.name)["K"].dot(q[own])
        return result

    def _terms(self) -> list[tuple[Any, Callable[..., Any]]]:
        used = {s for term in self.robot.terms for s in term.free_symbols}
        self._meanings = {s: meaning for s, meaning in Symbols(self.robot).meanings.items() if s in used}
        points = {point.name for point in self.robot.points}
        if points & ({m.of for m in self._meanings.values()} | {name for t in self.robot.terms for name in t.frame_forces}):
            raise NotCoveredError("own terms act at points of links")
        symbols = list(self._meanings)
        numbers = {s: sympy.Float(value, 17) for s, value in self._numbers.items()}
        return [
            (term, sympy.lambdify(symbols, [e.xreplace(numbers) for e in term.expressions.values()], modules=self.context))
            for term in self.robot.terms
        ]

    def _symbol_values(self, q: Numbers, qd: Numbers, frames: dict[str, tuple[Numbers, Numbers]]) -> list[Any]:
        zero, values = self.context.mpf(0), []
        names = self.robot.coordinate_names
        for meaning in self._meanings.values():
            if meaning.kind in ("q", "qd", "qdd"):
                values.append({"q": q, "qd": qd}.get(meaning.kind, zero * q)[names.index(meaning.of)])
            else:
                pose, rate = frames[meaning.of]
                entries = {"position": pose[:3, 3], "velocity": rate[:3, 3], "rotation": pose[:3, :3].ravel()}
                values.append(entries[meaning.kind][meaning.index])
        return values

    def own_potential(self, q: Numbers, frames: dict[str, tuple[Numbers, Numbers]]) -> Any:
        """V of the user's own terms."""
        total = self.context.mpf(0)
        if self._own:
            values = self._symbol_values(q, self.context.mpf(0) * q, frames)
            for _, function in self._own:
                total += function(*values)[0]
        return total

    def _own_forces(self, q: Numbers, qd: Numbers) -> Numbers:
        """dR/dqd - Q."""
        result = np.array([self.context.mpf(0)] * self.size, dtype=object)
        for term, function in self._own:
            step = self.context.mpf(10) ** (-self.context.dps // 3)
            for k in range(self.size):
                ends = []
                for sign in (1, -1):
                    moved = qd.copy()
                    moved[k] += sign * step
                    ends.append(function(*self._symbol_values(q, moved, self.frames(q, moved)))[1])
                result[k] += (ends[0] - ends[1]) / (2 * step)
            frames = self.frames(q, qd)
            given = dict(zip(term.expressions, function(*self._symbol_values(q, qd, frames)), strict=True))
            for name in term.forces:
                result[self.robot.coordinate_names.index(name)] -= given[f"forces.{name}"]
            for name in term.frame_forces:
                for k in range(self.size):  # the velocity of the frame's origin is linear in qd
                    unit = np.array([self.context.mpf(int(i == k)) for i in range(self.size)], dtype=object)
                    column = self.frames(q, unit)[name][1][:3, 3]
                    result[k] -= sum(given[f"forces.{name}.{axis}"] * column[i] for i, axis in enumerate("xyz"))
        return result


def _cross(v: sympy.Matrix) -> sympy.Matrix:
    return sympy.Matrix([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])


def _screw(axis: sympy.Matrix, s: sympy.Expr, turns: bool, advance: sympy.Expr) -> sympy.Matrix:
    """A turn by s about the axis (Rodrigues) and a displacement advance s along it."""
    motion = sympy.eye(4)
    if turns:
        K = _cross(axis)
        motion[:3, :3] = sympy.eye(3) + sympy.sin(s) * K + (1 - sympy.cos(s)) * K * K
    motion[:3, 3] = axis * advance * s
    return motion


def _exponential(v: sympy.Matrix) -> sympy.Matrix:
    """exp{v}; about one fixed axis with that axis, so that zero needs no limit."""
    used = [k for k in range(3) if v[k] != 0]
    if not used:
        return sympy.eye(3)
    if len(used) == 1:
        axis = sympy.zeros(3, 1)
        axis[used[0]] = 1
        return _screw(axis, v[used[0]], True, sympy.S.Zero)[:3, :3]
    angle = sympy.sqrt(v.dot(v))
    K = _cross(v)
    return sympy.eye(3) + sympy.sin(angle) / angle * K + (1 - sympy.cos(angle)) / angle**2 * K * K
