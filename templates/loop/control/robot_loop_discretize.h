/* Part of robot_loop.c: linear systems from sample to sample. */
#ifndef ROBOT_LOOP_DISCRETIZE_H
#define ROBOT_LOOP_DISCRETIZE_H

#include "robot_loop_fault.h"

#if ROBOT_SINGLE
#define ROBOT_LOOP_SERIES_TERMS 9  /* of the exponential of a part of the step, whose norm is at most 1/4 */
#define ROBOT_LOOP_SQUARINGS    16 /* of that part; each doubles the rounding errors */
#else
#define ROBOT_LOOP_SERIES_TERMS 15 /* of the exponential of a part of the step, whose norm is at most 1/4 */
#define ROBOT_LOOP_SQUARINGS    35 /* of that part; each doubles the rounding errors */
#endif

/* Row-major c = a b with a 2 NV x 2 NV and b 2 NV x 3 NV: both columns of [A B] at once. */
static void robot_loop_times(robot_real_t a[2 * ROBOT_NV][3 * ROBOT_NV], robot_real_t b[2 * ROBOT_NV][3 * ROBOT_NV],
    robot_real_t c[2 * ROBOT_NV][3 * ROBOT_NV])
{
    for (int i = 0; i < (2 * ROBOT_NV); ++i) {
        for (int j = 0; j < (3 * ROBOT_NV); ++j) {
            robot_real_t sum = REAL(0.0);
            for (int k = 0; k < (2 * ROBOT_NV); ++k) {
                sum += a[i][k] * b[k][j];
            }
            c[i][j] = sum;
        }
    }
}

static robot_real_t robot_loop_norm(robot_real_t a[2 * ROBOT_NV][3 * ROBOT_NV])
{
    robot_real_t most = REAL(0.0);
    for (int i = 0; i < (2 * ROBOT_NV); ++i) {
        robot_real_t sum = REAL(0.0);
        for (int j = 0; j < (2 * ROBOT_NV); ++j) {
            sum += robot_loop_size(a[i][j]);
        }
        most = (sum > most) ? sum : most;
    }
    return most;
}

/* Multiplies rows and columns of velocities. */
static void robot_loop_rescale(robot_real_t a[2 * ROBOT_NV][3 * ROBOT_NV], robot_real_t rows, robot_real_t columns)
{
    for (int i = 0; i < (2 * ROBOT_NV); ++i) {
        for (int j = 0; j < (3 * ROBOT_NV); ++j) {
            a[i][j] *= (i < ROBOT_NV) ? REAL(1.0) : rows;
            a[i][j] *= ((j < ROBOT_NV) || (j >= (2 * ROBOT_NV))) ? REAL(1.0) : columns;
        }
    }
}

/* A power of 2 for the velocities which brings both halves of A to one size: a stiff link's differ by many orders. */
static robot_real_t robot_loop_common_scale(const robot_real_t A[2 * ROBOT_NV][2 * ROBOT_NV])
{
    robot_real_t stiff = REAL(0.0), fast = REAL(0.0), scale = REAL(1.0);
    for (int i = 0; i < ROBOT_NV; ++i) {
        for (int j = 0; j < ROBOT_NV; ++j) {
            const robot_real_t below = robot_loop_size(A[ROBOT_NV + i][j]), above = robot_loop_size(A[i][ROBOT_NV + j]);
            stiff = (below > stiff) ? below : stiff;
            fast = (above > fast) ? above : fast;
        }
    }
    for (int k = 0; (k < 64) && ((REAL(0.25) * stiff) > fast); ++k) {
        stiff *= REAL(0.25);
        scale *= REAL(0.5);
    }
    return scale;
}

int robot_loop_discretize(robot_loop_discrete_t *d, const robot_real_t A[2 * ROBOT_NV][2 * ROBOT_NV],
    const robot_real_t B[2 * ROBOT_NV][ROBOT_NV], robot_real_t dt)
{
    int squarings = 0, status = 0;
    for (int i = 0; i < (2 * ROBOT_NV); ++i) {
        for (int j = 0; j < (3 * ROBOT_NV); ++j) {
            d->part[i][j] = dt * ((j < (2 * ROBOT_NV)) ? A[i][j] : B[i][j - (2 * ROBOT_NV)]);
        }
    }
    const robot_real_t scale = robot_loop_common_scale(A);
    robot_loop_rescale(d->part, scale, REAL(1.0) / scale);
    while ((robot_loop_norm(d->part) > REAL(0.25)) && (squarings <= ROBOT_LOOP_SQUARINGS)) {
        ++squarings;
        for (int i = 0; i < (2 * ROBOT_NV); ++i) {
            for (int j = 0; j < (3 * ROBOT_NV); ++j) {
                d->part[i][j] *= REAL(0.5);
            }
        }
    }
    for (int i = 0; i < (2 * ROBOT_NV);
         ++i) { /* 1 + X + X^2/2 + ..., of [[A B] [0 0]] dt: the lower rows stay as they are */
        for (int j = 0; j < (3 * ROBOT_NV); ++j) {
            d->term[i][j] = d->part[i][j];
            d->step[i][j] = d->part[i][j] + ((i == j) ? REAL(1.0) : REAL(0.0));
        }
    }
    for (int k = 2; k < ROBOT_LOOP_SERIES_TERMS; ++k) {
        robot_loop_times(d->part, d->term, d->next);
        for (int i = 0; i < (2 * ROBOT_NV); ++i) {
            for (int j = 0; j < (3 * ROBOT_NV); ++j) {
                d->term[i][j] = d->next[i][j] / (robot_real_t)k;
                d->step[i][j] += d->term[i][j];
            }
        }
    }
    status = (squarings > ROBOT_LOOP_SQUARINGS) ? 1 : 0;
    for (int s = 0; s < squarings; ++s) { /* x2 = A x + B u twice: A A, and A B + B */
        robot_loop_times(d->step, d->step, d->next);
        for (int i = 0; i < (2 * ROBOT_NV); ++i) {
            for (int j = 0; j < (3 * ROBOT_NV); ++j) {
                d->step[i][j] = d->next[i][j] + ((j < (2 * ROBOT_NV)) ? REAL(0.0) : d->step[i][j]);
            }
        }
    }
    robot_loop_rescale(d->step, REAL(1.0) / scale, scale);
    for (int i = 0; i < (2 * ROBOT_NV); ++i) {
        for (int j = 0; j < (3 * ROBOT_NV); ++j) {
            status |= robot_loop_is_finite(d->step[i][j]) ? 0 : 1;
        }
    }
    return status;
}

#endif /* ROBOT_LOOP_DISCRETIZE_H */
