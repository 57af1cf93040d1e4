/* Part of robot_loop.c: Newton steps to the elastic equilibrium. */
#ifndef ROBOT_LOOP_SETTLE_H
#define ROBOT_LOOP_SETTLE_H

#include "robot_loop_equilibrium.h"

/* Forces Q of the reference motion s seconds from now, continued by its derivatives, at the deflection x(s) at rest. */
static int robot_loop_load(
    const robot_loop_view_t *view, const robot_loop_elastic_t *elastic, robot_real_t s, robot_real_t *Q)
{
    static const robot_real_t none[ROBOT_NE] = {REAL(0.0)};
    const robot_real_t s2 = s / REAL(2.0), s3 = s / REAL(3.0), s4 = s / REAL(4.0);
    robot_real_t q[ROBOT_NQ], qd[ROBOT_NV], qdd[ROBOT_NV], x[ROBOT_NE];
#if ROBOT_QUATERNIONS
    robot_real_t way[ROBOT_NV];
#endif
    int status = 0;
    for (int i = 0; i < ROBOT_NV; ++i) {
        const robot_real_t a = view->qdd_ref[i], jerk = view->qddd_ref[i], snap = view->qdddd_ref[i];
#if !ROBOT_QUATERNIONS
        q[i] = view->q_ref[i] + (s * (view->qd_ref[i] + (s2 * (a + (s3 * (jerk + (s4 * snap)))))));
#else
        way[i] = s * (view->qd_ref[i] + (s2 * (a + (s3 * (jerk + (s4 * snap))))));
#endif
        qd[i] = view->qd_ref[i] + (s * (a + (s2 * (jerk + (s3 * snap)))));
        qdd[i] = a + (s * (jerk + (s2 * snap)));
    }
#if ROBOT_QUATERNIONS
    robot_integrate(view->p, view->q_ref, way, q); /* brackets of velocities are of the order of s^3 */
#endif
    for (int i = 0; i < ROBOT_NE; ++i) {
        x[i] = elastic->x[i] + (s * (elastic->xd[i] + (s2 * elastic->xdd[i])));
    }
    robot_loop_set_deflections(q, x);
    robot_loop_set_elastic(qd, none);
    robot_loop_set_elastic(qdd, none);
    status = robot_loop_call_inverse_dynamics(view->p, q, qd, qdd, Q);
    return status;
}

/* Newton steps with the constant compliance for x, x' and x'' at once: Q_e and its first two differences in time
 * vanish. */
static int robot_loop_settle(const robot_loop_view_t *view, robot_loop_elastic_t *elastic)
{
    const robot_real_t h = ROBOT_LOOP_STENCIL;
    robot_real_t before[ROBOT_NV], now[ROBOT_NV], after[ROBOT_NV], first[ROBOT_NV], second[ROBOT_NV];
    int status = 0;
    for (int round = 0; round < ROBOT_LOOP_ROUNDS; ++round) { /* the last cycle's equilibrium is close already */
        status |= robot_loop_load(view, elastic, -h, before);
        status |= robot_loop_load(view, elastic, REAL(0.0), now);
        status |= robot_loop_load(view, elastic, h, after);
        for (int i = 0; i < ROBOT_NV; ++i) {
            first[i] = after[i] - before[i];
            second[i] = (after[i] - now[i]) - (now[i] - before[i]);
        }
        robot_loop_relax(view->tuning, now, REAL(1.0), elastic->x);
        robot_loop_relax(view->tuning, first, REAL(1.0) / (REAL(2.0) * h), elastic->xd);
        robot_loop_relax(view->tuning, second, REAL(1.0) / (h * h), elastic->xdd);
    }
    return status;
}

#endif /* ROBOT_LOOP_SETTLE_H */
