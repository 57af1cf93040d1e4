"""The operational vector X = [p; psi] of the tip (002 (5)): position and three angles of the orientation, with their rates."""

from __future__ import annotations

from collections.abc import Callable

from elastogen.generator.functions.catalogue import Derived, Entry
from elastogen.generator.functions.kinematics import forward_kinematics
from elastogen.generator.functions.variants import Variant
from elastogen.generator.program.arguments import MOTION, vector
from elastogen.generator.program.differentiate import time_derivative
from elastogen.generator.program.graph import Graph, Op, Value
from elastogen.generator.spatial.vectors import Mat, Vec
from elastogen.runtime.interface.euler_sets import EULER_SETS

LOCKED = 1e-24  # squared sine or cosine of the middle angle, below which the other two are not unique
_CYCLIC = ((0, 1, 2), (1, 2, 0), (2, 0, 1))


def angles(graph: Graph, R: Mat, axes: str) -> Vec:
    """psi with R = R_i(psi_1) R_j(psi_2) R_k(psi_3) about the moving axes i, j, k, such as "zyz" or "xyz".

    psi_2 is in [-pi/2, pi/2] for three different axes, in [0, pi] if the first and last are equal. At the ends of these ranges
    only the sum or difference of the other two is defined: psi_3 is 0 there, as for planar robots with "zyz".
    """
    i, j, k = ("xyz".index(axis) for axis in axes)
    last = 3 - i - j
    sign = 1 if (i, j, last) in _CYCLIC else -1

    def angle(y: Value, x: Value) -> Value:
        return graph.elementary(Op.ATAN2, y, x)

    if i == k:
        across = R[i][j] * R[i][j] + R[i][last] * R[i][last]  # sin^2 psi_2
        first, third = (R[j][i], -sign * R[last][i]), (R[i][j], sign * R[i][last])
        second = angle(graph.sqrt(across), R[i][i])
    else:
        across = R[i][i] * R[i][i] + R[i][j] * R[i][j]  # cos^2 psi_2
        first, third = (-sign * R[j][k], R[k][k]), (-sign * R[i][j], R[i][i])
        second = angle(sign * R[i][k], graph.sqrt(across))
    locked = across - LOCKED
    return [
        graph.choose(locked, angle(sign * R[last][j], R[j][j]), angle(*first)), second, graph.choose(locked, 0, angle(*third))
    ]  # fmt: skip


def _operational(axes: str) -> Callable[[Variant], Derived]:
    def derive(variant: Variant) -> Derived:
        T = forward_kinematics(variant).outputs[0][-16:]
        R = [list(T[4 * row : 4 * row + 3]) for row in range(3)]
        motion = [variant.input(name) for name in MOTION[:3]]
        X = [T[3], T[7], T[11], *angles(variant.graph, R, axes)]
        in_time = variant.mechanism.in_time(motion)
        Xd = time_derivative(variant.graph, X, in_time)
        return Derived((X, Xd, time_derivative(variant.graph, Xd, in_time)))

    return derive


ENTRIES = tuple(
    Entry(
        f"operational_vector_{axes}",
        f"X = [p; psi] of the tip with its rates; psi are angles about the moving axes {', '.join(axes)}.",
        MOTION[:3],
        lambda v: (
            vector("X", 6, "m, rad", "position, then angles of the tip"),
            vector("Xd", 6, "m/s, rad/s", "its first time derivative"),
            vector("Xdd", 6, "m/s^2, rad/s^2", "its second time derivative"),
        ),
        (_operational(axes),),
        "kinematic",
        default=False,
    )
    for axes in EULER_SETS
)
