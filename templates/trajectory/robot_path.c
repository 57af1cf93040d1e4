/**
 * @file  robot_path.c
 * @brief Geodesics, documented in robot_path.h.
 */

#include "robot_path.h"
#include "robot_law_trajectory.h"

#include "robot_path_tables.h"

void robot_path_eval(const robot_path_params_t *p, robot_path_real_t t, robot_path_real_t q[ROBOT_PATH_NQ],
    robot_path_real_t qd[ROBOT_PATH_NV], robot_path_real_t qdd[ROBOT_PATH_NV])
{
    robot_path_real_t place; /* the leg, and the part of it */
    robot_path_real_t speed;
    robot_path_real_t change;
    robot_path_real_t way[ROBOT_PATH_NV];
    robot_law_trajectory_eval(t, &place, &speed, &change);
    const int begun = (int)place;
    const int leg = (begun < ROBOT_PATH_LEGS) ? begun : (ROBOT_PATH_LEGS - 1);
    const robot_path_real_t part = place - (robot_path_real_t)leg;
    for (int i = 0; i < ROBOT_PATH_NV; ++i) {
        way[i] = part * robot_path_ways[leg][i];
        qd[i] = speed * robot_path_ways[leg][i];
        qdd[i] = change * robot_path_ways[leg][i];
    }
    robot_path_integrate(p, robot_path_points[leg], way, q);
}
