/* Part of robot_loop.c: PD with gravity compensation. */
#ifndef ROBOT_LOOP_PD_GRAVITY_H
#define ROBOT_LOOP_PD_GRAVITY_H

#include "robot_loop_pd.h"

int robot_loop_pd_gravity(void *context, const robot_loop_view_t *view, robot_real_t *F)
{
    int status = 0;
    (void)context;
    status = robot_loop_call_gravity_vector(view->p, view->q, F);
    for (int i = 0; i < ROBOT_NV; ++i) {
        F[i] += view->F_ref[i] + robot_loop_pd(view, i);
    }
    return status;
}

#endif /* ROBOT_LOOP_PD_GRAVITY_H */
