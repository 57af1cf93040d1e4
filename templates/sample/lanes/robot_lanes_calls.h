/* The functions of the model as the integrators call them for several motions: a sample of what is generated. */
#ifndef ROBOT_LANES_CALLS_H
#define ROBOT_LANES_CALLS_H

#include "robot_lanes_motion.h"

static inline unsigned robot_sim_call_forward_dynamics(robot_sim_motion_t *w, const robot_sim_state_t *q,
    const robot_sim_state_t *qd, const robot_sim_state_t *F, robot_sim_state_t *qdd)
{
    for (int i = 0; i < ROBOT_NV; ++i) {
        qdd[i] = (F[i] - (w->p.stiffness * q[i]) - (w->p.damping * qd[i])) / w->p.mass;
    }
    return robot_sim_set(w->p.mass > 0.0);
}

static inline unsigned robot_sim_call_inverse_dynamics(robot_sim_motion_t *w, const robot_sim_state_t *q,
    const robot_sim_state_t *qd, const robot_sim_state_t *qdd, robot_sim_state_t *F)
{
    for (int i = 0; i < ROBOT_NV; ++i) {
        F[i] = (w->p.mass * qdd[i]) + (w->p.damping * qd[i]) + (w->p.stiffness * q[i]);
    }
    return ROBOT_SIM_EVERY;
}

static inline unsigned robot_sim_call_inverse_dynamics_derivatives(robot_sim_motion_t *w, const robot_sim_state_t *q,
    const robot_sim_state_t *qd, const robot_sim_state_t *qdd, robot_sim_state_t *dF_dq, robot_sim_state_t *dF_dqd,
    robot_sim_state_t *M)
{
    (void)q;
    (void)qd;
    (void)qdd;
    for (int i = 0; i < (ROBOT_NV * ROBOT_NV); ++i) {
        const int diagonal = (i % (ROBOT_NV + 1)) == 0;
        dF_dq[i] = diagonal ? w->p.stiffness : robot_sim_all(0.0);
        dF_dqd[i] = diagonal ? w->p.damping : robot_sim_all(0.0);
        M[i] = diagonal ? w->p.mass : robot_sim_all(0.0);
    }
    return ROBOT_SIM_EVERY;
}

static inline unsigned robot_sim_call_gravity_vector(
    robot_sim_motion_t *w, const robot_sim_state_t *q, robot_sim_state_t *G)
{
    (void)w;
    (void)q;
    for (int i = 0; i < ROBOT_NV; ++i) {
        G[i] = robot_sim_all(0.0);
    }
    return ROBOT_SIM_EVERY;
}

static inline unsigned robot_sim_call_friction_forces(
    robot_sim_motion_t *w, const robot_sim_state_t *q, const robot_sim_state_t *qd, robot_sim_state_t *R)
{
    (void)q;
    for (int i = 0; i < ROBOT_NV; ++i) {
        R[i] = w->p.damping * qd[i];
    }
    return ROBOT_SIM_EVERY;
}

static inline unsigned robot_sim_call_kinetic_energy(
    robot_sim_motion_t *w, const robot_sim_state_t *q, const robot_sim_state_t *qd, robot_sim_state_t *T)
{
    (void)q;
    *T = 0.5 * w->p.mass * ((qd[0] * qd[0]) + (qd[1] * qd[1]));
    return ROBOT_SIM_EVERY;
}

static inline unsigned robot_sim_call_potential_energy(
    robot_sim_motion_t *w, const robot_sim_state_t *q, robot_sim_state_t *V)
{
    *V = 0.5 * w->p.stiffness * ((q[0] * q[0]) + (q[1] * q[1]));
    return ROBOT_SIM_EVERY;
}

#endif /* ROBOT_LANES_CALLS_H */
