/* Part of robot_loop.c: gravity and friction compensation. */
#ifndef ROBOT_LOOP_GRAVITY_FRICTION_H
#define ROBOT_LOOP_GRAVITY_FRICTION_H

#include "robot_loop_pd.h"

int robot_loop_gravity_friction(void *context, const robot_loop_view_t *view, robot_real_t *F)
{
    int status = 0;
    robot_real_t friction[ROBOT_NV];
    (void)context;
    status |= robot_loop_call_gravity_vector(view->p, view->q, F);
    status |= robot_loop_call_friction_forces(view->p, view->q, view->qd_ref, friction);
    for (int i = 0; i < ROBOT_NV; ++i) {
        F[i] += friction[i] + view->F_ref[i] + robot_loop_pd(view, i);
    }
    return status;
}

#endif /* ROBOT_LOOP_GRAVITY_FRICTION_H */
