/* Part of robot_ekf.c: the linearized robot over a step, by the series of the exponential. */
#ifndef ROBOT_EKF_SERIES_H
#define ROBOT_EKF_SERIES_H

#include "robot_ekf.h"

#include "robot_ekf_calls.h"

#if ROBOT_SINGLE
#define ROBOT_EKF_TERMS 9 /* of the series, whose matrix has a norm of at most 1/4 */
#else
#define ROBOT_EKF_TERMS 15
#endif
#define ROBOT_EKF_HALVINGS 60 /* of the step, at most */

#if ROBOT_QUATERNIONS
/* -{v x} into a block of A: a displacement seen from a frame that turns. */
static void robot_ekf_turn_back(robot_ekf_t *ekf, int row, int column, const robot_real_t *v, robot_real_t dt)
{
    robot_real_t *const A = &ekf->part[(row * ROBOT_EKF_COLUMNS) + column];
    A[1] = dt * v[2];
    A[2] = -dt * v[1];
    A[ROBOT_EKF_COLUMNS] = -dt * v[2];
    A[ROBOT_EKF_COLUMNS + 2] = dt * v[0];
    A[2 * ROBOT_EKF_COLUMNS] = dt * v[1];
    A[(2 * ROBOT_EKF_COLUMNS) + 1] = -dt * v[0];
}
#endif

/* dt [A, M^-1, f] at the estimate into part. */
static int robot_ekf_linearize(robot_ekf_t *ekf, const robot_params_t *p, const robot_real_t *F, robot_real_t dt)
{
    int status =
        (robot_ekf_call_forward_dynamics(p, ekf->q, ekf->qd, F, ekf->qdd) == 0) ? ROBOT_EKF_OK : ROBOT_EKF_ERROR;
    if (robot_ekf_call_forward_dynamics_derivatives(p, ekf->q, ekf->qd, F, ekf->by_q, ekf->by_qd, ekf->by_F) != 0) {
        status = ROBOT_EKF_ERROR;
    }
    for (int i = 0; i < (ROBOT_EKF_NX * ROBOT_EKF_COLUMNS); ++i) {
        ekf->part[i] = REAL(0.0);
    }
    for (int i = 0; i < ROBOT_NV; ++i) {
        robot_real_t *const upper = &ekf->part[i * ROBOT_EKF_COLUMNS];
        robot_real_t *const lower = &ekf->part[(ROBOT_NV + i) * ROBOT_EKF_COLUMNS];
        upper[ROBOT_NV + i] = dt;
        upper[ROBOT_EKF_COLUMNS - 1] = dt * ekf->qd[i];
        lower[ROBOT_EKF_COLUMNS - 1] = dt * ekf->qdd[i];
        for (int j = 0; j < ROBOT_NV; ++j) {
            lower[j] = dt * ekf->by_q[(i * ROBOT_NV) + j];
            lower[ROBOT_NV + j] = dt * ekf->by_qd[(i * ROBOT_NV) + j];
            lower[ROBOT_EKF_NX + j] = dt * ekf->by_F[(i * ROBOT_NV) + j];
        }
    }
#if ROBOT_QUATERNIONS
    for (int k = 0; k < ROBOT_QUATERNIONS; ++k) {
        const int turn = robot_ekf_turns[k][0];
        const int slide = robot_ekf_turns[k][1];
        robot_ekf_turn_back(ekf, turn, turn, &ekf->qd[turn], dt);
        if (slide >= 0) { /* a floating joint */
            robot_ekf_turn_back(ekf, slide, slide, &ekf->qd[turn], dt);
            robot_ekf_turn_back(ekf, slide, turn, &ekf->qd[slide], dt);
        }
    }
#endif
    return status;
}

/* Multiply the lower rows by scale and the columns of velocities by its inverse, which brings both halves of A to one
 * size. */
static void robot_ekf_balance(robot_real_t *a, robot_real_t scale)
{
    const robot_real_t inverse = REAL(1.0) / scale;
    for (int i = 0; i < ROBOT_EKF_NX; ++i) {
        for (int j = 0; j < ROBOT_EKF_COLUMNS; ++j) {
            robot_real_t *const each = &a[(i * ROBOT_EKF_COLUMNS) + j];
            *each *= (i < ROBOT_NV) ? REAL(1.0) : scale;
            *each *= ((j < ROBOT_NV) || (j >= ROBOT_EKF_NX)) ? REAL(1.0) : inverse;
        }
    }
}

/* Largest sum of sizes of a row of A in a block. */
static robot_real_t robot_ekf_norm(const robot_real_t *a, int first, int after, int columns)
{
    robot_real_t most = REAL(0.0);
    for (int i = first; i < after; ++i) {
        robot_real_t sum = REAL(0.0);
        for (int j = 0; j < columns; ++j) {
            sum += ROBOT_FABS(a[(i * ROBOT_EKF_COLUMNS) + j]);
        }
        most = (sum <= most) ? most : sum; /* a NaN stays */
    }
    return most;
}

/* c = A b with A the first columns of a. */
static void robot_ekf_times(const robot_real_t *a, const robot_real_t *b, robot_real_t *c)
{
    for (int i = 0; i < ROBOT_EKF_NX; ++i) {
        for (int j = 0; j < ROBOT_EKF_COLUMNS; ++j) {
            robot_real_t sum = REAL(0.0);
            for (int k = 0; k < ROBOT_EKF_NX; ++k) {
                sum += a[(i * ROBOT_EKF_COLUMNS) + k] * b[(k * ROBOT_EKF_COLUMNS) + j];
            }
            c[(i * ROBOT_EKF_COLUMNS) + j] = sum;
        }
    }
}

/* exp of [[A, B] [0, 0]] dt into step: A_d, and the integral of exp(A s) B. */
static int robot_ekf_series(robot_ekf_t *ekf)
{
    const int size = ROBOT_EKF_NX * ROBOT_EKF_COLUMNS;
    const robot_real_t stiff = robot_ekf_norm(ekf->part, ROBOT_NV, ROBOT_EKF_NX, ROBOT_NV);
    const robot_real_t fast = robot_ekf_norm(ekf->part, 0, ROBOT_NV, ROBOT_EKF_NX);
    const robot_real_t scale = ((stiff > fast) && (fast > REAL(0.0))) ? ROBOT_SQRT(fast / stiff) : REAL(1.0);
    int halvings = 0;
    int status = ROBOT_EKF_OK;
    robot_ekf_balance(ekf->part, scale);
    robot_real_t norm = robot_ekf_norm(ekf->part, 0, ROBOT_EKF_NX, ROBOT_EKF_NX);
    robot_real_t factor = REAL(1.0);
    while ((norm > REAL(0.25)) && (halvings < ROBOT_EKF_HALVINGS)) {
        norm *= REAL(0.5);
        factor *= REAL(0.5);
        ++halvings;
    }
    for (int i = 0; i < size; ++i) {
        ekf->part[i] *= factor;
        ekf->term[i] = ekf->part[i];
        ekf->step[i] = ekf->part[i] + (((i / ROBOT_EKF_COLUMNS) == (i % ROBOT_EKF_COLUMNS)) ? REAL(1.0) : REAL(0.0));
    }
    for (int k = 2; k < ROBOT_EKF_TERMS; ++k) {
        robot_ekf_times(ekf->part, ekf->term, ekf->next);
        for (int i = 0; i < size; ++i) {
            ekf->term[i] = ekf->next[i] / (robot_real_t)k;
            ekf->step[i] += ekf->term[i];
        }
    }
    for (int k = 0; k < halvings; ++k) { /* the step twice: A A, and A B + B */
        robot_ekf_times(ekf->step, ekf->step, ekf->next);
        for (int i = 0; i < size; ++i) {
            ekf->step[i] = ekf->next[i] + (((i % ROBOT_EKF_COLUMNS) < ROBOT_EKF_NX) ? REAL(0.0) : ekf->step[i]);
        }
    }
    robot_ekf_balance(ekf->step, REAL(1.0) / scale);
    for (int i = 0; i < size; ++i) {
        status = (ROBOT_FABS(ekf->step[i]) <= ROBOT_LARGEST) ? status : ROBOT_EKF_ERROR;
    }
    return status;
}

#endif /* ROBOT_EKF_SERIES_H */
