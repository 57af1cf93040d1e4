"""Articulated bodies (Featherstone 2008, 7.3): M^-1 times a vector, with operations that grow linearly with the joints.

The recursion solves M x = b for a robot at rest and without weight: bias forces are those of Newton-Euler, taken from F
before. A joint with several coordinates gives them up one after the other. The pivots are those of the factorization.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from elastogen.generator.algorithms.newton_euler import Placed
from elastogen.generator.mechanism.mechanism import Mechanism
from elastogen.generator.program.graph import Value
from elastogen.generator.spatial.articulated_inertia import ArticulatedInertia
from elastogen.generator.spatial.vectors import Vec, add, cross, dot


@dataclass(frozen=True)
class _Eliminated:
    """A coordinate that has given way: its direction S, U / D with U = I S, and u / D with u the force that is left for it."""

    coordinate: int
    S: Vec
    weighted: Vec
    acceleration: Value


def applies_to(mechanism: Mechanism) -> bool:
    """Whether every coordinate moves one frame only: no flexible bodies, no sliding along them."""
    return all(
        frame.elastic is None and frame.window is None and frame.motion.orthogonal and not frame.motion.coupled
        for frame in mechanism.frames
    )


def solve(
    mechanism: Mechanism, placed: Sequence[Placed], q: Sequence[Value], drives: Sequence[Value], right: Sequence[Value]
) -> tuple[list[Value], list[Value]]:
    """The solution x of M x = b, and the pivots; ``drives`` are inertias on the diagonal of M."""
    zero = mechanism.graph.value(0)
    inertias = [ArticulatedInertia.of(frame.inertia) for frame in mechanism.frames]
    wrenches: list[Vec] = [[zero] * 6 for _ in mechanism.frames]  # moment and force from further out
    eliminated: list[list[_Eliminated]] = [[] for _ in mechanism.frames]
    pivots = [zero] * mechanism.size
    for index in reversed(range(len(mechanism.frames))):
        frame, place_ = mechanism.frames[index], placed[index]
        with mechanism.graph.section(f"{frame.label}: articulated body"):
            inertia, wrench = inertias[index], wrenches[index]
            own = frame.at(q)
            for k, (angular, linear) in zip(frame.coordinates, frame.motion.twists(own), strict=True):
                S = [*angular, *frame.motion.to_moved(own, linear)]
                U = inertia.times(S[:3], S[3:])
                pivots[k] = dot(S, U) + drives[k]
                reciprocal = zero if pivots[k].is_zero else 1 / pivots[k]  # a pivot that is always zero: always a failure
                weighted = [value * reciprocal for value in U]
                left = right[k] - dot(S, wrench)
                unit = _unit(S) if drives[k].is_zero else None
                eliminated[index].append(_Eliminated(k, S, weighted, left * reciprocal))
                wrench = [right[k] if r == unit else wrench[r] + weighted[r] * left for r in range(6)]
                inertia = inertia.without(U, weighted, unit)
            if frame.parent >= 0:
                R, p = place_.rotation, place_.position
                moment, force = R.outward(wrench[:3]), R.outward(wrench[3:])
                wrenches[frame.parent] = add(wrenches[frame.parent], [*add(moment, cross(p, force)), *force])
                inertias[frame.parent] = inertias[frame.parent] + inertia.outward(R, p)
    return _accelerations(mechanism, placed, eliminated), pivots


def _accelerations(mechanism: Mechanism, placed: Sequence[Placed], eliminated: Sequence[Sequence[_Eliminated]]) -> list[Value]:
    """From the base outward: every coordinate's acceleration follows from that of the frame it moves against."""
    zero = mechanism.graph.value(0)
    result = [zero] * mechanism.size
    moving: list[Vec] = []
    for frame, place_, coordinates in zip(mechanism.frames, placed, eliminated, strict=True):
        with mechanism.graph.section(f"{frame.label}: acceleration"):
            A = moving[frame.parent] if frame.parent >= 0 else [zero] * 6
            R = place_.rotation
            A = [*R.inward(A[:3]), *R.inward(add(A[3:], cross(A[:3], place_.position)))]
            for own in reversed(coordinates):
                result[own.coordinate] = x = own.acceleration - dot(own.weighted, A)
                A = [a + s * x for a, s in zip(A, own.S, strict=True)]
            moving.append(A)
    return result


def _unit(S: Vec) -> int | None:
    """Which component is 1 where all others are 0."""
    found = [k for k, value in enumerate(S) if not value.is_zero]
    return found[0] if len(found) == 1 and S[found[0]].constant == 1 else None
