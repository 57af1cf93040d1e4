"""The motion of a frame relative to the place that it is attached to, by some coordinates.

Components of a rotation's quantities are in the moving frame, those of a displacement in the joint frame (before
the rotation).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from elastogen.generator.program.graph import Graph, Value
from elastogen.generator.program.lowering import Lowering
from elastogen.generator.robot.robot import Vector
from elastogen.generator.spatial.inertia import Array, Inertia
from elastogen.generator.spatial.vectors import Mat, Rotation, Vec, add, combination, cross, dot


class FrameMotion(ABC):
    """The motion of a frame relative to its joint, by any number of coordinates."""

    graph: Graph
    parallel_rotation: ClassVar[bool] = False
    """Whether it is a rotation about z alone, which a rotation about a parallel axis may follow."""
    orthogonal: ClassVar[bool] = True
    """Whether the frame stays a frame; else it is sheared, and only affine.py applies."""
    coupled: ClassVar[bool] = False
    """Whether its coordinates move other frames, too, on whatever branch."""
    screw: ClassVar[bool] = False
    """Whether it is the motion of a joint by one coordinate, with a twist that is constant in the moving frame."""

    by_functions: ClassVar[bool] = False
    """Whether it is a product of exponentials whose arguments are functions of its coordinates: see ``arguments``."""

    @abstractmethod
    def rotation(self, q: Sequence[Value]) -> Rotation:
        """Return the rotation from the joint to the moving frame."""

    @abstractmethod
    def displacement(self, q: Sequence[Value]) -> Vec:
        """Return the origin of the moving frame [m]."""

    @abstractmethod
    def twists(self, q: Sequence[Value]) -> list[tuple[Vec, Vec]]:
        """Return angular and linear velocity per unit rate of each coordinate."""

    def along(self, q: Sequence[Value], rates: Sequence[Value]) -> tuple[Vec, Vec]:
        """Return angular and linear velocity at these rates of the coordinates: the sum of the twists times them."""
        twists = self.twists(q)
        turns, slides = [angular for angular, _ in twists], [linear for _, linear in twists]
        return combination(self.graph, rates, turns), combination(self.graph, rates, slides)

    def bias(self, q: Sequence[Value], qd: Sequence[Value]) -> tuple[Vec, Vec]:
        """Return angular and linear acceleration without accelerations of the coordinates."""
        zero = self.graph.value(0)
        return [zero] * 3, [zero] * 3

    def to_moved(self, q: Sequence[Value], linear: Vec) -> Vec:
        """Convert a linear part of the twists to components of the moving frame."""
        return self.rotation(q).inward(linear)

    def origin_velocity(self, q: Sequence[Value], carried: Vec, slide: Vec) -> Vec:
        """Return the velocity of the moved origin in the moving frame: that of its place in the joint frame, and its own."""
        return self.rotation(q).inward(add(carried, slide))

    def origin_acceleration(self, q: Sequence[Value], a: Vec, omega: Vec, slide: Vec, slide_rate: Vec) -> Vec:
        """Acceleration of the moved origin in the moving frame.

        ``a`` is that of its place, ``omega`` the angular velocity of the joint frame, both in the joint frame; ``slide`` and
        ``slide_rate`` are its own velocity and acceleration.
        """
        coriolis = cross([2 * w for w in omega], slide)
        return self.rotation(q).inward(add(a, add(slide_rate, coriolis)))

    def arguments(self, q: Sequence[Value]) -> list[Value]:
        """Return the arguments of the exponentials whose product the motion is, one for each screw of JointKind.factors."""
        return list(q)

    def rates(self, q: Sequence[Value], qd: Sequence[Value]) -> list[Value]:
        """Return dq/dt from the velocities."""
        return list(qd)

    def integrated(self, q: Sequence[Value], v: Sequence[Value]) -> list[Value]:
        """Return the coordinates to which the velocities v lead in unit time."""
        return [x + step for x, step in zip(q, v, strict=True)]

    def difference(self, q0: Sequence[Value], q1: Sequence[Value]) -> list[Value]:
        """Return the velocities that lead from q0 to q1 in unit time."""
        return [b - a for a, b in zip(q0, q1, strict=True)]

    def path_velocities(self, x: Sequence[Value], xd: Sequence[Value]) -> list[Value]:
        """Return the velocities while the displacement x from some place changes by xd."""
        return list(xd)

    def structure(self, qd: Sequence[Value]) -> Mat | None:
        """Return S of quasi-velocities, S_lj = sum_k s_kjl qd_k, [X_k, X_j] = sum_l s_kjl X_l; None where qd = dq/dt."""
        return None

    def followed_by(self, other: FrameMotion) -> FrameMotion:
        """Return the joint motion that merges this one with another about a parallel axis."""
        raise TypeError(f"{type(self).__name__} joints cannot be merged with {type(other).__name__}")

    def project(self, q: Sequence[Value], force: Vec, moment: Vec) -> list[Value]:
        """Return the power of a wrench (in the moving frame) at each unit rate: the generalized forces."""
        outer, zero = self.rotation(q).outward(force), self.graph.value(0)
        return [
            zero if _vanishes(angular, linear) else dot(angular, moment) + dot(linear, outer)
            for angular, linear in self.twists(q)
        ]

    def inertia_wrenches(self, q: Sequence[Value], inertia: Inertia) -> list[tuple[Vec, Vec]]:
        """Return for each coordinate the wrench (in the moving frame) that accelerates a body at rest by its unit twist."""
        return [inertia.times_twist(angular, self.to_moved(q, linear)) for angular, linear in self.twists(q)]

    def mass_block(self, q: Sequence[Value], inertia: Inertia) -> Mat:
        """Products of the unit twists with the inertia of what they move.

        The same as projecting the wrenches, but displacements are not rotated forth and back: the block of a planar tip
        with a point mass, for one, is constant and is factorized when the code is generated.
        """
        zero = self.graph.value(0)
        R, twists = self.rotation(q), self.twists(q)
        moving = [k for k, twist in enumerate(twists) if not _vanishes(*twist)]
        swings = {k: R.outward(cross(twists[k][0], inertia.S)) for k in moving}
        turns = {k: inertia.times_twist(twists[k][0], [zero] * 3)[1] for k in moving}
        block = [[zero] * len(twists) for _ in twists]
        for a in moving:
            w_a, d_a = twists[a]
            for b in moving:
                d_b = twists[b][1]
                block[a][b] = inertia.m * dot(d_a, d_b) + dot(w_a, turns[b]) + (dot(d_a, swings[b]) + dot(d_b, swings[a]))
        return block


def _vanishes(angular: Vec, linear: Vec) -> bool:
    """Whether a coordinate does not move the frame: most nodes of a finite-element link leave its tip in place."""
    return all(x.is_zero for x in (*angular, *linear))


class MotionPlan(ABC):
    """The plan of a motion before there is a graph: properties for the frame assignment, and the construction."""

    axis: Vector | None = None
    """The axis in the joint frame, which becomes z of the frame; None where the frame keeps the joint's axes."""
    size: int = 1
    """Number of its velocities."""
    extra: int = 0
    """How many more coordinates than velocities it has; in q they come last."""
    may_rotate: bool = False
    """Whether the frame can be rotated about and shifted along z without a change of the motion."""

    def unnoticed(self, J: Array) -> Array:
        """Return the part of a 4 x 4 pseudo-inertia in the moving frame that the motion does not move; unknown: nothing."""
        return np.zeros((4, 4))

    @abstractmethod
    def build(self, lower: Lowering, rotation: Rotation) -> tuple[FrameMotion, Rotation]:
        """Build the motion; return it with the rest of the rotation (about z, x, z) to the place it starts from."""
