/* The functions of the model as elastic states call them, and which coordinates are elastic: a sample of what is
 * generated. */
#ifndef ROBOT_ELASTIC_CALLS_H
#define ROBOT_ELASTIC_CALLS_H

#include "robot.h"

#include "robot_elastic_sizes.h"

#if ROBOT_QUATERNIONS
static const int robot_elastic_own[ROBOT_NV] = {0, 1, 0, 0, 0};
#else
static const int robot_elastic_own[ROBOT_NV] = {0, 1};
#endif

static int robot_elastic_call_inverse_dynamics(const robot_params_t *p, const robot_scalar_t *q,
    const robot_scalar_t *qd, const robot_scalar_t *qdd, robot_scalar_t *F)
{
    robot_inverse_dynamics(p, q, qd, qdd, F);
    return 0;
}

static int robot_elastic_call_inverse_dynamics_sensitivity_by_parameters(const robot_params_t *p,
    const robot_scalar_t *q, const robot_scalar_t *qd, const robot_scalar_t *qdd, robot_scalar_t *dy_dx)
{
    const int width = (3 * ROBOT_NV) + ROBOT_ELASTIC_PARAMETERS;
    for (int i = 0; i < (ROBOT_NV * width); ++i) {
        dy_dx[i] = REAL(0.0);
    }
    for (int i = 0; i < 2; ++i) {
        robot_scalar_t *row = dy_dx + (i * width);
        row[i] = p->stiffness;
        row[ROBOT_NV + i] = p->damping;
        row[(2 * ROBOT_NV) + i] = p->mass;
        row[3 * ROBOT_NV] = qdd[i];
        row[(3 * ROBOT_NV) + 1] = q[i];
        row[(3 * ROBOT_NV) + 2] = qd[i];
    }
    return 0;
}

#endif /* ROBOT_ELASTIC_CALLS_H */
