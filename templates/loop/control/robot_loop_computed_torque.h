/* Part of robot_loop.c: computed torque. */
#ifndef ROBOT_LOOP_COMPUTED_TORQUE_H
#define ROBOT_LOOP_COMPUTED_TORQUE_H

#include "robot_loop_pd.h"

int robot_loop_computed_torque(void *context, const robot_loop_view_t *view, robot_real_t *F)
{
    int status = 0;
    robot_real_t qdd[ROBOT_NV];
#if ROBOT_HYBRID
    robot_real_t accelerations[ROBOT_NV];
#endif
    (void)context;
    for (int i = 0; i < ROBOT_NV; ++i) {
        qdd[i] = view->qdd_ref[i] + robot_loop_pd(view, i);
    }
#if ROBOT_HYBRID
    status = robot_loop_call_elastic_inverse_dynamics(view->p, view->q, view->qd, qdd, F, accelerations);
#else
    status = robot_loop_call_inverse_dynamics(view->p, view->q, view->qd, qdd, F);
#endif
    for (int i = 0; i < ROBOT_NV; ++i) {
        F[i] += view->F_ref[i];
    }
    return status;
}

#endif /* ROBOT_LOOP_COMPUTED_TORQUE_H */
