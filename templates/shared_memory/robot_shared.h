/**
 * @file  robot_shared.h
 * @brief State and command of the robot in memory that a control loop and a driver share.
 */

/*
 * A driver (C or C++, another process or another processor) is the ROBOT side, robot_loop the LOOP side:
 *
 *     robot_shared_t robot;
 *     if (robot_shared_open(&robot, "/arm", ROBOT_SHARED_ROBOT) == ROBOT_SHARED_OK) {
 *         robot_shared_put(&robot, q, qd);       // the measured state, each period
 *         if (robot_shared_get(&robot, F) == ROBOT_SHARED_OK) { ... } // a new command
 *         robot_shared_close(&robot);
 *     }
 *
 * put, get, read and write neither wait nor lock and make no system call. This header and robot_shared.c need no other
 * emitted file. Shared words are accessed by the __atomic built-ins of gcc and clang; another compiler must define
 * ROBOT_SHARED_LOAD, _STORE, _LOAD_REAL and _STORE_REAL. open, close and remove are for POSIX systems.
 */

#ifndef ROBOT_SHARED_H
#define ROBOT_SHARED_H

#include <stdint.h>

#define ROBOT_SHARED_MAGIC          0x53474c45u /* first word of a block */
#define ROBOT_SHARED_VERSION        1u          /* of the layout */
#define ROBOT_SHARED_PLACES         4u          /* values of each side that the block holds */
#define ROBOT_SHARED_LOOP           0           /* side: the control loop, which makes the block */
#define ROBOT_SHARED_ROBOT          1           /* side: the driver of the robot */
#define ROBOT_SHARED_OK             0           /* done; get: the command is new */
#define ROBOT_SHARED_OLD            1           /* get: the same command as before */
#define ROBOT_SHARED_STALE          2           /* read: no state, or one that is too old */
#define ROBOT_SHARED_NONE           3           /* get: no loop has given a command */
#define ROBOT_SHARED_ERROR_ARGUMENT (-1)        /* the name does not begin with '/', is too long, or the side is none */
#define ROBOT_SHARED_ERROR_ABSENT   (-2)        /* there is no block yet */
#define ROBOT_SHARED_ERROR_FOREIGN  (-3)        /* the object is not a block of elastogen */
#define ROBOT_SHARED_ERROR_MISMATCH (-4)        /* the block is of another robot, precision or version */
#define ROBOT_SHARED_ERROR_BUSY     (-5)        /* another process has this side */
#define ROBOT_SHARED_ERROR_SYSTEM   (-6)        /* the system refused, see the field error */

#include "robot_shared_meaning.h"

#ifdef __cplusplus
extern "C" {
#endif

#include "robot_shared_types.h"

#include "robot_shared_functions.h"

#if defined(__unix__) || defined(__APPLE__)
#include "robot_shared_system.h"
#endif

#ifdef __cplusplus
}
#endif

#endif /* ROBOT_SHARED_H */
