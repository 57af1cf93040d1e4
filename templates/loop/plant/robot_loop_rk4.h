/* Part of robot_loop.c: a step of the simulated robot by the classical Runge-Kutta method. */
#ifndef ROBOT_LOOP_RK4_H
#define ROBOT_LOOP_RK4_H

#include "robot_loop_plant.h"

#define ROBOT_RK4_NY (ROBOT_NQ + ROBOT_NV)
typedef robot_real_t robot_rk4_state_t;
typedef robot_loop_plant_t robot_rk4_motion_t;

#include "robot_rk4.h"

/* Slopes of q and qd, with quaternions made unit; 0: the equations of motion have no solution. */
static unsigned robot_loop_slope(robot_loop_plant_t *plant, robot_real_t t, const robot_real_t *y, robot_real_t *slope)
{
    const robot_real_t *const qd = &y[ROBOT_NQ];
    robot_real_t q[ROBOT_NQ];
    int status = 0;
#if ROBOT_TIMED
    plant->p.time = t;
#else
    (void)t;
#endif
    for (int i = 0; i < ROBOT_NQ; ++i) {
        q[i] = y[i];
    }
#if ROBOT_QUATERNIONS
    robot_loop_make_unit(q);
    robot_configuration_rate(&plant->p, q, qd, slope);
#else
    for (int i = 0; i < ROBOT_NQ; ++i) {
        slope[i] = qd[i];
    }
#endif
    status = robot_loop_accelerate(plant, q, qd, &slope[ROBOT_NQ]);
    return (status == 0) ? 1u : 0u;
}

static int robot_loop_step_rk4(robot_loop_plant_t *plant, robot_real_t h)
{
    robot_real_t y[ROBOT_RK4_NY], next[ROBOT_RK4_NY], slopes[4][ROBOT_RK4_NY] = {{REAL(0.0)}};
    unsigned good = 0u;
    for (int i = 0; i < ROBOT_NQ; ++i) {
        y[i] = plant->q[i];
    }
    for (int i = 0; i < ROBOT_NV; ++i) {
        y[ROBOT_NQ + i] = plant->qd[i];
    }
#if ROBOT_TIMED
    good = robot_rk4(robot_loop_slope, plant, plant->p.time, h, y, slopes, next, 1u);
#else
    good = robot_rk4(robot_loop_slope, plant, REAL(0.0), h, y, slopes, next, 1u);
#endif
    for (int i = 0; (i < ROBOT_RK4_NY) && (good == 0u); ++i) {
        next[i] =
            y[i] + (h * ((slopes[0][i] + slopes[1][i]) + (slopes[2][i] + slopes[3][i]))); /* a NaN stays visible */
    }
    for (int i = 0; i < ROBOT_NQ; ++i) {
        plant->q[i] = next[i];
    }
    for (int i = 0; i < ROBOT_NV; ++i) {
        plant->qd[i] = next[ROBOT_NQ + i];
    }
#if ROBOT_QUATERNIONS
    robot_loop_make_unit(plant->q);
#endif
    return (good != 0u) ? 0 : 1;
}

#endif /* ROBOT_LOOP_RK4_H */
