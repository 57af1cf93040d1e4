"""The registry of the kinds of joints: one line for each. How to add one: docs/own/adding-joints.md."""

from __future__ import annotations

from elastogen.generator.joints.by_formula.kind import FormulaJoint
from elastogen.generator.joints.continuous import ContinuousJoint
from elastogen.generator.joints.cylindrical import CylindricalJoint
from elastogen.generator.joints.fixed import FixedJoint
from elastogen.generator.joints.floating import FloatingJoint
from elastogen.generator.joints.helical import HelicalJoint
from elastogen.generator.joints.on_beams.sliding import SlidingJoint
from elastogen.generator.joints.on_beams.telescopic import TelescopicJoint
from elastogen.generator.joints.planar import PlanarJoint
from elastogen.generator.joints.prismatic import PrismaticJoint
from elastogen.generator.joints.revolute import RevoluteJoint
from elastogen.generator.joints.spherical import SphericalJoint
from elastogen.generator.joints.universal import UniversalJoint
from elastogen.generator.robot.joint_kind import JointKind

KINDS: dict[str, JointKind] = {}
"""Every kind that a robot file can name, by its name."""


def register(kind: JointKind) -> JointKind:
    """Make a kind known to robot files."""
    if kind.name in KINDS:
        raise ValueError(f"there is a kind of joint called {kind.name} already")
    KINDS[kind.name] = kind
    return kind


REVOLUTE = register(RevoluteJoint())
CONTINUOUS = register(ContinuousJoint())
PRISMATIC = register(PrismaticJoint())
FIXED = register(FixedJoint())
HELICAL = register(HelicalJoint())
CYLINDRICAL = register(CylindricalJoint())
UNIVERSAL = register(UniversalJoint())
PLANAR = register(PlanarJoint())
SPHERICAL = register(SphericalJoint())
FLOATING = register(FloatingJoint())
SLIDING = register(SlidingJoint())
TELESCOPIC = register(TelescopicJoint())
FORMULA = register(FormulaJoint())
