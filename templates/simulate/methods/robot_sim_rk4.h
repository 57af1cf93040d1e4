/* Part of robot_simulate.c: steps of the classical Runge-Kutta method. */
#ifndef ROBOT_SIM_RK4_H
#define ROBOT_SIM_RK4_H

#include "robot_sim_slope.h"

#define ROBOT_RK4_NY ROBOT_SIM_NY
typedef robot_sim_state_t robot_rk4_state_t;
typedef robot_sim_motion_t robot_rk4_motion_t;

#include "robot_rk4.h"

/* One step of length h into w->trial; returns the motions in which it succeeds. */
static unsigned robot_sim_rk4(robot_sim_motion_t *w, robot_scalar_t h, robot_scalar_t after, unsigned open)
{
    (void)after;
    return robot_rk4(robot_sim_slope, w, w->t, h, w->y, w->slopes, w->trial, open);
}

#endif /* ROBOT_SIM_RK4_H */
