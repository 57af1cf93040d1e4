"""The Christoffel form of the Coriolis matrix, directly: C_ij = sum over bodies of int J_i . dJ_j/dt dm.

J_i = dr/dq_i is the velocity field of joint i. Its Christoffel symbols are int J_i . d2r/(dq_j dq_k) dm, so that this C is
*the* Christoffel matrix: dM/dt - 2C is skew. Per composite body it takes H = int v r^T dm and h = int v dm, with v the
velocity of a point relative to the frame's origin. H is kept as its symmetric and its antisymmetric part, because a rotation
turns those with few operations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from elastogen.generator.algorithms.newton_euler import Placed
from elastogen.generator.mechanism.mechanism import Mechanism
from elastogen.generator.program.graph import Value
from elastogen.generator.spatial.inertia import Inertia
from elastogen.generator.spatial.vectors import Mat, Rotation, Symmetric, Vec, add, cross, dot, scale, times


@dataclass(frozen=True)
class VelocityMoments:
    """h = int v dm, and H = int v r^T dm = A + {b x} with A symmetric."""

    h: Vec
    A: Symmetric
    b: Vec

    @staticmethod
    def of_body(inertia: Inertia, omega: Vec) -> VelocityMoments:
        """For a body turning with omega: v = omega x r, H = {omega x} P."""
        h = cross(omega, inertia.S)
        P = inertia.P.full
        columns = [cross(omega, [P[0][k], P[1][k], P[2][k]]) for k in range(3)]
        return VelocityMoments(h, *_parts([[columns[c][r] for c in range(3)] for r in range(3)]))

    def turned(self, R: Rotation) -> VelocityMoments:
        """In the components of the outer frame."""
        return VelocityMoments(R.outward(self.h), R.outward_symmetric(self.A), R.outward(self.b))

    def plus(self, other: VelocityMoments) -> VelocityMoments:
        """Of both bodies together."""
        return VelocityMoments(add(self.h, other.h), self.A + other.A, add(self.b, other.b))

    def shifted(self, body: Inertia, p: Vec, v: Vec) -> VelocityMoments:
        """From an origin at p that moves with v: H' = H + h p^T + v S'^T, S' = S + m p."""
        S = add(body.S, scale(p, body.m))
        outer = [[self.h[r] * p[c] + v[r] * S[c] for c in range(3)] for r in range(3)]
        A, b = _parts(outer)
        return VelocityMoments(add(self.h, scale(v, body.m)), self.A + A, add(self.b, b))

    @property
    def swing(self) -> Mat:
        """Tr(H) E - H: its product with an axis is int r x (axis x v) dm, that of its transposed int v x (axis x r) dm."""
        A, (x, y, z) = self.A, self.b
        return [
            [A.yy + A.zz, z - A.xy, -(A.xz + y)],
            [-(A.xy + z), A.xx + A.zz, x - A.yz],
            [y - A.xz, -(A.yz + x), A.xx + A.yy],
        ]


def _parts(H: Mat) -> tuple[Symmetric, Vec]:
    """Symmetric part A and b of the antisymmetric part {b x}."""
    half = H[0][0].graph.value(0.5)
    A = Symmetric(
        H[0][0], (H[0][1] + H[1][0]) * half, (H[0][2] + H[2][0]) * half,
        H[1][1], (H[1][2] + H[2][1]) * half, H[2][2],
    )  # fmt: skip
    return A, [(H[2][1] - H[1][2]) * half, (H[0][2] - H[2][0]) * half, (H[1][0] - H[0][1]) * half]


@dataclass(frozen=True)
class CompositeMoments:
    """Of every frame's bodies together with all further out: inertia and moments of velocity about the frame's origin.

    ``drifts`` are the velocities of the origins relative to their parents', in the parents' components.
    """

    bodies: list[Inertia]
    moments: list[VelocityMoments]
    drifts: list[Vec]


def composite_moments(
    mechanism: Mechanism, placed: Sequence[Placed], omegas: Sequence[Vec], qd: Sequence[Value]
) -> CompositeMoments:
    """Collect the bodies of a rigid robot from the tips inward."""
    zero = mechanism.graph.value(0)
    bodies = [frame.inertia for frame in mechanism.frames]
    moments = [VelocityMoments.of_body(body, omega) for body, omega in zip(bodies, omegas, strict=True)]
    drifts: list[Vec] = [[zero] * 3] * len(bodies)
    for index in reversed(range(len(bodies))):
        frame, R = mechanism.frames[index], placed[index].rotation
        ((_, linear),) = frame.motion.twists([qd[index]])
        slide = R.outward([component * qd[index] for component in linear])
        if frame.parent >= 0:
            with mechanism.graph.section(f"{frame.label}: composite body"):
                drifts[index] = add(cross(omegas[frame.parent], placed[index].position), slide)
                body = replace(bodies[index], S=R.outward(bodies[index].S), P=R.outward_symmetric(bodies[index].P))
                moved = moments[index].turned(R).shifted(body, placed[index].position, drifts[index])
                moments[frame.parent] = moments[frame.parent].plus(moved)
                bodies[frame.parent] = bodies[frame.parent] + body.shifted(placed[index].position)
    return CompositeMoments(bodies, moments, drifts)


def coriolis_matrix(mechanism: Mechanism, placed: Sequence[Placed], omegas: Sequence[Vec], qd: Sequence[Value]) -> Mat:
    """C(q, qd) of a rigid robot from composite bodies; cost grows with the number of pairs of joints on one chain."""
    n = mechanism.size
    zero = mechanism.graph.value(0)
    for frame in reversed(mechanism.frames):  # a row beside the next composite body: independent, so they overlap
        parts = ("row and column of the Coriolis matrix", "composite body")
        mechanism.graph.outline(f"{frame.label}: {part}" for part in parts)
    composite = composite_moments(mechanism, placed, omegas, qd)
    C = [[zero] * n for _ in range(n)]
    for i in range(n):
        with mechanism.graph.section(f"{mechanism.frames[i].label}: row and column of the Coriolis matrix"):
            _fill(mechanism, placed, omegas, composite, i, C)
    return C


def _fill(
    mechanism: Mechanism,
    placed: Sequence[Placed],
    omegas: Sequence[Vec],
    composite: CompositeMoments,
    i: int,
    C: Mat,
) -> None:
    """C_ij and C_ji for joint i and all joints j inward of it."""
    body, H = composite.bodies[i], composite.moments[i]
    ((axis, slide),) = mechanism.frames[i].motion.twists([mechanism.graph.value(0)])
    # force, moment: int J_i dm, int r x J_i dm; spin: int v x J_i dm; rate_*: the first two with dJ_i/dt for J_i
    force, moment = body.times_twist(axis, slide)
    columns = [list(column) for column in zip(*H.swing, strict=True)]
    spin = add(times(columns, axis), cross(H.h, slide))
    rate_force, rate_moment = body.times_twist(cross(omegas[i], axis), cross(omegas[i], slide))
    rate_force, rate_moment = add(rate_force, cross(axis, H.h)), add(rate_moment, times(H.swing, axis))
    j = i
    while True:
        frame = mechanism.frames[j]
        ((axis, slide),) = frame.motion.twists([mechanism.graph.value(0)])
        C[j][i] = dot(axis, rate_moment) + dot(slide, rate_force)
        turning = dot(moment, cross(omegas[j], axis)) + dot(spin, axis)
        C[i][j] = turning + dot(force, cross(omegas[j], slide))
        if frame.parent < 0:
            return
        R, p = placed[j].rotation, placed[j].position
        force, rate_force = R.outward(force), R.outward(rate_force)
        moment = add(R.outward(moment), cross(p, force))
        spin = add(R.outward(spin), cross(composite.drifts[j], force))
        rate_moment = add(R.outward(rate_moment), cross(p, rate_force))
        j = frame.parent
