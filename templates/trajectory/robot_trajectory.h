/**
 * @file  robot_trajectory.h
 * @brief A trajectory: piecewise polynomials of time.
 */

/*
 * What is computed before the start, after the end, and where the time is not a number is said above.
 * No heap, no I/O, no data that changes: may be called from several threads and interrupts at once.
 */

#ifndef ROBOT_TRAJECTORY_H
#define ROBOT_TRAJECTORY_H

#include "robot_trajectory_size.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Every number of the trajectory. */
typedef robot_scalar_t robot_trajectory_real_t;

/** First and last time [s]. */
extern const robot_trajectory_real_t robot_trajectory_start;
extern const robot_trajectory_real_t robot_trajectory_end;

/**
 * @brief Positions, velocities and accelerations at a time.
 *
 * @param[in]  t    time [s]
 * @param[out] q    positions [rad or m]; ROBOT_TRAJECTORY_SIZE values
 * @param[out] qd   velocities; ROBOT_TRAJECTORY_SIZE values
 * @param[out] qdd  accelerations; ROBOT_TRAJECTORY_SIZE values
 * @note Re-entrant. Outputs must not overlap.
 */
void robot_trajectory_eval(robot_trajectory_real_t t, robot_trajectory_real_t q[ROBOT_TRAJECTORY_SIZE],
    robot_trajectory_real_t qd[ROBOT_TRAJECTORY_SIZE], robot_trajectory_real_t qdd[ROBOT_TRAJECTORY_SIZE]);

#ifdef __cplusplus
}
#endif

#endif /* ROBOT_TRAJECTORY_H */
