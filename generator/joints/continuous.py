"""The continuous joint of URDF: a revolute joint whose angle has no limits."""

from __future__ import annotations

from elastogen.generator.joints.revolute import RevoluteJoint


class ContinuousJoint(RevoluteJoint):
    """A rotation by q about ``axis`` without limits."""

    name = "continuous"
    bounded = False
