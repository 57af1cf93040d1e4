"""The spherical joint: a free rotation, by a unit quaternion x, y, z, w; velocities are angular, in the moving frame."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from elastogen.generator.joints.frame_motion import MotionPlan
from elastogen.generator.joints.quaternions import FreePlan
from elastogen.generator.robot.joint_kind import JointCoordinate, JointKind
from elastogen.generator.robot.robot import Joint

QUATERNION = tuple(JointCoordinate("", suffix) for suffix in ("qx", "qy", "qz", "qw"))
ANGULAR = tuple(JointCoordinate("rad", suffix) for suffix in ("wx", "wy", "wz"))


class SphericalJoint(JointKind):
    """A ball joint (JointModelSpherical of Pinocchio)."""

    name = "spherical"
    takes: ClassVar[tuple[str, ...]] = ("placement",)
    bounded = False

    @property
    def coordinates(self) -> Sequence[JointCoordinate]:
        """The quaternion of the child against the joint."""
        return QUATERNION

    @property
    def velocities(self) -> Sequence[JointCoordinate]:
        """The child's angular velocity against the joint, in the child's axes."""
        return ANGULAR

    @property
    def neutral(self) -> Sequence[float]:
        """Without rotation."""
        return (*([0.0] * (len(self.coordinates) - 1)), 1.0)

    def plans(self, joint: Joint) -> tuple[MotionPlan, ...]:
        """One free frame."""
        return (FreePlan(displaced=False),)
