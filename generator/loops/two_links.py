"""Explicit closure of planar loops: what is left to be found are two angles, and two circles meet there.

In the plane the residual of such a loop is e = u + R(a) v + R(b) w, with a link on each side, or e = u + R(a) (v + R(b) w),
with both on one side. u, v and w follow from e where the angles are 0 and pi, so that all else may be anything that moves. Of
the two solutions the one nearer to the start is taken: an elbow keeps its side.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from elastogen.generator.loops.numbers import Array, LoopNumbers
from elastogen.generator.loops.rows import LoopRows, rows_of_loops
from elastogen.generator.program.graph import Op, Value
from elastogen.generator.robot.robot import Robot
from elastogen.generator.spatial.vectors import Vec, add, dot, sub

if TYPE_CHECKING:
    from elastogen.generator.loops.analysis import Choice

EXACT = 1e-9  # of a length: residuals that differ by less are the same


@dataclass(frozen=True)
class TwoLinks:
    """A loop that two angles close: its rows in the plane, their coordinates, and the signs of rotation."""

    rows: tuple[int, int]
    angles: tuple[int, int]  # in series the outer one, which carries the other, first
    signs: tuple[int, int]
    series: bool


def two_links_of(robot: Robot, numbers: LoopNumbers, choice: Choice, q: Array) -> tuple[TwoLinks, ...]:
    """The loops in the order in which they close one after the other; none where one of them closes in another way."""
    turning = _turning(robot)
    moved = np.abs(numbers.at(q)[1]).max(axis=0) > 1e-12
    unknown, found = set(choice.dependent), list[TwoLinks]()
    left = []
    for loop, rows in zip(robot.loops, rows_of_loops(robot), strict=True):
        pivots = [pivot for pivot in choice.pivots if pivot.row in rows]
        columns = sorted(pivot.column for pivot in pivots)
        plane = sorted(pivot.row for pivot in pivots) == [rows.start, rows.start + 1] and loop.kind.place == "all"
        if pivots and not (plane and len(columns) == 2 and {*columns} <= turning):
            return ()
        if pivots:
            left.append((rows, columns))
    while left:
        for rows, columns in left:
            if unknown & {*np.flatnonzero(moved[list(rows)].any(axis=0))} <= {*columns}:
                break
        else:
            return ()
        links = _two_links(numbers, (rows.start, rows.start + 1), (columns[0], columns[1]), q[0])
        if links is None:
            return ()
        left.remove((rows, columns))
        unknown -= {*columns}
        found.append(links)
    return tuple(found)


def _turning(robot: Robot) -> set[int]:
    """Velocities that are the rate of one angle; none of a robot whose coordinates are in another order."""
    found, place = set[int](), 0
    if robot.has_quasi_velocities:
        return found
    for joint in robot.joints:
        if len(joint.type.velocities) == 1 and joint.type.coordinates[0].unit == "rad":
            found.add(place)
        flexible = robot.link(joint.child).flexible
        place += (
            len(joint.type.velocities) + (joint.elasticity is not None) + (0 if flexible is None else len(flexible.coordinates))
        )
    return found


def _two_links(numbers: LoopNumbers, rows: tuple[int, int], angles: tuple[int, int], q: Array) -> TwoLinks | None:
    """How the residual depends on two angles, by its values; None where that is another way."""

    def e(a: float, b: float) -> Array:
        at = q.copy()
        at[list(angles)] = a, b
        return numbers.at(at)[0][list(rows)]

    def arms(a: float, b: float, k: int) -> tuple[Array, int]:
        """What angle k rotates, with the others at a and b, and in which sense; 0: it does not rotate it."""
        ways = [(x, b) if k == 0 else (a, x) for x in (0.0, math.pi, math.pi / 2, -math.pi / 2)]
        at = [e(*way) for way in ways]
        arm, quarter = (at[0] - at[1]) / 2, (at[2] - at[3]) / 2
        across = np.array([-arm[1], arm[0]])
        middle = np.abs(at[0] + at[1] - at[2] - at[3]).max()
        sign = next((s for s in (1, -1) if np.abs(quarter - s * across).max() + middle < EXACT), 0)
        return arm, sign if np.abs(arm).max() > EXACT else 0

    signs, lengths = [], []
    for k in range(2):
        tried = [arms(x, x, k) for x in (0.0, 1.0, 2.0)]
        if len({sign for _, sign in tried}) > 1 or tried[0][1] == 0:
            return None
        signs.append(tried[0][1])
        lengths.append([float(np.linalg.norm(arm)) for arm, _ in tried])
    fixed = [np.ptp(each) < EXACT for each in lengths]
    if all(fixed):
        return TwoLinks(rows, angles, (signs[0], signs[1]), series=False)
    if not any(fixed):
        return None
    outer = 0 if fixed[1] else 1
    return TwoLinks(rows, (angles[outer], angles[1 - outer]), (signs[outer], signs[1 - outer]), series=True)


def closed_configuration(loops: LoopRows, closing: Sequence[TwoLinks], q: Sequence[Value]) -> list[Value]:
    """The configuration that closes the loops, with everything but their angles as it is."""
    result = list(q)
    for links in closing:
        with loops.graph.section("where two links meet"):
            for k, value in zip(links.angles, _angles(loops, links, result), strict=True):
                result[k] = value
    return result


def _angles(loops: LoopRows, links: TwoLinks, q: Sequence[Value]) -> tuple[Value, Value]:
    graph = loops.graph
    start = [q[k] for k in links.angles]

    def e(a: float, b: float) -> Vec:
        at = list(q)
        for k, angle in zip(links.angles, (a, b), strict=True):
            at[k] = graph.value(angle)
        found = loops.residuals(at)
        return [found[row] for row in links.rows]

    both, first, second = e(0.0, 0.0), e(math.pi, 0.0), e(0.0, math.pi)
    w = _half(sub(both, second))
    if links.series:
        u = _half(add(both, first))
        v = sub(sub(both, u), w)
        anchor, arm, radius = v, w, u
    else:
        v = _half(sub(both, first))
        u = sub(sub(both, v), w)
        anchor, arm, radius = u, v, w
    k = (dot(radius, radius) - dot(anchor, anchor) - dot(arm, arm)) * 0.5  # anchor . R arm
    across = graph.elementary(Op.MAX, dot(anchor, anchor) * dot(arm, arm) - k * k, 0)
    opened, middle = graph.elementary(Op.ATAN2, graph.sqrt(across), k), _angle(arm, anchor)
    found = []
    for one in (middle + opened, middle - opened):
        reached = add(anchor, _rotated(arm, one))
        other = _angle(reached, [-x for x in u]) if links.series else _angle(w, [-x for x in reached])
        ordered = (other, one) if links.series else (one, other)
        near = [_nearest(angle * sign, at) for angle, sign, at in zip(ordered, links.signs, start, strict=True)]
        found.append((near, sum(((x - at) * (x - at) for x, at in zip(near, start, strict=True)), graph.value(0))))
    (one_way, far), (other_way, farther) = found
    a, b = (graph.choose(far - farther, x, y) for x, y in zip(one_way, other_way, strict=True))
    return a, b


def _half(v: Vec) -> Vec:
    return [x * 0.5 for x in v]


def _angle(a: Vec, b: Vec) -> Value:
    """From a to b."""
    return a[0].graph.elementary(Op.ATAN2, a[0] * b[1] - a[1] * b[0], dot(a, b))


def _rotated(v: Vec, angle: Value) -> Vec:
    c, s = v[0].graph.cos(angle), v[0].graph.sin(angle)
    return [c * v[0] - s * v[1], s * v[0] + c * v[1]]


def _nearest(angle: Value, start: Value) -> Value:
    """The angle with the full turns that bring it nearest to a start."""
    turns = angle.graph.elementary(Op.FLOOR, (angle - start) * (0.5 / math.pi) + 0.5)
    return angle - turns * (2 * math.pi)
