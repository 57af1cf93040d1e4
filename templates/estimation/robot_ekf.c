/**
 * @file  robot_ekf.c
 * @brief Extended Kalman filter, documented in robot_ekf.h.
 */

#include "robot_ekf.h"

#include <float.h>
#include <math.h>

#include "robot_ekf_calls.h"
#include "robot_ekf_series.h"
#include "robot_ekf_covariance.h"

void robot_ekf_init(robot_ekf_t *ekf, const robot_real_t *q, const robot_real_t *qd, const robot_real_t *position_error,
    const robot_real_t *velocity_error)
{
    for (int i = 0; i < ROBOT_NQ; ++i) {
        ekf->q[i] = q[i];
    }
    for (int i = 0; i < ROBOT_NV; ++i) {
        ekf->qd[i] = qd[i];
        ekf->force[i] = REAL(0.0);
    }
    for (int i = 0; i < ROBOT_EKF_NY; ++i) {
        ekf->noise[i] = REAL(1.0);
        ekf->innovation[i] = REAL(0.0);
    }
    ekf->distance = REAL(0.0);
    ekf->used = 0;
    for (int i = 0; i < (ROBOT_EKF_NX * ROBOT_EKF_NX); ++i) {
        ekf->P[i] = REAL(0.0);
    }
    for (int i = 0; i < ROBOT_EKF_NX; ++i) {
        const robot_real_t error = (i < ROBOT_NV) ? position_error[i] : velocity_error[i - ROBOT_NV];
        ekf->P[(i * ROBOT_EKF_NX) + i] = robot_ekf_stored(error);
    }
}

/* Move the estimate by dx, on the manifold of the coordinates. */
static void robot_ekf_move(robot_ekf_t *ekf, const robot_params_t *p)
{
#if ROBOT_QUATERNIONS
    robot_integrate(p, ekf->q, ekf->dx, ekf->moved);
    for (int i = 0; i < ROBOT_NQ; ++i) {
        ekf->q[i] = ekf->moved[i];
    }
#else
    (void)p;
    for (int i = 0; i < ROBOT_NQ; ++i) {
        ekf->q[i] += ekf->dx[i];
    }
#endif
    for (int i = 0; i < ROBOT_NV; ++i) {
        ekf->qd[i] += ekf->dx[ROBOT_NV + i];
    }
}

int robot_ekf_predict(robot_ekf_t *ekf, const robot_params_t *p, const robot_real_t *F, robot_real_t dt)
{
    int status = ((dt > REAL(0.0)) && (dt <= ROBOT_LARGEST)) ? ROBOT_EKF_OK : ROBOT_EKF_ERROR;
    if (status == ROBOT_EKF_OK) {
        status = robot_ekf_linearize(ekf, p, F, dt);
    }
    if (status == ROBOT_EKF_OK) {
        status = robot_ekf_series(ekf);
    }
    if (status == ROBOT_EKF_OK) {
        robot_ekf_propagate(ekf);
        for (int i = 0; i < ROBOT_EKF_NX; ++i) {
            ekf->dx[i] = ekf->step[(i * ROBOT_EKF_COLUMNS) + ROBOT_EKF_COLUMNS - 1];
        }
        robot_ekf_move(ekf, p);
    }
    return status;
}

int robot_ekf_correct(robot_ekf_t *ekf, const robot_params_t *p, const robot_real_t *F, const robot_real_t *y)
{
    int status = (robot_ekf_measure(ekf, p, F) == 0) ? ROBOT_EKF_OK : ROBOT_EKF_ERROR;
    for (int i = 0; i < ROBOT_EKF_NX; ++i) {
        ekf->dx[i] = REAL(0.0);
    }
    for (int i = 0; i < (ROBOT_EKF_NY * ROBOT_EKF_NX); ++i) {
        status = (ROBOT_FABS(ekf->H[i]) <= ROBOT_LARGEST) ? status : ROBOT_EKF_ERROR;
    }
    for (int r = 0; r < ROBOT_EKF_NY; ++r) {
        const int known = (ROBOT_FABS(ekf->y[r]) <= ROBOT_LARGEST) && (ekf->noise[r] > REAL(0.0));
        status = known ? status : ROBOT_EKF_ERROR;
    }
    if (status == ROBOT_EKF_OK) {
        ekf->distance = REAL(0.0);
        ekf->used = 0;
        for (int r = 0; r < ROBOT_EKF_NY; ++r) {
            const int given = ROBOT_FABS(y[r]) <= ROBOT_LARGEST;
            ekf->innovation[r] = given ? (y[r] - ekf->y[r]) : REAL(0.0);
            if (given) {
                robot_ekf_correct_by(ekf, r);
            }
        }
        robot_ekf_move(ekf, p);
    }
    return status;
}

int robot_ekf_step(
    robot_ekf_t *ekf, const robot_params_t *p, const robot_real_t *F, const robot_real_t *y, robot_real_t dt)
{
    const int status = robot_ekf_predict(ekf, p, F, dt);
    return (status == ROBOT_EKF_OK) ? robot_ekf_correct(ekf, p, F, y) : status;
}
