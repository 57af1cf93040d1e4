/* Part of robot_loop.c: the observer between reading and the controller. */
#ifndef ROBOT_LOOP_OBSERVE_H
#define ROBOT_LOOP_OBSERVE_H

#include "robot_loop_readings.h"
#include "robot_loop_sound.h"

#if ROBOT_OBSERVED
#include <math.h>

/* What has no drive has no encoder: the last estimate stands for it, whatever was read. */
static void robot_loop_unmeasured(robot_loop_t *loop)
{
    const robot_loop_observer_t *const observer = loop->observer;
    for (int i = 0; (observer != NULL) && (i < ROBOT_NV); ++i) {
        if (robot_loop_driven[i] == 0u) {
            loop->view.q[i] = (observer->started != 0u) ? loop->sound_q[i] : observer->q[i];
            loop->view.qd[i] = (observer->started != 0u) ? loop->sound_qd[i] : REAL(0.0);
        }
    }
}

/* The filter begins at the measured positions, with what it was given for the others. */
static void robot_loop_begin_observer(robot_loop_t *loop, robot_loop_observer_t *observer)
{
    robot_real_t q[ROBOT_NQ], qd[ROBOT_NV];
    for (int i = 0; i < ROBOT_NV; ++i) {
        const int driven = robot_loop_driven[i] != 0u;
        q[i] = driven ? loop->sound_q[i] : observer->q[i];
        qd[i] = driven ? loop->sound_qd[i] : REAL(0.0);
    }
    robot_ekf_init(&observer->ekf, q, qd, observer->position_error, observer->velocity_error);
    for (int i = 0; i < ROBOT_NV; ++i) {
        observer->ekf.force[i] = observer->force[i];
    }
    for (int r = 0; r < ROBOT_READINGS; ++r) {
        observer->ekf.noise[r] = observer->noise[r];
    }
    observer->started = 1u;
    observer->doubtful = 0u;
    observer->missing = 0u;
}

/* The readings of this cycle: 0, or they could not be had. */
static int robot_loop_readings(robot_loop_t *loop, robot_loop_observer_t *observer)
{
    for (int r = 0; r < ROBOT_READINGS; ++r) {
        const int k = robot_loop_encoder[r];
        const int given = (k >= 0) && (loop->bridged == 0u); /* the model's own state is no measurement */
        observer->y[r] = ROBOT_HUGE;
        if (given) {
            observer->y[r] = (k < ROBOT_NQ) ? loop->sound_q[k] : loop->sound_qd[k - ROBOT_NQ];
        }
    }
    return (observer->read == NULL) ? 0 : observer->read(observer->io, loop->tick, observer->y);
}

/* Counts what speaks against the estimate; whether it is too much. */
static int robot_loop_disbelieve(robot_loop_observer_t *observer)
{
    const robot_ekf_t *const ekf = &observer->ekf;
    robot_real_t most = REAL(0.0);
    int wrong = 0;
    for (int r = 0; r < ROBOT_READINGS; ++r) {
        const robot_real_t off = robot_loop_size(ekf->innovation[r]) / ekf->noise[r];
        observer->worst = (off > most) ? r : observer->worst;
        most = (off > most) ? off : most;
    }
    const int doubtful = !(ekf->distance <= (observer->distance_max * (robot_real_t)ekf->used));
    observer->doubtful = doubtful ? (observer->doubtful + 1u) : 0u;
    observer->missing = (ekf->used < ROBOT_READINGS) ? (observer->missing + 1u) : 0u;
    for (int i = 0; i < ROBOT_NV; ++i) {
        wrong |= (robot_loop_size(ekf->q[i]) <= ROBOT_LOOP_FARTHEST) ? 0 : 1;
        wrong |= robot_loop_is_finite(ekf->qd[i]) ? 0 : 1;
    }
    return (wrong != 0) || (observer->doubtful > observer->patience) || (observer->missing > observer->missing_max);
}

/*
 * Puts the estimate in place of what was read. What the loop watches, and stops the robot by, stays what was read;
 * coordinates without drives, which nobody reads, are the estimate's there, too.
 */
static int32_t robot_loop_observe(robot_loop_t *loop)
{
    robot_loop_observer_t *const observer = loop->observer;
    int failed = 0;
    if (observer == NULL) {
        return ROBOT_LOOP_STATUS_OK;
    }
    if ((observer->started == 0u) || (observer->tick != loop->tick)) { /* a reset has tried this cycle before */
        failed = robot_loop_readings(loop, observer);
        if ((failed == 0) && (observer->started == 0u)) {
            robot_loop_begin_observer(loop, observer);
            failed = robot_ekf_correct(&observer->ekf, loop->view.p, loop->F, observer->y);
        } else if (failed == 0) {
            const robot_real_t dt = (robot_real_t)(loop->tick - observer->tick) * loop->period;
            failed = robot_ekf_step(&observer->ekf, loop->view.p, loop->F, observer->y, dt);
        } else {
            /* no readings */
        }
        observer->tick = loop->tick;
        failed = (failed != 0) || (robot_loop_disbelieve(observer) != 0);
    }
    if (failed != 0) {
        return robot_loop_fault(loop, ROBOT_LOOP_STATUS_OBSERVER, -1);
    }
    for (int i = 0; i < ROBOT_NV; ++i) {
        loop->view.q[i] = observer->ekf.q[i];
        loop->view.qd[i] = observer->ekf.qd[i];
        if (robot_loop_driven[i] == 0u) {
            loop->sound_q[i] = observer->ekf.q[i];
            loop->sound_qd[i] = observer->ekf.qd[i];
        }
    }
    return ROBOT_LOOP_STATUS_OK;
}

void robot_loop_covariance(const robot_loop_observer_t *observer, robot_real_t *P)
{
    robot_ekf_covariance(&observer->ekf, P);
}

/* The next cycle begins the estimate anew. */
static void robot_loop_forget(robot_loop_t *loop)
{
    if (loop->observer != NULL) {
        loop->observer->started = 0u;
    }
}
#endif

#endif /* ROBOT_LOOP_OBSERVE_H */
