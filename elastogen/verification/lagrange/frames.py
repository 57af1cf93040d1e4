"""Poses and their rates: products of 4 x 4 matrices from the base to every link, tip and point.

Coordinates x are those that Lagrange's equations are written in, one for each velocity. They are the robot's own but for joints
with a quaternion, whose x are exponential coordinates of the rotation (and the displacement) away from the state that
:meth:`Frames.start` was given: there dx/dt is the velocity in the moving frame, d2x/dt2 its rate, and dual forces are the same.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import sympy

from elastogen.generator.joints.coupled import CoupledRotation, CoupledSlide, leader
from elastogen.generator.robot.bodies.flexible_body import TIP, FlexibleBody, Interface
from elastogen.generator.robot.joint_kind import Screw
from elastogen.generator.robot.robot import Joint, Robot
from elastogen.verification.lagrange.beams import BeamLine, MovingBeam, rotated
from elastogen.verification.lagrange.numbers import Array, NotCoveredError, Numbers, Pair, Rated
from elastogen.verification.lagrange.sections import section


class FreeFrame:
    """A joint with a quaternion: T(q) exp{x}."""

    def __init__(self, numbers: Numbers, joint: Joint, positions: tuple[int, ...], own: tuple[int, ...]) -> None:
        self.numbers, self.positions, self.own = numbers, positions, own
        self._before, self._after = (numbers.array(matrix).reshape(4, 4) for matrix in (joint.before, joint.after))
        self._start = self._moved = numbers.unit(4)
        self._quaternion: Array = []

    def start(self, q: Array) -> None:
        """Start from the pose of a configuration."""
        *place, x, y, z, w = (q[k] for k in self.positions)
        T = self.numbers.unit(4)
        T[:3, :3] = [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
        if place:
            T[:3, 3] = place
        self._moved, self._quaternion = T, np.array([x, y, z, w], dtype=object)
        self._start = self._before.dot(T)

    def coordinates(self, x: Array) -> list[Any]:
        """Return the joint's own coordinates: position, then quaternion."""
        half = x[list(self.own)][-3:] / 2
        square = half.dot(half)
        v, w = half * (1 - square / 6), 1 - square / 2 + square**2 / 24
        u, s = self._quaternion[:3], self._quaternion[3]
        rotated = [*(s * v + w * u + np.cross(u, v)), s * w - u.dot(v)]
        if len(self.positions) == 4:
            return rotated
        place = self._moved[:3, :3].dot(self._exponential(x, x * 0)[0][:3, 3]) + self._moved[:3, 3]
        return [*place, *rotated]

    def at(self, x: Array, xd: Array) -> Pair:
        """exp by four terms of its series: x stays within the steps of differences, where they are exact to all digits."""
        E, rate = self._exponential(x, xd)
        return self._start.dot(E).dot(self._after), self._start.dot(rate).dot(self._after)

    def _exponential(self, x: Array, xd: Array) -> Pair:
        X, Xd = (self._generator(v[list(self.own)]) for v in (x, xd))
        one, E, rate = self.numbers.unit(4), self.numbers.unit(4), X * 0
        for k in (4, 3, 2, 1):  # E = 1 + X/k E
            E, rate = one + X.dot(E) / k, (Xd.dot(E) + X.dot(rate)) / k
        return E, rate

    def _generator(self, v: Array) -> Array:
        *linear, a, b, c = v
        zero = self.numbers.zero
        moved = linear or [zero] * 3
        rows = [[zero, -c, b, moved[0]], [c, zero, -a, moved[1]], [-b, a, zero, moved[2]], [zero] * 4]
        return np.array(rows, dtype=object)


class ContactFrame:
    """The frame of a joint that slides along a beam: at the place d, rotated with the beam and by a fixed angle."""

    def __init__(self, numbers: Numbers, joint: Joint, beam: MovingBeam | BeamLine, own: int) -> None:
        self.numbers, self.beam, self.own, self.nodal = numbers, beam, own, joint.slide == "nodal"
        self._before, self._after = (numbers.array(matrix).reshape(4, 4) for matrix in (joint.before, joint.after))
        self._element = 0

    def start(self, x: Array) -> None:
        """Find the element of the beam that the joint is on."""
        self._element = self.beam.element_at(x[self.own], x)

    def seat(self, x: Array, xd: Array) -> Pair:
        """Return the place of the joint, without the rotation of its child."""
        d = Rated(x[self.own], xd[self.own])
        return rotated(self.numbers, self.beam.place(d, x, xd, self._element, at_node=self.nodal))

    def at(self, x: Array, xd: Array) -> Pair:
        """Return the child's frame in the parent's."""
        A, rate = self.seat(x, xd)
        return self._before.dot(A).dot(self._after), self._before.dot(rate).dot(self._after)


class SectionFrame:
    """The frame of a section of a beam on a telescopic joint, such as its tip."""

    def __init__(self, beam: MovingBeam, along: Any, rest: Array) -> None:
        self.beam, self.along, self._rest = beam, along, rest
        self._element = 0

    def start(self, x: Array) -> None:
        """Find the element that the section is on."""
        self._element = self.beam.element_at(self.along, x)

    def at(self, x: Array, xd: Array) -> Pair:
        """Return the frame in that of the link."""
        A, rate = rotated(self.beam.numbers, self.beam.place(self.along, x, xd, self._element))
        return A.dot(self._rest), rate.dot(self._rest)


class Frames:
    """All frames of a robot; ``size`` is the number of velocities."""

    def __init__(self, robot: Robot, numbers: Numbers) -> None:
        self.robot, self.numbers = robot, numbers
        self.place: dict[str, tuple[int, ...]] = {}  # joints and flexible links: numbers of their velocities
        self.moving_beams: dict[str, MovingBeam] = {}
        self.size, self._positions = 0, 0
        self._from_q: list[tuple[int, int]] = []  # pairs of numbers in x and in q
        self._joints: list[tuple[Joint, Any]] = []
        self._tips: dict[str, Any] = {}
        for joint in robot.joints:
            self._add(joint)
        self._tool = numbers.array(robot.tool).reshape(4, 4)
        self._points = {point.name: self._point(point) for point in robot.points}

    # ---- building

    def _add(self, joint: Joint) -> None:
        kind, flexible = joint.type, self.robot.link(joint.child).flexible
        free = kind.velocities != kind.coordinates
        positions = tuple(range(self._positions, self._positions + len(kind.coordinates)))
        self.place[joint.name] = self._taken(len(kind.velocities), known=not free)
        self._positions += len(kind.coordinates) if free else 0
        deflection = self._taken(1) if joint.elasticity is not None else ()
        if flexible is not None:
            self.place[joint.child] = self._taken(len(flexible.coordinates))
        if free:
            motion: Any = FreeFrame(self.numbers, joint, positions, self.place[joint.name])
        elif kind.rides_parent:
            motion = ContactFrame(self.numbers, joint, self._line(joint.parent), self.place[joint.name][0])
        else:
            motion = self._screws(joint, deflection)
        self._joints.append((joint, motion))
        if flexible is not None:
            for place in flexible.interfaces:
                self._tips[f"{joint.child}.{place.name}"] = self._interface(joint, flexible, place)

    def _taken(self, count: int, *, known: bool = True) -> tuple[int, ...]:
        """Return the numbers of further velocities; ``known``: they belong to as many coordinates."""
        own = tuple(range(self.size, self.size + count))
        self.size += count
        if known:
            self._from_q += [(k, self._positions + i) for i, k in enumerate(own)]
            self._positions += count
        return own

    def _line(self, link: str) -> MovingBeam | BeamLine:
        if link in self.moving_beams:
            return self.moving_beams[link]
        body = self.robot.link(link).flexible
        assert body is not None
        assert body.centreline is not None
        return BeamLine(self.numbers, body, body.centreline, self.place[link])

    def _screws(self, joint: Joint, deflection: tuple[int, ...]) -> Any:
        """Return before . motion . after with the motion as screws, one for each coordinate or following others."""
        kind, own = joint.type, self.place[joint.name]
        symbols = list(sympy.symbols(f"x:{len(own)}", real=True)) if own else []
        screws = kind.screws(joint)
        if isinstance(kind, (CoupledRotation, CoupledSlide)):
            assert joint.coupling is not None
            screws, symbols = kind.free.screws(joint), [leader(name) for name in joint.coupling.leaders]
            own = tuple(self.robot.velocity_names.index(name) for name in joint.coupling.leaders)
            amounts = [joint.coupling.position]
        else:
            amounts = list(symbols)
        if kind.feeds_child:
            screws = (Screw(joint.axis, False, 1),)
        if deflection:
            symbols, own = [*symbols, sympy.Symbol("deflection", real=True)], (*own, *deflection)
            amounts = [amount + symbols[-1] for amount in amounts]
        motion = sympy.eye(4)
        if kind.moves and not screws:
            moved = kind.pose(joint, amounts)
            if moved is None:
                raise NotCoveredError(f"joint {joint.name} is {kind.name}: its motion is not one of screws")
            motion, amounts = sympy.Matrix(moved), []
        for screw, amount in zip(screws, amounts, strict=True):
            motion = motion * screw_matrix(sympy.Matrix(screw.axis), amount, screw.turns, sympy.sympify(screw.advance))
        whole = sympy.Matrix(joint.before) * motion * sympy.Matrix(joint.after)
        return self.numbers.moving(whole, symbols, own)

    def _interface(self, joint: Joint, body: FlexibleBody, seat: Interface) -> Any:
        """Return the tip frame of a flexible link, or another interface, in its link frame; beams use their shapes."""
        own, pose = self.place[joint.child], sympy.Matrix(seat.pose)
        if body.telescope is not None:
            if joint.child not in self.moving_beams:
                self.moving_beams[joint.child] = MovingBeam(self.numbers, body, self.place[joint.name][0], own)
            beam = self.moving_beams[joint.child]
            turn = pose.copy()
            turn[:3, 3] = sympy.zeros(3, 1)
            along = beam.length if seat.name == TIP else self.numbers(seat.x)
            return SectionFrame(beam, along, self.numbers.array(turn.tolist()))
        place, pose[:3, 3] = pose[:3, 3], sympy.zeros(3, 1)
        if seat.name == TIP or seat.x is None:
            return self._deformed(body, own, place, pose, seat.displacements, seat.rotations)
        return self._deformed(body, own, place, pose, *section(self.numbers, body, self.numbers(seat.x)))

    def _deformed(
        self, body: FlexibleBody, own: tuple[int, ...], place: Any, rest: Any, displacements: Any, rotations: Any
    ) -> Any:
        """Return a frame at a place that fields displace and coordinates rotate, with what is attached to it."""
        x = list(sympy.symbols(f"x:{len(own)}", real=True))
        amplitudes = [sympy.prod(x[j] for j in monomial) for monomial in body.monomials]
        shift, turn = sympy.zeros(3, 1), sympy.zeros(3, 1)
        for row, amplitude in zip(displacements, amplitudes, strict=True):
            shift += sympy.Matrix(list(row)) * amplitude
        for row, coordinate in zip(rotations, x, strict=True):
            turn += sympy.Matrix(list(row)) * coordinate
        moved = sympy.eye(4)
        moved[:3, :3] = exponential(turn) if body.tip == "exponential" else sympy.eye(3) + cross(turn)
        moved[:3, 3] = place + shift
        return self.numbers.moving(moved * rest, x, own)

    def _point(self, point: Any) -> Any:
        """Return what moves a point of a beam in its link; points of rigid links and joints move with the pose."""
        body = self.robot.link(point.link).flexible if point.link else None
        if body is None:
            return self.numbers.array(point.pose).reshape(4, 4)
        if point.link in self.moving_beams:
            rest = self.numbers.array(point.pose).reshape(4, 4)
            along, rest[0, 3] = rest[0, 3], self.numbers.zero
            return SectionFrame(self.moving_beams[point.link], along, rest)
        displacements, rotations = section(self.numbers, body, self.numbers(point.pose[0][3]))
        rest = sympy.Matrix(point.pose)  # the section is at x; what stands beside the axis rotates with it
        place, rest[0, 3] = sympy.Matrix([rest[0, 3], 0, 0]), 0
        return self._deformed(body, self.place[point.link], place, rest, displacements, rotations)

    # ---- moving

    def start(self, q: Array) -> Array:
        """Return the coordinates x of a configuration; the poses of free joints and the elements in sliding ones are kept."""
        x = np.array([self.numbers.zero] * self.size, dtype=object)
        for k, i in self._from_q:
            x[k] = q[i]
        for beam in self.moving_beams.values():
            beam.start(x)
            x[list(beam.clamped)] = self.numbers.zero
        for _, motion in self._joints:
            if isinstance(motion, FreeFrame):
                motion.start(q)
            elif isinstance(motion, ContactFrame):
                motion.start(x)
        for part in (*self._tips.values(), *self._points.values()):
            if isinstance(part, SectionFrame):
                part.start(x)
        return x

    def coordinates(self, x: Array) -> Array:
        """Return the robot's own coordinates q at x."""
        q = np.array([self.numbers.zero] * self._positions, dtype=object)
        for k, i in self._from_q:
            q[i] = x[k]
        for _, motion in self._joints:
            if isinstance(motion, FreeFrame):
                q[list(motion.positions)] = motion.coordinates(x)
        return q

    @property
    def clamped(self) -> list[int]:
        """Return the velocities that vanish at nodal clamps."""
        return [k for beam in self.moving_beams.values() for k in beam.clamped]

    def at(self, x: Array, xd: Array) -> dict[str, Pair]:
        """Return pose and rate of every link frame, of flexible links' interfaces (``<link>.tip``), of tip and points."""
        still = self.numbers.unit(4)
        found: dict[str, Pair] = {self.robot.links[0].name: (still, still * self.numbers.zero)}
        seats: dict[str, Pair] = {}
        for joint, motion in self._joints:
            rides = isinstance(motion, ContactFrame)
            seat = f"{joint.parent}.{joint.interface or TIP}"
            end = seat if seat in self._tips and not rides else joint.parent
            seats[joint.name] = product(found[end], motion.seat(x, xd)) if rides else found[end]
            found[joint.child] = product(found[end], motion.at(x, xd))
            flexible = self.robot.link(joint.child).flexible
            for place in () if flexible is None else flexible.interfaces:
                name = f"{joint.child}.{place.name}"
                found[name] = product(found[joint.child], self._tips[name].at(x, xd))
        last, end = self.robot.tip, f"{self.robot.tip}.{TIP}"
        found["tip"] = fixed(found[end if end in self._tips else last], self._tool)
        for point in self.robot.points:
            found[point.name] = self._placed(point, found, seats, x, xd)
        return found

    def _placed(self, point: Any, found: dict[str, Pair], seats: dict[str, Pair], x: Array, xd: Array) -> Pair:
        carrier = self._points[point.name]
        if point.joint:
            joint = next(joint for joint in self.robot.joints if joint.name == point.joint)
            before = self.numbers.array(joint.before).reshape(4, 4)
            return fixed(fixed(seats[point.joint], before), carrier)
        if isinstance(carrier, np.ndarray):
            return fixed(found[point.link], carrier)
        return product(found[point.link], carrier.at(x, xd))


def product(first: Pair, second: Pair) -> Pair:
    """Multiply two moving frames."""
    (A, Ad), (B, Bd) = first, second
    return A.dot(B), Ad.dot(B) + A.dot(Bd)


def fixed(frame: Pair, pose: Array) -> Pair:
    """Attach a fixed pose to a moving frame."""
    return frame[0].dot(pose), frame[1].dot(pose)


def cross(v: sympy.Matrix) -> sympy.Matrix:
    """{v x}."""
    return sympy.Matrix([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])


def screw_matrix(axis: sympy.Matrix, s: sympy.Expr, turns: bool, advance: sympy.Expr) -> sympy.Matrix:
    """Return the rotation by s about the axis (Rodrigues) and a displacement advance s along it."""
    motion = sympy.eye(4)
    if turns:
        K = cross(axis)
        motion[:3, :3] = sympy.eye(3) + sympy.sin(s) * K + (1 - sympy.cos(s)) * K * K
    motion[:3, 3] = axis * advance * s
    return motion


def exponential(v: sympy.Matrix) -> sympy.Matrix:
    """Return exp{v}; about a fixed axis by that axis, so that zero needs no limit."""
    used = [k for k in range(3) if not v[k].is_zero]
    if not used:
        return sympy.eye(3)
    if len(used) == 1:
        axis = sympy.zeros(3, 1)
        axis[used[0]] = 1
        return screw_matrix(axis, v[used[0]], True, sympy.S.Zero)[:3, :3]
    angle = sympy.sqrt(v.dot(v))
    K = cross(v)
    return sympy.eye(3) + sympy.sin(angle) / angle * K + (1 - sympy.cos(angle)) / angle**2 * K * K
