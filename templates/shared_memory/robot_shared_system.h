/* Part of robot_shared.h: blocks of POSIX systems. */
#ifndef ROBOT_SHARED_SYSTEM_H
#define ROBOT_SHARED_SYSTEM_H

#include "robot_shared_types.h"

/**
 * @brief Take one side of the POSIX shared memory object `name` ("/arm").
 *
 * The LOOP side makes the block where there is none, takes over one that a loop left, and makes one of another layout
 * anew if no robot holds it. The ROBOT side finds a block or returns ERROR_ABSENT: try again later. Never waits.
 * @return OK or one of the ERROR values
 */
int robot_shared_open(robot_shared_t *end, const char *name, int32_t side);

/** @brief Give the side back; the last one to leave removes the block. The memory stays mapped until close. */
void robot_shared_leave(robot_shared_t *end);

/** @brief Leave, and unmap the memory. */
void robot_shared_close(robot_shared_t *end);

/** @brief Remove a block that processes which were killed left behind: OK, ERROR_ABSENT, or ERROR_BUSY if it is in use.
 */
int robot_shared_remove(const char *name);

#endif /* ROBOT_SHARED_SYSTEM_H */
