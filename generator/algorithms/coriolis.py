"""The Christoffel form of the Coriolis matrix from composite bodies: C_ij = sum over bodies of int J_i . dJ_j/dt dm.

J_i = e x r + s is the velocity field of joint i, with its axis e and slide s. Its Christoffel symbols are
int J_i . d2r/(dq_j dq_k) dm, so that this C is *the* Christoffel matrix: dM/dt - 2C is skew. Per composite body it takes
H = int v r^T dm and h = int v dm, with v the velocity of a point *relative to the frame*, which rotates by omega. Its own
body does not move against it, and what is further out moves against the parent as against its own frame, and by J_i qd_i more:

    h' = R (h + qd_i int J_i dm),    H' = R (H + qd_i int J_i r^T dm) R^T + h' p^T.

What the rotation of the frame adds, v = omega x r, is in closed form where it is needed: int r x (omega x J) dm and
int (omega x r) x J dm follow from the second moments P = int r r^T dm.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from elastogen.generator.algorithms.newton_euler import Placed
from elastogen.generator.mechanism.mechanism import Mechanism
from elastogen.generator.program.graph import Value
from elastogen.generator.spatial.inertia import Inertia
from elastogen.generator.spatial.vectors import Mat, Rotation, Vec, add, cross, dot, scale, sub, times


@dataclass(frozen=True)
class VelocityMoments:
    """h = int v dm and H = int v r^T dm of a body, v relative to the frame and to its origin."""

    h: Vec
    H: Mat

    def plus(self, other: VelocityMoments) -> VelocityMoments:
        """Return the moments of both bodies together."""
        return VelocityMoments(add(self.h, other.h), [add(a, b) for a, b in zip(self.H, other.H, strict=True)])

    def in_parent(self, body: Inertia, twist: tuple[Vec, Vec], rate: Value, R: Rotation, p: Vec) -> VelocityMoments:
        """Return the same relative to the parent; the frame is at p, rotated by R, and moves by a twist times its rate."""
        e, s = twist
        J = add(cross(e, body.S), scale(s, body.m))  # int J dm
        rows = [cross(e, row) for row in body.P.full]  # columns of {e x} P, which is int (e x r) r^T dm
        K = [[rows[c][r] + s[r] * body.S[c] for c in range(3)] for r in range(3)]  # int J r^T dm
        h = R.outward([a + rate * b for a, b in zip(self.h, J, strict=True)])
        H = R.outward_matrix([[a + rate * b for a, b in zip(*pair, strict=True)] for pair in zip(self.H, K, strict=True)])
        return VelocityMoments(h, [[H[r][c] + h[r] * p[c] for c in range(3)] for r in range(3)])

    @property
    def swing(self) -> Mat:
        """Return Tr(H) E - H: times an axis it is int r x (axis x v) dm, its transpose int v x (axis x r) dm."""
        H = self.H
        return [
            [H[1][1] + H[2][2], -H[0][1], -H[0][2]],
            [-H[1][0], H[0][0] + H[2][2], -H[1][2]],
            [-H[2][0], -H[2][1], H[0][0] + H[1][1]],
        ]


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
    moments = [VelocityMoments([zero] * 3, [[zero] * 3] * 3)] * len(bodies)
    drifts: list[Vec] = [[zero] * 3] * len(bodies)
    for index in reversed(range(len(bodies))):
        frame, R, p = mechanism.frames[index], placed[index].rotation, placed[index].position
        (twist,) = frame.motion.twists([qd[index]])
        if frame.parent >= 0:
            with mechanism.graph.section(f"{frame.label}: composite body"):
                slide = R.outward([component * qd[index] for component in twist[1]])
                drifts[index] = add(cross(omegas[frame.parent], p), slide)
                moved = moments[index].in_parent(bodies[index], twist, qd[index], R, p)
                moments[frame.parent] = moments[frame.parent].plus(moved)
                body = replace(bodies[index], S=R.outward(bodies[index].S), P=R.outward_symmetric(bodies[index].P))
                bodies[frame.parent] = bodies[frame.parent] + body.shifted(p)
    return CompositeMoments(bodies, moments, drifts)


@dataclass(frozen=True)
class JointMoments:
    """The integrals over the composite body of joint i from which its row and column of C are made."""

    force: Vec  # int J dm
    moment: Vec  # int r x J dm
    spin: Vec  # int v x J dm, v of the points relative to the origin
    rate_force: Vec  # int dJ/dt dm
    rate_moment: Vec  # int r x dJ/dt dm


def joint_moments(composite: CompositeMoments, index: int, twist: tuple[Vec, Vec], omega: Vec) -> JointMoments:
    """Return the integrals about the frame's origin: dJ/dt = omega x J + e x v, with v relative to the frame here."""
    body, moments, (e, s) = composite.bodies[index], composite.moments[index], twist
    force, moment = body.times_twist(e, s)
    swing, trace, P = moments.swing, dot(s, body.S), body.P.full
    columns = [list(column) for column in zip(*swing, strict=True)]
    # int (omega x r) x J dm = K^T omega - Tr(K) omega, int r x (omega x J) dm = Tr(K) omega - K omega, K = int J r^T dm
    rotated = sub(add(times(P, cross(omega, e)), scale(body.S, dot(s, omega))), scale(omega, trace))
    spin = add(rotated, add(times(columns, e), cross(moments.h, s)))
    K_omega = add(cross(e, times(P, omega)), scale(s, dot(body.S, omega)))
    rate_force = add(cross(omega, force), cross(e, moments.h))
    rate_moment = add(sub(scale(omega, trace), K_omega), times(swing, e))
    return JointMoments(force, moment, spin, rate_force, rate_moment)


def coriolis_matrix(mechanism: Mechanism, placed: Sequence[Placed], omegas: Sequence[Vec], qd: Sequence[Value]) -> Mat:
    """Return C(q, qd) of a rigid robot from composite bodies; cost grows with the number of pairs of joints on one chain."""
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
    """Set C_ij and C_ji for joint i and all joints j inward of it."""
    (twist,) = mechanism.frames[i].motion.twists([mechanism.graph.value(0)])
    own = joint_moments(composite, i, twist, omegas[i])
    force, moment, spin, rate_force, rate_moment = own.force, own.moment, own.spin, own.rate_force, own.rate_moment
    j = i
    while True:
        frame = mechanism.frames[j]
        ((axis, slide),) = frame.motion.twists([mechanism.graph.value(0)])
        C[j][i] = dot(axis, rate_moment) + dot(slide, rate_force)
        rotating = dot(moment, cross(omegas[j], axis)) + dot(spin, axis)
        C[i][j] = rotating + dot(force, cross(omegas[j], slide))
        if frame.parent < 0:
            return
        R, p = placed[j].rotation, placed[j].position
        force, rate_force = R.outward(force), R.outward(rate_force)
        moment = add(R.outward(moment), cross(p, force))
        spin = add(R.outward(spin), cross(composite.drifts[j], force))
        rate_moment = add(R.outward(rate_moment), cross(p, rate_force))
        j = frame.parent
