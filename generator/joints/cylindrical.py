"""The cylindrical joint: a rotation about an axis and, independently, a displacement along it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from elastogen.generator.joints.frame_motion import MotionPlan
from elastogen.generator.joints.prismatic import PrismaticPlan
from elastogen.generator.joints.revolute import RevolutePlan
from elastogen.generator.robot.joint_kind import JointCoordinate, JointKind, Screw
from elastogen.generator.robot.robot import Joint


class CylindricalJoint(JointKind):
    """A rotation by the angle about ``axis``, then the displacement along it."""

    name = "cylindrical"
    takes: ClassVar[tuple[str, ...]] = ("axis", "placement")
    bounded = False

    @property
    def coordinates(self) -> Sequence[JointCoordinate]:
        """Angle and displacement."""
        return (JointCoordinate("rad", "angle"), JointCoordinate("m", "displacement"))

    def screws(self, joint: Joint) -> tuple[Screw, ...]:
        """One after the other."""
        return (Screw(joint.axis, turns=True, advance=0), Screw(joint.axis, turns=False, advance=1))

    def plans(self, joint: Joint) -> tuple[MotionPlan, ...]:
        """A frame that rotates, and one on it that slides."""
        return (RevolutePlan(joint.axis), PrismaticPlan(joint.axis))
