/* The live parameters, and the functions of the model as a detector calls them: a sample of what is generated. */
#ifndef ROBOT_COLLISION_CALLS_H
#define ROBOT_COLLISION_CALLS_H

#include "robot.h"

#define ROBOT_COLLISION_LIVE 4 /* number of live parameters */

static robot_scalar_t *robot_collision_live(robot_params_t *p, int k)
{
    robot_scalar_t *const live[ROBOT_COLLISION_LIVE] = {&p->mass, &p->stiffness, &p->damping, &p->time};
    return live[k];
}

static int robot_collision_call_forward_dynamics(const robot_params_t *p, const robot_scalar_t *q,
    const robot_scalar_t *qd, const robot_scalar_t *F, robot_scalar_t *qdd)
{
    return robot_forward_dynamics(p, q, qd, F, qdd);
}

static int robot_collision_call_inverse_dynamics(const robot_params_t *p, const robot_scalar_t *q,
    const robot_scalar_t *qd, const robot_scalar_t *qdd, robot_scalar_t *F)
{
    robot_inverse_dynamics(p, q, qd, qdd, F);
    return 0;
}

#endif /* ROBOT_COLLISION_CALLS_H */
