/* Part of robot_simulate.c: steps of equal length. */
#ifndef ROBOT_SIM_EQUAL_STEP_H
#define ROBOT_SIM_EQUAL_STEP_H

#include "robot_sim_motion.h"

#if ROBOT_SINGLE
#define ROBOT_SIM_ROUNDING REAL(1e-5) /* of a time, by which it may miss another one */
#else
#define ROBOT_SIM_ROUNDING REAL(1e-9) /* of a time, by which it may miss another one */
#endif

/* Length of the next of equal steps up to the limit, none longer than options->step, and the time after it. */
static robot_scalar_t robot_sim_equal_step(const robot_sim_motion_t *w, robot_scalar_t limit, robot_scalar_t *after)
{
    const robot_scalar_t left = limit - w->t;
    const robot_scalar_t count = ROBOT_CEIL((left / w->options->step) * (REAL(1.0) - ROBOT_SIM_ROUNDING));
    const robot_scalar_t h = (count > REAL(1.5)) ? (left / count) : left;
    *after = (count > REAL(1.5)) ? (w->t + h) : limit;
    return h;
}

#endif /* ROBOT_SIM_EQUAL_STEP_H */
