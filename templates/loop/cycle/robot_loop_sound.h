/* Part of robot_loop.c: whether what was read can be. */
#ifndef ROBOT_LOOP_SOUND_H
#define ROBOT_LOOP_SOUND_H

#include "robot_loop_exchange.h"
#include "robot_loop_gains.h"
#include "robot_loop_rest.h"

/* One cycle: state and reference */

#if ROBOT_SINGLE
#define ROBOT_LOOP_FARTHEST REAL(1e4) /* a position beyond it is not a measurement [rad, m] */
#else
#define ROBOT_LOOP_FARTHEST REAL(1e6) /* a position beyond it is not a measurement [rad, m] */
#endif

#define ROBOT_LOOP_CONFIRMING REAL(4.0)      /* times jump: a way that shows whether a velocity stays rightly */
#define ROBOT_LOOP_TACHOMETER REAL(0.015625) /* part of it by which its sensor may be wrong, a 64th */

#define ROBOT_LOOP_UNIT REAL(0.125) /* so much the squared length of a measured quaternion may differ from 1 */

/* Takes what the other side handed over. A change of the law, or with a ramp, must not make the command jump. */
static const robot_loop_tuning_t *robot_loop_receive_all(robot_loop_t *loop)
{
    const int is_new = robot_loop_receive(&loop->tuning_exchange);
#if ROBOT_TIMED
    loop->tuning[loop->tuning_exchange.reader].p.time = (robot_real_t)loop->tick * loop->period; /* own terms know it */
#endif
    const robot_loop_tuning_t *const tuning = &loop->tuning[loop->tuning_exchange.reader];
    if ((is_new != 0) && (tuning->ramp > 0u) && (loop->started != 0u)) {
        loop->bump_ticks = tuning->ramp;
        loop->bump_wanted = 1u;
    }
    if ((is_new != 0) || (loop->view.tuning == NULL)) {
        robot_loop_take_gains(loop, tuning);
    }
    robot_loop_ramp_gains(loop);
    loop->view.tuning = &loop->present;
    loop->view.p = &tuning->p;
    return tuning;
}

/* Index of the first number of the state that is none, positions before velocities; -1: all are numbers. */
static int robot_loop_not_finite(const robot_loop_view_t *view)
{
#if !ROBOT_QUATERNIONS
    for (int i = 0; i < ROBOT_NQ; ++i) {
        if (!robot_loop_is_finite(view->q[i]) || !robot_loop_is_finite(view->qd[i])) {
            return i;
        }
    }
#else
    for (int i = 0; i < (ROBOT_NQ + ROBOT_NV); ++i) {
        if (!robot_loop_is_finite((i < ROBOT_NQ) ? view->q[i] : view->qd[i - ROBOT_NQ])) {
            return i;
        }
    }
#endif
    return -1;
}

/* The state of the view is sound. */
static void robot_loop_keep(robot_loop_t *loop, const robot_loop_tuning_t *tuning)
{
    const robot_loop_view_t *const view = &loop->view;
    for (int i = 0; i < ROBOT_NV; ++i) {
        const int k = robot_loop_beside[i];
        const int stays = (k >= 0) && !(view->q[k] < loop->sound_q[k]) && !(view->q[k] > loop->sound_q[k]);
        loop->same[i] = stays ? (loop->same[i] + 1u) : 0u;
        loop->sound_qd[i] = view->qd[i];
    }
    for (int i = 0; i < ROBOT_NQ; ++i) {
        loop->sound_q[i] = view->q[i];
    }
    loop->sound_tick = loop->tick;
    loop->seen = 1u;
    robot_loop_count_rest(loop, tuning);
}

#if ROBOT_QUATERNIONS
/* The first number of a quaternion that is far from length 1, and so no orientation; -1: there is none. */
static int robot_loop_no_orientation(const robot_real_t *q)
{
    int found = -1;
    for (int k = 0; k < ROBOT_QUATERNIONS; ++k) {
        const int first = robot_loop_quaternions[k];
        const robot_real_t *const x = &q[first];
        const robot_real_t square = ((x[0] * x[0]) + (x[1] * x[1])) + ((x[2] * x[2]) + (x[3] * x[3]));
        found = (robot_loop_size(square - REAL(1.0)) <= ROBOT_LOOP_UNIT) ? found : first;
    }
    return found;
}

#endif
/*
 * A position or velocity that no sensor of this robot gives; a position that changed by more than jump beyond what its
 * velocities explain, or, of a drive that seems to be beyond its speed limit, by so much less than its velocity says.
 */
static int32_t robot_loop_doubt(robot_loop_t *loop, const robot_loop_tuning_t *tuning)
{
    const robot_loop_view_t *const view = &loop->view;
    const robot_real_t dt = (robot_real_t)(loop->tick - loop->sound_tick) * loop->period;
#if ROBOT_QUATERNIONS
    const int wrong = robot_loop_no_orientation(view->q);
    if (wrong >= 0) {
        return robot_loop_fault(loop, ROBOT_LOOP_STATUS_IMPLAUSIBLE, wrong);
    }
#endif
    for (int i = 0; i < ROBOT_NV; ++i) {
        const int k = robot_loop_beside[i];
        if (k >= 0) {
            const robot_real_t before = robot_loop_size(loop->sound_qd[i]), now = robot_loop_size(view->qd[i]);
            const robot_real_t change = robot_loop_size(view->q[k] - loop->sound_q[k]);
            if (!(robot_loop_size(view->q[k]) <= ROBOT_LOOP_FARTHEST)
                || !((loop->period * now) <= ROBOT_LOOP_FARTHEST)) {
                return robot_loop_fault(loop, ROBOT_LOOP_STATUS_IMPLAUSIBLE, k);
            }
            if ((loop->seen != 0u) && (change > (tuning->jump[k] + (dt * ((before > now) ? before : now))))) {
                return robot_loop_fault(loop, ROBOT_LOOP_STATUS_JUMP, k);
            }
            const int braked = (robot_loop_driven[i] != 0u) && (now > tuning->qd_max[i]);
            if ((loop->seen != 0u) && braked && ((dt * now) > (tuning->jump[k] + change))) {
                return robot_loop_fault(loop, ROBOT_LOOP_STATUS_JUMP, k); /* to brake by it would drive the robot */
            }
        }
    }
    return ROBOT_LOOP_STATUS_OK;
}

/*
 * A velocity that stays the same to the last bit, but is not zero, while the position changes by something else than it
 * says: to brake by it would drive the robot. One that the position confirms to a 64th over some way, as that of a
 * coarse tachometer, is believed, and watched anew from there.
 */
static int32_t robot_loop_doubt_stuck(robot_loop_t *loop, const robot_loop_tuning_t *tuning)
{
    const robot_loop_view_t *const view = &loop->view;
    const robot_real_t dt = (robot_real_t)(loop->tick - loop->sound_tick) * loop->period;
    int32_t status = ROBOT_LOOP_STATUS_OK;
    for (int i = 0; i < ROBOT_NV; ++i) {
        const int k = robot_loop_beside[i];
        if ((k >= 0) && (robot_loop_driven[i] != 0u)) {
            const robot_real_t qd = view->qd[i], change = view->q[k] - loop->sound_q[k];
            const int differs = (qd < loop->sound_qd[i]) || (qd > loop->sound_qd[i]) || (loop->seen == 0u);
            const int moves = (qd < REAL(0.0)) || (qd > REAL(0.0));
            const int stays = moves && !differs;
            loop->stuck[i] = stays ? (loop->stuck[i] + (change - (dt * qd))) : REAL(0.0);
            loop->said[i] = stays ? (loop->said[i] + (dt * robot_loop_size(qd))) : REAL(0.0);
            const robot_real_t off = robot_loop_size(loop->stuck[i]);
            if ((tuning->frozen > 0u) && (off > tuning->jump[k])) {
                status = robot_loop_frozen(loop, i);
            } else if ((loop->said[i] > (ROBOT_LOOP_CONFIRMING * tuning->jump[k]))
                       && (off <= (ROBOT_LOOP_TACHOMETER * loop->said[i]))) {
                loop->stuck[i] = REAL(0.0);
                loop->said[i] = REAL(0.0);
            } else {
                /* still too little is known */
            }
        }
    }
    return status;
}

#endif /* ROBOT_LOOP_SOUND_H */
