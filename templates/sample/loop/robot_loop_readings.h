/* What the sensors of the loop's observer read: a sample of what is generated. */
#ifndef ROBOT_LOOP_READINGS_H
#define ROBOT_LOOP_READINGS_H

#include "robot_loop.h"

#if ROBOT_OBSERVED
/* Where a reading stands in (q, qd) as they are read; -1: elsewhere. */
static const short robot_loop_encoder[ROBOT_READINGS] = {0, -1};

static int robot_loop_measure(
    const robot_params_t *p, const robot_real_t *q, const robot_real_t *qd, const robot_real_t *F, robot_real_t *y)
{
    (void)F;
    robot_measurement(p, q, qd, y);
    return 0;
}
#endif

#endif /* ROBOT_LOOP_READINGS_H */
