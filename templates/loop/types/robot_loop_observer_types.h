/* Part of robot_loop.h: the observer between reading and the controller. */
#ifndef ROBOT_LOOP_OBSERVER_TYPES_H
#define ROBOT_LOOP_OBSERVER_TYPES_H

#include "robot_loop_constants.h"
#if ROBOT_OBSERVED
#include "robot_ekf.h"

/**
 * Fills in readings at a tick, ROBOT_READINGS numbers: those of encoders and tachometers stand there already. One that
 * is not finite counts as missing; a non-zero answer is a fault.
 */
typedef int (*robot_loop_readings_t)(void *io, uint64_t tick, robot_real_t *y);

/** A Kalman filter as a stage of the loop: the controller sees its estimate in place of what was read. */
typedef struct {
    /* The caller sets these before the first step. */
    robot_loop_readings_t read; /* null: encoders and tachometers are all that there is */
    void *io;                   /* first argument of read */
    robot_real_t q[ROBOT_NQ];   /* where coordinates without drives begin [rad, m] */
    robot_real_t position_error[ROBOT_NV], velocity_error[ROBOT_NV]; /* standard deviations of the beginning */
    robot_real_t force[ROBOT_NV];       /* standard deviations of unknown forces, see robot_ekf.h [N m, N] */
    robot_real_t noise[ROBOT_READINGS]; /* standard deviations of the readings */
    robot_real_t distance_max; /* squared innovations over their variances, for each reading: beyond it is doubtful */
    uint32_t patience;         /* so many doubtful cycles in a row are borne; one more is a fault */
    uint32_t missing_max;      /* the same of cycles with a reading that is missing */

    /* For reading only. */
    robot_real_t y[ROBOT_READINGS]; /* of the last cycle */
    int32_t worst;                  /* reading that was farthest from what was expected, in its noise */
    uint32_t doubtful, missing;     /* cycles in a row, up to now */
    uint32_t started;               /* 0: the filter begins in the next cycle */
    uint64_t tick;                  /* of the estimate */
    robot_ekf_t ekf;
} robot_loop_observer_t;
#endif

#endif /* ROBOT_LOOP_OBSERVER_TYPES_H */
