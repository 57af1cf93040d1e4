/* Part of robot_loop.c: the simulated robot, one step. */
#ifndef ROBOT_LOOP_PLANT_H
#define ROBOT_LOOP_PLANT_H

#include "robot_loop_base.h"
#include "robot_loop_calls.h"

static int robot_loop_accelerate(
    robot_loop_plant_t *plant, const robot_real_t *q, const robot_real_t *qd, robot_real_t *qdd)
{
    robot_real_t F[ROBOT_NV];
    for (int i = 0; i < ROBOT_NV; ++i) {
        F[i] = plant->F[i] + plant->disturbance[i];
    }
#if ROBOT_SLIDING
    return robot_loop_call_forward_dynamics(&plant->p, plant->k, q, qd, F, qdd);
#else
    return robot_loop_call_forward_dynamics(&plant->p, q, qd, F, qdd);
#endif
}

#if ROBOT_QUATERNIONS
/* Quaternions of the positions q, of length 1 but for errors of a step, brought to length 1: by 1 / sqrt(s) = 1 - (s -
 * 1) / 2
 * + 3 (s - 1)^2 / 8, twice. */
static void robot_loop_make_unit(robot_real_t *q)
{
    for (int k = 0; k < (2 * ROBOT_QUATERNIONS); ++k) {
        robot_real_t *const x = &q[robot_loop_quaternions[k / 2]];
        const robot_real_t over = ((((x[0] * x[0]) + (x[1] * x[1])) + (x[2] * x[2])) + (x[3] * x[3])) - REAL(1.0);
        const robot_real_t scale = REAL(1.0) - (over * (REAL(0.5) - (REAL(0.375) * over)));
        for (int i = 0; i < 4; ++i) {
            x[i] *= scale;
        }
    }
}
#endif

static int robot_loop_step_semi_implicit(robot_loop_plant_t *plant, robot_real_t h)
{
    robot_real_t qdd[ROBOT_NV];
#if ROBOT_QUATERNIONS
    robot_real_t q[ROBOT_NQ], way[ROBOT_NV];
#endif
    const int status = robot_loop_accelerate(plant, plant->q, plant->qd, qdd);
    for (int i = 0; i < ROBOT_NV; ++i) {
        plant->qd[i] += h * qdd[i];
#if ROBOT_QUATERNIONS
        way[i] = h * plant->qd[i];
#else
        plant->q[i] += h * plant->qd[i];
#endif
    }
#if ROBOT_QUATERNIONS
    robot_integrate(&plant->p, plant->q, way, q);
    for (int i = 0; i < ROBOT_NQ; ++i) {
        plant->q[i] = q[i];
    }
    robot_loop_make_unit(plant->q);
#endif
#if ROBOT_TIMED
    plant->p.time += h;
#endif
    return status;
}

#endif /* ROBOT_LOOP_PLANT_H */
