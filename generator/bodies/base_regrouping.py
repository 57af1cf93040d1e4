"""Regrouping of constant inertial parameters to base parameters, link by link (Gautier, Khalil 1990).

A mass distribution on the axis of a revolute joint (m, S_z, P_zz) does not notice the joint's motion, so it may as well
belong to the parent. Of a link on a prismatic joint the same holds for a body without mass and first moments (all
of P). What is left are fewer non-zero numbers and the same equations of motion.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from elastogen.generator.joints.frame_motion import MotionPlan
from elastogen.generator.spatial.inertia import Array

RESIDUE = 1e-14  # what a subtraction leaves of its operands' size is a rounding error


def regroup(joints: Sequence[tuple[int, MotionPlan, Array | None]], inertias: Sequence[Array]) -> None:
    """Move what can be moved from every link to its parent, from the tips inwards, in place.

    ``joints`` gives for every frame its parent, its motion, and its placement in the parent
    (None where the placement depends on live parameters: such a link keeps its own).
    """
    for index in reversed(range(len(joints))):
        parent, plan, X = joints[index]
        if X is None:
            continue
        part = plan.unnoticed(inertias[index])
        inertias[index] -= part
        if parent >= 0:
            moved = X @ part @ X.T
            size = np.abs(inertias[parent]) + np.abs(moved)
            inertias[parent] += moved
            inertias[parent][np.abs(inertias[parent]) <= RESIDUE * size] = 0.0
