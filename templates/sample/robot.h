/**
 * @file  robot.h
 * @brief The model of the sample robot, as one is emitted: what the C files of templates/ are written against.
 *
 * Two masses on a line, each on a spring and a damper [kg, N/m, N s/m]: closed forms are known for all of their
 * motions.
 */

#ifndef ROBOT_H
#define ROBOT_H

#include "robot_features.h"
#include "robot_real.h"

#define ROBOT_ABI_VERSION 0 /* changes with signatures and struct layouts */
#if ROBOT_QUATERNIONS
#define ROBOT_NQ (2 + (4 * ROBOT_QUATERNIONS)) /* number of coordinates */
#define ROBOT_NV (2 + (3 * ROBOT_QUATERNIONS)) /* number of velocities, accelerations and forces */
#else
#define ROBOT_NQ 2 /* number of coordinates */
#define ROBOT_NV 2 /* number of velocities, accelerations and forces */
#endif
#define ROBOT_NFRAMES 1 /* number of frames */

#define ROBOT_ERROR_NOT_POSITIVE_DEFINITE (-1)
#define ROBOT_ERROR_OUT_OF_RANGE          (-2)

#ifdef __cplusplus
extern "C" {
#endif

/** Every number of the model. */
typedef robot_scalar_t robot_real_t;

/** Live parameters: pass &robot_params_nominal, or a changed copy of it. */
typedef struct {
    robot_real_t mass;      /**< of each [kg]; 0: the mass matrix is singular */
    robot_real_t stiffness; /**< [N/m] */
    robot_real_t damping;   /**< [N s/m] */
    robot_real_t time;      /**< [s] */
} robot_params_t;

/** The values of the robot's description. */
extern const robot_params_t robot_params_nominal;

int robot_forward_dynamics(
    const robot_params_t *p, const robot_real_t *q, const robot_real_t *qd, const robot_real_t *F, robot_real_t *qdd);
void robot_inverse_dynamics(
    const robot_params_t *p, const robot_real_t *q, const robot_real_t *qd, const robot_real_t *qdd, robot_real_t *F);
void robot_elastic_inverse_dynamics(const robot_params_t *p, const robot_real_t *q, const robot_real_t *qd,
    const robot_real_t *qdd, robot_real_t *F, robot_real_t *accelerations);
void robot_inverse_dynamics_derivatives(const robot_params_t *p, const robot_real_t *q, const robot_real_t *qd,
    const robot_real_t *qdd, robot_real_t *dF_dq, robot_real_t *dF_dqd, robot_real_t *M);
void robot_mass_matrix(const robot_params_t *p, const robot_real_t *q, robot_real_t *M);
void robot_gravity_vector(const robot_params_t *p, const robot_real_t *q, robot_real_t *G);
void robot_friction_forces(const robot_params_t *p, const robot_real_t *q, const robot_real_t *qd, robot_real_t *R);
void robot_load_friction_forces(
    const robot_params_t *p, const robot_real_t *qd, const robot_real_t *F, robot_real_t *R);
void robot_kinetic_energy(const robot_params_t *p, const robot_real_t *q, const robot_real_t *qd, robot_real_t *T);
void robot_potential_energy(const robot_params_t *p, const robot_real_t *q, robot_real_t *V);
#if ROBOT_GROUND
void robot_ground_motion(
    const robot_params_t *p, const robot_real_t *q, const robot_real_t *qd, robot_real_t *gaps, robot_real_t *rates);
#endif
#if ROBOT_LOOPS
void robot_loop_residual(const robot_params_t *p, const robot_real_t *q, robot_real_t *e);
void robot_closed_configuration(const robot_params_t *p, const robot_real_t *q, robot_real_t *closed);
void robot_loop_jacobian(const robot_params_t *p, const robot_real_t *q, robot_real_t *J);
#endif
int robot_forward_dynamics_derivatives(const robot_params_t *p, const robot_real_t *q, const robot_real_t *qd,
    const robot_real_t *F, robot_real_t *dqdd_dq, robot_real_t *dqdd_dqd, robot_real_t *dqdd_dF);
void robot_measurement(const robot_params_t *p, const robot_real_t *q, const robot_real_t *qd, robot_real_t *y);
void robot_measurement_derivatives(
    const robot_params_t *p, const robot_real_t *q, const robot_real_t *qd, robot_real_t *dy_dq, robot_real_t *dy_dqd);
void robot_configuration_rate(const robot_params_t *p, const robot_real_t *q, const robot_real_t *v, robot_real_t *dq);
void robot_difference(const robot_params_t *p, const robot_real_t *q0, const robot_real_t *q1, robot_real_t *v);
#if ROBOT_IK_CAN_FAIL
int robot_frame_pose_and_jacobian(
    const robot_params_t *p, const robot_real_t *q, robot_real_t *r, robot_real_t *R, robot_real_t *J);
#else
void robot_frame_pose_and_jacobian(
    const robot_params_t *p, const robot_real_t *q, robot_real_t *r, robot_real_t *R, robot_real_t *J);
#endif
void robot_integrate(const robot_params_t *p, const robot_real_t *q, const robot_real_t *v, robot_real_t *moved);
void robot_motion_on_path(const robot_params_t *p, const robot_real_t *q0, const robot_real_t *x,
    const robot_real_t *dx, const robot_real_t *ddx, const robot_real_t *dddx, const robot_real_t *ddddx,
    robot_real_t *q, robot_real_t *v, robot_real_t *dv, robot_real_t *ddv, robot_real_t *dddv);
void robot_start_of_path(const robot_params_t *p, const robot_real_t *v, const robot_real_t *dv,
    const robot_real_t *ddv, const robot_real_t *dddv, robot_real_t *dx, robot_real_t *ddx, robot_real_t *dddx,
    robot_real_t *ddddx);

#ifdef __cplusplus
}
#endif

#endif /* ROBOT_H */
