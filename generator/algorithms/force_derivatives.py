"""Derivatives of the driving forces by coordinates and velocities, from composite bodies: no differentiation of programs.

F_i = int J_i . a dm, with J_i = dr/dq_i the velocity field of joint i and a the acceleration of a point, less gravity. Since
da/dq_j = d^2 J_j/dt^2 and da/dqd_j = 2 dJ_j/dt,

    dF_i/dqd_j = 2 int J_i . dJ_j/dt dm = 2 C_ij,
    dF_i/dq_j  = int J_i . d^2 J_j/dt^2 dm + int d^2 r/(dq_i dq_j) . a dm,   d^2 r/(dq_i dq_j) = e_inner x J_outer.

With the axis e, e' = omega x e, e'' = U e, the slide s, s'' = U s, the acceleration a_0 of the origin, and force f and moment n
of the composite body (those of Newton-Euler), both integrals together are, for j at or outward of i, the projection on i of

    force   F = m (s'' - e x a_0) + V S + 2 e' x h + e x f
    moment  T = S x (s'' - e x a_0) + 2 vee(V P) + 2 int r x (e' x v) dm + e x n + s x f

of the body of j: what is further out rotates as one, so its forces rotate with it (e x f, e x n), and it meets the motion of
its frame rotated the other way. V = U {e x} - {e x} U is the change of U, h and v are relative to the frame as in coriolis.py,
2 vee(A) are the differences A_zy - A_yz, A_xz - A_zx, A_yx - A_xy. For j inward of i they are

    e'' . int r x J_i dm + 2 e' . int v x J_i dm + (s'' - e x a_0) . int J_i dm      (e, s of j, r and whole v from its origin).

The same as the spatial identities of Carpentier and Mansard (2018) and of Singh, Russell and Wensing (2022), in few operations.
"""

from __future__ import annotations

from collections.abc import Sequence

from elastogen.generator.algorithms.coriolis import CompositeMoments, composite_moments, joint_moments
from elastogen.generator.algorithms.newton_euler import MotionState, Placed, body_wrenches, carry_inward, moment_of
from elastogen.generator.mechanism.mechanism import Mechanism
from elastogen.generator.program.graph import Value
from elastogen.generator.spatial.vectors import Mat, Vec, add, cross, dot, scale, sub, times


def forces_by_q(
    mechanism: Mechanism,
    placed: Sequence[Placed],
    motions: Sequence[MotionState],
    q: Sequence[Value],
    qd: Sequence[Value],
    qdd: Sequence[Value],
    moment: str,
) -> Mat:
    """Return dF/dq of M qdd + C qd + G for robots whose frames all move by one joint coordinate."""
    n, zero = mechanism.size, mechanism.graph.value(0)
    composite = composite_moments(mechanism, placed, [motion.omega for motion in motions], qd)
    wrenches: dict[int, tuple[Vec, Vec]] = {}

    def keep(index: int, force: Vec, torque: Vec) -> None:
        wrenches[index] = (force, torque)

    carry_inward(mechanism, placed, body_wrenches(mechanism, motions, q, qd, qdd, moment), keep)
    rates = [_rates(mechanism, k, motion) for k, motion in enumerate(motions)]
    result = [[zero] * n for _ in range(n)]
    for i in range(n):
        with mechanism.graph.section(f"{mechanism.frames[i].label}: row and column of dF/dq"):
            _fill(mechanism, placed, composite, wrenches[i], rates, motions[i], i, result)
    return result


def _rates(mechanism: Mechanism, index: int, motion: MotionState) -> tuple[Vec, Vec, Vec]:
    """Return e', e'' and s'' - e x a_0 of a joint."""
    ((e, s),) = mechanism.frames[index].motion.twists([mechanism.graph.value(0)])
    return cross(motion.omega, e), times(motion.U, e), sub(times(motion.U, s), cross(e, motion.a))


def _rotated(U: Mat, e: Vec) -> Mat:
    """Return U {e x} - {e x} U: how U changes while outward bodies rotate about e, seen from there."""
    rows = [[-x for x in cross(e, row)] for row in U]  # of U {e x}
    columns = [cross(e, list(column)) for column in zip(*U, strict=True)]  # of {e x} U
    return [[rows[r][c] - columns[c][r] for c in range(3)] for r in range(3)]


def _fill(
    mechanism: Mechanism,
    placed: Sequence[Placed],
    composite: CompositeMoments,
    wrench: tuple[Vec, Vec],
    rates: Sequence[tuple[Vec, Vec, Vec]],
    motion: MotionState,
    i: int,
    result: Mat,
) -> None:
    """Set entries ij and ji for joint i and all joints j inward of it."""
    body, moved = composite.bodies[i], composite.moments[i]
    (twist,) = mechanism.frames[i].motion.twists([mechanism.graph.value(0)])
    own = joint_moments(composite, i, twist, motion.omega)
    force, moment, spin = own.force, own.moment, own.spin
    (e, s), (once, _, drift) = twist, rates[i]
    both, rotated = [2 * x for x in once], _rotated(motion.U, e)
    F = add(add(scale(drift, body.m), times(rotated, body.S)), add(cross(both, moved.h), cross(e, wrench[0])))
    T = add(add(moment_of(rotated, body), cross(body.S, drift)), times(moved.swing, both))
    T = add(T, add(cross(e, wrench[1]), cross(s, wrench[0])))
    j = i
    while True:
        frame = mechanism.frames[j]
        ((e, s),) = frame.motion.twists([mechanism.graph.value(0)])
        result[j][i] = dot(e, T) + dot(s, F)
        if j != i:
            once, twice, drift = rates[j]
            result[i][j] = dot(twice, moment) + 2 * dot(once, spin) + dot(drift, force)
        if frame.parent < 0:
            return
        R, p = placed[j].rotation, placed[j].position
        force, F = R.outward(force), R.outward(F)
        moment = add(R.outward(moment), cross(p, force))
        spin = add(R.outward(spin), cross(composite.drifts[j], force))
        T = add(R.outward(T), cross(p, F))
        j = frame.parent
