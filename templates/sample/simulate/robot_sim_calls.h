/* The functions of the model as the integrators call them: a sample of what is generated. */
#ifndef ROBOT_SIM_CALLS_H
#define ROBOT_SIM_CALLS_H

#include "robot_sim_motion.h"

#if ROBOT_LANES
#include "robot_lanes_calls.h"
#else
/* Functions of the model on numbers of the simulation; they return the motions in which they succeed. */
static unsigned robot_sim_call_forward_dynamics(robot_sim_motion_t *w, const robot_sim_state_t *q,
    const robot_sim_state_t *qd, const robot_sim_state_t *F, robot_sim_state_t *qdd)
{
    w->code = robot_forward_dynamics(w->p, q, qd, F, qdd);
    return (w->code == 0) ? 1u : 0u;
}

#if ROBOT_HAS_INVERSE_DYNAMICS
static unsigned robot_sim_call_inverse_dynamics(robot_sim_motion_t *w, const robot_sim_state_t *q,
    const robot_sim_state_t *qd, const robot_sim_state_t *qdd, robot_sim_state_t *F)
{
    robot_inverse_dynamics(w->p, q, qd, qdd, F);
    return 1u;
}
#endif

#if ROBOT_HAS_INVERSE_DYNAMICS_DERIVATIVES && !ROBOT_LOOPS
static unsigned robot_sim_call_inverse_dynamics_derivatives(robot_sim_motion_t *w, const robot_sim_state_t *q,
    const robot_sim_state_t *qd, const robot_sim_state_t *qdd, robot_sim_state_t *dF_dq, robot_sim_state_t *dF_dqd,
    robot_sim_state_t *M)
{
    robot_inverse_dynamics_derivatives(w->p, q, qd, qdd, dF_dq, dF_dqd, M);
    return 1u;
}
#endif

#if ROBOT_HAS_GRAVITY_VECTOR && !ROBOT_LOOPS
static unsigned robot_sim_call_gravity_vector(robot_sim_motion_t *w, const robot_sim_state_t *q, robot_sim_state_t *G)
{
    robot_gravity_vector(w->p, q, G);
    return 1u;
}
#endif

#if ROBOT_HAS_FRICTION_FORCES
static unsigned robot_sim_call_friction_forces(
    robot_sim_motion_t *w, const robot_sim_state_t *q, const robot_sim_state_t *qd, robot_sim_state_t *R)
{
    robot_friction_forces(w->p, q, qd, R);
    return 1u;
}
#endif

#if ROBOT_HAS_LOAD_FRICTION_FORCES
static unsigned robot_sim_call_load_friction_forces(
    robot_sim_motion_t *w, const robot_sim_state_t *qd, const robot_sim_state_t *F, robot_sim_state_t *R)
{
    robot_load_friction_forces(w->p, qd, F, R);
    return 1u;
}
#endif

#if ROBOT_HAS_KINETIC_ENERGY
static unsigned robot_sim_call_kinetic_energy(
    robot_sim_motion_t *w, const robot_sim_state_t *q, const robot_sim_state_t *qd, robot_sim_state_t *T)
{
    robot_kinetic_energy(w->p, q, qd, T);
    return 1u;
}
#endif

#if ROBOT_HAS_POTENTIAL_ENERGY
static unsigned robot_sim_call_potential_energy(robot_sim_motion_t *w, const robot_sim_state_t *q, robot_sim_state_t *V)
{
    robot_potential_energy(w->p, q, V);
    return 1u;
}
#endif

#if ROBOT_GROUND
static unsigned robot_sim_call_ground_motion(robot_sim_motion_t *w, const robot_sim_state_t *q,
    const robot_sim_state_t *qd, robot_sim_state_t *gaps, robot_sim_state_t *rates)
{
    robot_ground_motion(w->p, q, qd, gaps, rates);
    return 1u;
}
#endif

#if ROBOT_LOOPS
static unsigned robot_sim_call_loop_residual(robot_sim_motion_t *w, const robot_sim_state_t *q, robot_sim_state_t *e)
{
    robot_loop_residual(w->p, q, e);
    return 1u;
}

static unsigned robot_sim_call_loop_jacobian(robot_sim_motion_t *w, const robot_sim_state_t *q, robot_sim_state_t *J)
{
    robot_loop_jacobian(w->p, q, J);
    return 1u;
}

#if ROBOT_CAN_GENERALIZED_ALPHA
static unsigned robot_sim_call_forward_dynamics_derivatives(robot_sim_motion_t *w, const robot_sim_state_t *q,
    const robot_sim_state_t *qd, const robot_sim_state_t *F, robot_sim_state_t *dqdd_dq, robot_sim_state_t *dqdd_dqd,
    robot_sim_state_t *dqdd_dF)
{
    w->code = robot_forward_dynamics_derivatives(w->p, q, qd, F, dqdd_dq, dqdd_dqd, dqdd_dF);
    return (w->code == 0) ? 1u : 0u;
}
#endif
#endif

#if ROBOT_QUATERNIONS
static const int robot_sim_quaternions[ROBOT_QUATERNIONS] = {2}; /* where in q they start */

static unsigned robot_sim_call_configuration_rate(
    robot_sim_motion_t *w, const robot_sim_state_t *q, const robot_sim_state_t *v, robot_sim_state_t *dq)
{
    robot_configuration_rate(w->p, q, v, dq);
    return 1u;
}

#if ROBOT_CAN_GENERALIZED_ALPHA || ROBOT_LOOPS
static unsigned robot_sim_call_integrate(
    robot_sim_motion_t *w, const robot_sim_state_t *q, const robot_sim_state_t *v, robot_sim_state_t *moved)
{
    robot_integrate(w->p, q, v, moved);
    return 1u;
}
#endif
#endif
#endif

#endif /* ROBOT_SIM_CALLS_H */
