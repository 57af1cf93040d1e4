/* Part of robot_ekf.c: functions of the model as the filter calls them, a sample of what is generated. */
#ifndef ROBOT_EKF_CALLS_H
#define ROBOT_EKF_CALLS_H

#include "robot_ekf.h"

#if ROBOT_QUATERNIONS
/* First velocity of each turn, and of the slide of a floating joint (-1: none). */
static const int robot_ekf_turns[ROBOT_QUATERNIONS][2] = {{2, -1}};
#endif

static int robot_ekf_call_forward_dynamics(
    const robot_params_t *p, const robot_real_t *q, const robot_real_t *qd, const robot_real_t *F, robot_real_t *qdd)
{
    return robot_forward_dynamics(p, q, qd, F, qdd);
}

static int robot_ekf_call_forward_dynamics_derivatives(const robot_params_t *p, const robot_real_t *q,
    const robot_real_t *qd, const robot_real_t *F, robot_real_t *by_q, robot_real_t *by_qd, robot_real_t *by_F)
{
    return robot_forward_dynamics_derivatives(p, q, qd, F, by_q, by_qd, by_F);
}

/* Readings at the estimate into y, their derivatives into H. */
static int robot_ekf_measure(robot_ekf_t *ekf, const robot_params_t *p, const robot_real_t *F)
{
    robot_real_t by_q[ROBOT_EKF_NY * ROBOT_NV];
    robot_real_t by_qd[ROBOT_EKF_NY * ROBOT_NV];
    int status = 0;
    (void)F;
    robot_measurement(p, ekf->q, ekf->qd, ekf->y);
    robot_measurement_derivatives(p, ekf->q, ekf->qd, by_q, by_qd);
    for (int r = 0; r < ROBOT_EKF_NY; ++r) {
        for (int k = 0; k < ROBOT_NV; ++k) {
            ekf->H[(r * ROBOT_EKF_NX) + k] = by_q[(r * ROBOT_NV) + k];
            ekf->H[(r * ROBOT_EKF_NX) + ROBOT_NV + k] = by_qd[(r * ROBOT_NV) + k];
        }
    }
    return status;
}

#endif /* ROBOT_EKF_CALLS_H */
