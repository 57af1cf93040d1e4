/* Size of the sample's trajectory: a sample of what is generated. */
#ifndef ROBOT_TRAJECTORY_SIZE_H
#define ROBOT_TRAJECTORY_SIZE_H

#include "robot_real.h"

#define ROBOT_TRAJECTORY_SIZE 1 /* number of coordinates */

#endif /* ROBOT_TRAJECTORY_SIZE_H */
