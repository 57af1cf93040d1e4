"""Closed-form kinematics of a robot: transformations by multiplication, everything else by differentiation.

This is the derivation of the textbooks, on purpose without a recursion over velocities, so that it checks
the recursive derivation of the generated code: ``T_i0 = T_p0 . before . motion . after`` (paper 000 (3),
paper 004 (4)-(7)), linear columns of the Jacobian ``dp_i/dq_j`` and angular columns ``D_j k_j`` in frame 0
(paper 002 (11)), velocities ``J qd`` and accelerations ``J qdd + dJ/dt qd`` (paper 001 (24)).

Parallel axes are merged while multiplying: ``Rot(a, q2) Q Rot(b, q3) = Rot(a, q2 + q3) Q`` if ``Q b = a``
for the constant rotation ``Q`` between the joints. All arrays hold polynomials of one
:class:`TrigonometricRing`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import sympy

from elastogen.generator.closed_form.exact_numbers import exact, rotation_entry
from elastogen.generator.closed_form.trigonometry import TrigonometricRing, Weights
from elastogen.generator.joints.kinds import FIXED
from elastogen.generator.robot.errors import OutputError
from elastogen.generator.robot.joint_kind import Screw
from elastogen.generator.robot.robot import Joint, Matrix, Robot, Scalar

_TOLERANCE = 1e-12  # on the components of unit vectors that are given as rounded numbers


@dataclass(frozen=True)
class Orientation:
    """``R = R_start . Rot(axis, angle) . constant``; ``angle`` sums the coordinates of parallel axes."""

    start: Orientation | None
    axis: sympy.ImmutableMatrix
    angle: Weights
    constant: sympy.ImmutableMatrix

    def rotated(self, rotation: sympy.ImmutableMatrix) -> Orientation:
        """Return the orientation of a frame that is fixed to this one."""
        return replace(self, constant=(self.constant * rotation).applyfunc(sympy.expand))

    def moved(self, axis: sympy.ImmutableMatrix, coordinate: Weights) -> Orientation:
        """Return the orientation after a joint's rotation; parallel axes add up their angles."""
        seen = (self.constant * axis).applyfunc(sympy.expand)  # the axis before the constant rotation
        for sign in (1, -1):
            if self.start is not None and _is_zero(seen - sign * self.axis):
                total = tuple(a + sign * b for a, b in zip(self.angle, coordinate, strict=True))
                return replace(self, angle=total)
        return Orientation(self, axis, coordinate, sympy.ImmutableMatrix(sympy.eye(3)))


@dataclass(frozen=True)
class Move:
    """A screw of a joint by one coordinate, and the orientation of the joint frame after it."""

    coordinate: int
    axis: sympy.ImmutableMatrix  # in the joint frame
    turns: bool
    advance: sympy.Expr  # displacement along the axis per unit of the coordinate
    moved: Orientation


@dataclass(frozen=True)
class Placement:
    """How a frame follows from its parent's, with exact constants and before any multiplication."""

    name: str
    parent: str
    orientation: Orientation
    offset: sympy.ImmutableMatrix  # in the parent's frame
    moves: tuple[Move, ...]
    moved: Orientation  # of the joint frame after all of them
    after: sympy.ImmutableMatrix  # offset in the moved joint frame


@dataclass(frozen=True)
class Frame:
    """A frame in closed form: arrays of polynomials, components in frame 0."""

    name: str
    rotation: Any  # R_i0, 3 x 3
    position: Any  # p_i0, 3
    axes: dict[int, Any]  # unit vectors k_j0 of the rotations that move the frame, by coordinate


class Kinematics:
    """Frames of a robot (links without the base, then the tip), their Jacobians and motions."""

    def __init__(self, robot: Robot, q: Sequence[sympy.Symbol], qd: Sequence[sympy.Symbol], qdd: Sequence[sympy.Symbol]):
        self.robot = robot
        self.n = len(q)
        placements = _placements(robot)
        lengths = [move.coordinate for place in placements for move in place.moves if move.advance != 0]
        self.ring = TrigonometricRing(q, qd, qdd, _angles(placements), lengths, [*_geometry(placements), *_inertias(robot)])
        self.qd, self.qdd = self.ring.array(qd), self.ring.array(qdd)
        self._rotations: dict[Orientation, Any] = {}
        self.frames = self._multiply(placements)
        self._jacobians: dict[tuple[int, bool], Any] = {}

    def jacobian(self, i: int, own_frame: bool = False) -> Any:
        """Return the 6 x n Jacobian of frame i, linear rows first, in frame 0 or in the frame's own axes.

        Column j is (dp_i0/dq_j, D_j k_j0), paper 002 (11), or its projection ``R_i0^T``, paper 002 (12).
        """
        if (i, own_frame) not in self._jacobians:
            if own_frame:
                jacobian = self.projected(i, self.jacobian(i))
            else:
                frame, jacobian = self.frames[i], np.full((6, self.n), self.ring.zero, dtype=object)
                for j in range(self.n):
                    jacobian[:3, j] = self.ring.derivative(frame.position, j)
                    jacobian[3:, j] = frame.axes.get(j, self.ring.zero)
            self._jacobians[i, own_frame] = jacobian
        return self._jacobians[i, own_frame]

    def jacobian_rate(self, i: int, own_frame: bool = False) -> Any:
        """Return dJ_i/dt in frame 0 or projected on frame i (paper 002 (13); not the projection's rate)."""
        rate = self.ring.rate(self.jacobian(i))
        return self.projected(i, rate) if own_frame else rate

    def velocity(self, i: int) -> Any:
        """Return (v_i, omega_i) = J_i qd in frame 0."""
        return self.ring.product(self.jacobian(i), self.qd)

    def acceleration(self, i: int) -> Any:
        """Return (a_i, eps_i) = J_i qdd + dJ_i/dt qd in frame 0, by differentiating the velocity."""
        return self.ring.rate(self.velocity(i))

    def projected(self, i: int, values: Any) -> Any:
        """Return vectors of frame 0 (rows 0..2, and 3..5 if there are six) in the axes of frame i."""
        to_own = self.frames[i].rotation.T
        return np.concatenate([self.ring.product(to_own, values[k : k + 3]) for k in range(0, len(values), 3)])

    def _multiply(self, placements: Sequence[Placement]) -> list[Frame]:
        ring = self.ring
        base = Frame("", ring.array(np.eye(3, dtype=int)), ring.array([0, 0, 0]), {})
        frames = {self.robot.links[0].name: base}
        for place in placements:
            parent = frames[place.parent]
            position = parent.position + ring.product(parent.rotation, ring.array(_column(place.offset)))
            axes = dict(parent.axes)
            for move in place.moves:
                axis = ring.product(self._rotation(move.moved), ring.array(_column(move.axis)))
                if move.turns:
                    axes[move.coordinate] = axis
                if move.advance != 0:
                    position = position + axis * (ring(ring.q[move.coordinate]) * ring(move.advance))
            position = position + ring.product(self._rotation(place.moved), ring.array(_column(place.after)))
            rotation = self._rotation(place.orientation)
            frames[place.name] = Frame(place.name, rotation, ring.map(ring.normal, position), axes)
        return [frames[place.name] for place in placements]

    def _rotation(self, orientation: Orientation | None) -> Any:
        """Return R = R_start . Rot(axis, angle) . constant with Rot by Rodrigues' formula."""
        ring = self.ring
        if orientation is None:
            return ring.array(np.eye(3, dtype=int))
        if orientation not in self._rotations:
            rotated = self._rotation(orientation.start)
            if any(orientation.angle):
                axis = ring.array(_column(orientation.axis))
                s, c = ring.sine(orientation.angle), ring.cosine(orientation.angle)
                identity, cross = ring.array(np.eye(3, dtype=int)), skew(axis)
                outer = axis[:, None] * axis[None, :]
                rotated = ring.product(rotated, identity * c + cross * s + outer * (1 - c))
            self._rotations[orientation] = ring.product(rotated, ring.array(orientation.constant.tolist()))
        return self._rotations[orientation]


def skew(vector: Any) -> Any:
    """Return the matrix {v x} of the cross product, paper 004 (19)."""
    x, y, z = vector
    return np.array([[0 * x, -z, y], [z, 0 * x, -x], [-y, x, 0 * x]], dtype=object)


def _placements(robot: Robot) -> list[Placement]:
    """Return the placement of every link but the base, in the order of the joints, then that of the tip."""
    identity = sympy.ImmutableMatrix(sympy.eye(3))
    no_axis = sympy.ImmutableMatrix([0, 0, 1])
    count = number_of_joint_coordinates(robot)
    none: Weights = (0,) * count
    orientations = {robot.links[0].name: Orientation(None, no_axis, none, identity)}
    tip = Joint("tip", FIXED, robot.tip or robot.links[-1].name, "\0tip", before=robot.tool)
    number = 0
    placements = []
    for joint in (*robot.joints, tip):
        before, after = _rotation_of(joint.before), _rotation_of(joint.after)
        moved = orientations[joint.parent].rotated(before)
        moves = []
        for screw in _screws(joint):
            axis = sympy.ImmutableMatrix([rotation_entry(component) for component in screw.axis])
            if screw.turns:
                moved = moved.moved(axis, tuple(int(j == number) for j in range(count)))
            moves.append(Move(number, axis, screw.turns, exact(screw.advance), moved))
            number += 1
        orientation = orientations[joint.child] = moved.rotated(after)
        placements.append(
            Placement(
                joint.child,
                joint.parent,
                orientation,
                _translation_of(joint.before),
                tuple(moves),
                moved,
                _translation_of(joint.after),
            )
        )
    return placements


def _screws(joint: Joint) -> tuple[Screw, ...]:
    """The joint's motion in the form that closed forms are made of."""
    if joint.type.velocities != joint.type.coordinates:
        raise OutputError(
            f"closed form: joint {joint.name} is {joint.type.name}, whose motion is not made of turns and displacements by one "
            "coordinate each. Fix: derive robots without such joints; generated functions and `verify` work for all"
        )
    if not joint.by_screws:  # closed forms of such robots are read from programs: only angles are asked for
        return (Screw(joint.axis, turns=False, advance=1),) * len(joint.type.coordinates)
    return joint.type.screws(joint)


def number_of_joint_coordinates(robot: Robot) -> int:
    """How many coordinates the joints have, without deflections and modes."""
    return sum(len(joint.type.coordinates) for joint in robot.joints)


def _rotation_of(transform: Matrix) -> sympy.ImmutableMatrix:
    return sympy.ImmutableMatrix(3, 3, lambda row, column: rotation_entry(transform[row][column]))


def _translation_of(transform: Matrix) -> sympy.ImmutableMatrix:
    return sympy.ImmutableMatrix([exact(transform[row][3]) for row in range(3)])


def _column(vector: sympy.ImmutableMatrix) -> list[sympy.Expr]:
    return list(vector)


def _is_zero(vector: sympy.ImmutableMatrix) -> bool:
    """Whether a constant vector vanishes: exactly if it has symbols, up to rounding if it is numeric."""
    return all(abs(float(x)) < _TOLERANCE if x.is_number else sympy.expand(x) == 0 for x in vector)


def _angles(placements: Sequence[Placement]) -> list[Weights]:
    """Return every sum of coordinates by which a frame is turned, in the order of the frames."""
    found: dict[Weights, None] = {}
    for place in placements:
        orientation: Orientation | None = place.moved
        chain = []
        while orientation is not None:
            chain.append(orientation.angle)
            orientation = orientation.start
        found.update(dict.fromkeys(angle for angle in reversed(chain) if any(angle)))
    return list(found)


def joint_angles(robot: Robot) -> list[Weights]:
    """Return the sums of joint angles by which links are turned, over all coordinates: parallel axes add up."""
    columns: list[int] = []  # the joint of every coordinate, -1 for modes
    number = 0
    for joint in robot.joints:
        columns += range(number, number + len(joint.type.coordinates))
        columns += [number] * (joint.elasticity is not None)
        number += len(joint.type.coordinates)
        flexible = robot.link(joint.child).flexible
        columns += [-1] * (0 if flexible is None else len(flexible.coordinates))
    return [tuple(angle[k] if k >= 0 else 0 for k in columns) for angle in _angles(_placements(robot))]


def _geometry(placements: Sequence[Placement]) -> list[sympy.Expr]:
    """Return every constant of the robot's geometry."""
    constants: list[sympy.Expr] = []
    for place in placements:
        constants += [*place.offset, *place.after, *place.orientation.constant]
        constants += [entry for move in place.moves for entry in (*move.axis, move.advance)]
        orientation: Orientation | None = place.moved
        while orientation is not None:
            constants += [*orientation.constant, *orientation.axis]
            orientation = orientation.start
    return constants


def _inertias(robot: Robot) -> list[sympy.Expr]:
    """Return every constant of the robot's inertias, of gravity and of the drives."""
    constants: list[Scalar] = list(robot.gravity)
    for body in (*(link.body for link in robot.links[1:]), robot.payload):
        constants += [body.mass, *body.com, *(entry for row in body.inertia for entry in row)]
    for joint in robot.joints:
        constants += [joint.actuation.motor_inertia, joint.actuation.gear_ratio, joint.actuation.viscous]
    return [exact(constant) for constant in constants]
