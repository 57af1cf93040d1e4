/* Part of robot_loop.c: elastic coordinates of the feedforward controller. */
#ifndef ROBOT_LOOP_EQUILIBRIUM_H
#define ROBOT_LOOP_EQUILIBRIUM_H

#include "robot_loop_pd.h"

/* Elastic equilibrium: the deflection x(t) at which a reference motion leaves no force on elastic coordinates */

#if ROBOT_SINGLE
#define ROBOT_LOOP_STENCIL REAL(2e-2) /* from a place to its neighbours in time [s] */
#else
#define ROBOT_LOOP_STENCIL REAL(1e-3) /* from a place to its neighbours in time [s] */
#endif

/* Velocities or accelerations of the elastic coordinates. */
static void robot_loop_set_elastic(robot_real_t *values, const robot_real_t *x)
{
    for (int i = 0; i < ROBOT_NE; ++i) {
        values[robot_loop_elastic[i]] = x[i];
    }
}
/* The same in q, which has further numbers where there are quaternions. */
static void robot_loop_set_deflections(robot_real_t *q, const robot_real_t *x)
{
    for (int i = 0; i < ROBOT_NE; ++i) {
        q[robot_loop_elastic_q[i]] = x[i];
    }
}

/* x -= scale K_ee^-1 Q_e. */
static void robot_loop_relax(
    const robot_loop_tuning_t *tuning, const robot_real_t *Q, robot_real_t scale, robot_real_t *x)
{
    for (int i = 0; i < ROBOT_NE; ++i) {
        robot_real_t sum = REAL(0.0);
        for (int j = 0; j < ROBOT_NE; ++j) {
            sum += tuning->compliance[i][j] * Q[robot_loop_elastic[j]];
        }
        x[i] -= scale * sum;
    }
}

#endif /* ROBOT_LOOP_EQUILIBRIUM_H */
