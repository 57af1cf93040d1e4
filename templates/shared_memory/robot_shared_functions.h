/* Part of robot_shared.h: values, and blocks in memory of the caller. */
#ifndef ROBOT_SHARED_FUNCTIONS_H
#define ROBOT_SHARED_FUNCTIONS_H

#include "robot_shared_types.h"

/** @brief Robot: put a new state, q [rad, m] and qd [rad/s, m/s], nq and nv numbers. */
void robot_shared_put(robot_shared_t *robot, const robot_scalar_t *q, const robot_scalar_t *qd);

/** @brief Robot: the last command, nv numbers [N m, N]. OK: it is new; OLD: the same as before; NONE: no loop has given
 * one. */
int robot_shared_get(robot_shared_t *robot, robot_scalar_t *F);

/**
 * @brief Loop: read the state; a read function of robot_loop_t (io: robot_shared_t).
 *
 * Without a new state q and qd stay as they are. Returns STALE before the first state, and after stale_limit cycles
 * without a new one; else OK.
 */
int robot_shared_read(void *io, uint64_t tick, robot_scalar_t *q, robot_scalar_t *qd);

/** @brief Loop: whether there is a state that was not read yet; wait for the first one before the first cycle. */
int robot_shared_ready(robot_shared_t *loop);

/** @brief Loop: write the command; a write function of robot_loop_t. */
int robot_shared_write(void *io, uint64_t tick, const robot_scalar_t *F);

/** @brief Make a block in memory of the caller's, zeros before; for processors that share memory without an operating
 * system. */
void robot_shared_format(robot_shared_block_t *block);

/** @brief Take one side of a block in memory: OK, ERROR_FOREIGN or ERROR_MISMATCH. */
int robot_shared_attach(robot_shared_t *end, robot_shared_block_t *block, int32_t side);

#endif /* ROBOT_SHARED_FUNCTIONS_H */
