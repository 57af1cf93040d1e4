/* Part of robot_simulate.c: the method of Heun, of order 2; an integrator that elastogen does not have. */
#ifndef ROBOT_SIM_HEUN_H
#define ROBOT_SIM_HEUN_H

#include "robot_sim_slope.h"

/* One step of length h into w->trial; returns the motions in which it succeeds. */
static unsigned robot_sim_heun(robot_sim_motion_t *w, robot_scalar_t h, robot_scalar_t after, unsigned open)
{
    unsigned good = open & robot_sim_slope(w, w->t, w->y, w->slopes[0]);
    for (int i = 0; i < ROBOT_SIM_NY; ++i) {
        w->trial[i] = w->y[i] + (h * w->slopes[0][i]);
    }
    good &= robot_sim_slope(w, after, w->trial, w->slopes[1]);
    for (int i = 0; i < ROBOT_SIM_NY; ++i) {
        w->trial[i] = w->y[i] + (REAL(0.5) * h * (w->slopes[0][i] + w->slopes[1][i]));
    }
    return good;
}

#endif /* ROBOT_SIM_HEUN_H */
