/* Part of robot_loop.c: the command of the controller. */
#ifndef ROBOT_LOOP_COMMAND_H
#define ROBOT_LOOP_COMMAND_H

#include "robot_loop_fault.h"

/* One cycle: command */

/* A force at most F_step from the last command, and at most F_max. */
static robot_real_t robot_loop_within(robot_loop_t *loop, const robot_loop_tuning_t *tuning, int i, robot_real_t force)
{
    const robot_real_t least = loop->F[i] - tuning->F_step[i], most = loop->F[i] + tuning->F_step[i],
                       limit = tuning->F_max[i];
    robot_real_t result = (force < least) ? least : ((force > most) ? most : force);
    result = (result < -limit) ? -limit : ((result > limit) ? limit : result);
    loop->saturated += ((result < force) || (result > force)) ? 1u : 0u;
    return result;
}

/* The law that the tuning names. */
static int robot_loop_obey(robot_loop_t *loop, const robot_loop_tuning_t *tuning, robot_real_t *F)
{
    int status = 1;
    if (tuning->law == 0u) {
        status = loop->controller(loop->context, &loop->view, F);
    } else if ((tuning->law <= ROBOT_LOOP_OTHER_LAWS) && (loop->others[tuning->law - 1u].controller != NULL)) {
        status = loop->others[tuning->law - 1u].controller(loop->others[tuning->law - 1u].context, &loop->view, F);
    } else {
        /* there is no such law */
    }
    return status;
}

/* What there was more before a change falls to nothing, by 1 - 3 s^2 + 2 s^3. */
static void robot_loop_add_bump(const robot_loop_t *loop, robot_real_t *F)
{
    if ((loop->tick - loop->bump_tick) < loop->bump_ticks) {
        const robot_real_t s = (robot_real_t)(loop->tick - loop->bump_tick) / (robot_real_t)loop->bump_ticks;
        for (int i = 0; i < ROBOT_NV; ++i) {
            F[i] += loop->bump[i] * (REAL(1.0) - ((s * s) * (REAL(3.0) - (REAL(2.0) * s))));
        }
    }
}

/* After a change, the command goes from the last one to that of the new law. */
static void robot_loop_smooth(robot_loop_t *loop, robot_real_t *F)
{
    if (loop->bump_wanted != 0u) {
        loop->bump_wanted = 0u;
        loop->bump_tick = loop->tick;
        for (int i = 0; i < ROBOT_NV; ++i) {
            loop->bump[i] = loop->F[i] - F[i];
        }
    }
    robot_loop_add_bump(loop, F);
}

static int32_t robot_loop_command(robot_loop_t *loop, const robot_loop_tuning_t *tuning)
{
    robot_real_t F[ROBOT_NV] = {REAL(0.0)};
    if (robot_loop_obey(loop, tuning, F) != 0) {
        return robot_loop_fault(loop, ROBOT_LOOP_STATUS_CONTROLLER, -1);
    }
    for (int i = 0; i < ROBOT_NV; ++i) {
        if (robot_loop_driven[i] != 0u) {
            if (!robot_loop_is_finite(F[i])) {
                return robot_loop_fault(loop, ROBOT_LOOP_STATUS_COMMAND_NOT_FINITE, i);
            }
            if ((F[i] > tuning->F_trip[i]) || (F[i] < -tuning->F_trip[i])) {
                return robot_loop_fault(loop, ROBOT_LOOP_STATUS_FORCE, i);
            }
        } else {
            F[i] = REAL(0.0);
        }
    }
    robot_loop_smooth(loop, F);
    for (int i = 0; i < ROBOT_NV; ++i) {
        loop->F[i] = robot_loop_within(loop, tuning, i, F[i]);
    }
    return ROBOT_LOOP_STATUS_OK;
}

#endif /* ROBOT_LOOP_COMMAND_H */
