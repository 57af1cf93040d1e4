/* What the page of the sample robot draws and drives: a sample of what is generated, with its points. */
#ifndef ROBOT_PLAY_TABLES_H
#define ROBOT_PLAY_TABLES_H

#include "robot.h"

#define ROBOT_PLAY_NODES     2   /* points that are drawn */
#define ROBOT_PLAY_BANDWIDTH 8.0 /* of computed torque [rad/s] */

static const int robot_play_places[ROBOT_NV] = {0, 1}; /* for each velocity the position that a drive holds */

/* Both masses are on the x axis. */
static int robot_point_positions(const robot_params_t *p, const robot_real_t *q, robot_real_t *points)
{
    (void)p;
    for (int i = 0; i < (3 * ROBOT_PLAY_NODES); ++i) {
        points[i] = ((i % 3) == 0) ? q[i / 3] : REAL(0.0);
    }
    return 0;
}

static int robot_point_forces(
    const robot_params_t *p, const robot_real_t *q, const robot_real_t *wrenches, robot_real_t *F)
{
    (void)p;
    (void)q;
    for (int i = 0; i < ROBOT_NV; ++i) {
        F[i] = (i < 2) ? wrenches[6 * i] : REAL(0.0);
    }
    return 0;
}

static int robot_point_curvatures(const robot_params_t *p, const robot_real_t *q, robot_real_t *curvatures)
{
    (void)p;
    curvatures[0] = q[1];
    curvatures[1] = REAL(0.0);
    return 0;
}

#endif /* ROBOT_PLAY_TABLES_H */
