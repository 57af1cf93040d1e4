/* Part of robot_simulate.c and robot_loop.c: the classical Runge-Kutta method of order 4. */
#ifndef ROBOT_RK4_H
#define ROBOT_RK4_H

/* Slopes of y at the time t; returns the motions in which there are any. */
typedef unsigned (*robot_rk4_slope_t)(
    robot_rk4_motion_t *w, robot_scalar_t t, const robot_rk4_state_t *y, robot_rk4_state_t *slope);

/* A step of length h from y at the time t into next; returns the motions in which it succeeds. */
static unsigned robot_rk4(robot_rk4_slope_t slope, robot_rk4_motion_t *w, robot_scalar_t t, robot_scalar_t h,
    const robot_rk4_state_t *y, robot_rk4_state_t (*slopes)[ROBOT_RK4_NY], robot_rk4_state_t *next, unsigned open)
{
    const robot_scalar_t half = REAL(0.5) * h;
    const robot_scalar_t ahead[3] = {half, half, h};
    unsigned good = open & slope(w, t, y, slopes[0]);
    for (int k = 0; (k < 3) && (good != 0u); ++k) {
        for (int i = 0; i < ROBOT_RK4_NY; ++i) {
            next[i] = y[i] + (ahead[k] * slopes[k][i]);
        }
        good &= slope(w, t + ahead[k], next, slopes[k + 1]);
    }
    for (int i = 0; (i < ROBOT_RK4_NY) && (good != 0u); ++i) {
        const robot_rk4_state_t outer = slopes[0][i] + slopes[3][i];
        const robot_rk4_state_t inner = slopes[1][i] + slopes[2][i];
        next[i] = y[i] + ((h / REAL(6.0)) * (outer + (REAL(2.0) * inner)));
    }
    return good;
}

#endif /* ROBOT_RK4_H */
