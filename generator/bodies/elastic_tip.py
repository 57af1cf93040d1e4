"""How the tip of a flexible body moves against its undeformed place."""

from __future__ import annotations

import math
from collections.abc import Sequence

from elastogen.generator.joints.frame_motion import FrameMotion
from elastogen.generator.program.differentiate import time_derivative
from elastogen.generator.program.graph import Graph, Value
from elastogen.generator.spatial.vectors import AxisRotation, Matrix3, Rotation, Vec, add, combination, cross, dot, scale


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
        """sum_k (-s)^k / (2k + first)! with s = |delta|^2: sin t/t, (1 - cos t)/t^2, (t - sin t)/t^3 for first = 1, 2, 3."""
        delta = self._delta(q)
        s = dot(delta, delta)
        total = self.graph.value(0)
        for k in reversed(range(self.TERMS)):
            total = (-1) ** k / math.factorial(2 * k + first) + s * total
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
        f1, f2 = self._series(q, 1), self._series(q, 2)
        x, y, z = delta
        skew = [[graph.value(0), -z, y], [z, graph.value(0), -x], [-y, x, graph.value(0)]]
        s = dot(delta, delta)
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
        result = []
        for j, fields in enumerate(fields_of(self.monomials, len(self.rotations))):
            slopes = [monomial_slope(self.graph, self.monomials[n], j, q) for n in fields]
            moved = combination(self.graph, slopes, [self.displacements[n] for n in fields])
            result.append((self._right_jacobian(q, self.rotations[j]), moved))
        return result

    def _right_jacobian(self, q: Sequence[Value], v: Vec) -> Vec:
        if len(self._axes) <= 1:
            return v
        delta = self._delta(q)
        once = cross(delta, v)
        twice = cross(delta, once)
        return add(v, add(scale(once, -self._series(q, 2)), scale(twice, self._series(q, 3))))

    def bias(self, q: Sequence[Value], qd: Sequence[Value]) -> tuple[Vec, Vec]:
        """Rates of the twists, times the rates of the coordinates."""
        twists = self.twists(q)
        flat = [component for angular, linear in twists for component in (*angular, *linear)]
        rates = time_derivative(self.graph, flat, [(q, qd)])
        zero = self.graph.value(0)
        angular, linear = [zero] * 3, [zero] * 3
        for j, rate in enumerate(qd):
            angular = add(angular, scale(rates[6 * j : 6 * j + 3], rate))
            linear = add(linear, scale(rates[6 * j + 3 : 6 * j + 6], rate))
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
