"""Inertia of a body whose outward joints move freely: a symmetric 6 x 6 matrix (Featherstone 2008, 7.1).

It gives the moment J eps + H a about the origin of its frame and the force H^T eps + N a that the accelerations eps
(angular) and a (of the origin) of a body at rest need.
"""

from __future__ import annotations

from dataclasses import dataclass

from elastogen.generator.program.graph import Value
from elastogen.generator.spatial.inertia import Inertia
from elastogen.generator.spatial.vectors import Mat, Rotation, Symmetric, Vec, add, cross, dot


@dataclass(frozen=True)
class ArticulatedInertia:
    """The blocks J (angular), H (angular by linear) and N (linear)."""

    J: Symmetric
    H: Mat
    N: Symmetric

    @staticmethod
    def of(inertia: Inertia) -> ArticulatedInertia:
        """Of a rigid body: J = tr(P) E - P, H = {S x}, N = m E."""
        m, (x, y, z), P = inertia.m, inertia.S, inertia.P
        zero = m.graph.value(0)
        J = Symmetric(P.yy + P.zz, -P.xy, -P.xz, P.xx + P.zz, -P.yz, P.xx + P.yy)
        return ArticulatedInertia(J, [[zero, -z, y], [z, zero, -x], [-y, x, zero]], Symmetric(m, zero, zero, m, zero, m))

    def __add__(self, other: ArticulatedInertia) -> ArticulatedInertia:
        H = [add(row, theirs) for row, theirs in zip(self.H, other.H, strict=True)]
        return ArticulatedInertia(self.J + other.J, H, self.N + other.N)

    def times(self, angular: Vec, linear: Vec) -> Vec:
        """The moment, then the force, for a twist."""
        columns = [list(column) for column in zip(*self.H, strict=True)]
        moment = [dot(j, angular) + dot(h, linear) for j, h in zip(self.J.full, self.H, strict=True)]
        force = [dot(h, angular) + dot(n, linear) for h, n in zip(columns, self.N.full, strict=True)]
        return [*moment, *force]

    def without(self, U: Vec, weighted: Vec, unit: int | None) -> ArticulatedInertia:
        """Less U U^T / D, where ``weighted`` is U / D: the inertia after a coordinate is eliminated.

        ``unit`` is the number of the coordinate's direction where that is a unit vector: nothing is left in it.
        """
        zero = U[0].graph.value(0)

        def left(value: Value, r: int, c: int) -> Value:
            return zero if unit in (r, c) else value - weighted[r] * U[c]

        J, N = self.J.full, self.N.full
        return ArticulatedInertia(
            Symmetric.of([[left(J[r][c], r, c) if r <= c else zero for c in range(3)] for r in range(3)]),
            [[left(self.H[r][c], r, c + 3) for c in range(3)] for r in range(3)],
            Symmetric.of([[left(N[r][c], r + 3, c + 3) if r <= c else zero for c in range(3)] for r in range(3)]),
        )

    def outward(self, rotation: Rotation, p: Vec) -> ArticulatedInertia:
        """In the frame of the parent, from which this frame is rotated by ``rotation`` and whose origin is at p in it."""
        J, N = rotation.outward_symmetric(self.J), rotation.outward_symmetric(self.N)
        H = rotation.outward_matrix(self.H)
        rows = N.full  # symmetric: rows are columns
        lever = [cross(p, column) for column in rows]  # columns of {p x} N
        moved = [[H[r][c] + lever[c][r] for c in range(3)] for r in range(3)]  # H' = H + {p x} N
        # J' = J - H {p x} + {p x} H'^T: row r of H {p x} is H_r x p, column c of {p x} H'^T is p x H'_c
        first = [cross(row, p) for row in H]
        second = [cross(p, row) for row in moved]
        full = J.full
        rotated = [[full[r][c] - first[r][c] + second[c][r] for c in range(3)] for r in range(3)]
        return ArticulatedInertia(Symmetric.of(rotated), moved, N)
