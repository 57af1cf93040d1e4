/* Part of robot_loop.c: the controller by a matrix of gains. */
#ifndef ROBOT_LOOP_STATE_FEEDBACK_H
#define ROBOT_LOOP_STATE_FEEDBACK_H

#include "robot_loop_pd.h"

int robot_loop_state_feedback(void *context, const robot_loop_view_t *view, robot_real_t *F)
{
    robot_real_t error[2 * ROBOT_NV];
#if ROBOT_PASSIVE
    robot_real_t accelerations[ROBOT_NV];
#endif
    int status = 0;
    (void)context;
    for (int i = 0; i < ROBOT_NV; ++i) {
#if ROBOT_QUATERNIONS
        error[i] = -view->error[i];
#else
        error[i] = view->q[i] - view->q_ref[i];
#endif
        error[ROBOT_NV + i] = view->qd[i] - view->qd_ref[i];
        F[i] = REAL(0.0);
    }
    if (view->tuning->feedforward != 0) {
#if ROBOT_PASSIVE
        status = robot_loop_call_elastic_inverse_dynamics(
            view->p, view->q_ref, view->qd_ref, view->qdd_ref, F, accelerations);
#else
        status = robot_loop_call_inverse_dynamics(view->p, view->q_ref, view->qd_ref, view->qdd_ref, F);
#endif
    }
    for (int i = 0; i < ROBOT_NV; ++i) {
        robot_real_t sum = F[i] + view->F_ref[i];
        for (int j = 0; j < (2 * ROBOT_NV); ++j) {
            sum -= view->tuning->K[i][j] * error[j];
        }
        F[i] = sum;
    }
    return status;
}

#endif /* ROBOT_LOOP_STATE_FEEDBACK_H */
