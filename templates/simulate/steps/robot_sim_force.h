/* Part of robot_simulate.c: controllers, and the choice among the kinds of input. */
#ifndef ROBOT_SIM_FORCE_H
#define ROBOT_SIM_FORCE_H

#include "robot_sim_calls.h"
#include "robot_sim_input.h"

#if ROBOT_CONTROLLERS
typedef robot_sim_state_t robot_law_state_t;
typedef robot_sim_motion_t robot_law_model_t;
typedef unsigned robot_law_answer_t;

#include "robot_drive_laws.h"

/* PD: F = G(q) + kp e + kd de. Computed torque: F = inverse dynamics of the acceleration qdd_r + kp e + kd de. */
static void robot_sim_controller(robot_sim_motion_t *w, robot_scalar_t t, const robot_sim_state_t *q,
    const robot_sim_state_t *qd, robot_sim_state_t *F)
{
    const robot_sim_input_t *const in = w->input;
#if ROBOT_HAS_INVERSE_DYNAMICS
    robot_sim_state_t qdd[ROBOT_NV];
#endif
    robot_sim_state_t pd[ROBOT_NV];
    for (int i = 0; i < ROBOT_NV; ++i) {
        robot_scalar_t r[3];
        robot_sim_reference(w, t, i, r);
        pd[i] = robot_law_pd(in->position_gain[i], in->velocity_gain[i], r[0] - q[i], r[1] - qd[i]);
#if ROBOT_HAS_INVERSE_DYNAMICS
        qdd[i] = robot_sim_all(r[2]);
#endif
    }
#if ROBOT_HAS_INVERSE_DYNAMICS
    if (in->kind == ROBOT_SIM_INPUT_COMPUTED_TORQUE) {
        (void)robot_law_computed_torque(robot_sim_call_inverse_dynamics, w, q, qd, qdd, pd, F);
    }
#endif
#if ROBOT_LOOPS && ROBOT_HAS_INVERSE_DYNAMICS
    if (in->kind == ROBOT_SIM_INPUT_PD) { /* what the drives hold: the weights of all links reach them by the loops */
        const robot_sim_state_t still[ROBOT_NV] = {REAL(0.0)};
        (void)robot_sim_call_inverse_dynamics(w, q, still, still, F);
    }
#endif
#if ROBOT_HAS_GRAVITY_VECTOR && !ROBOT_LOOPS
    if (in->kind == ROBOT_SIM_INPUT_PD) {
        (void)robot_sim_call_gravity_vector(w, q, F);
    }
#endif
    for (int i = 0; (i < ROBOT_NV) && (in->kind == ROBOT_SIM_INPUT_PD); ++i) {
        F[i] += pd[i];
    }
    for (int i = 0; (i < ROBOT_NV) && (in->actuated != NULL); ++i) {
        F[i] = (in->actuated[i] != 0) ? F[i] : robot_sim_all(REAL(0.0));
    }
}
#endif

/* Driving forces; returns the motions in which there are any. */
static unsigned robot_sim_force(robot_sim_motion_t *w, robot_scalar_t t, const robot_sim_state_t *q,
    const robot_sim_state_t *qd, robot_sim_state_t *F)
{
    const robot_sim_input_t *const in = w->input;
    unsigned good = ROBOT_SIM_EVERY;
#if ROBOT_TIMED
    robot_sim_set_time(w, t);
#endif
    for (int i = 0; i < ROBOT_NV; ++i) {
        F[i] = robot_sim_all(REAL(0.0));
    }
    if (in->kind == ROBOT_SIM_INPUT_FUNCTION) {
#if ROBOT_LANES
        good = 0u; /* a function knows one motion only */
#else
        good = (in->function(in->context, t, q, qd, F) == 0) ? ROBOT_SIM_EVERY : 0u;
        robot_sim_fail(w, ~good & ROBOT_SIM_EVERY, ROBOT_SIM_STATUS_FUNCTION);
#endif
    } else if (in->rows == 0u) {
        /* no forces */
    } else if ((in->kind == ROBOT_SIM_INPUT_HOLD) || (in->kind == ROBOT_SIM_INPUT_LINEAR)) {
        robot_sim_table(w, t, F);
    } else {
#if ROBOT_CONTROLLERS
        robot_sim_controller(w, t, q, qd, F);
#else
        (void)q;
        (void)qd;
        good = 0u;
        robot_sim_fail(w, ROBOT_SIM_EVERY, ROBOT_SIM_STATUS_ARGUMENT);
#endif
    }
    return good;
}

#endif /* ROBOT_SIM_FORCE_H */
