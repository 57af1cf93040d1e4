/* The functions of the model as the loop calls them: a sample of what is generated. */
#ifndef ROBOT_LOOP_CALLS_H
#define ROBOT_LOOP_CALLS_H

#include "robot_loop.h"

static int robot_loop_call_forward_dynamics(const robot_params_t *p,
#if ROBOT_SLIDING
    const int *k,
#endif
    const robot_real_t *q, const robot_real_t *qd, const robot_real_t *F, robot_real_t *qdd)
{
#if ROBOT_SLIDING
    (void)k;
#endif
    return robot_forward_dynamics(p, q, qd, F, qdd);
}

#if !ROBOT_LOOPS
static int robot_loop_call_gravity_vector(const robot_params_t *p, const robot_real_t *q, robot_real_t *G)
{
    robot_gravity_vector(p, q, G);
    return 0;
}
#endif

static int robot_loop_call_friction_forces(
    const robot_params_t *p, const robot_real_t *q, const robot_real_t *qd, robot_real_t *R)
{
    robot_friction_forces(p, q, qd, R);
    return 0;
}

#if !ROBOT_PASSIVE || ROBOT_LOOPS
static int robot_loop_call_inverse_dynamics(
    const robot_params_t *p, const robot_real_t *q, const robot_real_t *qd, const robot_real_t *qdd, robot_real_t *F)
{
    robot_inverse_dynamics(p, q, qd, qdd, F);
    return 0;
}
#endif

#if ROBOT_HYBRID
static int robot_loop_call_elastic_inverse_dynamics(const robot_params_t *p, const robot_real_t *q,
    const robot_real_t *qd, const robot_real_t *qdd, robot_real_t *F, robot_real_t *accelerations)
{
    robot_elastic_inverse_dynamics(p, q, qd, qdd, F, accelerations);
    return 0;
}
#endif

#if ROBOT_LOOPS
#include "robot_loop_mechanism.h"
#endif

#endif /* ROBOT_LOOP_CALLS_H */
