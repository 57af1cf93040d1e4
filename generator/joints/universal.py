"""The universal joint: rotations about two axes, the second of which the first one carries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from elastogen.generator.joints.frame_motion import MotionPlan
from elastogen.generator.joints.revolute import RevolutePlan
from elastogen.generator.robot.expressions import nominal
from elastogen.generator.robot.joint_kind import JointCoordinate, JointKind, Key, Screw
from elastogen.generator.robot.location import Location
from elastogen.generator.robot.robot import Joint, Robot

PARALLEL = 1e-6  # sine of the angle between the axes


class UniversalJoint(JointKind):
    """A rotation by the first angle about ``axis``, then by the second about ``axis2``."""

    name = "universal"
    keys: ClassVar[tuple[Key, ...]] = (Key("axis2", "second axis, in the joint frame at zero", shape="direction"),)
    takes: ClassVar[tuple[str, ...]] = ("axis", "placement")
    bounded = False

    @property
    def coordinates(self) -> Sequence[JointCoordinate]:
        """Both angles."""
        return (JointCoordinate("rad", "angle1"), JointCoordinate("rad", "angle2"))

    def screws(self, joint: Joint) -> tuple[Screw, ...]:
        """One after the other."""
        return tuple(Screw(axis, turns=True, advance=0) for axis in (joint.axis, joint.direction("axis2")))

    def plans(self, joint: Joint) -> tuple[MotionPlan, ...]:
        """Two frames that rotate."""
        return (RevolutePlan(joint.axis), RevolutePlan(joint.direction("axis2")))

    def check(self, robot: Robot, joint: Joint, where: Location) -> None:
        """About one axis, two angles are one too many."""
        super().check(robot, joint, where)
        axes = [[nominal(entry, robot.parameters) for entry in axis] for axis in (joint.axis, joint.direction("axis2"))]
        if float(np.linalg.norm(np.cross(axes[0], axes[1]))) < PARALLEL:
            raise where.at("axis2").error(axes[1], "an axis that is not parallel to axis", "use a revolute joint")
