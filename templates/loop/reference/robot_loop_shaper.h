/* Part of robot_loop.c: the input shaper. */
#ifndef ROBOT_LOOP_SHAPER_H
#define ROBOT_LOOP_SHAPER_H

#include "robot_loop_reference.h"

/* Input shaper: the reference as a sum of earlier ones */

/* Numbers of the reference in one order: positions, or one of the four derivatives. */
static int robot_loop_width(int order)
{
#if ROBOT_QUATERNIONS
    return (order == 0) ? ROBOT_NQ : ROBOT_NV;
#else
    (void)order;
    return ROBOT_NQ;
#endif
}

static void robot_loop_remember(robot_loop_t *loop, uint32_t row)
{
    robot_real_t *const place = &loop->delay_line[row * ROBOT_LOOP_DELAY_WIDTH];
    for (int order = 0; order < 5; ++order) {
        for (int i = 0; i < ROBOT_NQ; ++i) {
            place[(order * ROBOT_NQ) + i] = loop->plain[order][i];
        }
    }
}

static void robot_loop_shape(robot_loop_t *loop, const robot_loop_tuning_t *tuning, robot_real_t *const out[5])
{
    for (int order = 0; order < 5; ++order) {
        for (int i = 0; i < robot_loop_width(order); ++i) {
            out[order][i] = REAL(0.0);
        }
    }
    for (uint32_t k = 0; (k < tuning->taps) && (k < ROBOT_LOOP_TAPS); ++k) {
        const uint32_t delay =
            (tuning->tap_delay[k] < loop->delay_rows) ? tuning->tap_delay[k] : (loop->delay_rows - 1u);
        const uint32_t row =
            (loop->delay_row >= delay) ? (loop->delay_row - delay) : ((loop->delay_row + loop->delay_rows) - delay);
        const robot_real_t *const past = &loop->delay_line[row * ROBOT_LOOP_DELAY_WIDTH];
        for (int order = 0; order < 5; ++order) {
            for (int i = 0; i < robot_loop_width(order); ++i) {
                out[order][i] += tuning->tap_gain[k] * past[(order * ROBOT_NQ) + i];
            }
        }
    }
#if ROBOT_QUATERNIONS
    /* Joints with a quaternion are not shaped: sums of rotations are not rotations. */
    for (int i = 0; i < ROBOT_FREE_Q; ++i) {
        out[0][robot_loop_free_q[i]] = loop->plain[0][robot_loop_free_q[i]];
    }
    for (int order = 1; order < 5; ++order) {
        for (int i = 0; i < ROBOT_FREE_V; ++i) {
            out[order][robot_loop_free_v[i]] = loop->plain[order][robot_loop_free_v[i]];
        }
    }
#endif
}

/* Sets the references of the view for this tick. */
static void robot_loop_follow(robot_loop_t *loop, const robot_loop_tuning_t *tuning)
{
    robot_loop_view_t *const view = &loop->view;
    robot_real_t *const out[5] = {view->q_ref, view->qd_ref, view->qdd_ref, view->qddd_ref, view->qdddd_ref};
    const robot_loop_reference_t *const reference = &loop->reference[loop->reference_exchange.reader];
    if (loop->delay_line != NULL) {
        const uint64_t passed = loop->tick - view->tick; /* more than 1 where periods were skipped */
        for (uint64_t k = 0; (k < passed) && (k < loop->delay_rows); ++k) {
            loop->delay_row = ((loop->delay_row + 1u) < loop->delay_rows) ? (loop->delay_row + 1u) : 0u;
            robot_loop_remember(loop, loop->delay_row);
        }
    }
    if ((loop->delay_line != NULL) && (tuning->taps > 0u)) {
        robot_loop_shape(loop, tuning, out);
    } else {
        for (int order = 0; order < 5; ++order) {
            for (int i = 0; i < robot_loop_width(order); ++i) {
                out[order][i] = loop->plain[order][i];
            }
        }
    }
    for (uint32_t i = 0; i < ROBOT_NV; ++i) {
        view->F_ref[i] = robot_loop_force_of(reference, loop->tick - loop->reference_tick, i);
    }
}

#endif /* ROBOT_LOOP_SHAPER_H */
