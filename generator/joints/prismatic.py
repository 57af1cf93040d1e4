"""The prismatic joint: a displacement along an axis."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import ClassVar

import numpy as np

from elastogen.generator.joints.frame_motion import FrameMotion, MotionPlan
from elastogen.generator.program.graph import Graph, Value
from elastogen.generator.program.lowering import Lowering
from elastogen.generator.robot.joint_kind import COMMON_KEYS, JointCoordinate, JointKind, Screw
from elastogen.generator.robot.placement import JointPlacement, product
from elastogen.generator.robot.robot import Joint, Matrix, Scalar, Vector
from elastogen.generator.spatial.inertia import Array
from elastogen.generator.spatial.vectors import Rotation, Vec


class PrismaticJoint(JointKind):
    """A displacement by q along ``axis``; ``gamma`` rotates the child about z, behind the motion."""

    name = "prismatic"
    takes: ClassVar[tuple[str, ...]] = (*COMMON_KEYS, "gamma")
    translates = True

    def placed(self, place: JointPlacement, turn: Matrix | None, child_length: Callable[[], Scalar]) -> JointPlacement:
        """With the rotation behind the motion."""
        return place if turn is None else replace(place, after=product(place.after, turn))

    @property
    def coordinates(self) -> Sequence[JointCoordinate]:
        """The displacement."""
        return (JointCoordinate("m"),)

    def screws(self, joint: Joint) -> tuple[Screw, ...]:
        """A displacement."""
        return (Screw(joint.axis, turns=False, advance=1),)

    def plans(self, joint: Joint) -> tuple[MotionPlan, ...]:
        """One frame that moves along z."""
        return (PrismaticPlan(joint.axis),)


class Prismatic(FrameMotion):
    """Translation along z."""

    screw = True

    def __init__(self, graph: Graph) -> None:
        self.graph = graph

    def rotation(self, q: Sequence[Value]) -> Rotation:
        """None."""
        return Rotation(())

    def displacement(self, q: Sequence[Value]) -> Vec:
        """Along z."""
        zero = self.graph.value(0)
        return [zero, zero, q[0]]

    def twists(self, q: Sequence[Value]) -> list[tuple[Vec, Vec]]:
        """Velocity along z."""
        zero, one = self.graph.value(0), self.graph.value(1)
        return [([zero, zero, zero], [zero, zero, one])]


class PrismaticPlan(MotionPlan):
    """A displacement along an axis."""

    may_rotate = True

    def __init__(self, axis: Vector) -> None:
        self.axis = axis

    def unnoticed(self, J: Array) -> Array:
        """A body without mass and first moments: all of P."""
        part = np.zeros((4, 4))
        part[:3, :3] = J[:3, :3]
        return part

    def build(self, lower: Lowering, rotation: Rotation) -> tuple[FrameMotion, Rotation]:
        """The displacement."""
        return Prismatic(lower.graph), rotation
