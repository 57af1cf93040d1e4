/* Part of robot_loop.c: a step of the method of Runge and Kutta. */
#ifndef ROBOT_LOOP_RK4_H
#define ROBOT_LOOP_RK4_H

#include "robot_loop_plant.h"

static int robot_loop_step_rk4(robot_loop_plant_t *plant, robot_real_t h)
{
    static const unsigned char weight[4] = {1, 2, 2, 1};
    const robot_real_t reach[4] = {REAL(0.0), h / REAL(2.0), h / REAL(2.0), h};
    robot_real_t q[ROBOT_NQ], qd[ROBOT_NV], v[ROBOT_NQ] = {REAL(0.0)}, a[ROBOT_NV] = {REAL(0.0)};
    robot_real_t sum_v[ROBOT_NQ] = {REAL(0.0)}, sum_a[ROBOT_NV] = {REAL(0.0)};
#if ROBOT_TIMED
    const robot_real_t now = plant->p.time;
#endif
    int status = 0;
    for (int stage = 0; stage < 4; ++stage) {
#if ROBOT_TIMED
        plant->p.time = now + reach[stage];
#endif
        for (int i = 0; i < ROBOT_NQ; ++i) {
            q[i] = plant->q[i] + (reach[stage] * v[i]);
        }
#if ROBOT_QUATERNIONS
        robot_loop_make_unit(q);
#endif
        for (int i = 0; i < ROBOT_NV; ++i) {
            qd[i] = plant->qd[i] + (reach[stage] * a[i]);
        }
        status |= robot_loop_accelerate(plant, q, qd, a);
#if ROBOT_QUATERNIONS
        robot_configuration_rate(&plant->p, q, qd, v);
#endif
        for (int i = 0; i < ROBOT_NQ; ++i) {
#if !ROBOT_QUATERNIONS
            v[i] = qd[i];
#endif
            sum_v[i] += (robot_real_t)weight[stage] * v[i];
        }
        for (int i = 0; i < ROBOT_NV; ++i) {
            sum_a[i] += (robot_real_t)weight[stage] * a[i];
        }
    }
    for (int i = 0; i < ROBOT_NQ; ++i) {
        plant->q[i] += (h / REAL(6.0)) * sum_v[i];
    }
#if ROBOT_QUATERNIONS
    robot_loop_make_unit(plant->q);
#endif
    for (int i = 0; i < ROBOT_NV; ++i) {
        plant->qd[i] += (h / REAL(6.0)) * sum_a[i];
    }
    return status;
}

#endif /* ROBOT_LOOP_RK4_H */
