/* Part of robot_loop.c: gains that change over a ramp. */
#ifndef ROBOT_LOOP_GAINS_H
#define ROBOT_LOOP_GAINS_H

#include "robot_loop_base.h"

static robot_loop_gains_t robot_loop_gains_of(const robot_loop_tuning_t *tuning)
{
    robot_loop_gains_t gains;
    for (int i = 0; i < ROBOT_NV; ++i) {
        gains.kp[i] = tuning->kp[i];
        gains.kd[i] = tuning->kd[i];
        for (int j = 0; j < (2 * ROBOT_NV); ++j) {
            gains.K[i][j] = tuning->K[i][j];
        }
    }
    return gains;
}

/* Between two numbers: the first at part 0, the second at part 1, exactly; the second where the first is no number. */
static robot_real_t robot_loop_between(robot_real_t from, robot_real_t to, robot_real_t part)
{
    return robot_loop_is_finite(from) ? (((REAL(1.0) - part) * from) + (part * to)) : to;
}

/* Whether two gains differ; what is no number differs from everything. */
static int robot_loop_gain_differs(robot_real_t one, robot_real_t other)
{
    return ((one >= other) && (one <= other)) ? 0 : 1;
}

/* Whether gains differ from those that the ramp leads to. */
static int robot_loop_gains_differ(const robot_loop_t *loop, const robot_loop_gains_t *gains)
{
    int differ = 0;
    for (int i = 0; i < ROBOT_NV; ++i) {
        differ |= robot_loop_gain_differs(gains->kp[i], loop->gains_to.kp[i]);
        differ |= robot_loop_gain_differs(gains->kd[i], loop->gains_to.kd[i]);
        for (int j = 0; j < (2 * ROBOT_NV); ++j) {
            differ |= robot_loop_gain_differs(gains->K[i][j], loop->gains_to.K[i][j]);
        }
    }
    return differ;
}

/* A new tuning: its gains take over from the present ones, at once or by a ramp; one with other news lets a ramp go on.
 */
static void robot_loop_take_gains(robot_loop_t *loop, const robot_loop_tuning_t *tuning)
{
    const robot_loop_gains_t gains = robot_loop_gains_of(tuning);
    const int same_law = tuning->law == loop->present.law;
    loop->view.begins = same_law ? loop->view.begins : 1;
    if (!same_law || (robot_loop_gains_differ(loop, &gains) != 0)) {
        const int ramps = same_law && (loop->started != 0u);
        loop->gains_from = robot_loop_gains_of(&loop->present);
        loop->gains_to = gains;
        loop->gain_tick = loop->tick;
        loop->gain_ticks = ramps ? tuning->ramp : 0u;
    }
    loop->present = *tuning;
}

/* From the gains before to those of the tuning by 3 s^2 - 2 s^3: what the controller sees in this cycle. */
static void robot_loop_ramp_gains(robot_loop_t *loop)
{
    if (loop->gain_ticks > 0u) {
        const uint64_t passed = loop->tick - loop->gain_tick;
        const int over = passed >= loop->gain_ticks;
        const robot_real_t s = over ? REAL(1.0) : ((robot_real_t)passed / (robot_real_t)loop->gain_ticks);
        const robot_real_t part = (s * s) * (REAL(3.0) - (REAL(2.0) * s));
        const robot_loop_gains_t *const from = &loop->gains_from, *const to = &loop->gains_to;
        for (int i = 0; i < ROBOT_NV; ++i) {
            loop->present.kp[i] = robot_loop_between(from->kp[i], to->kp[i], part);
            loop->present.kd[i] = robot_loop_between(from->kd[i], to->kd[i], part);
            for (int j = 0; j < (2 * ROBOT_NV); ++j) {
                loop->present.K[i][j] = robot_loop_between(from->K[i][j], to->K[i][j], part);
            }
        }
        loop->gain_ticks = over ? 0u : loop->gain_ticks;
    }
}

#endif /* ROBOT_LOOP_GAINS_H */
