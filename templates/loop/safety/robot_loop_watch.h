/* Part of robot_loop.c: watching the state and the reference. */
#ifndef ROBOT_LOOP_WATCH_H
#define ROBOT_LOOP_WATCH_H

#include "robot_loop_fault.h"

#define ROBOT_LOOP_MOVING REAL(0.1) /* a reference that is faster moves: so must the measured position [rad/s, m/s] */

#if ROBOT_SINGLE
#define ROBOT_LOOP_ROUNDING REAL(1e-4) /* of references that end at a limit [rad, m, rad/s, m/s] */
#else
#define ROBOT_LOOP_ROUNDING REAL(1e-6) /* of references that end at a limit [rad, m, rad/s, m/s] */
#endif

/* A position that stays the same to the last bit while its reference moves: its sensor is frozen. */
static int32_t robot_loop_watch_sensors(robot_loop_t *loop, const robot_loop_tuning_t *tuning)
{
    int32_t status = ROBOT_LOOP_STATUS_OK;
    for (int i = 0; i < ROBOT_NV; ++i) {
        const int moves = (robot_loop_driven[i] != 0u) && (robot_loop_size(loop->view.qd_ref[i]) > ROBOT_LOOP_MOVING);
        loop->moved[i] = moves ? (loop->moved[i] + 1u) : 0u;
        const int still = (loop->same[i] >= tuning->frozen) && (loop->moved[i] >= tuning->frozen);
        if ((tuning->frozen > 0u) && still && (status == ROBOT_LOOP_STATUS_OK)) {
            status = robot_loop_frozen(loop, i); /* it has a position: that stayed the same */
        }
    }
    return status;
}

/* References must stay within the limits of what follows them. */
static int32_t robot_loop_watch_reference(robot_loop_t *loop, const robot_loop_tuning_t *tuning)
{
    const robot_loop_view_t *const view = &loop->view;
    if ((tuning->reference_age > 0u) && ((loop->tick - loop->alive_tick) > tuning->reference_age)) {
        return robot_loop_fault(loop, ROBOT_LOOP_STATUS_STALE_REFERENCE, -1);
    }
    for (int i = 0; i < ROBOT_NV; ++i) {
        const int k = robot_loop_beside[i];
        const int inside = (k < 0)
                           || (((view->q_ref[k] + ROBOT_LOOP_ROUNDING) >= tuning->q_min[k])
                               && ((view->q_ref[k] - ROBOT_LOOP_ROUNDING) <= tuning->q_max[k]));
        const int slow = (robot_loop_size(view->qd_ref[i]) - ROBOT_LOOP_ROUNDING) <= tuning->qd_max[i];
        if ((robot_loop_driven[i] != 0u) && !(inside && slow)) {
            return robot_loop_fault(loop, ROBOT_LOOP_STATUS_REFERENCE, i);
        }
    }
    return ROBOT_LOOP_STATUS_OK;
}

static int32_t robot_loop_watch_position(robot_loop_t *loop, const robot_loop_tuning_t *tuning, int i)
{
    const robot_real_t q = loop->view.q[i];
    const int inside = (q >= tuning->q_min[i]) && (q <= tuning->q_max[i]);
    return inside ? ROBOT_LOOP_STATUS_OK : robot_loop_fault(loop, ROBOT_LOOP_STATUS_POSITION, i);
}

static int32_t robot_loop_watch_motion(robot_loop_t *loop, const robot_loop_tuning_t *tuning, int i)
{
    const robot_loop_view_t *const view = &loop->view;
#if ROBOT_QUATERNIONS
    const robot_real_t error = view->error[i];
#else
    const robot_real_t error = view->q[i] - view->q_ref[i];
#endif
    if (!((view->qd[i] >= -tuning->qd_max[i]) && (view->qd[i] <= tuning->qd_max[i]))) {
        return robot_loop_fault(loop, ROBOT_LOOP_STATUS_VELOCITY, i);
    }
    if (!((error >= -tuning->error_max[i]) && (error <= tuning->error_max[i]))) {
        return robot_loop_fault(loop, ROBOT_LOOP_STATUS_TRACKING, i);
    }
    return ROBOT_LOOP_STATUS_OK;
}

static int32_t robot_loop_watch(robot_loop_t *loop, const robot_loop_tuning_t *tuning)
{
    int32_t status = ROBOT_LOOP_STATUS_OK;
    for (int i = 0; (i < ROBOT_NQ) && (status == ROBOT_LOOP_STATUS_OK); ++i) {
        status = robot_loop_watch_position(loop, tuning, i);
#if !ROBOT_QUATERNIONS
        status = (status == ROBOT_LOOP_STATUS_OK) ? robot_loop_watch_motion(loop, tuning, i) : status;
#endif
    }
#if ROBOT_QUATERNIONS
    for (int i = 0; (i < ROBOT_NV) && (status == ROBOT_LOOP_STATUS_OK); ++i) {
        status = robot_loop_watch_motion(loop, tuning, i);
    }
#endif
    status = (status == ROBOT_LOOP_STATUS_OK) ? robot_loop_watch_sensors(loop, tuning) : status;
    return (status == ROBOT_LOOP_STATUS_OK) ? robot_loop_watch_reference(loop, tuning) : status;
}

#endif /* ROBOT_LOOP_WATCH_H */
