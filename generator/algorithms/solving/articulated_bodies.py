"""Articulated bodies (Featherstone 2008, 7.3): M^-1 times a vector, with operations that grow linearly with the joints.

The recursion solves M x = b for a robot at rest and without weight: bias forces are those of Newton-Euler, taken from F
before. A joint with several coordinates gives them up one after the other, a flexible body its elastic ones (deformations.py).
The pivots are those of the factorization.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from elastogen.generator.algorithms.newton_euler import Placed
from elastogen.generator.algorithms.solving.deformations import Deformation
from elastogen.generator.mechanism.mechanism import Frame, Mechanism
from elastogen.generator.program.graph import Value
from elastogen.generator.spatial.articulated_inertia import ArticulatedInertia
from elastogen.generator.spatial.vectors import Rotation, Vec, add, cross, dot


@dataclass(frozen=True)
class _Eliminated:
    """An eliminated coordinate: its direction S, U / D with U = I S, and u / D with its residual force u."""

    coordinate: int
    S: Vec
    weighted: Vec
    acceleration: Value


def applies_to(mechanism: Mechanism) -> bool:
    """Whether every coordinate moves one frame only, an elastic one also its body's interfaces: no sliding along bodies."""
    moved: dict[int, int] = {}  # by coordinate, what the frame that it moves first sits on
    for index, frame in enumerate(mechanism.frames):
        interface = frame.parent >= 0 and _is_interface(mechanism, index, frame.parent)
        apart = all(k not in moved or (interface and moved[k] == frame.parent) for k in frame.coordinates)
        if frame.window is not None or not frame.motion.orthogonal or frame.motion.coupled or not apart:
            return False
        moved |= dict.fromkeys(frame.coordinates, frame.parent)
        if frame.elastic is not None and not any(_is_interface(mechanism, k, index) for k in range(len(mechanism.frames))):
            return False
    return True


def _is_interface(mechanism: Mechanism, index: int, body: int) -> bool:
    """Whether a frame is the tip, or another interface, of the flexible body in another frame."""
    frame, elastic = mechanism.frames[index], mechanism.frames[body].elastic
    return frame.parent == body and elastic is not None and frame.coordinates == elastic.coordinates


def solve(
    mechanism: Mechanism, placed: Sequence[Placed], q: Sequence[Value], drives: Sequence[Value], right: Sequence[Value]
) -> tuple[list[Value], list[Value]]:
    """Return the solution x of M x = b, and the pivots; ``drives`` are inertias on the diagonal of M."""
    x, pivots, _ = solve_carrying(mechanism, placed, q, drives, right, {})
    return x, pivots


def solve_carrying(
    mechanism: Mechanism,
    placed: Sequence[Placed],
    q: Sequence[Value],
    drives: Sequence[Value],
    right: Sequence[Value],
    carried: Mapping[int, tuple[ArticulatedInertia, Vec]],
) -> tuple[list[Value], list[Value], list[Vec]]:
    """The same where frames carry more: by index of a frame an inertia, and the moment and force that it needs at rest.

    The third result are the accelerations of all frames that x gives: angular, then linear of the origin, own components.
    """
    zero = mechanism.graph.value(0)
    deformations = {
        index: Deformation(frame.elastic.moved(q), frame.elastic.coordinates, right)
        for index, frame in enumerate(mechanism.frames)
        if frame.elastic is not None
    }
    inertias = [
        ArticulatedInertia.of(frame.inertia + deformations[index].inertia if index in deformations else frame.inertia)
        for index, frame in enumerate(mechanism.frames)
    ]
    inertias = [inertia + carried[k][0] if k in carried else inertia for k, inertia in enumerate(inertias)]
    # moment and force from further out
    wrenches: list[Vec] = [carried[k][1] if k in carried else [zero] * 6 for k in range(len(mechanism.frames))]
    eliminated: list[list[_Eliminated]] = [[] for _ in mechanism.frames]
    pivots = [zero] * mechanism.size
    carrying = {frame.parent for frame in mechanism.frames}
    for index in reversed(range(len(mechanism.frames))):
        frame, place_ = mechanism.frames[index], placed[index]
        with mechanism.graph.section(f"{frame.label}: articulated body"):
            inertia, wrench = inertias[index], wrenches[index]
            if index in deformations:
                inertia, wrench, own = deformations[index].give_way(inertia, wrench)
                for k, pivot in zip(deformations[index].coordinates, own, strict=True):
                    pivots[k] = pivot
            elif frame.parent not in deformations:
                own_q = frame.at(q)
                for k, (angular, linear) in zip(frame.coordinates, frame.motion.twists(own_q), strict=True):
                    S = [*angular, *frame.motion.to_moved(own_q, linear)]
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
                rotated, (moment, force) = inertia.outward(R, [zero] * 3), (R.outward(wrench[:3]), R.outward(wrench[3:]))
                wrenches[frame.parent] = add(wrenches[frame.parent], [*add(moment, cross(p, force)), *force])
                inertias[frame.parent] = inertias[frame.parent] + rotated.outward(Rotation(()), p)
                if frame.parent in deformations:
                    block = None if index in carrying else frame.motion.mass_block(frame.at(q), frame.inertia)
                    deformations[frame.parent].carry(index, _tip_twists(frame, R, q), p, rotated, [*moment, *force], block)
    result, moving = _accelerations(mechanism, placed, eliminated, deformations)
    return result, pivots, moving


def _tip_twists(frame: Frame, rotation: Rotation, q: Sequence[Value]) -> list[Vec]:
    """Return the twists of a flexible body's interface for unit rates of its coordinates, in the body's frame."""
    twists = frame.motion.twists(frame.at(q))
    return [[*rotation.outward(angular), *frame.rotation.outward(linear)] for angular, linear in twists]


def _accelerations(
    mechanism: Mechanism,
    placed: Sequence[Placed],
    eliminated: Sequence[Sequence[_Eliminated]],
    deformations: Mapping[int, Deformation],
) -> tuple[list[Value], list[Vec]]:
    """Return every coordinate's acceleration, from the base outward."""
    zero = mechanism.graph.value(0)
    result = [zero] * mechanism.size
    moving: list[Vec] = []
    for index, (frame, place_) in enumerate(zip(mechanism.frames, placed, strict=True)):
        with mechanism.graph.section(f"{frame.label}: acceleration"):
            A = moving[frame.parent] if frame.parent >= 0 else [zero] * 6
            R = place_.rotation
            A = [*A[:3], *add(A[3:], cross(A[:3], place_.position))]
            if frame.parent in deformations:
                A = deformations[frame.parent].at_interface(index, A, frame.own(result))
            A = [*R.inward(A[:3]), *R.inward(A[3:])]
            for own in reversed(eliminated[index]):
                result[own.coordinate] = x = own.acceleration - dot(own.weighted, A)
                A = [a + s * x for a, s in zip(A, own.S, strict=True)]
            if index in deformations:
                for k, x in zip(deformations[index].coordinates, deformations[index].accelerations(A), strict=True):
                    result[k] = x
            moving.append(A)
    return result, moving


def _unit(S: Vec) -> int | None:
    """Return which component is 1 if all others are 0, else None."""
    found = [k for k, value in enumerate(S) if not value.is_zero]
    return found[0] if len(found) == 1 and S[found[0]].constant == 1 else None
