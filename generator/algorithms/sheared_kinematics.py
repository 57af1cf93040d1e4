"""Jacobians and velocities where linear tips make frames non-orthogonal: by differentiation of T_i0.

The angular velocity is the skew part of dR R^-1 (a rotation has no other part).
"""

from __future__ import annotations

from collections.abc import Sequence

from elastogen.generator.algorithms.kinematics import Pose, Twist, link_pose, poses
from elastogen.generator.algorithms.newton_euler import Placed
from elastogen.generator.mechanism.mechanism import Mechanism
from elastogen.generator.program.differentiate import directional, seed
from elastogen.generator.program.graph import Graph, Value
from elastogen.generator.spatial.vectors import Mat, Vec, combination_scalar, cross, dot, product, scale, times


def _inverse(R: Mat) -> Mat:
    """Invert a 3 x 3 matrix by its cofactors."""
    columns: list[Vec] = [cross(R[1], R[2]), cross(R[2], R[0]), cross(R[0], R[1])]
    reciprocal = 1 / dot(R[0], columns[0])
    return [list(row) for row in zip(*(scale(column, reciprocal) for column in columns), strict=True)]


def velocity(graph: Graph, pose: Pose, seeds: dict[int, int]) -> Twist:
    """Return the velocity of a frame along a direction of its coordinates, in base components."""
    rates = directional(graph, [*pose.p, *(value for row in pose.R for value in row)], seeds)
    spin = product([rates[3:6], rates[6:9], rates[9:12]], _inverse(pose.R))
    half = graph.value(0.5)
    angular = [(spin[2][1] - spin[1][2]) * half, (spin[0][2] - spin[2][0]) * half, (spin[1][0] - spin[0][1]) * half]
    return Twist(rates[:3], angular)


def jacobian(graph: Graph, pose: Pose, q: Sequence[Value]) -> Mat:
    """Return six rows, linear first, in base components."""
    columns = []
    for x in q:
        twist = velocity(graph, pose, seed(x, graph.one))
        columns.append([*twist.linear, *twist.angular])
    return [list(row) for row in zip(*columns, strict=True)]


def payload_forces(mechanism: Mechanism, placed: Sequence[Placed], q: Sequence[Value], force: Vec, moment: Vec) -> list[Value]:
    """Return J^T w of a wrench on the tip, given in tip components."""
    tip = link_pose(mechanism, poses(mechanism, placed), mechanism.link_frames[-1])
    wrench = [*times(tip.R, force), *times(tip.R, moment)]
    J = jacobian(mechanism.graph, tip, q)
    return [combination_scalar(mechanism.graph, list(column), wrench) for column in zip(*J, strict=True)]
