/* Part of robot_switch.h: what a switch reports, which the extension module knows, too. */
#ifndef ROBOT_SWITCH_TYPES_H
#define ROBOT_SWITCH_TYPES_H

#include "robot.h"

/** A joint that passed from one element to the next. */
typedef struct {
    robot_scalar_t time;          /* [s]; set by who integrates */
    robot_scalar_t energy_before; /* kinetic and potential energy [J]; NaN where the model was emitted without these */
    robot_scalar_t energy_after;
    int joint;  /* its position in k */
    int before; /* element inside the joint */
    int after;
} robot_switch_t;

#endif /* ROBOT_SWITCH_TYPES_H */
