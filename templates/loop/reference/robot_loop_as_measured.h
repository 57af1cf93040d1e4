/* Part of robot_loop.c: references of joints without drives. */
#ifndef ROBOT_LOOP_AS_MEASURED_H
#define ROBOT_LOOP_AS_MEASURED_H

#include "robot_loop_base.h"

#if ROBOT_PASSIVE
/* Where nothing is driven there is nothing to follow: the reference is what was measured. */
static void robot_loop_release(robot_loop_view_t *view)
{
    for (int i = 0; i < ROBOT_NQ; ++i) {
        view->q_ref[i] = (robot_loop_driven_q[i] != 0u) ? view->q_ref[i] : view->q[i];
    }
    for (int i = 0; i < ROBOT_NV; ++i) {
        view->qd_ref[i] = (robot_loop_driven[i] != 0u) ? view->qd_ref[i] : view->qd[i];
    }
}
#endif

#endif /* ROBOT_LOOP_AS_MEASURED_H */
