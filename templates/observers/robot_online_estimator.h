/**
 * @file  robot_online_estimator.h
 * @brief Payload and friction while the robot moves: recursive least squares with forgetting.
 */

/*
 * Positions, velocities and driving forces go through one low pass of first order, whose derivative of the velocities
 * is the acceleration; so both sides of the equations are filtered alike. What forces are left beside those of the
 * model,
 *
 *     F - inverse_dynamics(q, qd, qdd) = Y theta,
 *
 * is linear in theta: changes of the payload's mass, first moments and inertia in the tip frame (m, m x, m y, m z,
 * L_xx, L_xy, L_xz, L_yy, L_yz, L_zz), and changes of every drive's viscous friction, Coulomb friction and offset.
 * Every sample adds one row for each drive; older rows are forgotten with a time constant, but not where that would
 * make the estimate less certain than at the start: a robot at rest forgets nothing.
 *
 * SI units, radians. No heap, no I/O, all memory is the caller's.
 */

#ifndef ROBOT_ONLINE_ESTIMATOR_H
#define ROBOT_ONLINE_ESTIMATOR_H

#include "robot.h"

#include "robot_estimator_sizes.h"

#define ROBOT_ONLINE_ESTIMATOR_OK         0    /* theta is new */
#define ROBOT_ONLINE_ESTIMATOR_ARGUMENT   (-1) /* an option is out of range; nothing changed */
#define ROBOT_ONLINE_ESTIMATOR_NOT_FINITE (-2) /* NaN or infinity in the state or the forces; nothing changed */
#define ROBOT_ONLINE_ESTIMATOR_MODEL      (-3) /* the model has no numbers there; theta is as it was */

#ifdef __cplusplus
extern "C" {
#endif

/** How to estimate. */
typedef struct {
    /** Bandwidth of the low pass of all signals [1/s], above 0. */
    robot_real_t bandwidth;
    /** Time constant of forgetting [s]; 0: nothing is forgotten. */
    robot_real_t memory;
    /** Standard deviation of the noise of each drive's force [N m] or [N], above 0. */
    robot_real_t noise[ROBOT_NV];
    /** Standard deviation of every number of theta at the start, at least 0: 0 keeps it as it is. */
    robot_real_t uncertainty[ROBOT_ESTIMATED];
} robot_online_estimator_options_t;

/** An estimator: its estimate, and its memory. Zeros are one that has not begun. */
typedef struct {
    /** Changes to the model's numbers: ten of the payload, where it is estimated, then three of each drive. */
    robot_real_t theta[ROBOT_ESTIMATED];
    /** Their covariance, ROBOT_ESTIMATED x ROBOT_ESTIMATED. */
    robot_real_t P[ROBOT_ESTIMATED * ROBOT_ESTIMATED];
    /** Filtered signals. */
    robot_real_t q[ROBOT_NQ];
    robot_real_t qd[ROBOT_NV];
    robot_real_t F[ROBOT_NV];
    /** Whether there are some. */
    int begun;
    /** Memory of a step: its content need not be kept. */
    robot_real_t qdd[ROBOT_NV];
    robot_real_t known[ROBOT_NV];
#if ROBOT_ESTIMATES_PAYLOAD
    robot_real_t Y[ROBOT_NV * ROBOT_ESTIMATOR_COLUMNS];
#endif
    robot_real_t row[ROBOT_ESTIMATED];
    robot_real_t gain[ROBOT_ESTIMATED];
} robot_online_estimator_t;

/**
 * @brief Begin with theta = 0 and the uncertainty of the options.
 *
 * @param[out] estimator  any content
 * @param[in]  options    how to estimate
 */
void robot_online_estimator_reset(robot_online_estimator_t *estimator, const robot_online_estimator_options_t *options);

/**
 * @brief One step: the state that was just measured, and the forces that acted.
 *
 * @param[in,out] estimator  its theta is the new estimate; it was reset before the first step
 * @param[in]     options  how to estimate
 * @param[in]     p   live parameters, for example &robot_params_nominal
 * @param[in]     dt  time since the last update [s], above 0
 * @param[in]     q   coordinates now; ROBOT_NQ values
 * @param[in]     qd  velocities now; ROBOT_NV values
 * @param[in]     F   driving forces [N m] or [N]; ROBOT_NV values
 * @return ROBOT_ONLINE_ESTIMATOR_OK, or a negative number.
 * @note One call of robot_inverse_dynamics and, for the payload, of robot_regressor, and a number of operations that
 * grows with the square of ROBOT_ESTIMATED for each drive. Re-entrant.
 */
int robot_online_estimator_update(robot_online_estimator_t *estimator, const robot_online_estimator_options_t *options,
    const robot_params_t *p, robot_real_t dt, const robot_real_t q[ROBOT_NQ], const robot_real_t qd[ROBOT_NV],
    const robot_real_t F[ROBOT_NV]);

#ifdef __cplusplus
}
#endif

#endif /* ROBOT_ONLINE_ESTIMATOR_H */
