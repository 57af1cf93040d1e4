/* Part of robot_loop.c: when a robot is at rest. */
#ifndef ROBOT_LOOP_REST_H
#define ROBOT_LOOP_REST_H

#include "robot_loop_fault.h"

#define ROBOT_LOOP_REST_CYCLES 10u /* in a row with all drives slower than tuning->rest: the robot is at rest */

static int robot_loop_at_rest(const robot_loop_t *loop)
{
    return loop->rest_cycles >= ROBOT_LOOP_REST_CYCLES;
}

/* Counts cycles in a row in which nothing that is driven moves. */
static void robot_loop_count_rest(robot_loop_t *loop, const robot_loop_tuning_t *tuning)
{
    int moves = 0;
    for (int i = 0; i < ROBOT_NV; ++i) {
        const int slow = robot_loop_size(loop->sound_qd[i]) <= tuning->rest[i];
        moves |= ((robot_loop_driven[i] != 0u) && !slow) ? 1 : 0;
    }
    loop->rest_cycles =
        (moves != 0) ? 0u : (loop->rest_cycles + ((loop->rest_cycles < ROBOT_LOOP_REST_CYCLES) ? 1u : 0u));
}

#endif /* ROBOT_LOOP_REST_H */
