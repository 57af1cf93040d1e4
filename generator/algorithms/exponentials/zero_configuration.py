"""The zero configuration of a robot: the screws of its exponentials in frame 0, and the poses of its frames (001 (2))."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Literal, TypeAlias

import sympy

from elastogen.generator.algorithms.exponentials.amplitudes import Amplitude, MotionArgument, Product
from elastogen.generator.joints.on_beams.sliding import PLANE
from elastogen.generator.mechanism.frame_assignment import build_mechanism
from elastogen.generator.mechanism.mechanism import Frame, Mechanism
from elastogen.generator.program.graph import Graph, Value
from elastogen.generator.program.lowering import Lowering
from elastogen.generator.robot.bodies.flexible_body import TIP, FlexibleBody, Interface
from elastogen.generator.robot.errors import OutputError
from elastogen.generator.robot.joint_kind import Screw
from elastogen.generator.robot.placement import product as pose_product
from elastogen.generator.robot.robot import IDENTITY, Joint, Matrix, Robot, Scalar, Vector
from elastogen.generator.sliding.clamped_bodies import clamped_bodies
from elastogen.generator.sliding.elements_inside import Indicators
from elastogen.generator.spatial.vectors import Mat, Vec, add, cross, scale, times

TipForm: TypeAlias = Literal["split", "screw"]
_Place: TypeAlias = "tuple[tuple[int, ...], Matrix]"
"""The exponentials on the way to a frame, and its pose at zero configuration."""


@dataclass(frozen=True)
class Exponential:
    """exp(A s): a screw at zero configuration in frame 0, and its argument s, a function of the coordinates."""

    name: str
    amplitude: Amplitude
    turn: Vec  # D_i k_i, or delta_ij: rotation per unit of s
    v: Vec  # velocity of the origin of frame 0 per unit of s
    unit: Vec  # direction of rotation
    rate: Value  # length of rotation: 1 for a rotation, 0 for a translation
    along: Vec  # the part of v along the axis, all of it for a translation

    @property
    def A(self) -> Mat:
        """Return [ {rotation x}, v ; 0 0 ]."""
        zero = self.v[0].graph.value(0)
        return [*([*row, v] for row, v in zip(skew(self.turn), self.v, strict=True)), [zero] * 4]


@dataclass(frozen=True)
class Chain:
    """A frame of the user: the exponentials between the base and it, and its pose at zero configuration."""

    name: str
    factors: tuple[int, ...]
    zero_pose: Mat


class ZeroConfiguration:
    """The exponentials of a robot, and the way to each of its frames: ``factors`` and ``chains``.

    ``elements`` says which element is inside a sliding joint; else its indicators are inputs of the graph.
    """

    def __init__(
        self, graph: Graph, robot: Robot, tip: TipForm = "split", elements: Mapping[str, int] = MappingProxyType({})
    ) -> None:
        self.graph, self.robot = graph, robot
        self._tip_form, self._elements = tip, elements
        self._lower = Lowering(graph, robot, Indicators(graph, robot, elements).symbols)
        self.factors: list[Exponential] = []
        self.chains: list[Chain] = []
        self.size = 0
        start: _Place = ((), IDENTITY)
        links, ends = {robot.links[0].name: start}, {(robot.links[0].name, TIP): start}
        held = clamped_bodies(robot)
        for joint in robot.joints:
            seat = links[joint.parent] if joint.type.rides_parent else ends[joint.parent, joint.interface or TIP]
            path, pose = self._moved(joint, *seat)
            links[joint.child] = ends[joint.child, TIP] = (path, pose)
            self.chains.append(Chain(joint.child, path, self._lifted(pose)))
            body = held[joint.child]
            if body is not None:
                for place in body.interfaces:
                    to_place = (*path, *self._interface(joint.child, body, place, pose))
                    ends[joint.child, place.name] = (to_place, self._times(pose, place.pose))
                self.size += len(body.coordinates)
        path, pose = ends[robot.tip, TIP]
        self.chains.append(Chain("tip", path, self._lifted(self._times(pose, robot.tool))))

    @cached_property
    def _mechanism(self) -> Mechanism:
        return build_mechanism(self.graph, self.robot, reframe=False, regroup=False, elements=self._elements)

    def _moving_frame(self, label: str) -> Frame:
        """Return the frame of a joint or tip with a motion beyond its coordinates; a flexible link may have the same name."""
        return next(frame for frame in self._mechanism.frames if frame.label == label and frame.motion.by_functions)

    def _moved(self, joint: Joint, path: tuple[int, ...], pose: Matrix) -> _Place:
        """Add one exponential for each screw of a joint, by its coordinate or by the argument of the joint's motion."""
        screws, coordinates = joint.type.factors(joint), joint.type.coordinates
        if not screws and not joint.type.holds:
            raise OutputError(
                f"matrix exponentials: joint {joint.name} is {joint.type.name}, whose motion is not a product of exponentials "
                "of fixed screws. Fix: ask for the recursions, forward_kinematics, jacobian, frame_velocities, ..."
            )
        pose = self._times(pose, joint.before)
        if len(screws) != len(coordinates):
            path = (*path, *self._by_motion(joint.name, joint.name, pose, screws))
            self.size += len(coordinates)
            return path, self._times(pose, joint.after)
        names = [coordinate.name(joint.name) for coordinate in coordinates]
        if joint.elasticity is not None:
            names, screws = [*names, f"{joint.name}.deflection"], (*screws, *screws)
        for name, screw in zip(names, screws, strict=True):
            path = (*path, self._add(name, Product(self.graph, (self.size,)), pose, *_twist(screw)))
            self.size += 1
        return path, self._times(pose, joint.after)

    def _by_motion(self, name: str, label: str, pose: Matrix, screws: Sequence[Screw]) -> list[int]:
        """Add exponentials whose arguments a frame's motion gives; those that are always the identity are left out."""
        frame, found = self._moving_frame(label), []
        for number, screw in enumerate(screws):
            amplitude = MotionArgument(frame, number)
            if not amplitude.vanishes:
                part = name if len(screws) == 1 else f"{name}.{'angle' if screw.turns else 'xyz'[screw.axis.index(1)]}"
                found.append(self._add(part, amplitude, pose, *_twist(screw)))
        return found

    def _interface(self, link: str, body: FlexibleBody, place: Interface, pose: Matrix) -> list[int]:
        """Return the exponentials of a flexible link's tip or another interface, in the order of 000 (68)."""
        undeformed = (*((*IDENTITY[r][:3], place.pose[r][3]) for r in range(3)), IDENTITY[3])
        shifted, form = self._times(pose, undeformed), self._tip_form
        if body.tip_moves if place.name == TIP else body.clamp_moves:
            return self._by_motion(f"{link}.{place.name}", f"{link}, {place.name}", shifted, PLANE)
        prefix = link if place.name == TIP else f"{link}.{place.name}"
        shifts: list[tuple[str, tuple[int, ...], Vector, Vector]] = []
        turns: list[tuple[str, tuple[int, ...], Vector, Vector]] = []
        still: Vector = (0, 0, 0)
        for own, d in zip(body.monomials, place.displacements, strict=True):
            name = ".".join((prefix, *(body.coordinates[j] for j in own)))
            together = form == "screw" and len(own) == 1
            delta = _triple(place.rotations[own[0]]) if together else still
            shifts.append((name, own, delta, _triple(d)))
        if form == "split":
            for j, delta_j in enumerate(place.rotations):
                turns.append((f"{prefix}.{body.coordinates[j]}", (j,), _triple(delta_j), still))
        return [
            self._add(name, Product(self.graph, tuple(self.size + j for j in own)), shifted, turn, slide)
            for name, own, turn, slide in (*shifts, *turns)
            if any(x != 0 for x in (*turn, *slide))
        ]

    def _add(self, name: str, amplitude: Amplitude, pose: Matrix, turn: Vector, slide: Vector) -> int:
        """Add a screw given in the frame ``pose``: rotation ``turn`` and displacement ``slide`` per unit."""
        T = self._lifted(pose)
        R, p = [row[:3] for row in T[:3]], [row[3] for row in T[:3]]
        length = _length([self._lower.scalar(x) for x in turn])
        w, d = [self._lower.value(x) for x in turn], [self._lower.value(x) for x in slide]
        rate = self._lower.value(length)
        unit = w if rate.is_zero else [x / rate for x in w]
        along = d if rate.is_zero else scale(unit, unit[0] * d[0] + unit[1] * d[1] + unit[2] * d[2])
        rotated = times(R, w)
        v = add(times(R, d), cross(p, rotated))
        self.factors.append(Exponential(name, amplitude, rotated, v, times(R, unit), rate, times(R, along)))
        return len(self.factors) - 1

    def _times(self, pose: Matrix, other: Matrix) -> Matrix:
        return pose_product(self._lower.matrix(pose), self._lower.matrix(other))

    def _lifted(self, pose: Matrix) -> Mat:
        return [[self._lower.value(entry) for entry in row] for row in pose]


def _twist(screw: Screw) -> tuple[Vector, Vector]:
    """Return rotation and displacement per unit of the argument."""
    x, y, z = screw.axis
    still: Vector = (0, 0, 0)
    slide = still if screw.advance == 0 else (x * screw.advance, y * screw.advance, z * screw.advance)
    return (screw.axis if screw.turns else still), slide


def skew(v: Vec) -> Mat:
    """Return {v x}."""
    x, y, z = v
    zero = x.graph.value(0)
    return [[zero, -z, y], [z, zero, -x], [-y, x, zero]]


def _triple(row: Sequence[Scalar]) -> Vector:
    x, y, z = row
    return (x, y, z)


def _length(turn: Sequence[Scalar]) -> Scalar:
    """Return the length of a rotation vector; with its sign if it has one component only."""
    present = [x for x in turn if x != 0]
    if len(present) <= 1:
        return present[0] if present else 0
    if any(isinstance(x, sympy.Basic) for x in present):
        return sympy.sqrt(sympy.Add(*(x**2 for x in present)))
    return math.sqrt(math.fsum(float(x) ** 2 for x in present))
