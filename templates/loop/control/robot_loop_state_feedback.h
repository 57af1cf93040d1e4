/* Part of robot_loop.c: the controller by a matrix of gains. */
#ifndef ROBOT_LOOP_STATE_FEEDBACK_H
#define ROBOT_LOOP_STATE_FEEDBACK_H

#include "robot_loop_pd.h"

/* F_ref, with the inverse dynamics of the reference if asked, and the errors (q - q_ref, qd - qd_ref). */
static int robot_loop_ahead(const robot_loop_view_t *view, robot_real_t *F, robot_real_t *error)
{
#if ROBOT_PASSIVE
    robot_real_t accelerations[ROBOT_NV];
#endif
    int status = 0;
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
        F[i] += view->F_ref[i];
    }
    return status;
}

/* F -= weight K error, K row-major. */
static void robot_loop_feed_back(const robot_real_t *K, robot_real_t weight, const robot_real_t *error, robot_real_t *F)
{
    for (int i = 0; i < ROBOT_NV; ++i) {
        robot_real_t sum = REAL(0.0);
        for (int j = 0; j < (2 * ROBOT_NV); ++j) {
            sum += K[(i * 2 * ROBOT_NV) + j] * error[j];
        }
        F[i] -= weight * sum;
    }
}

int robot_loop_state_feedback(void *context, const robot_loop_view_t *view, robot_real_t *F)
{
    robot_real_t error[2 * ROBOT_NV];
    const int status = robot_loop_ahead(view, F, error);
    (void)context;
    robot_loop_feed_back(&view->tuning->K[0][0], REAL(1.0), error, F);
    return status;
}

#endif /* ROBOT_LOOP_STATE_FEEDBACK_H */
