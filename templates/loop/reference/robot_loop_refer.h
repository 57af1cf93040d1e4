/* Part of robot_loop.c: the reference of a cycle. */
#ifndef ROBOT_LOOP_REFER_H
#define ROBOT_LOOP_REFER_H

#include "robot_loop_as_measured.h"
#include "robot_loop_exchange.h"
#include "robot_loop_shaper.h"
#include "robot_loop_table.h"

static void robot_loop_refer(robot_loop_t *loop, const robot_loop_tuning_t *tuning)
{
    if (loop->started == 0u) { /* the first reference begins where the robot is */
        loop->started = 1u;
        robot_loop_stand(loop, loop->view.q);
        for (uint32_t row = 0; (loop->delay_line != NULL) && (row < loop->delay_rows); ++row) {
            robot_loop_remember(loop, row);
        }
        loop->view.tick = loop->tick;
        loop->alive_tick = loop->tick;
    }
    const uint32_t heartbeat = ROBOT_LOOP_LOAD(&loop->heartbeat);
    if (heartbeat != loop->last_heartbeat) {
        loop->last_heartbeat = heartbeat;
        loop->alive_tick = loop->tick;
    }
    robot_loop_proceed(loop);
    if (robot_loop_receive(&loop->reference_exchange) != 0) { /* a new motion goes on from here */
        loop->reference_tick = loop->tick;
        loop->alive_tick = loop->tick;
        robot_loop_take_up(loop, &loop->reference[loop->reference_exchange.reader]);
    }
    robot_loop_follow(loop, tuning);
#if ROBOT_PASSIVE
    robot_loop_release(&loop->view);
#endif
#if ROBOT_QUATERNIONS
    robot_difference(loop->view.p, loop->view.q, loop->view.q_ref, loop->view.error);
#endif
    loop->view.tick = loop->tick;
}

#endif /* ROBOT_LOOP_REFER_H */
