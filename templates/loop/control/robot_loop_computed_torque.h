/* Part of robot_loop.c: computed torque. */
#ifndef ROBOT_LOOP_COMPUTED_TORQUE_H
#define ROBOT_LOOP_COMPUTED_TORQUE_H

#include "robot_loop_pd.h"

/* Inverse dynamics; what has no drive moves freely. */
static int robot_loop_dynamics(
    const robot_params_t *p, const robot_real_t *q, const robot_real_t *qd, const robot_real_t *qdd, robot_real_t *F)
{
#if ROBOT_HYBRID
    robot_real_t accelerations[ROBOT_NV];
    return robot_loop_call_elastic_inverse_dynamics(p, q, qd, qdd, F, accelerations);
#else
    return robot_loop_call_inverse_dynamics(p, q, qd, qdd, F);
#endif
}

int robot_loop_computed_torque(void *context, const robot_loop_view_t *view, robot_real_t *F)
{
    int status = 0;
    robot_real_t pd[ROBOT_NV];
    (void)context;
    for (int i = 0; i < ROBOT_NV; ++i) {
        pd[i] = robot_loop_pd(view, i);
    }
    status = robot_law_computed_torque(robot_loop_dynamics, view->p, view->q, view->qd, view->qdd_ref, pd, F);
    for (int i = 0; i < ROBOT_NV; ++i) {
        F[i] += view->F_ref[i];
    }
    return status;
}

#endif /* ROBOT_LOOP_COMPUTED_TORQUE_H */
