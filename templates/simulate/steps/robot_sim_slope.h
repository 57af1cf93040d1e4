/* Part of robot_simulate.c: slopes of the state, which explicit methods follow. */
#ifndef ROBOT_SIM_SLOPE_H
#define ROBOT_SIM_SLOPE_H

#include "robot_sim_force.h"

/* Power of the driving forces, and what friction and damping take [W]. */
static void robot_sim_powers(
    robot_sim_motion_t *w, const robot_sim_state_t *y, const robot_sim_state_t *F, robot_sim_state_t power[2])
{
    const robot_sim_state_t *const qd = &y[ROBOT_NQ];
    power[0] = robot_sim_all(REAL(0.0));
    power[1] = robot_sim_all(REAL(0.0));
    if ((w->record->work != NULL) || (w->record->loss != NULL)) {
#if ROBOT_HAS_FRICTION_FORCES
        robot_sim_state_t R[ROBOT_NV];
        (void)robot_sim_call_friction_forces(w, y, qd, R);
#endif
#if ROBOT_HAS_LOAD_FRICTION_FORCES
        robot_sim_state_t S[ROBOT_NV];
        (void)robot_sim_call_load_friction_forces(w, qd, F, S);
#endif
        for (int i = 0; i < ROBOT_NV; ++i) {
            power[0] += F[i] * qd[i];
#if ROBOT_HAS_FRICTION_FORCES
            power[1] += R[i] * qd[i];
#endif
#if ROBOT_HAS_LOAD_FRICTION_FORCES
            power[1] += S[i] * qd[i];
#endif
        }
    }
}

/* Slopes of q, qd, work and loss; returns the motions in which there are any. */
static unsigned robot_sim_slope(
    robot_sim_motion_t *w, robot_scalar_t t, const robot_sim_state_t *y, robot_sim_state_t *slope)
{
    const robot_sim_state_t *const qd = &y[ROBOT_NQ];
    unsigned good = robot_sim_force(w, t, y, qd, w->F);
    if (good != 0u) {
        robot_sim_count_evaluation(w, ROBOT_SIM_EVERY);
        good &= robot_sim_call_forward_dynamics(w, y, qd, w->F, &slope[ROBOT_NQ]);
        robot_sim_judge(w, good, y);
#if ROBOT_QUATERNIONS
        (void)robot_sim_call_configuration_rate(w, y, qd, slope);
#else
        for (int i = 0; i < ROBOT_NQ; ++i) {
            slope[i] = qd[i];
        }
#endif
        robot_sim_powers(w, y, w->F, &slope[ROBOT_SIM_NX]);
    }
    return good;
}

#if ROBOT_QUATERNIONS
/* Make the quaternions of the positions q unit again. Steps go through the space of all four numbers, in which the unit
 * quaternions are kept but for the error of a step; that is taken away here. */
static void robot_sim_unit(robot_sim_state_t *q)
{
    for (int k = 0; k < ROBOT_QUATERNIONS; ++k) {
        robot_sim_state_t *const x = q + robot_sim_quaternions[k];
        const robot_sim_state_t square = (x[0] * x[0]) + (x[1] * x[1]) + (x[2] * x[2]) + (x[3] * x[3]);
        const robot_sim_state_t length = robot_sim_root(square);
        for (int i = 0; i < 4; ++i) {
            x[i] /= length;
        }
    }
}
#endif

#endif /* ROBOT_SIM_SLOPE_H */
