"""Masses at the points where loops close: both links have them, so that a point mass may belong to either.

Where a loop is closed, positions, velocities and accelerations of its two origins agree. So a point mass that one link gives
away and the other gets there changes no motion of the closed mechanism, and a well chosen one leaves fewer non-zero constants:
a rod whose first moment is gone has no share in the forces. Masses may become negative by that. The tree is another one.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from elastogen.generator.bodies.base_regrouping import RESIDUE, regroup
from elastogen.generator.joints.frame_motion import MotionPlan
from elastogen.generator.spatial.inertia import Array

FIRST = [(0, 3), (1, 3), (2, 3)]  # first moments, which save most
ENTRIES = [*FIRST, (3, 3), (0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)]
MOST = 100.0  # times a body's mass, and its second moments, that may go: what is left after more has too few digits

Ends = tuple[tuple[int, Array], tuple[int, Array]]
"""Of one loop: frame (-1: the base) and point (x, y, z, 1) of both sides."""


def moved_to_loops(
    joints: Sequence[tuple[int, MotionPlan, Array | None]], inertias: Sequence[Array], loops: Sequence[Ends]
) -> list[Array] | None:
    """Pseudo-inertias of the frames with fewer constants, regrouped; None where point masses save none.

    Of each loop the same entry of the same side is made zero; all entries are tried, the sparsest result is taken. A loop
    moves nothing where that point mass were far larger than what the giving link has.
    """

    def regrouped(moved: Sequence[Array]) -> list[Array]:
        found = [J.copy() for J in moved]
        regroup(joints, found)
        return found

    def constants(found: Sequence[Array]) -> int:
        return sum(int((np.abs(np.triu(J)) > RESIDUE * np.abs(J).max(initial=0.0)).sum()) for J in found)

    best, least = None, constants(regrouped(inertias))
    for side in (0, 1):
        for entry in ENTRIES:
            moved = [J.copy() for J in inertias]
            for ends in loops:
                _move(moved, ends[side], ends[1 - side], entry)
            found = regrouped(moved)
            if constants(found) < least:
                best, least = found, constants(found)
    return best


def _move(inertias: list[Array], giving: tuple[int, Array], taking: tuple[int, Array], entry: tuple[int, int]) -> None:
    """Make an entry of one link's moments zero by a point mass that goes to the other."""
    (index, p), (other, r) = giving, taking
    if index < 0 or np.outer(p, p)[entry] == 0:
        return
    mass = inertias[index][entry] / np.outer(p, p)[entry]
    if not _is_moderate(inertias[index], mass, p):
        return
    for k, moments in ((index, -mass * np.outer(p, p)), (other, mass * np.outer(r, r))):
        if k >= 0:
            size = np.abs(inertias[k]) + np.abs(moments)
            inertias[k] = inertias[k] + moments
            inertias[k][np.abs(inertias[k]) <= 10 * RESIDUE * size] = 0.0


def _is_moderate(J: Array, mass: float, p: Array) -> bool:
    """Whether a body can give a point mass and keep its digits: over a nearly zero coordinate of p, the mass is huge."""
    second = abs(mass) * float(p[:3] @ p[:3])
    return bool(abs(mass) <= MOST * J[3, 3] and second <= MOST * np.trace(J[:3, :3]))
