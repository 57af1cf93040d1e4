/* Part of robot_loop.c: what ends a loop. */
#ifndef ROBOT_LOOP_FAULT_H
#define ROBOT_LOOP_FAULT_H

#include "robot_loop_base.h"

static int32_t robot_loop_fault(robot_loop_t *loop, int32_t status, int index)
{
    loop->fault_index = index;
    return status;
}

/* The sensor of a drive is frozen; a reset wants its position to be another. */
static int32_t robot_loop_frozen(robot_loop_t *loop, int index)
{
    loop->frozen_q = loop->view.q[robot_loop_beside[index]];
    return robot_loop_fault(loop, ROBOT_LOOP_STATUS_FROZEN, index);
}

/* What a caller found, see robot_loop_trip, unless there is a fault already: the first one stays. */
static int32_t robot_loop_take_trip(robot_loop_t *loop, int32_t status)
{
    const int32_t tripped = (int32_t)ROBOT_LOOP_LOAD(&loop->tripped);
    const int is_first = (status == ROBOT_LOOP_STATUS_OK) && (tripped != ROBOT_LOOP_STATUS_OK);
    return is_first ? robot_loop_fault(loop, tripped, -1) : status;
}

static robot_real_t robot_loop_size(robot_real_t x)
{
    return (x < REAL(0.0)) ? -x : x;
}

/* What made a motion diverge: the coordinate whose force gave the most power, without forces the fastest [rad/s, m/s].
 */
static int robot_loop_diverged(const robot_loop_t *loop)
{
    const robot_real_t *const qd = loop->view.qd; /* finite, see robot_loop_sense */
    robot_real_t most = REAL(0.0);
    int index = 0;
    for (int i = 1; i < ROBOT_NV; ++i) {
        index = (robot_loop_size(qd[i]) > robot_loop_size(qd[index])) ? i : index;
    }
    const robot_real_t fastest = robot_loop_size(qd[index]);
    for (int i = 0; (i < ROBOT_NV) && (fastest > REAL(0.0)); ++i) {
        const robot_real_t power =
            robot_loop_size(loop->F[i]) * (robot_loop_size(qd[i]) / fastest); /* cannot overflow */
        index = (power > most) ? i : index;
        most = (power > most) ? power : most;
    }
    return index;
}

/* What the answer of a read function means. */
static int32_t robot_loop_unread(robot_loop_t *loop, int answer)
{
    int32_t status = ROBOT_LOOP_STATUS_READ;
    int index = -1;
    if (answer == ROBOT_LOOP_STALE) {
        status = ROBOT_LOOP_STATUS_STALE_STATE;
    } else if (answer == ROBOT_LOOP_DIVERGED) {
        status = ROBOT_LOOP_STATUS_DIVERGED;
        index = robot_loop_diverged(loop);
    } else if ((answer >= ROBOT_LOOP_OUTSIDE) && (answer < (ROBOT_LOOP_OUTSIDE + ROBOT_NQ))) {
        status = ROBOT_LOOP_STATUS_OUTSIDE;
        index = answer - ROBOT_LOOP_OUTSIDE;
    } else {
        /* the reader's own failure */
    }
    return robot_loop_fault(loop, status, index);
}

#endif /* ROBOT_LOOP_FAULT_H */
