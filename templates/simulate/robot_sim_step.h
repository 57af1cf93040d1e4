/* Part of robot_simulate.c: a step of given length, by whatever method. */
#ifndef ROBOT_SIM_STEP_H
#define ROBOT_SIM_STEP_H

#include "robot_sim_accept.h"
#include "robot_sim_methods.h"

#define ROBOT_SIM_MOST_CUTS 12 /* halvings of a step whose implicit equations are not solved, and the step itself */

/* A step of length h or, where an implicit one fails, a half of it, and so on; returns a status. */
static int robot_sim_step_of_length(robot_sim_workspace_t *w, robot_scalar_t h, robot_scalar_t after)
{
    int again = 1;
    unsigned good = robot_sim_start(w);
    w->status = (good != 0u) ? ROBOT_SIM_STATUS_ARGUMENT : w->status; /* unless there is such a method */
    for (int cuts = 0; (cuts < ROBOT_SIM_MOST_CUTS) && again && ((good != 0u) || (cuts > 0)); ++cuts) {
        if (cuts > 0) {
            h *= REAL(0.5);
            after = w->t + h;
            ++w->control->rejections;
        }
        good = robot_sim_take(w, h, after, ROBOT_SIM_EVERY);
        again = (good == 0u) && robot_sim_is_implicit(w->options->method)
                && ((w->status == ROBOT_SIM_STATUS_NEWTON) || (w->status == ROBOT_SIM_STATUS_NOT_FINITE)
                    || (w->status == ROBOT_SIM_STATUS_SINGULAR));
    }
    if (good != 0u) {
        w->status = robot_sim_accept(w, after);
        robot_sim_took(w);
    }
    return w->status;
}

#endif /* ROBOT_SIM_STEP_H */
