/* Time law of the sample's path: another trajectory. */
#ifndef ROBOT_LAW_TRAJECTORY_H
#define ROBOT_LAW_TRAJECTORY_H

#include "robot_real.h"

void robot_law_trajectory_eval(robot_scalar_t t, robot_scalar_t q[1], robot_scalar_t qd[1], robot_scalar_t qdd[1]);

#endif /* ROBOT_LAW_TRAJECTORY_H */
