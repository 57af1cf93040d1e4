"""Unit quaternions (x, y, z, w) over the values of a graph, and the free motion that they describe.

Emitted code takes them as they are: their length must be 1, which :func:`exponential` and integration keep.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from elastogen.generator.joints.frame_motion import FrameMotion, MotionPlan
from elastogen.generator.program.differentiate import time_derivative
from elastogen.generator.program.graph import Graph, Value
from elastogen.generator.program.lowering import Lowering
from elastogen.generator.program.operations import Op
from elastogen.generator.spatial.inertia import Inertia
from elastogen.generator.spatial.vectors import Mat, Matrix3, Rotation, Vec, add, cross, dot, scale

SERIES = 19  # terms of the series in the square of an angle
TINY = 1e-30  # under square roots: far below the square of a rounding error, in float too


def rotation_matrix(quaternion: Sequence[Value]) -> Mat:
    """Return R of the frame that the quaternion rotates."""
    x, y, z, w = quaternion
    xx, yy, zz = 2 * (x * x), 2 * (y * y), 2 * (z * z)
    xy, xz, yz = 2 * (x * y), 2 * (x * z), 2 * (y * z)
    wx, wy, wz = 2 * (w * x), 2 * (w * y), 2 * (w * z)
    return [
        [1 - (yy + zz), xy - wz, xz + wy],
        [xy + wz, 1 - (xx + zz), yz - wx],
        [xz - wy, yz + wx, 1 - (xx + yy)],
    ]


def product(a: Sequence[Value], b: Sequence[Value]) -> list[Value]:
    """Return the rotation a followed by b in the rotated frame."""
    (ax, ay, az, aw), (bx, by, bz, bw) = a, b
    return [
        aw * bx + ax * bw + (ay * bz - az * by),
        aw * by + ay * bw + (az * bx - ax * bz),
        aw * bz + az * bw + (ax * by - ay * bx),
        aw * bw - (ax * bx + ay * by + az * bz),
    ]


def rate(quaternion: Sequence[Value], omega: Vec) -> list[Value]:
    """Return the time derivative for an angular velocity in the moving frame: 1/2 quaternion (omega, 0)."""
    return [0.5 * value for value in product(quaternion, [*omega, quaternion[0].graph.value(0)])]


def exponential(turn: Vec) -> tuple[list[Value], Value]:
    """Return the quaternion of a rotation vector, and sinc of half its angle."""
    graph = turn[0].graph
    half = graph.sqrt(dot(turn, turn) * 0.25 + TINY)
    sinc = graph.sin(half) / half
    return [*(0.5 * sinc * x for x in turn), graph.cos(half)], sinc


def logarithm(quaternion: Sequence[Value]) -> Vec:
    """Return the rotation vector of a quaternion, at most half a revolution long.

    q and -q are the same turn; of the one with w > 0 the angle is 2 atan2(|v|, w), of both it is 2 atan2(|v| w, w^2), with the
    sign of w. Exactly half a revolution has no direction.
    """
    *v, w = quaternion
    graph = w.graph
    length = graph.sqrt(dot(v, v) + TINY)
    angle = 2 * graph.elementary(Op.ATAN2, length * w, w * w + TINY)
    return scale(v, angle / length)


def transported(turn: Vec, v: Vec, sinc: Value) -> Vec:
    """Return the mean of exp(s {turn x}) v over s from 0 to 1: the path of a point that starts with v and rotates on.

    v + (1 - cos t)/t^2 turn x v + (t - sin t)/t^3 turn x (turn x v); 1 - cos t = 2 sin^2(t/2), and what cancels in t - sin t is
    of the size of a rounding error of v, because turn x (turn x v) is t^2 long.
    """
    graph = turn[0].graph
    square = dot(turn, turn) + TINY
    angle = graph.sqrt(square)
    once = cross(turn, v)
    twice = cross(turn, once)
    bend = (1 - graph.sin(angle) / angle) / square
    return add(v, add(scale(once, 0.5 * sinc * sinc), scale(twice, bend)))


def transport_inverse(turn: Vec, p: Vec) -> Vec:
    """Return the v that :func:`transported` maps to p: p - 1/2 turn x p + (1 - t/2 cot(t/2))/t^2 turn x (turn x p)."""
    graph = turn[0].graph
    square = dot(turn, turn) + TINY
    half = graph.sqrt(square) * 0.5
    once = cross(turn, p)
    twice = cross(turn, once)
    bend = (1 - half * graph.cos(half) / graph.sin(half)) / square
    return add(p, add(scale(once, graph.value(-0.5)), scale(twice, bend)))


def even_series(square: Value, first: int) -> Value:
    """sum_k (-t^2)^k / (2k + first)!: sin t / t, (1 - cos t) / t^2, (t - sin t) / t^3 for first = 1, 2, 3.

    By their power series, exact to rounding up to a revolution: their derivatives by t^2 lose no digits near t = 0.
    """
    total = square.graph.value(0)
    for k in reversed(range(SERIES)):
        total = square * total + (-1.0) ** k / math.factorial(2 * k + first)
    return total


class FreeMotion(FrameMotion):
    """A free rotation, after a free displacement if there is one: q = (position, quaternion), velocities in the moving frame.

    The velocities are quasi-velocities, linear (of the origin), then angular. Rates of displacements are in the moving
    frame, not in that of the joint.
    """

    def __init__(self, graph: Graph, displaced: bool) -> None:
        self.graph, self.displaced = graph, displaced

    def _quaternion(self, q: Sequence[Value]) -> Sequence[Value]:
        return q[-4:]

    def rotation(self, q: Sequence[Value]) -> Rotation:
        """Return R(quaternion)."""
        return Rotation((Matrix3(rotation_matrix(self._quaternion(q))),))

    def displacement(self, q: Sequence[Value]) -> Vec:
        """Return the position."""
        return list(q[:3]) if self.displaced else [self.graph.value(0)] * 3

    def twists(self, q: Sequence[Value]) -> list[tuple[Vec, Vec]]:
        """Return unit twists along, then about the axes of the moving frame."""
        zero, one = self.graph.value(0), self.graph.value(1)
        axes = [[one if k == axis else zero for k in range(3)] for axis in range(3)]
        along = [([zero] * 3, axis) for axis in axes] if self.displaced else []
        return [*along, *((axis, [zero] * 3) for axis in axes)]

    def bias(self, q: Sequence[Value], qd: Sequence[Value]) -> tuple[Vec, Vec]:
        """Return omega x v: the velocity rotates with the frame."""
        zero = self.graph.value(0)
        return [zero] * 3, cross(list(qd[-3:]), list(qd[:3])) if self.displaced else [zero] * 3

    def to_moved(self, q: Sequence[Value], linear: Vec) -> Vec:
        """Return the components unchanged: they belong to the moving frame already."""
        return linear

    def origin_velocity(self, q: Sequence[Value], carried: Vec, slide: Vec) -> Vec:
        """Return the velocity in the moving frame."""
        return add(self.rotation(q).inward(carried), slide)

    def origin_acceleration(self, q: Sequence[Value], a: Vec, omega: Vec, slide: Vec, slide_rate: Vec) -> Vec:
        """Return the acceleration in the moving frame."""
        R = self.rotation(q)
        coriolis = cross([2 * w for w in R.inward(omega)], slide)
        return add(R.inward(a), add(slide_rate, coriolis))

    def project(self, q: Sequence[Value], force: Vec, moment: Vec) -> list[Value]:
        """Return force and moment themselves."""
        return [*(force if self.displaced else ()), *moment]

    def mass_block(self, q: Sequence[Value], inertia: Inertia) -> Mat:
        """Return the components of the wrenches themselves."""
        wrenches = [inertia.times_twist(angular, linear) for angular, linear in self.twists(q)]
        columns = [self.project(q, force, moment) for force, moment in wrenches]
        return [[column[row] for column in columns] for row in range(len(columns))]

    # ---- the manifold

    def rates(self, q: Sequence[Value], qd: Sequence[Value]) -> list[Value]:
        """Return dq/dt: R v, and the quaternion's rate."""
        moved = self.rotation(q).outward(list(qd[:3])) if self.displaced else []
        return [*moved, *rate(self._quaternion(q), list(qd[-3:]))]

    def integrated(self, q: Sequence[Value], v: Sequence[Value]) -> list[Value]:
        """Move by the velocity v, constant in the moving frame, in unit time: the exponential of SE(3) or SO(3)."""
        turn = list(v[-3:])
        quaternion, sinc = exponential(turn)
        moved: Vec = []
        if self.displaced:
            moved = add(list(q[:3]), self.rotation(q).outward(transported(turn, list(v[:3]), sinc)))
        return [*moved, *product(self._quaternion(q), quaternion)]

    def difference(self, q0: Sequence[Value], q1: Sequence[Value]) -> list[Value]:
        """Return the velocity that leads from q0 to q1 in unit time, by less than half a revolution."""
        x, y, z, w = self._quaternion(q0)
        turn = logarithm(product([-x, -y, -z, w], self._quaternion(q1)))
        if not self.displaced:
            return turn
        apart = [b - a for a, b in zip(q0[:3], q1[:3], strict=True)]
        return [*transport_inverse(turn, self.rotation(q0).inward(apart)), *turn]

    def path_velocities(self, x: Sequence[Value], xd: Sequence[Value]) -> list[Value]:
        """Return the velocity of exp(x(t)) in the moving frame: the sum xd - 1/2 [x, xd] + 1/6 [x, [x, xd]] - ..."""
        turn, rate = list(x[-3:]), list(xd[-3:])
        square = dot(turn, turn)
        once, twice = even_series(square, 2), even_series(square, 3)
        swing = cross(turn, rate)
        angular = add(rate, add(scale(swing, -once), scale(cross(turn, swing), twice)))
        if not self.displaced:
            return angular
        leads = cross(turn, list(x[:3]))
        way = add(list(x[:3]), add(scale(leads, once), scale(cross(turn, leads), twice)))
        moved = time_derivative(self.graph, way, [(x, xd)])
        back = cross(turn, moved)
        linear = add(moved, add(scale(back, -even_series(square, 1)), scale(cross(turn, back), once)))
        return [*linear, *angular]

    def structure(self, qd: Sequence[Value]) -> Mat:
        """Return S_lj = sum_k s_kjl qd_k with the commutators [X_k, X_j] = sum_l s_kjl X_l of the velocity fields: ad(qd)."""
        zero = self.graph.value(0)
        omega = _skew(list(qd[-3:]))
        if not self.displaced:
            return omega
        upper = [[*row, *side] for row, side in zip(omega, _skew(list(qd[:3])), strict=True)]
        return [*upper, *([zero] * 3 + row for row in omega)]


def _skew(v: Vec) -> Mat:
    x, y, z = v
    zero = x.graph.value(0)
    return [[zero, -z, y], [z, zero, -x], [-y, x, zero]]


class FreePlan(MotionPlan):
    """A free frame, in the axes of its joint."""

    extra = 1  # of a quaternion's four numbers, three stand beside the angular velocities

    def __init__(self, displaced: bool) -> None:
        self.displaced, self.size = displaced, 6 if displaced else 3

    def build(self, lower: Lowering, rotation: Rotation) -> tuple[FrameMotion, Rotation]:
        """Build the motion."""
        return FreeMotion(lower.graph, self.displaced), rotation
