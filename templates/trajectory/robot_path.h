/**
 * @file  robot_path.h
 * @brief Geodesics one after the other, at rest at their ends.
 */

/*
 * Needs the model with its function integrate, and the time law robot_law_trajectory.c. No heap, no I/O, no data that
 * changes.
 */

#ifndef ROBOT_PATH_H
#define ROBOT_PATH_H

#include "robot_path_model.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @brief Configuration, velocities and accelerations at a time.
 *
 * @param[in]  p    parameters of the model
 * @param[in]  t    time [s]; before robot_law_trajectory_start and after robot_law_trajectory_end the ends are held
 * @param[out] q    configuration; ROBOT_PATH_NQ values, unit quaternions
 * @param[out] qd   velocities [rad/s, m/s]; ROBOT_PATH_NV values
 * @param[out] qdd  accelerations [rad/s^2, m/s^2]; ROBOT_PATH_NV values
 * @note Re-entrant. Outputs must not overlap.
 */
void robot_path_eval(const robot_path_params_t *p, robot_path_real_t t, robot_path_real_t q[ROBOT_PATH_NQ],
    robot_path_real_t qd[ROBOT_PATH_NV], robot_path_real_t qdd[ROBOT_PATH_NV]);

#ifdef __cplusplus
}
#endif

#endif /* ROBOT_PATH_H */
