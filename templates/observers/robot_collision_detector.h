/**
 * @file  robot_collision_detector.h
 * @brief Collisions: external forces beyond what the model's own uncertainty explains.
 */

/*
 * With a model that is wrong in some parameters, the momentum observer also shows forces that are none. How large they
 * can be is known: a robot whose parameter is p_k + u_k accelerates by qdd_k, forward dynamics with that parameter, and
 * the observer takes what the nominal model needs more for it as external. The threshold is what these add up to,
 * behind the same low pass, and a floor:
 *
 *     dd/dt = K (sum over k of max over +-u_k of |inverse_dynamics(q, qd, qdd_k; p) - F| - d),
 *     |r_i| > floor_i + margin d_i: a collision,
 *
 * with r of robot_momentum_observer.h and its K. A step is implicit in d, so it is stable with every gain.
 *
 * SI units, radians. No heap, no I/O, all memory is the caller's: any number of threads and interrupts at once, each
 * with its detector.
 */

#ifndef ROBOT_COLLISION_DETECTOR_H
#define ROBOT_COLLISION_DETECTOR_H

#include "robot.h"
#include "robot_momentum_observer.h"

#define ROBOT_COLLISION_DETECTOR_HIT        1    /* a collision; the estimate is new */
#define ROBOT_COLLISION_DETECTOR_OK         0    /* none; the estimate is new */
#define ROBOT_COLLISION_DETECTOR_ARGUMENT   (-1) /* an option or a step that cannot be; nothing changed */
#define ROBOT_COLLISION_DETECTOR_NOT_FINITE (-2) /* NaN or infinity in the state or the forces; nothing changed */
#define ROBOT_COLLISION_DETECTOR_MODEL      (-3) /* the model has no numbers there; nothing changed */

#ifdef __cplusplus
extern "C" {
#endif

/** What is a collision. */
typedef struct {
    /** K [1/s], at least 0: bandwidth of the observer and of the thresholds. */
    robot_real_t gain[ROBOT_NV];
    /** What noise and unknown friction may show [N m] or [N], above 0. */
    robot_real_t floor[ROBOT_NV];
    /** Factor of what the uncertain parameters explain, at least 0; for example 1.2. */
    robot_real_t margin;
    /** By how much each live parameter may be off, in its unit, at least 0; 0: it is known. */
    robot_params_t uncertain;
} robot_collision_options_t;

/** A detector: what it found, and its memory. Zeros are one that has not begun. */
typedef struct {
    /** Its force is the estimate of external forces. */
    robot_momentum_observer_t observer;
    /** What each force had to exceed [N m] or [N]. */
    robot_real_t threshold[ROBOT_NV];
    /** 1 where it did. */
    int hit[ROBOT_NV];
    /** d: what the uncertain parameters explain. */
    robot_real_t explained[ROBOT_NV];
    /** Memory of a step: its content need not be kept. */
    robot_params_t changed;
    robot_params_t by;
    robot_real_t spread[ROBOT_NV];
    robot_real_t largest[ROBOT_NV];
    robot_real_t qdd[ROBOT_NV];
    robot_real_t needed[ROBOT_NV];
} robot_collision_detector_t;

/**
 * @brief Forget everything: the next update begins with an estimate of 0.
 *
 * @param[out] detector  any content
 */
void robot_collision_detector_reset(robot_collision_detector_t *detector);

/**
 * @brief One step: the state that was just measured, and the forces that brought the robot there.
 *
 * @param[in,out] detector  its observer.force, threshold and hit are new
 * @param[in]     options   what is a collision
 * @param[in]     p         live parameters, for example &robot_params_nominal
 * @param[in]     dt        time since the last update [s], above 0
 * @param[in]     q         coordinates now, elastic ones included; ROBOT_NQ values
 * @param[in]     qd        velocities now; ROBOT_NV values
 * @param[in]     F         driving forces since the last update [N m] or [N]; ROBOT_NV values
 * @return ROBOT_COLLISION_DETECTOR_HIT, ROBOT_COLLISION_DETECTOR_OK, or a negative number: then the detector is as it
 *         was.
 * @note An update of the momentum observer, and two calls of robot_forward_dynamics and robot_inverse_dynamics for each
 *       uncertain parameter. Re-entrant.
 */
int robot_collision_detector_update(robot_collision_detector_t *detector, const robot_collision_options_t *options,
    const robot_params_t *p, robot_real_t dt, const robot_real_t q[ROBOT_NQ], const robot_real_t qd[ROBOT_NV],
    const robot_real_t F[ROBOT_NV]);

#ifdef __cplusplus
}
#endif

#endif /* ROBOT_COLLISION_DETECTOR_H */
