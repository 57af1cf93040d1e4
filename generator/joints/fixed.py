"""The fixed joint: its child is part of the parent."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from elastogen.generator.joints.frame_motion import FrameMotion, MotionPlan
from elastogen.generator.program.graph import Graph, Value
from elastogen.generator.program.lowering import Lowering
from elastogen.generator.robot.joint_kind import JointCoordinate, JointKind
from elastogen.generator.robot.robot import Joint
from elastogen.generator.spatial.inertia import Array
from elastogen.generator.spatial.vectors import Rotation, Vec


class FixedJoint(JointKind):
    """No motion; its frames are merged with the parent's. The axis, if one is given, means nothing."""

    name = "fixed"
    bounded = False

    @property
    def coordinates(self) -> Sequence[JointCoordinate]:
        """None."""
        return ()

    def plans(self, joint: Joint) -> tuple[MotionPlan, ...]:
        """No frame of its own."""
        return ()


class Fixed(FrameMotion):
    """No motion: a frame for a body whose axes differ from its joint's."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph

    def rotation(self, q: Sequence[Value]) -> Rotation:
        """None."""
        return Rotation(())

    def displacement(self, q: Sequence[Value]) -> Vec:
        """None."""
        return [self.graph.value(0)] * 3

    def twists(self, q: Sequence[Value]) -> list[tuple[Vec, Vec]]:
        """None."""
        return []


class FixedPlan(MotionPlan):
    """A frame of a flexible body: it keeps the body's axes."""

    size = 0

    def unnoticed(self, J: Array) -> Array:
        """Everything: the parent carries it as well."""
        return np.array(J)

    def build(self, lower: Lowering, rotation: Rotation) -> tuple[FrameMotion, Rotation]:
        """No motion."""
        return Fixed(lower.graph), rotation
