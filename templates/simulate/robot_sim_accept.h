/* Part of robot_simulate.c: a step is taken over. */
#ifndef ROBOT_SIM_ACCEPT_H
#define ROBOT_SIM_ACCEPT_H

#include "robot_sim_loops.h"
#include "robot_sim_slope.h"

/* Take over the state in w->trial. */
static int robot_sim_accept(robot_sim_workspace_t *w, robot_scalar_t after)
{
    int status = robot_sim_all_finite(w->trial, ROBOT_SIM_NX) ? ROBOT_SIM_STATUS_OK : ROBOT_SIM_STATUS_NOT_FINITE;
    if (status == ROBOT_SIM_STATUS_OK) {
#if ROBOT_QUATERNIONS
        robot_sim_unit(w->trial);
#endif
#if ROBOT_LOOPS
        status = robot_sim_keep_closed(w, w->trial, &w->y[ROBOT_NQ]) ? status : ROBOT_SIM_STATUS_OPEN;
    }
    if (status == ROBOT_SIM_STATUS_OK) {
#endif
        w->t_before = w->t;
        w->t = after;
        for (int i = 0; i < ROBOT_SIM_NY; ++i) {
            w->before[i] = w->y[i];
            w->y[i] = w->trial[i];
        }
        ++w->control->steps;
    }
    return status;
}

#endif /* ROBOT_SIM_ACCEPT_H */
