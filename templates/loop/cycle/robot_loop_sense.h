/* Part of robot_loop.c: reading. */
#ifndef ROBOT_LOOP_SENSE_H
#define ROBOT_LOOP_SENSE_H

#include "robot_loop_observe.h"
#include "robot_loop_plant_measure.h"
#include "robot_loop_predict.h"

static int32_t robot_loop_sense(robot_loop_t *loop, const robot_loop_tuning_t *tuning)
{
    const int failed = loop->read(loop->io, loop->tick, loop->view.q, loop->view.qd);
#if ROBOT_OBSERVED
    robot_loop_unmeasured(loop);
#endif
    const int wrong = robot_loop_not_finite(&loop->view);
    int32_t status = ROBOT_LOOP_STATUS_OK;
    if (wrong >= 0) {
        status = robot_loop_fault(loop, ROBOT_LOOP_STATUS_STATE_NOT_FINITE, wrong);
        if ((loop->seen != 0u) && (loop->bridged < tuning->bridge) && (robot_loop_predict(loop, tuning) == 0)) {
            status = robot_loop_fault(loop, ROBOT_LOOP_STATUS_OK, -1);
            ++loop->bridged;
            ++loop->bridges;
        }
        return status;
    }
    status = (failed != 0) ? robot_loop_unread(loop, failed) : robot_loop_doubt(loop, tuning);
    status = (status == ROBOT_LOOP_STATUS_OK) ? robot_loop_doubt_stuck(loop, tuning) : status;
    if (status == ROBOT_LOOP_STATUS_OK) {
        loop->bridged = 0u;
        robot_loop_suspect(loop, tuning);
        robot_loop_keep(loop, tuning);
    }
    return status;
}

#endif /* ROBOT_LOOP_SENSE_H */
