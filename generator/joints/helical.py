"""The helical joint, a screw: a rotation about an axis with a displacement along it, by one angle."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from elastogen.generator.joints.frame_motion import FrameMotion, MotionPlan
from elastogen.generator.joints.revolute import Revolute, RevolutePlan
from elastogen.generator.program.graph import Graph, Value
from elastogen.generator.program.lowering import Lowering
from elastogen.generator.robot.joint_kind import JointCoordinate, JointKind, Key, Screw
from elastogen.generator.robot.robot import Joint, Scalar, Vector
from elastogen.generator.spatial.inertia import Array
from elastogen.generator.spatial.vectors import AxisRotation, Rotation, Vec


class HelicalJoint(JointKind):
    """A rotation by q about ``axis`` and a displacement by ``pitch`` q along it."""

    name = "helical"
    keys: ClassVar[tuple[Key, ...]] = (Key("pitch", "displacement along the axis per angle", unit="m/rad"),)

    @property
    def coordinates(self) -> Sequence[JointCoordinate]:
        """The angle."""
        return (JointCoordinate("rad"),)

    def screws(self, joint: Joint) -> tuple[Screw, ...]:
        """A rotation that advances."""
        return (Screw(joint.axis, turns=True, advance=joint.detail("pitch")),)

    def plans(self, joint: Joint) -> tuple[MotionPlan, ...]:
        """One frame on z."""
        return (HelicalPlan(joint.axis, joint.detail("pitch")),)


class Helical(Revolute):
    """Rotation about z with a displacement along it; rotations about parallel axes still add up."""

    def __init__(self, graph: Graph, start: AxisRotation, pitch: Value) -> None:
        super().__init__(graph, start)
        self.pitch = pitch

    def displacement(self, q: Sequence[Value]) -> Vec:
        """Along z."""
        zero = self.graph.value(0)
        return [zero, zero, self.pitch * q[0]]

    def twists(self, q: Sequence[Value]) -> list[tuple[Vec, Vec]]:
        """About and along z."""
        zero, one = self.graph.value(0), self.graph.value(1)
        return [([zero, zero, one], [zero, zero, self.pitch])]


class HelicalPlan(RevolutePlan):
    """A screw about an axis."""

    def __init__(self, axis: Vector, pitch: Scalar) -> None:
        super().__init__(axis)
        self.pitch = pitch

    def unnoticed(self, J: Array) -> Array:
        """int z^2 dm: it counts neither in the moment of inertia about z nor in the mass that moves along z."""
        part = np.zeros((4, 4))
        part[2, 2] = J[2, 2]
        return part

    def build(self, lower: Lowering, rotation: Rotation) -> tuple[FrameMotion, Rotation]:
        """The rotation as that of a revolute joint, and its pitch."""
        turn, rest = super().build(lower, rotation)
        assert isinstance(turn, Revolute)
        return Helical(lower.graph, turn.start, lower.value(self.pitch)), rest
