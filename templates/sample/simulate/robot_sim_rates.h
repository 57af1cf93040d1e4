/* The velocity beside each coordinate: a sample of what is generated for robots with quaternions. */
#ifndef ROBOT_SIM_RATES_H
#define ROBOT_SIM_RATES_H

#include "robot.h"

static const int robot_sim_rates[ROBOT_NQ] = {0, 1, 2, 3, 4, 4};

#endif /* ROBOT_SIM_RATES_H */
