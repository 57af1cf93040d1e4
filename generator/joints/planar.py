"""The planar joint: displacements along x and y of the joint frame, then a rotation about z."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from elastogen.generator.joints.frame_motion import MotionPlan
from elastogen.generator.joints.prismatic import PrismaticPlan
from elastogen.generator.joints.revolute import RevolutePlan
from elastogen.generator.robot.joint_kind import JointCoordinate, JointKind, Screw
from elastogen.generator.robot.robot import Joint, Vector

X: Vector = (1, 0, 0)
Y: Vector = (0, 1, 0)
Z: Vector = (0, 0, 1)


class PlanarJoint(JointKind):
    """Position x, y in the plane and the angle; velocities are their time derivatives. ``placement`` orients the plane."""

    name = "planar"
    takes: ClassVar[tuple[str, ...]] = ("placement",)
    bounded = False

    @property
    def coordinates(self) -> Sequence[JointCoordinate]:
        """x, y, angle."""
        return (JointCoordinate("m", "x"), JointCoordinate("m", "y"), JointCoordinate("rad", "angle"))

    def screws(self, joint: Joint) -> tuple[Screw, ...]:
        """One after the other."""
        return (*(Screw(axis, turns=False, advance=1) for axis in (X, Y)), Screw(Z, turns=True, advance=0))

    def plans(self, joint: Joint) -> tuple[MotionPlan, ...]:
        """Two frames that slide, and one on them that rotates."""
        return (PrismaticPlan(X), PrismaticPlan(Y), RevolutePlan(Z))
