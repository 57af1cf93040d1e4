/* Part of robot_loop.c: the controllers. */
#ifndef ROBOT_LOOP_LAWS_H
#define ROBOT_LOOP_LAWS_H

#include "robot_loop_pd_gravity.h"
#include "robot_loop_computed_torque.h"
#include "robot_loop_feedforward.h"
#include "robot_loop_state_feedback.h"
#include "robot_loop_scheduled_feedback.h"
#include "robot_loop_gravity_friction.h"

#endif /* ROBOT_LOOP_LAWS_H */
