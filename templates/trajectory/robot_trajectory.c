/**
 * @file  robot_trajectory.c
 * @brief A trajectory, documented in robot_trajectory.h.
 */

#include "robot_trajectory.h"

#include "robot_trajectory_tables.h"

void robot_trajectory_eval(robot_trajectory_real_t t, robot_trajectory_real_t q[ROBOT_TRAJECTORY_SIZE],
    robot_trajectory_real_t qd[ROBOT_TRAJECTORY_SIZE], robot_trajectory_real_t qdd[ROBOT_TRAJECTORY_SIZE])
{
    const robot_trajectory_real_t *const breaks = robot_trajectory_breaks;
    int low = 0;
    int high = ROBOT_TRAJECTORY_SEGMENTS - 1;
    int inside = 1;
    if (!(t >= breaks[0])) {
        t = breaks[0];
        inside = 0;
    } else if (t > breaks[ROBOT_TRAJECTORY_SEGMENTS]) {
        t = breaks[ROBOT_TRAJECTORY_SEGMENTS];
        inside = 0;
    } else {
        /* within its range */
    }
    while (low < high) { /* the last segment that has begun */
        const int middle = (low + high + 1) / 2;
        if (breaks[middle] <= t) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    const robot_trajectory_real_t u = t - breaks[low];
    for (int j = 0; j < ROBOT_TRAJECTORY_SIZE; ++j) {
        const robot_trajectory_real_t *const c = robot_trajectory_coefficients[low][j];
        robot_trajectory_real_t value = c[ROBOT_TRAJECTORY_DEGREE];
        robot_trajectory_real_t slope = REAL(0.0);
        robot_trajectory_real_t half_bend = REAL(0.0);
        for (int k = ROBOT_TRAJECTORY_DEGREE - 1; k >= 0; --k) { /* Horner for the polynomial and its derivatives */
            half_bend = (half_bend * u) + slope;
            slope = (slope * u) + value;
            value = (value * u) + c[k];
        }
#if ROBOT_TRAJECTORY_HOLDS
        q[j] = value;
#else
        q[j] = (inside != 0) ? value : REAL(0.0);
#endif
        qd[j] = (inside != 0) ? slope : REAL(0.0);
        qdd[j] = (inside != 0) ? (REAL(2.0) * half_bend) : REAL(0.0);
    }
}
