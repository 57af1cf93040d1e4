/* Part of robot_simulate.c: the classical Runge-Kutta method of order 4. */
#ifndef ROBOT_SIM_RK4_H
#define ROBOT_SIM_RK4_H

#include "robot_sim_slope.h"

/* One step of length h into w->trial; returns the motions in which it succeeds. */
static unsigned robot_sim_rk4(robot_sim_motion_t *w, robot_scalar_t h, robot_scalar_t after, unsigned open)
{
    const robot_scalar_t half = REAL(0.5) * h;
    const robot_scalar_t ahead[3] = {half, half, h};
    unsigned good = open & robot_sim_slope(w, w->t, w->y, w->slopes[0]);
    (void)after;
    for (int k = 0; (k < 3) && (good != 0u); ++k) {
        for (int i = 0; i < ROBOT_SIM_NY; ++i) {
            w->trial[i] = w->y[i] + (ahead[k] * w->slopes[k][i]);
        }
        good &= robot_sim_slope(w, w->t + ahead[k], w->trial, w->slopes[k + 1]);
    }
    for (int i = 0; (i < ROBOT_SIM_NY) && (good != 0u); ++i) {
        const robot_sim_state_t outer = w->slopes[0][i] + w->slopes[3][i];
        const robot_sim_state_t inner = w->slopes[1][i] + w->slopes[2][i];
        w->trial[i] = w->y[i] + ((h / REAL(6.0)) * (outer + (REAL(2.0) * inner)));
    }
    return good;
}

#endif /* ROBOT_SIM_RK4_H */
