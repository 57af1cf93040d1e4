"""The revolute joint: a rotation about an axis, by one angle, with limits. The continuous joint is the same without limits."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from elastogen.generator.joints.frame_motion import FrameMotion, MotionPlan
from elastogen.generator.program.graph import Graph, Value
from elastogen.generator.program.lowering import Lowering
from elastogen.generator.robot.joint_kind import JointCoordinate, JointKind, Screw
from elastogen.generator.robot.robot import Joint, Vector
from elastogen.generator.spatial.inertia import Array
from elastogen.generator.spatial.vectors import AxisRotation, Rotation, Vec


class RevoluteJoint(JointKind):
    """A rotation by q about ``axis``."""

    name = "revolute"

    @property
    def coordinates(self) -> Sequence[JointCoordinate]:
        """The angle."""
        return (JointCoordinate("rad"),)

    def screws(self, joint: Joint) -> tuple[Screw, ...]:
        """A rotation."""
        return (Screw(joint.axis, turns=True, advance=0),)

    def plans(self, joint: Joint) -> tuple[MotionPlan, ...]:
        """One frame that rotates about z."""
        return (RevolutePlan(joint.axis),)


class Revolute(FrameMotion):
    """Rotation about z, starting from a fixed rotation."""

    parallel_rotation = True
    screw = True

    def __init__(self, graph: Graph, start: AxisRotation) -> None:
        self.graph, self.start = graph, start

    def rotation(self, q: Sequence[Value]) -> Rotation:
        """Rz(start + q); a right angle only swaps sine and cosine."""
        graph, c0, s0 = self.graph, self.start.c, self.start.s
        if c0.constant and s0.constant:
            angle = q[0] + math.atan2(s0.constant, c0.constant)
            return Rotation((AxisRotation(2, graph.cos(angle), graph.sin(angle)),))
        c, s = graph.cos(q[0]), graph.sin(q[0])
        return Rotation((AxisRotation(2, c0 * c - s0 * s, s0 * c + c0 * s),))

    def displacement(self, q: Sequence[Value]) -> Vec:
        """None."""
        return [self.graph.value(0)] * 3

    def twists(self, q: Sequence[Value]) -> list[tuple[Vec, Vec]]:
        """Angular velocity about z."""
        zero, one = self.graph.value(0), self.graph.value(1)
        return [([zero, zero, one], [zero, zero, zero])]

    def followed_by(self, other: FrameMotion) -> FrameMotion:
        """One rotation for two about the same axis: the fixed rotations add up, as the angles do."""
        if not isinstance(other, Revolute):
            return super().followed_by(other)
        a, b = self.start, other.start
        return Revolute(self.graph, AxisRotation(2, a.c * b.c - a.s * b.s, a.s * b.c + a.c * b.s))


class RevolutePlan(MotionPlan):
    """A rotation about an axis."""

    may_rotate = True

    def __init__(self, axis: Vector) -> None:
        self.axis = axis

    def unnoticed(self, J: Array) -> Array:
        """A mass distribution on the axis: m, S_z, P_zz."""
        part = np.zeros((4, 4))
        part[2:, 2:] = J[2:, 2:]
        return part

    def build(self, lower: Lowering, rotation: Rotation) -> tuple[FrameMotion, Rotation]:
        """The rotation, with the last rotation about z as its start."""
        *steps, last = rotation.steps
        if not isinstance(last, AxisRotation):
            raise AssertionError("a pose ends with a rotation about z")
        return Revolute(lower.graph, last), Rotation(tuple(steps))
