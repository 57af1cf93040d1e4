/* Part of robot_loop.c: what controllers share. */
#ifndef ROBOT_LOOP_PD_H
#define ROBOT_LOOP_PD_H

#include "robot_loop_base.h"
#include "robot_loop_calls.h"

typedef robot_real_t robot_law_state_t;
typedef const robot_params_t robot_law_model_t;
typedef int robot_law_answer_t;

#include "robot_drive_laws.h"

/* e = q_ref - q of one velocity, along the velocities where there are quaternions [rad, m]. */
static robot_real_t robot_loop_error(const robot_loop_view_t *view, int i)
{
#if ROBOT_QUATERNIONS
    return view->error[i];
#else
    return view->q_ref[i] - view->q[i];
#endif
}

/* kp e + kd (qd_ref - qd) of one velocity. */
static robot_real_t robot_loop_pd(const robot_loop_view_t *view, int i)
{
    const robot_loop_tuning_t *const tuning = view->tuning;
    return robot_law_pd(tuning->kp[i], tuning->kd[i], robot_loop_error(view, i), view->qd_ref[i] - view->qd[i]);
}

#endif /* ROBOT_LOOP_PD_H */
