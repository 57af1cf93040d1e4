"""What a joint does, in its own frame (axis along z): one class per kind of joint, the same questions in the same order."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod

from elastogen.generator.graph import Graph, Value
from elastogen.generator.inertia import Inertia
from elastogen.generator.vectors import Rotation, Turn, Vec


class JointMotion(ABC):
    """The motion of a joint with one coordinate; vectors are in the moved frame unless said otherwise."""

    angular: Vec  # angular part of the unit twist
    linear: Vec  # linear part of the unit twist

    @abstractmethod
    def rotation(self, q: Value) -> Rotation:
        """Rotation from the joint to the moved frame."""

    def followed_by(self, other: JointMotion) -> JointMotion:
        """The joint motion that merges this one with another about a parallel axis."""
        raise TypeError(f"{type(self).__name__} joints cannot be merged")

    @abstractmethod
    def displacement(self, q: Value) -> Vec:
        """Origin of the moved frame [m]."""

    @abstractmethod
    def project(self, force: Vec, moment: Vec) -> Value:
        """Power of a wrench on the unit twist: the generalized force."""

    @abstractmethod
    def inertia_wrench(self, inertia: Inertia) -> tuple[Vec, Vec]:
        """Force and moment that accelerate a body at rest by the unit twist."""


class Revolute(JointMotion):
    """Rotation about z, starting from a fixed turn."""

    def __init__(self, graph: Graph, start: Turn) -> None:
        zero, one = graph.value(0), graph.value(1)
        self.graph, self.start = graph, start
        self.angular, self.linear = [zero, zero, one], [zero, zero, zero]

    def rotation(self, q: Value) -> Rotation:
        """Rz(start + q); a right angle only swaps sine and cosine."""
        graph, c0, s0 = self.graph, self.start.c, self.start.s
        if c0.constant and s0.constant:
            angle = q + math.atan2(s0.constant, c0.constant)
            return Rotation((Turn(2, graph.cos(angle), graph.sin(angle)),))
        c, s = graph.cos(q), graph.sin(q)
        return Rotation((Turn(2, c0 * c - s0 * s, s0 * c + c0 * s),))

    def followed_by(self, other: JointMotion) -> JointMotion:
        """One turn for two about the same axis: the fixed turns add up, as the angles do."""
        if not isinstance(other, Revolute):
            raise TypeError("only two revolute joints can be merged")
        a, b = self.start, other.start
        return Revolute(self.graph, Turn(2, a.c * b.c - a.s * b.s, a.s * b.c + a.c * b.s))

    def displacement(self, q: Value) -> Vec:
        """None."""
        return self.linear

    def project(self, force: Vec, moment: Vec) -> Value:
        """Moment about the axis."""
        return moment[2]

    def inertia_wrench(self, inertia: Inertia) -> tuple[Vec, Vec]:
        """Wrench of unit angular acceleration."""
        return inertia.times_axis(2)


class Prismatic(JointMotion):
    """Translation along z."""

    def __init__(self, graph: Graph) -> None:
        zero, one = graph.value(0), graph.value(1)
        self.angular, self.linear = [zero, zero, zero], [zero, zero, one]

    def rotation(self, q: Value) -> Rotation:
        """None."""
        return Rotation(())

    def displacement(self, q: Value) -> Vec:
        """Along z."""
        return [self.linear[0], self.linear[1], q]

    def project(self, force: Vec, moment: Vec) -> Value:
        """Force along the axis."""
        return force[2]

    def inertia_wrench(self, inertia: Inertia) -> tuple[Vec, Vec]:
        """Wrench of unit linear acceleration: force m z, moment S x z."""
        S, zero = inertia.S, self.linear[0]
        return [zero, zero, inertia.m], [S[1], -S[0], zero]
