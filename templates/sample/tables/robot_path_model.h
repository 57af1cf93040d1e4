/* The model that the sample's path moves: a sample of what is generated. */
#ifndef ROBOT_PATH_MODEL_H
#define ROBOT_PATH_MODEL_H

#include "robot.h"

#define ROBOT_PATH_NQ ROBOT_NQ
#define ROBOT_PATH_NV ROBOT_NV

typedef robot_params_t robot_path_params_t;
typedef robot_real_t robot_path_real_t;

#define robot_path_integrate robot_integrate

#endif /* ROBOT_PATH_MODEL_H */
