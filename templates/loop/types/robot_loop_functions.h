/* Part of robot_loop.h: its functions. */
#ifndef ROBOT_LOOP_FUNCTIONS_H
#define ROBOT_LOOP_FUNCTIONS_H

#include "robot_loop_state_types.h"

/** @brief Make a loop that holds the position it finds, without gains, limits, telemetry, shaper. */
void robot_loop_init(robot_loop_t *loop, robot_real_t period);

/** @brief The same for a loop that ran before: a trip that came after its last step still stops it. */
void robot_loop_init_again(robot_loop_t *loop, robot_real_t period);

/**
 * @brief One cycle: read, follow the reference, watch the limits, compute, cut, write, record.
 *
 * After a fault the status stays; further steps go on reading, bring the robot to rest and hold it, see loop->phase.
 * @return loop->status
 */
int32_t robot_loop_step(robot_loop_t *loop);

/**
 * @brief Back to RUNNING after a fault, for who calls robot_loop_step: the loop then holds where the robot is.
 *
 * Reads, watches and computes a cycle without writing its command (but after STATUS_WRITE).
 * @return 0, or what still would stop the loop: it then stays as it was. loop->reset_index is the coordinate.
 */
int32_t robot_loop_reset(robot_loop_t *loop);

/** @brief Back to RUNNING after an end without a fault, for who calls robot_loop_step: holds, or follows a new
 * reference. A trip that came since the end is a fault: the loop stays ENDED. */
void robot_loop_resume(robot_loop_t *loop);

/** @brief Other side: ask for a reset in the next step; reset_answer is set when reset_answered is equal to
 * reset_asked. */
void robot_loop_ask_reset(robot_loop_t *loop);

/** @brief Other side: bring the robot to rest and end. */
void robot_loop_stop(robot_loop_t *loop);

/** @brief Other side: stop by a fault that the caller found, STATUS_TRIPPED for example, in every phase; a reset that
 * was asked for before does not clear it. */
void robot_loop_trip(robot_loop_t *loop, int32_t status);

/**
 * @brief For who calls robot_loop_step: end now if the robot is at rest, else let the next steps bring it to rest.
 * @return ENDED if no further step is needed; STOPPING too while F_step lets the last forces fall; else loop->phase
 */
int32_t robot_loop_finish(robot_loop_t *loop);

/** @brief Other side: hand over a reference; the loop takes it in its next cycle, as a whole. */
void robot_loop_set_reference(robot_loop_t *loop, const robot_loop_reference_t *reference);

/** @brief Other side: the sender of references is alive, its last reference still holds; see reference_age. */
void robot_loop_heartbeat(robot_loop_t *loop);

/** @brief Other side: hand over gains, limits, shaper and live parameters, as a whole. */
void robot_loop_set_tuning(robot_loop_t *loop, const robot_loop_tuning_t *tuning);

/** @brief Other side: take up to `most` records out of the ring, oldest first; adds to *lost what was overwritten. */
uint32_t robot_loop_take_records(robot_loop_t *loop, robot_loop_record_t *records, uint32_t most, uint32_t *lost);

/** @brief Other side: number of records that found the ring full (KEEP_OLDEST). */
uint32_t robot_loop_dropped(robot_loop_t *loop);

/** @brief Sum over the bytes of a record but its own field. */
uint32_t robot_loop_checksum(const robot_loop_record_t *record);

/**
 * @brief x' = A x + B u from sample to sample with u held for dt [s]: d->step = [exp(A dt), its integral times B],
 * row-major.
 *
 * For x = (dq, dqd) and u = dF about an operating point, A = [[0 1] [dqdd/dq dqdd/dqd]] and B = [[0] [dqdd/dF]], by
 * robot_forward_dynamics_derivatives. The caller owns d. Returns 0, or non-zero where it is beyond all numbers, or
 * their digits.
 */
int robot_loop_discretize(robot_loop_discrete_t *d, const robot_real_t A[2 * ROBOT_NV][2 * ROBOT_NV],
    const robot_real_t B[2 * ROBOT_NV][ROBOT_NV], robot_real_t dt);

/** @brief Reads a simulated robot (io: robot_loop_plant_t), which first moves on to the tick. */
int robot_loop_plant_read(void *io, uint64_t tick, robot_real_t *q, robot_real_t *qd);
/** @brief Drives a simulated robot. */
int robot_loop_plant_write(void *io, uint64_t tick, const robot_real_t *F);
#if ROBOT_OBSERVED
/** @brief Readings of a simulated robot's sensors, for an observer (io: robot_loop_plant_t). */
int robot_loop_plant_measure(void *io, uint64_t tick, robot_real_t *y);
/** @brief Covariance of an observer's errors of q and qd, 2 NV x 2 NV, row-major; while no step runs. */
void robot_loop_covariance(const robot_loop_observer_t *observer, robot_real_t *P);
#endif

#endif /* ROBOT_LOOP_FUNCTIONS_H */
