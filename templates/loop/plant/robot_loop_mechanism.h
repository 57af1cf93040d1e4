/* Part of robot_loop.c: what robots with closed loops need. */
#ifndef ROBOT_LOOP_MECHANISM_H
#define ROBOT_LOOP_MECHANISM_H

#include "robot_loop_base.h"
#if ROBOT_LOOPS
#include "robot_loops.h"

/* What the drives need to hold the weights: gravity_vector is that of the tree. */
static int robot_loop_call_gravity_vector(const robot_params_t *p, const robot_real_t *q, robot_real_t *G)
{
    const robot_real_t zero[ROBOT_NV] = {REAL(0.0)};
    return robot_loop_call_inverse_dynamics(p, q, zero, zero, G);
}

/* Take away what a step has opened; 0, or the loops cannot be closed from here. */
static int robot_loop_assemble(const robot_params_t *p, robot_real_t *q, robot_real_t *qd)
{
    robot_loops_workspace_t w;
    int status = robot_close_loops(p, NULL, REAL(4.0e3) * ROBOT_EPSILON, q, NULL, &w);
    status |= robot_close_velocities(p, NULL, q, qd, &w);
    return (status == ROBOT_LOOPS_CLOSED) ? 0 : 1;
}
#endif

#endif /* ROBOT_LOOP_MECHANISM_H */
