/* Part of robot_loop.c: where a reference motion is at a cycle. */
#ifndef ROBOT_LOOP_REFERENCE_AT_H
#define ROBOT_LOOP_REFERENCE_AT_H

#include "robot_loop_base.h"

/* The motion and four derivatives after some ticks, less than its duration T. */
static void robot_loop_on_motion(const robot_loop_t *loop, robot_real_t T, uint64_t ticks, robot_real_t x[5][ROBOT_NV])
{
#if ROBOT_NE
    static const robot_real_t binomial[5] = {
        REAL(1.0), REAL(-5.0), REAL(10.0), REAL(-10.0), REAL(5.0)}; /* of (1 - s)^n */
#else
    static const robot_real_t binomial[5] = {
        REAL(1.0), REAL(-3.0), REAL(3.0), REAL(-1.0), REAL(0.0)}; /* of (1 - s)^n */
#endif
    const robot_real_t s = ((robot_real_t)ticks * loop->period) / T;
    const robot_real_t u = REAL(1.0) - s;
    robot_real_t fall[5] = {REAL(0.0)}; /* u^n and its derivatives, each over k! */
#if ROBOT_NE
    robot_real_t power = u; /* u^(n - 4) */
    const int last = 4;
#else
    robot_real_t power = REAL(1.0);
    const int last = 3;
#endif
    for (int k = last; k >= 0; --k) {
        fall[k] = binomial[k] * power;
        power *= u;
    }
    for (int i = 0; i < ROBOT_NV; ++i) {
        robot_real_t rest[5] = {REAL(0.0)}; /* r and its derivatives, each over k! */
        robot_real_t scale = REAL(1.0);     /* k! / T^k */
        for (int j = ROBOT_LOOP_ORDER - 1; j >= 0; --j) {
            for (int k = 4; k > 0; --k) {
                rest[k] = (rest[k] * s) + rest[k - 1];
            }
            rest[0] = (rest[0] * s) + loop->motion[i][j];
        }
        for (int order = 0; order < 5; ++order) {
            robot_real_t sum = REAL(0.0);
            for (int k = 0; k <= order; ++k) {
                sum += fall[k] * rest[order - k];
            }
            x[order][i] = scale * sum;
            scale *= (robot_real_t)(order + 1) / T;
        }
    }
}

/* Whether a motion of that duration is over; one without duration is. */
static int robot_loop_motion_is_over(const robot_loop_t *loop, robot_real_t duration, uint64_t ticks)
{
    return !(((robot_real_t)ticks * loop->period) < duration);
}

#endif /* ROBOT_LOOP_REFERENCE_AT_H */
