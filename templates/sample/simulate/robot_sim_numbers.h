/* What the integrators compute with: numbers of one motion. In emitted files these words are written out. */
#ifndef ROBOT_SIM_NUMBERS_H
#define ROBOT_SIM_NUMBERS_H

#include "robot_simulate.h"

typedef robot_sim_workspace_t robot_sim_motion_t; /* memory of what is simulated */
typedef robot_scalar_t robot_sim_state_t;         /* a number of the state */
typedef int robot_sim_choice_t;                   /* what a comparison of two of them gives */
typedef int robot_sim_place_t;                    /* a row of a matrix */

#endif /* ROBOT_SIM_NUMBERS_H */
