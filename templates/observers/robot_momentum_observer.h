/**
 * @file  robot_momentum_observer.h
 * @brief External forces from the generalized momentum: no accelerations, no sensors of force.
 */

/*
 * With the momentum p = M(q) qd the equations of motion are dp/dt = F + C^T qd - D qd - Q_e - G - friction + F_ext,
 * since dM/dt = C + C^T. The observer integrates what is known of this,
 *
 *     ds/dt = F + C^T qd - D qd - Q_e - G - friction + r,    r = K (p - s),
 *
 * so dr/dt = K (F_ext - r): each r_i is F_ext,i behind a low pass of 1 / K_i seconds (De Luca, Mattone 2003). A step is
 * implicit in r, so it is stable with every gain, and takes the mean of what the model says at its two ends. F_ext
 * counts as F does: positive where it drives a coordinate on. Forces of the environment at a frame follow from F_ext =
 * J^T f.
 *
 * SI units, radians. No heap, no I/O, all memory is the caller's: any number of threads and interrupts at once, each
 * with its observer.
 */

#ifndef ROBOT_MOMENTUM_OBSERVER_H
#define ROBOT_MOMENTUM_OBSERVER_H

#include "robot.h"

#define ROBOT_MOMENTUM_OBSERVER_OK         0    /* the estimate is new */
#define ROBOT_MOMENTUM_OBSERVER_ARGUMENT   (-1) /* a gain below 0, or a step that is not above 0; nothing changed */
#define ROBOT_MOMENTUM_OBSERVER_NOT_FINITE (-2) /* NaN or infinity in the state or the forces; nothing changed */
#define ROBOT_MOMENTUM_OBSERVER_MODEL      (-3) /* the model has no numbers there; nothing changed */

#ifdef __cplusplus
extern "C" {
#endif

/** An observer: its estimate, and its memory. Zeros are one that has not begun. */
typedef struct {
    /** The estimate of F_ext [N m] or [N], ROBOT_NV values. */
    robot_real_t force[ROBOT_NV];
    /** s: what the momentum would be without what is still to be explained. */
    robot_real_t expected[ROBOT_NV];
    /** C^T qd - D qd - Q_e - G - friction at the last state. */
    robot_real_t known[ROBOT_NV];
    /** Whether there is a last state. */
    int begun;
    /** Memory of a step: its content need not be kept. */
    robot_real_t M[ROBOT_NV * ROBOT_NV];
    robot_real_t momentum[ROBOT_NV];
    robot_real_t rate[ROBOT_NV];
    robot_real_t drive[ROBOT_NV];
    robot_real_t zero[ROBOT_NV];
} robot_momentum_observer_t;

/**
 * @brief Forget everything: the next update begins with an estimate of 0.
 *
 * @param[out] observer  any content
 */
void robot_momentum_observer_reset(robot_momentum_observer_t *observer);

/**
 * @brief One step: the state that was just measured, and the forces that brought the robot there.
 *
 * @param[in,out] observer  its force is the new estimate
 * @param[in]     p     live parameters, for example &robot_params_nominal
 * @param[in]     gain  K [1/s], at least 0: bandwidth of every estimate; ROBOT_NV values
 * @param[in]     dt    time since the last update [s], above 0; the first update does not look at it
 * @param[in]     q     coordinates now, elastic ones included; ROBOT_NQ values
 * @param[in]     qd    velocities now; ROBOT_NV values
 * @param[in]     F     driving forces since the last update [N m] or [N]; ROBOT_NV values
 * @return ROBOT_MOMENTUM_OBSERVER_OK, or a negative number: then the observer is as it was.
 * @note One call of robot_mass_matrix, robot_coriolis_matrix and robot_inverse_dynamics. Re-entrant.
 */
int robot_momentum_observer_update(robot_momentum_observer_t *observer, const robot_params_t *p,
    const robot_real_t gain[ROBOT_NV], robot_real_t dt, const robot_real_t q[ROBOT_NQ], const robot_real_t qd[ROBOT_NV],
    const robot_real_t F[ROBOT_NV]);

#ifdef __cplusplus
}
#endif

#endif /* ROBOT_MOMENTUM_OBSERVER_H */
