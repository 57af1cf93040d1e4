/* Part of robot_loop.c: the controller by matrices of gains over the workspace. */
#ifndef ROBOT_LOOP_SCHEDULED_FEEDBACK_H
#define ROBOT_LOOP_SCHEDULED_FEEDBACK_H

#include "robot_loop_state_feedback.h"

/* The knot below x, but for the last, and how far x is from it to the next one; ends are held. */
static uint32_t robot_loop_knot(const robot_real_t *knots, uint32_t count, robot_real_t x, robot_real_t *part)
{
    uint32_t k = 0u;
    while (((k + 2u) < count) && (x >= knots[k + 1u])) {
        ++k;
    }
    *part = REAL(0.0);
    if (count > 1u) {
        const robot_real_t s = (x - knots[k]) / (knots[k + 1u] - knots[k]);
        *part = (s < REAL(0.0)) ? REAL(0.0) : ((s > REAL(1.0)) ? REAL(1.0) : s);
    }
    return k;
}

int robot_loop_scheduled_feedback(void *context, const robot_loop_view_t *view, robot_real_t *F)
{
    const robot_loop_schedule_t *const schedule = (const robot_loop_schedule_t *)context;
    robot_real_t error[2 * ROBOT_NV], part[ROBOT_LOOP_SCHEDULE_AXES];
    uint32_t knot[ROBOT_LOOP_SCHEDULE_AXES];
    const int status = robot_loop_ahead(view, F, error);
    for (uint32_t axis = 0; axis < schedule->axes; ++axis) {
        const robot_real_t x = view->q[schedule->coordinate[axis]];
        knot[axis] = robot_loop_knot(schedule->knots[axis], schedule->count[axis], x, &part[axis]);
    }
    for (uint32_t corner = 0; corner < (1u << schedule->axes); ++corner) { /* of the cell around q */
        robot_real_t weight = REAL(1.0);
        uint32_t place = 0u;
        for (uint32_t axis = 0; axis < schedule->axes; ++axis) {
            const uint32_t upper = (corner >> axis) & 1u;
            weight *= (upper != 0u) ? part[axis] : (REAL(1.0) - part[axis]);
            place = (place * schedule->count[axis]) + knot[axis] + upper;
        }
        if (weight > REAL(0.0)) {
            robot_loop_feed_back(&schedule->K[place * (2u * ROBOT_NV * ROBOT_NV)], weight, error, F);
        }
    }
    return status;
}

#endif /* ROBOT_LOOP_SCHEDULED_FEEDBACK_H */
