/* The functions of the model as an observer calls them: a sample of what is generated. */
#ifndef ROBOT_OBSERVER_CALLS_H
#define ROBOT_OBSERVER_CALLS_H

#include "robot.h"

static int robot_observer_call_mass_matrix(const robot_params_t *p, const robot_scalar_t *q, robot_scalar_t *M)
{
    robot_mass_matrix(p, q, M);
    return 0;
}

static int robot_observer_call_coriolis_matrix(
    const robot_params_t *p, const robot_scalar_t *q, const robot_scalar_t *qd, robot_scalar_t *C)
{
    (void)p; /* the mass matrix is constant */
    (void)q;
    (void)qd;
    for (int i = 0; i < (ROBOT_NV * ROBOT_NV); ++i) {
        C[i] = REAL(0.0);
    }
    return 0;
}

static int robot_observer_call_inverse_dynamics(const robot_params_t *p, const robot_scalar_t *q,
    const robot_scalar_t *qd, const robot_scalar_t *qdd, robot_scalar_t *F)
{
    robot_inverse_dynamics(p, q, qd, qdd, F);
    return 0;
}

#if ROBOT_HAS_LOAD_FRICTION_FORCES
static int robot_observer_call_load_friction_forces(
    const robot_params_t *p, const robot_scalar_t *qd, const robot_scalar_t *F, robot_scalar_t *R)
{
    robot_load_friction_forces(p, qd, F, R);
    return 0;
}
#endif

#endif /* ROBOT_OBSERVER_CALLS_H */
