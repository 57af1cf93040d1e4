/**
 * @file  robot_play.h
 * @brief What a page with a playground calls: the state, what drives the robot, and a step of its motion.
 */

/*
 * One robot, one page: the state is static. Functions that return a pointer give the place of numbers in the memory of
 * the module, which the page reads and writes. The page knows them by their names without the prefix.
 */

#ifndef ROBOT_PLAY_H
#define ROBOT_PLAY_H

#include "robot_simulate.h"

#if defined(__wasm__)
#define ROBOT_PLAY_NAME(name) __attribute__((export_name(name)))
#else
#define ROBOT_PLAY_NAME(name)
#endif

#ifdef __cplusplus
extern "C" {
#endif

ROBOT_PLAY_NAME("positions") double *robot_play_positions(void);
ROBOT_PLAY_NAME("velocities") double *robot_play_velocities(void);
ROBOT_PLAY_NAME("target_positions") double *robot_play_target_positions(void);
ROBOT_PLAY_NAME("position_gains") double *robot_play_position_gains(void);
ROBOT_PLAY_NAME("velocity_gains") double *robot_play_velocity_gains(void);
/** Parts of the weight, the stiffness and the damping; 1: by inverse dynamics. */
ROBOT_PLAY_NAME("control_law") double *robot_play_control_law(void);
/** Node (-1: none), stiffness [N/m], lever from the node to the place that is held, target [m]. */
ROBOT_PLAY_NAME("hand_spring") double *robot_play_hand_spring(void);
ROBOT_PLAY_NAME("live_parameters") robot_params_t *robot_play_live_parameters(void);
/** Number of steps of the integrator. */
ROBOT_PLAY_NAME("steps_taken") double *robot_play_steps_taken(void);

/** Set the live parameters to those of the description. */
ROBOT_PLAY_NAME("start") void robot_play_start(void);
/** Places of everything that is drawn, in base coordinates [m]. */
ROBOT_PLAY_NAME("draw") double *robot_play_draw(void);
#if ROBOT_PLAY_BENT
/** Curvatures of the beams at their points, in y and z [1/m]. */
ROBOT_PLAY_NAME("curvatures") double *robot_play_curvatures(void);
#endif
/** Go on by so many seconds in steps of at most so many; returns the status of the integrator. */
ROBOT_PLAY_NAME("go") int robot_play_go(double seconds, double step);

#ifdef __cplusplus
}
#endif

#endif /* ROBOT_PLAY_H */
