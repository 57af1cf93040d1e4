/* Part of robot_loop.c: feedforward with elastic coordinates. */
#ifndef ROBOT_LOOP_ELASTIC_FEEDFORWARD_H
#define ROBOT_LOOP_ELASTIC_FEEDFORWARD_H

#include "robot_loop_settle.h"

int robot_loop_feedforward(void *context, const robot_loop_view_t *view, robot_real_t *F)
{
    robot_loop_elastic_t *const elastic = (robot_loop_elastic_t *)context;
    robot_real_t q[ROBOT_NQ], qd[ROBOT_NV], qdd[ROBOT_NV], x[ROBOT_NE];
    for (int i = 0; (view->begins != 0) && (i < ROBOT_NE); ++i) {
        elastic->x[i] = REAL(0.0); /* what an impossible reference left there */
        elastic->xd[i] = REAL(0.0);
        elastic->xdd[i] = REAL(0.0);
    }
    int status = robot_loop_settle(view, elastic);
    for (int i = 0; i < ROBOT_NQ; ++i) {
        q[i] = view->q_ref[i];
    }
    for (int i = 0; i < ROBOT_NV; ++i) {
        qd[i] = view->qd_ref[i];
        qdd[i] = view->qdd_ref[i];
    }
    for (int i = 0; i < ROBOT_NE; ++i) {
        x[i] = elastic->x[i];
    }
    robot_loop_set_elastic(qd, elastic->xd);
    robot_loop_set_elastic(qdd, elastic->xdd);
    for (int round = 0; round < ROBOT_LOOP_ROUNDS;
         ++round) { /* deflection under inertia and damping of its own motion */
        robot_loop_set_deflections(q, x);
        status |= robot_loop_call_inverse_dynamics(view->p, q, qd, qdd, F);
        robot_loop_relax(view->tuning, F, REAL(1.0), x);
    }
    robot_loop_set_deflections(q, x);
    status |= robot_loop_call_inverse_dynamics(view->p, q, qd, qdd, F);
    for (int i = 0; i < ROBOT_NV; ++i) {
        F[i] += view->F_ref[i] + robot_loop_pd(view, i);
    }
    return status;
}

#endif /* ROBOT_LOOP_ELASTIC_FEEDFORWARD_H */
