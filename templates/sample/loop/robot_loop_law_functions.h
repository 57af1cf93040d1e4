/* Part of robot_loop.h: the controllers. */
#ifndef ROBOT_LOOP_LAW_FUNCTIONS_H
#define ROBOT_LOOP_LAW_FUNCTIONS_H

#include "robot_loop_io_types.h"

/** @brief Controller: PD with gravity compensation, F = G(q) + kp e + kd de/dt + F_ref. */
int robot_loop_pd_gravity(void *context, const robot_loop_view_t *view, robot_real_t *F);

/** @brief Controller: inverse dynamics of qdd_ref + kp e + kd de/dt at the measured state, + F_ref. */
int robot_loop_computed_torque(void *context, const robot_loop_view_t *view, robot_real_t *F);

/** @brief Controller: inverse dynamics of the reference + kp e + kd de/dt + F_ref; elastic coordinates in the
 * equilibrium of the reference motion and of their own inertia forces, moving with it. */
int robot_loop_feedforward(void *context, const robot_loop_view_t *view, robot_real_t *F);

/** @brief Controller: F = F_ref - K (q - q_ref, qd - qd_ref), with the inverse dynamics of the reference if asked. */
int robot_loop_state_feedback(void *context, const robot_loop_view_t *view, robot_real_t *F);

/** @brief Controller: state_feedback with K(q) from a table over the workspace, context: robot_loop_schedule_t,
 * interpolated linearly. */
int robot_loop_scheduled_feedback(void *context, const robot_loop_view_t *view, robot_real_t *F);

/** @brief Controller: gravity and friction compensation, F = G(q) + friction(qd_ref) + kp e + kd de/dt + F_ref. */
int robot_loop_gravity_friction(void *context, const robot_loop_view_t *view, robot_real_t *F);

#endif /* ROBOT_LOOP_LAW_FUNCTIONS_H */
