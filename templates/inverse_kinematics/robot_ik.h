/**
 * @file  robot_ik.h
 * @brief Inverse kinematics of the chosen frames.
 */

/*
 * Damped least squares with joint limits and a preferred posture. SI units, radians, row-major matrices, base
 * components. No heap, no I/O, all memory is the caller's: any number of threads and interrupts at once, each with its
 * workspace.
 *
 * Every iteration evaluates the frames once, with their weighted errors e (position, then rotation vector) and
 * Jacobians J, and moves the coordinates by
 *
 *     d = z + J^T (J J^T + lambda^2 E)^-1 (e - J z),    lambda^2 = c damping min(e^T e, 1) + ROBOT_IK_FLOOR
 *
 * c is 1; an iteration that made the errors larger multiplies it by 4, others halve it again.
 * z leads towards the posture; what it does to the frames is taken out again, so that only motions that leave the
 * frames where they are remain. Coordinates that would pass a limit are put on it, and the others do what they could
 * have done: at most ROBOT_IK_COORDINATES + 1 systems of ROBOT_IK_ROWS equations an iteration.
 * Elastic coordinates stay as they are in q0.
 * Positions move on the manifold (integrate, difference): quaternions stay unit.
 */

#ifndef ROBOT_IK_H
#define ROBOT_IK_H

#include "robot.h"

#include "robot_ik_frames.h"

#if ROBOT_SINGLE
#define ROBOT_IK_TOLERANCE REAL(1e-4) /* [m, rad], where none is given */
#define ROBOT_IK_FLOOR     REAL(1e-7) /* of lambda^2: keeps the equations solvable where a frame cannot move */
#else
#define ROBOT_IK_TOLERANCE REAL(1e-6)  /* [m, rad], where none is given */
#define ROBOT_IK_FLOOR     REAL(1e-12) /* of lambda^2: keeps the equations solvable where a frame cannot move */
#endif
#define ROBOT_IK_DAMPING REAL(0.1)

#define ROBOT_IK_CONVERGED        0    /* all errors are within the tolerances */
#define ROBOT_IK_NOT_CONVERGED    1    /* they are not: q is the best found; the target may be out of reach */
#define ROBOT_IK_ERROR_ARGUMENT   (-1) /* an option or a weight is out of range; q is q0 */
#define ROBOT_IK_ERROR_NOT_FINITE (-2) /* NaN or infinity in an argument; q is q0 */
#if ROBOT_IK_CAN_FAIL
#define ROBOT_IK_ERROR_OUT_OF_RANGE (-3) /* a sliding joint of q0 is beyond the end of its beam; q is q0 */
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** Where a frame is to be. A weight of 0 leaves its position or its rotation free. */
typedef struct {
    /** Origin in the base frame [m]. */
    robot_real_t position[3];
    /** Rotation matrix; its columns are the axes of the frame. */
    robot_real_t rotation[9];
    /** At least 0: of a metre. */
    robot_real_t position_weight;
    /** At least 0: of a radian. */
    robot_real_t rotation_weight;
} robot_ik_target_t;

/** How to search. */
typedef struct {
    /** Most iterations, at least 1. */
    int iterations;
    /** At least 0: small is fast, large is steady far from the target and near singular postures. */
    robot_real_t damping;
    /** Largest distance of an origin from its target [m]. */
    robot_real_t position_tolerance;
    /** Largest angle of a frame to its target [rad]. */
    robot_real_t rotation_tolerance;
    /** Share of the way to the posture in an iteration, 0 (no posture) to 1. */
    robot_real_t posture_gain;
    /** Largest change of a coordinate in an iteration [rad] or [m], above 0. */
    robot_real_t longest_step;
    /** Limits of all coordinates, ROBOT_NQ values each; null: those of the robot's description. */
    const robot_real_t *lower;
    const robot_real_t *upper;
} robot_ik_options_t;

/** What came out. */
typedef struct {
    /** Largest distance of an origin from its target [m]. */
    robot_real_t position_error;
    /** Largest angle of a frame to its target [rad]. */
    robot_real_t rotation_error;
    /** Iterations that were done. */
    int iterations;
} robot_ik_report_t;

/** Memory of one search; its content need not be set. */
typedef struct {
    robot_real_t r[3 * ROBOT_IK_FRAMES];
    robot_real_t R[9 * ROBOT_IK_FRAMES];
    robot_real_t J[ROBOT_IK_ROWS * ROBOT_NV];
    robot_real_t e[ROBOT_IK_ROWS];
    robot_real_t A[ROBOT_IK_ROWS * ROBOT_IK_ROWS];
    robot_real_t y[ROBOT_IK_ROWS];
    robot_real_t z[ROBOT_NV];
    robot_real_t d[ROBOT_NV];
    robot_real_t best[ROBOT_NQ];
#if ROBOT_QUATERNIONS
    robot_real_t from[ROBOT_NQ];
#endif
    int held[ROBOT_IK_COORDINATES];
} robot_ik_workspace_t;

/** 100 iterations, damping ROBOT_IK_DAMPING, tolerances ROBOT_IK_TOLERANCE m and rad, no posture, steps to 0.5. */
extern const robot_ik_options_t robot_ik_options_default;

/**
 * @brief Find coordinates that put the chosen frames on their targets.
 *
 * @param[in]  p  live parameters, for example &robot_params_nominal
 * @param[in]  options  for example &robot_ik_options_default
 * @param[in]  target  one for each chosen frame
 * @param[in]  q0  where to start, put between the limits first; ROBOT_NQ values
 * @param[in]  posture  preferred coordinates, ROBOT_NQ values; not read where options->posture_gain is 0
 * @param[out] q  what was found, between the limits; ROBOT_NQ values
 * @param[out] report  errors of q, and iterations
 * @param[out] w  memory
 * @return ROBOT_IK_CONVERGED, ROBOT_IK_NOT_CONVERGED, or a negative ERROR.
 * @note An iteration needs one call of robot_frame_pose_and_jacobian, and at most ROBOT_IK_COORDINATES + 1
 * factorizations.
 * @note Re-entrant: no state, no heap, no I/O. Outputs must not overlap inputs or each other.
 */
int robot_inverse_kinematics(const robot_params_t *p, const robot_ik_options_t *options,
    const robot_ik_target_t target[ROBOT_IK_FRAMES], const robot_real_t q0[ROBOT_NQ], const robot_real_t *posture,
    robot_real_t q[ROBOT_NQ], robot_ik_report_t *report, robot_ik_workspace_t *w);

#ifdef __cplusplus
}
#endif

#endif /* ROBOT_IK_H */
