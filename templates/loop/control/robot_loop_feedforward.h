/* Part of robot_loop.c: feedforward. */
#ifndef ROBOT_LOOP_FEEDFORWARD_H
#define ROBOT_LOOP_FEEDFORWARD_H

#include "robot_loop_pd.h"
#if ROBOT_NE && !ROBOT_PASSIVE
#include "robot_loop_elastic_feedforward.h"
#else

int robot_loop_feedforward(void *context, const robot_loop_view_t *view, robot_real_t *F)
{
    int status = 0;
#if ROBOT_PASSIVE
    robot_real_t accelerations[ROBOT_NV]; /* what has no drive moves freely */
#endif
    (void)context;
#if ROBOT_PASSIVE
    status =
        robot_loop_call_elastic_inverse_dynamics(view->p, view->q_ref, view->qd_ref, view->qdd_ref, F, accelerations);
#else
    status = robot_loop_call_inverse_dynamics(view->p, view->q_ref, view->qd_ref, view->qdd_ref, F);
#endif
    for (int i = 0; i < ROBOT_NV; ++i) {
        F[i] += view->F_ref[i] + robot_loop_pd(view, i);
    }
    return status;
}
#endif

#endif /* ROBOT_LOOP_FEEDFORWARD_H */
