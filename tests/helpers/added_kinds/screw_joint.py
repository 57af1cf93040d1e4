"""A kind of joint that elastogen does not have, as docs/own/adding-joints.md describes it: a turn by q with a lead [m/turn]."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from elastogen.generator.joints.frame_motion import FrameMotion, MotionPlan
from elastogen.generator.program.graph import Graph, Value
from elastogen.generator.program.lowering import Lowering
from elastogen.generator.robot.joint_kind import JointCoordinate, JointKind, Key, Screw
from elastogen.generator.robot.location import Location
from elastogen.generator.robot.robot import Joint, Robot, Scalar, Vector
from elastogen.generator.spatial.inertia import Array
from elastogen.generator.spatial.vectors import AxisRotation, Rotation, Vec


class ScrewJoint(JointKind):
    """A turn by q about ``axis``, with a displacement of ``lead`` for each full turn."""

    name = "screw"
    keys: ClassVar[tuple[Key, ...]] = (Key("lead", "displacement for a full turn", unit="m"),)

    @property
    def coordinates(self) -> Sequence[JointCoordinate]:
        return (JointCoordinate("rad"),)

    def screws(self, joint: Joint) -> tuple[Screw, ...]:
        return (Screw(joint.axis, turns=True, advance=self.advance(joint)),)

    def plans(self, joint: Joint) -> tuple[MotionPlan, ...]:
        return (ScrewPlan(joint.axis, self.advance(joint)),)

    def check(self, robot: Robot, joint: Joint, where: Location) -> None:
        super().check(robot, joint, where)
        if joint.detail("lead") == 0:
            raise where.at("lead").error(0, "a lead that is not zero", "use a revolute joint")

    @staticmethod
    def advance(joint: Joint) -> Scalar:
        return joint.detail("lead") / (2 * math.pi)


class ScrewPlan(MotionPlan):
    """Turn and displacement of z of the frame."""

    may_rotate = True  # about z and along it: a screw's motion looks the same from there

    def __init__(self, axis: Vector, advance: Scalar) -> None:
        self.axis, self.advance = axis, advance

    def unnoticed(self, J: Array) -> Array:
        part = np.zeros((4, 4))
        part[2, 2] = J[2, 2]  # int z^2 dm: neither moment of inertia about the axis nor mass
        return part

    def build(self, lower: Lowering, rotation: Rotation) -> tuple[FrameMotion, Rotation]:
        return ScrewMotion(lower.graph, lower.value(self.advance)), rotation


class ScrewMotion(FrameMotion):
    """Rz(q) and advance q along z."""

    screw = True

    def __init__(self, graph: Graph, advance: Value) -> None:
        self.graph, self.advance = graph, advance

    def rotation(self, q: Sequence[Value]) -> Rotation:
        return Rotation((AxisRotation(2, self.graph.cos(q[0]), self.graph.sin(q[0])),))

    def displacement(self, q: Sequence[Value]) -> Vec:
        zero = self.graph.value(0)
        return [zero, zero, self.advance * q[0]]

    def twists(self, q: Sequence[Value]) -> list[tuple[Vec, Vec]]:
        zero, one = self.graph.value(0), self.graph.value(1)
        return [([zero, zero, one], [zero, zero, self.advance])]
