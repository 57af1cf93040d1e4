"""How the tip of a flexible body moves against its undeformed place."""

from __future__ import annotations

import math
from collections.abc import Sequence

from elastogen.generator.joints.frame_motion import FrameMotion
from elastogen.generator.program.differentiate import time_derivative
from elastogen.generator.program.graph import Graph, Value
from elastogen.generator.spatial.vectors import (
    AxisRotation,
    Mat,
    Matrix3,
    Rotation,
    Vec,
    add,
    combination,
    cross,
    dot,
    scale,
    times,
)


class ElasticTip(FrameMotion):
    """Motion of the tip of a flexible link against its undeformed place: 000 (66), with a proper rotation (errata to (68)).

    Displacement sum_n c_n b_n; rotation exp{delta x} with the rotation vector delta = sum_j x_j delta_j. Where all delta_j
    share a coordinate axis (a planar link), that is one exact rotation about it, as in paper 003.
    """

    TERMS = 12  # of the series in delta^2: rounding accuracy up to a rotation of 2 rad

    def __init__(
        self, graph: Graph, monomials: Sequence[tuple[int, ...]], displacements: Sequence[Vec], rotations: Sequence[Vec]
    ) -> None:
        self.graph, self.monomials, self.displacements, self.rotations = graph, monomials, displacements, rotations
        self._axes = [k for k in range(3) if any(not delta[k].is_zero for delta in rotations)]

    def _delta(self, q: Sequence[Value]) -> Vec:
        return combination(self.graph, q, self.rotations)

    def _series(self, q: Sequence[Value], first: int) -> Value:
        """sum_k (-s)^k / (2k + first)! with s = |delta|^2: (1 - cos t)/t^2, (t - sin t)/t^3 for first = 2, 3."""
        return self._polynomial(q, [(-1) ** k / math.factorial(2 * k + first) for k in range(self.TERMS)])

    def _series_rate(self, q: Sequence[Value], turning: Vec, first: int) -> Value:
        """Its time derivative where delta changes by ``turning``."""
        slopes = [(-1) ** k * k / math.factorial(2 * k + first) for k in range(1, self.TERMS)]
        return self._polynomial(q, slopes) * (2 * dot(self._delta(q), turning))

    def _polynomial(self, q: Sequence[Value], coefficients: Sequence[float]) -> Value:
        """Of s = |delta|^2, by Horner's rule."""
        delta = self._delta(q)
        s = dot(delta, delta)
        total = self.graph.value(0)
        for coefficient in reversed(coefficients):
            total = coefficient + s * total
        return total

    def rotation(self, q: Sequence[Value]) -> Rotation:
        """exp{delta x}."""
        graph = self.graph
        if not self._axes:
            return Rotation(())
        delta = self._delta(q)
        if len(self._axes) == 1:
            angle = delta[self._axes[0]]
            return Rotation((AxisRotation(self._axes[0], graph.cos(angle), graph.sin(angle)),))
        s = dot(delta, delta)
        f1, f2 = 1 - s * self._series(q, 3), self._series(q, 2)
        x, y, z = delta
        skew = [[graph.value(0), -z, y], [z, graph.value(0), -x], [-y, x, graph.value(0)]]
        rows = [
            [f1 * skew[r][c] + f2 * (delta[r] * delta[c] - (s if r == c else 0)) + (1 if r == c else 0) for c in range(3)]
            for r in range(3)
        ]
        return Rotation((Matrix3(rows),))

    def displacement(self, q: Sequence[Value]) -> Vec:
        """sum_n c_n b_n."""
        return combination(self.graph, [monomial(self.graph, m, q) for m in self.monomials], self.displacements)

    def twists(self, q: Sequence[Value]) -> list[tuple[Vec, Vec]]:
        """Per coordinate: J_r(delta) delta_j with the right Jacobian of the exponential, and sum_n dc_n/dx_j b_n."""
        turns = [times(self._right_jacobian(q), delta) for delta in self.rotations] if self._bends else self.rotations
        return list(zip(turns, self._slides(q), strict=True))

    def _slides(self, q: Sequence[Value]) -> list[Vec]:
        """Per coordinate sum_n dc_n/dx_j b_n."""
        result = []
        for j, fields in enumerate(fields_of(self.monomials, len(self.rotations))):
            slopes = [monomial_slope(self.graph, self.monomials[n], j, q) for n in fields]
            result.append(combination(self.graph, slopes, [self.displacements[n] for n in fields]))
        return result

    @property
    def _bends(self) -> bool:
        """Whether the rotation is about more than one axis."""
        return len(self._axes) > 1

    def _right_jacobian(self, q: Sequence[Value]) -> Mat:
        """J_r = E - f2 {delta x} + f3 {delta x}^2: one matrix for all modes."""
        x, y, z = delta = self._delta(q)
        s, zero = dot(delta, delta), self.graph.value(0)
        f2, f3 = self._series(q, 2), self._series(q, 3)
        skew = [[zero, -z, y], [z, zero, -x], [-y, x, zero]]
        return [
            [f3 * (delta[r] * delta[c]) - f2 * skew[r][c] + (1 - f3 * s if r == c else 0) for c in range(3)] for r in range(3)
        ]

    def along(self, q: Sequence[Value], rates: Sequence[Value]) -> tuple[Vec, Vec]:
        """J_r delta' with delta' = sum_j x_j' delta_j: three numbers, whatever the modes."""
        turning = combination(self.graph, rates, self.rotations)
        if self._bends:
            turning = times(self._right_jacobian(q), turning)
        return turning, combination(self.graph, rates, self._slides(q))

    def project(self, q: Sequence[Value], force: Vec, moment: Vec) -> list[Value]:
        """delta_j . J_r^T moment and the slides' part."""
        outer = self.rotation(q).outward(force)
        if self._bends:
            moment = times([list(column) for column in zip(*self._right_jacobian(q), strict=True)], moment)
        return [dot(delta, moment) + dot(slide, outer) for delta, slide in zip(self.rotations, self._slides(q), strict=True)]

    def bias(self, q: Sequence[Value], qd: Sequence[Value]) -> tuple[Vec, Vec]:
        """dJ_r/dt delta', and what fields of second order add."""
        zero = self.graph.value(0)
        angular, linear = [zero] * 3, [zero] * 3
        if self._bends:
            delta, turning = self._delta(q), combination(self.graph, qd, self.rotations)
            once = cross(delta, turning)
            angular = add(scale(once, -self._series_rate(q, turning, 2)), scale(cross(turning, once), self._series(q, 3)))
            angular = add(angular, scale(cross(delta, once), self._series_rate(q, turning, 3)))
        if any(len(monomial_) > 1 for monomial_ in self.monomials):
            rates = time_derivative(self.graph, [x for slide in self._slides(q) for x in slide], [(q, qd)])
            for j, rate in enumerate(qd):
                linear = add(linear, scale(rates[3 * j : 3 * j + 3], rate))
        return angular, linear


class LinearTip(ElasticTip):
    """The tip of 000 (66): E + {delta x} instead of a rotation. It shears what is attached to it; see affine.py."""

    orthogonal = False

    def rotation(self, q: Sequence[Value]) -> Rotation:
        """E + {delta x}; not orthogonal, so that inward is the product with the transposed, not with the inverse."""
        x, y, z = self._delta(q)
        one = self.graph.value(1)
        return Rotation((Matrix3([[one, -z, y], [z, one, -x], [-y, x, one]]),))

    def twists(self, q: Sequence[Value]) -> list[tuple[Vec, Vec]]:
        """A shear has none."""
        raise TypeError("a linear tip is not a rigid motion: use the recursion of affine.py")


def monomial(graph: Graph, coordinates: tuple[int, ...], x: Sequence[Value]) -> Value:
    """c_n: the product of some coordinates."""
    product = graph.value(1)
    for k in coordinates:
        product = product * x[k]
    return product


def fields_of(monomials: Sequence[tuple[int, ...]], coordinates: int) -> list[list[int]]:
    """The numbers n of the fields that every coordinate is in: of all others dc_n/dx_j is zero."""
    found: list[list[int]] = [[] for _ in range(coordinates)]
    for n, monomial_ in enumerate(monomials):
        for j in dict.fromkeys(monomial_):
            found[j].append(n)
    return found


def monomial_slope(graph: Graph, coordinates: tuple[int, ...], j: int, x: Sequence[Value]) -> Value:
    """dc_n/dx_j."""
    total = graph.value(0)
    for position, k in enumerate(coordinates):
        if k == j:
            total = total + monomial(graph, coordinates[:position] + coordinates[position + 1 :], x)
    return total
