"""What a joint does, in its own frame: one class per kind of joint, the same questions in the same order.

Components of a rotation's quantities are in the moved frame, those of a displacement in the joint frame (before
the rotation).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

from elastogen.generator.program.differentiate import directional, time_derivative
from elastogen.generator.program.graph import Graph, Value
from elastogen.generator.program.substitute import substitute
from elastogen.generator.spatial.inertia import Inertia
from elastogen.generator.spatial.vectors import Mat, Matrix3, Rotation, Turn, Vec, add, combination, cross, dot, scale


class JointMotion(ABC):
    """The motion of a frame against its joint, by any number of coordinates."""

    graph: Graph

    @abstractmethod
    def rotation(self, q: Sequence[Value]) -> Rotation:
        """Rotation from the joint to the moved frame."""

    @abstractmethod
    def displacement(self, q: Sequence[Value]) -> Vec:
        """Origin of the moved frame [m]."""

    @abstractmethod
    def twists(self, q: Sequence[Value]) -> list[tuple[Vec, Vec]]:
        """Angular and linear velocity per unit rate of each coordinate."""

    def bias(self, q: Sequence[Value], qd: Sequence[Value]) -> tuple[Vec, Vec]:
        """Angular and linear acceleration without accelerations of the coordinates."""
        zero = self.graph.value(0)
        return [zero] * 3, [zero] * 3

    def followed_by(self, other: JointMotion) -> JointMotion:
        """The joint motion that merges this one with another about a parallel axis."""
        raise TypeError(f"{type(self).__name__} joints cannot be merged with {type(other).__name__}")

    def project(self, q: Sequence[Value], force: Vec, moment: Vec) -> list[Value]:
        """Power of a wrench (in the moved frame) on each unit rate: the generalized forces."""
        outer = self.rotation(q).outward(force)
        return [dot(angular, moment) + dot(linear, outer) for angular, linear in self.twists(q)]

    def inertia_wrenches(self, q: Sequence[Value], inertia: Inertia) -> list[tuple[Vec, Vec]]:
        """Per coordinate, the force and moment (in the moved frame) that accelerate a body at rest by its unit twist."""
        R = self.rotation(q)
        return [inertia.times_twist(angular, R.inward(linear)) for angular, linear in self.twists(q)]

    def mass_block(self, q: Sequence[Value], inertia: Inertia) -> Mat:
        """Products of the unit twists with the inertia of what they move.

        The same as projecting the wrenches, but displacements are not turned forth and back: the block of a planar tip
        with a point mass, for one, is constant and is factorized when the code is generated.
        """
        zero = [self.graph.value(0)] * 3
        R, twists = self.rotation(q), self.twists(q)
        swings = [R.outward(cross(angular, inertia.S)) for angular, _ in twists]
        turns = [inertia.times_twist(angular, zero)[1] for angular, _ in twists]
        return [
            [
                inertia.m * dot(d_a, d_b) + dot(w_a, turns[b]) + (dot(d_a, swings[b]) + dot(d_b, swings[a]))
                for b, (_, d_b) in enumerate(twists)
            ]
            for a, (w_a, d_a) in enumerate(twists)
        ]


class Fixed(JointMotion):
    """No motion: a frame for a body whose axes differ from its joint's."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph

    def rotation(self, q: Sequence[Value]) -> Rotation:
        """None."""
        return Rotation(())

    def displacement(self, q: Sequence[Value]) -> Vec:
        """None."""
        return [self.graph.value(0)] * 3

    def twists(self, q: Sequence[Value]) -> list[tuple[Vec, Vec]]:
        """None."""
        return []


class Revolute(JointMotion):
    """Rotation about z, starting from a fixed turn."""

    def __init__(self, graph: Graph, start: Turn) -> None:
        self.graph, self.start = graph, start

    def rotation(self, q: Sequence[Value]) -> Rotation:
        """Rz(start + q); a right angle only swaps sine and cosine."""
        graph, c0, s0 = self.graph, self.start.c, self.start.s
        if c0.constant and s0.constant:
            angle = q[0] + math.atan2(s0.constant, c0.constant)
            return Rotation((Turn(2, graph.cos(angle), graph.sin(angle)),))
        c, s = graph.cos(q[0]), graph.sin(q[0])
        return Rotation((Turn(2, c0 * c - s0 * s, s0 * c + c0 * s),))

    def displacement(self, q: Sequence[Value]) -> Vec:
        """None."""
        return [self.graph.value(0)] * 3

    def twists(self, q: Sequence[Value]) -> list[tuple[Vec, Vec]]:
        """Angular velocity about z."""
        zero, one = self.graph.value(0), self.graph.value(1)
        return [([zero, zero, one], [zero, zero, zero])]

    def followed_by(self, other: JointMotion) -> JointMotion:
        """One turn for two about the same axis: the fixed turns add up, as the angles do."""
        if not isinstance(other, Revolute):
            return super().followed_by(other)
        a, b = self.start, other.start
        return Revolute(self.graph, Turn(2, a.c * b.c - a.s * b.s, a.s * b.c + a.c * b.s))


class Prismatic(JointMotion):
    """Translation along z."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph

    def rotation(self, q: Sequence[Value]) -> Rotation:
        """None."""
        return Rotation(())

    def displacement(self, q: Sequence[Value]) -> Vec:
        """Along z."""
        zero = self.graph.value(0)
        return [zero, zero, q[0]]

    def twists(self, q: Sequence[Value]) -> list[tuple[Vec, Vec]]:
        """Velocity along z."""
        zero, one = self.graph.value(0), self.graph.value(1)
        return [([zero, zero, zero], [zero, zero, one])]


class ElasticTip(JointMotion):
    """Motion of the tip of a flexible link against its undeformed place: 000 (66), with a proper rotation (errata to (68)).

    Displacement sum_n c_n b_n; rotation exp{delta x} with the rotation vector delta = sum_j x_j delta_j. Where all delta_j
    share a coordinate axis (a planar link), that is one exact turn about it, as in paper 003.
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
            return Rotation((Turn(self._axes[0], graph.cos(angle), graph.sin(angle)),))
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
        for j, delta_j in enumerate(self.rotations):
            slopes = [monomial_slope(self.graph, m, j, q) for m in self.monomials]
            result.append((self._right_jacobian(q, delta_j), combination(self.graph, slopes, self.displacements)))
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


class Contact(JointMotion):
    """A frame that slides along the centre line of a planar beam: P_a of paper 003, Table 2.

    ``line`` gives its place and the angle of the beam there by all coordinates they depend on: the joint's own d and those
    of the beam. The twists are its derivatives: with the smooth line, (1, w', 0) and w'' for d, (0, phi_j, 0) and phi_j'
    for a coordinate of the beam. The frame is turned further by the fixed angle gamma.
    """

    def __init__(self, graph: Graph, count: int, line: Callable[[Sequence[Value]], tuple[Vec, Value]], gamma: float) -> None:
        self.graph, self.gamma = graph, gamma
        self._variables = [graph.input(f"contact[{k}]") for k in range(count)]  # replaced wherever they are used
        self._place, self._angle = line(self._variables)

    def _at(self, values: Sequence[Value], q: Sequence[Value]) -> list[Value]:
        known = {x.ref >> 1: value.ref for x, value in zip(self._variables, q, strict=True)}
        return substitute(self.graph, values, known)

    def rotation(self, q: Sequence[Value]) -> Rotation:
        """By the angle of the beam and gamma."""
        angle = self._at([self._angle], q)[0] + self.gamma
        return Rotation((Turn(2, self.graph.cos(angle), self.graph.sin(angle)),))

    def displacement(self, q: Sequence[Value]) -> Vec:
        """The place on the deformed beam."""
        return self._at(self._place, q)

    def twists(self, q: Sequence[Value]) -> list[tuple[Vec, Vec]]:
        """Derivatives of place and angle by every coordinate."""
        zero = self.graph.value(0)
        result: list[tuple[Vec, Vec]] = []
        for x in self._variables:
            slopes = directional(self.graph, [*self._place, self._angle], {x.ref >> 1: self.graph.one})
            *linear, angular = self._at(slopes, q)
            result.append(([zero, zero, angular], linear))
        return result

    def bias(self, q: Sequence[Value], qd: Sequence[Value]) -> tuple[Vec, Vec]:
        """Rates of the twists, times the rates of the coordinates: the convective terms."""
        zero = self.graph.value(0)
        rates = {x.ref >> 1: rate.ref for x, rate in zip(self._variables, qd, strict=True)}
        velocity = directional(self.graph, [*self._place, self._angle], rates)
        *linear, turn = self._at(directional(self.graph, velocity, rates), q)
        return [zero, zero, turn], linear


class LinearTip(ElasticTip):
    """The tip of 000 (66): E + {delta x} instead of a rotation. It shears what is attached to it; see affine.py."""

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


def monomial_slope(graph: Graph, coordinates: tuple[int, ...], j: int, x: Sequence[Value]) -> Value:
    """dc_n/dx_j."""
    total = graph.value(0)
    for position, k in enumerate(coordinates):
        if k == j:
            total = total + monomial(graph, coordinates[:position] + coordinates[position + 1 :], x)
    return total
