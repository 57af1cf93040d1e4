/**
 * @file  robot_ekf.h
 * @brief Extended Kalman filter: the state, elastic coordinates included, from what sensors read.
 */

/*
 * SI units, radians. No heap, no I/O, all state is the caller's: any number of filters, threads and interrupts at once.
 *
 * Prediction over dt with the forces F held, A = d(qd, qdd)/d(q, qd) and f = (qd, qdd) at the estimate:
 *     x  <-  x + (integral of exp(A s) from 0 to dt) f
 *     P  <-  A_d P A_d^T + B_d diag(force^2) B_d^T,   A_d = exp(A dt), B_d = integral of exp(A s) M^-1
 * so that stiff elastic coordinates need no small steps. Correction by each reading y_i, h its row of dy/dx:
 *     K = P h / (h^T P h + noise_i^2),   x  <-  x + K (y_i - h_i(x)),
 * in double precision in Joseph's form, which keeps P symmetric and positive,
 *     P  <-  (1 - K h^T) P (1 - K h^T)^T + K noise_i^2 K^T,
 * in single precision with the square root S of P = S S^T (Potter's form: P stays positive whatever is rounded),
 *     f = S^T h,   S  <-  S - a / (1 + noise_i sqrt(a)) (S f) f^T,   a = 1 / (f^T f + noise_i^2),
 * which the prediction gets by making [A_d S, B_d force] triangular.
 */

#ifndef ROBOT_EKF_H
#define ROBOT_EKF_H

#include "robot.h"

#include <stddef.h>

#define ROBOT_EKF_NX      (2 * ROBOT_NV)                /* errors of q, along the velocities, and of qd */
#define ROBOT_EKF_NY      ROBOT_READINGS                /* numbers that the sensors read */
#define ROBOT_EKF_COLUMNS (ROBOT_EKF_NX + ROBOT_NV + 1) /* of what is integrated over a step: A, M^-1, f */
#define ROBOT_EKF_OK      0                             /* done */
#define ROBOT_EKF_ERROR   (-1)                          /* NaN, infinity, or no forward dynamics: nothing changed */

#ifdef __cplusplus
extern "C" {
#endif

/** A filter. The first block is the user's to read and to set; the others are its memory. */
typedef struct {
    robot_real_t q[ROBOT_NQ];              /**< estimate of the coordinates [rad, m] */
    robot_real_t qd[ROBOT_NV];             /**< estimate of the velocities [rad/s, m/s] */
    robot_real_t force[ROBOT_NV];          /**< standard deviations of unknown forces, held for a step [N m, N] */
    robot_real_t noise[ROBOT_EKF_NY];      /**< standard deviations of the readings, in their units; above 0 */
    robot_real_t innovation[ROBOT_EKF_NY]; /**< readings less what was expected, of the last step */
    robot_real_t distance;                 /**< sum of squared innovations over their variances, of the last step */
    int used;                              /**< readings of the last step; those that are NaN are left out */

    robot_real_t P[ROBOT_EKF_NX * ROBOT_EKF_NX]; /**< covariance, or its square root: see robot_ekf_covariance */

    robot_real_t part[ROBOT_EKF_NX * ROBOT_EKF_COLUMNS];
    robot_real_t term[ROBOT_EKF_NX * ROBOT_EKF_COLUMNS];
    robot_real_t step[ROBOT_EKF_NX * ROBOT_EKF_COLUMNS];
    robot_real_t next[ROBOT_EKF_NX * ROBOT_EKF_COLUMNS];
    robot_real_t by_q[ROBOT_NV * ROBOT_NV], by_qd[ROBOT_NV * ROBOT_NV], by_F[ROBOT_NV * ROBOT_NV];
    robot_real_t H[ROBOT_EKF_NY * ROBOT_EKF_NX], y[ROBOT_EKF_NY];
    robot_real_t dx[ROBOT_EKF_NX], h[ROBOT_EKF_NX], f[ROBOT_EKF_NX], g[ROBOT_EKF_NX];
    robot_real_t moved[ROBOT_NQ], qdd[ROBOT_NV];
} robot_ekf_t;

/**
 * @brief Start a filter; afterwards set force and noise.
 *
 * @param[out] ekf  the filter
 * @param[in]  q  coordinates, ROBOT_NQ values
 * @param[in]  qd  velocities, ROBOT_NV values
 * @param[in]  position_error  standard deviations of q along the velocities, ROBOT_NV values [rad, m]
 * @param[in]  velocity_error  standard deviations of qd, ROBOT_NV values [rad/s, m/s]
 */
void robot_ekf_init(robot_ekf_t *ekf, const robot_real_t *q, const robot_real_t *qd, const robot_real_t *position_error,
    const robot_real_t *velocity_error);

/**
 * @brief Move the estimate on by dt with the forces F held.
 *
 * @param[in,out] ekf  the filter
 * @param[in]     p  live parameters
 * @param[in]     F  forces of the drives, ROBOT_NV values [N m, N]
 * @param[in]     dt  step [s], above 0
 * @return ROBOT_EKF_OK or ROBOT_EKF_ERROR
 */
int robot_ekf_predict(robot_ekf_t *ekf, const robot_params_t *p, const robot_real_t *F, robot_real_t dt);

/**
 * @brief Correct the estimate by readings of its time.
 *
 * @param[in,out] ekf  the filter
 * @param[in]     p  live parameters
 * @param[in]     F  forces at that time, ROBOT_NV values [N m, N]
 * @param[in]     y  readings, ROBOT_EKF_NY values; one that is NaN is left out
 * @return ROBOT_EKF_OK or ROBOT_EKF_ERROR
 */
int robot_ekf_correct(robot_ekf_t *ekf, const robot_params_t *p, const robot_real_t *F, const robot_real_t *y);

/**
 * @brief One cycle: robot_ekf_predict with the forces that were held until now, then robot_ekf_correct.
 *
 * @param[in,out] ekf  the filter
 * @param[in]     p  live parameters
 * @param[in]     F  forces that were held until now, ROBOT_NV values [N m, N]
 * @param[in]     y  readings now, ROBOT_EKF_NY values; one that is NaN is left out
 * @param[in]     dt  time since the last step [s], above 0
 * @return ROBOT_EKF_OK or ROBOT_EKF_ERROR
 */
int robot_ekf_step(
    robot_ekf_t *ekf, const robot_params_t *p, const robot_real_t *F, const robot_real_t *y, robot_real_t dt);

/**
 * @brief Covariance of the errors of q, along the velocities, and of qd.
 *
 * @param[in]  ekf  the filter
 * @param[out] P  ROBOT_EKF_NX x ROBOT_EKF_NX, row-major
 */
void robot_ekf_covariance(const robot_ekf_t *ekf, robot_real_t *P);

#ifdef __cplusplus
}
#endif

#endif /* ROBOT_EKF_H */
