"""The floating joint, a free base: position and unit quaternion; velocities are linear, then angular, in the moving frame."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from elastogen.generator.joints.frame_motion import MotionPlan
from elastogen.generator.joints.quaternions import FreePlan
from elastogen.generator.joints.spherical import ANGULAR, QUATERNION
from elastogen.generator.robot.joint_kind import JointCoordinate, JointKind
from elastogen.generator.robot.robot import Joint

POSITION = tuple(JointCoordinate("m", axis) for axis in "xyz")
LINEAR = tuple(JointCoordinate("m", suffix) for suffix in ("vx", "vy", "vz"))


class FloatingJoint(JointKind):
    """Six freedoms (JointModelFreeFlyer of Pinocchio)."""

    name = "floating"
    takes: ClassVar[tuple[str, ...]] = ("placement",)
    bounded = False
    driven = False

    @property
    def coordinates(self) -> Sequence[JointCoordinate]:
        """Position of the child's origin in the joint frame, then the quaternion of the child against the joint."""
        return (*POSITION, *QUATERNION)

    @property
    def velocities(self) -> Sequence[JointCoordinate]:
        """Velocity of the child's origin and its angular velocity, both against the joint, in the child's axes."""
        return (*LINEAR, *ANGULAR)

    @property
    def neutral(self) -> Sequence[float]:
        """Without rotation."""
        return (*([0.0] * (len(self.coordinates) - 1)), 1.0)

    def plans(self, joint: Joint) -> tuple[MotionPlan, ...]:
        """One free frame."""
        return (FreePlan(displaced=True),)
