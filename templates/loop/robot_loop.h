/**
 * @file  robot_loop.h
 * @brief One cycle of a control loop, without an operating system.
 */

/*
 * SI units, radians. All memory is the caller's. No heap, no lock, no system call: robot_loop_step may be called from
 * a timer interrupt or a thread. While it runs, one other context may call the functions marked "other side".
 * Shared words are accessed by the __atomic built-ins of gcc and clang (C99 has no atomics); another compiler must
 * define ROBOT_LOOP_LOAD, _STORE and _EXCHANGE, see robot_loop.c.
 */

#ifndef ROBOT_LOOP_H
#define ROBOT_LOOP_H

#include "robot.h"
#if ROBOT_SLIDING
#include "robot_switch.h"
#endif

#include <stddef.h>
#include <stdint.h>

#include "robot_loop_constants.h"

#ifdef __cplusplus
extern "C" {
#endif

#include "robot_loop_tuning_types.h"

#include "robot_loop_observer_types.h"

#include "robot_loop_io_types.h"

#define ROBOT_LOOP_DELAY_WIDTH  (5u * ROBOT_NQ) /* numbers in a row of the shaper's memory: q and four derivatives */
#define ROBOT_LOOP_RECORD_WORDS (sizeof(robot_loop_record_t) / sizeof(uintptr_t))

#include "robot_loop_state_types.h"

#include "robot_loop_functions.h"

#include "robot_loop_law_functions.h"

#ifdef __cplusplus
}
#endif

#endif /* ROBOT_LOOP_H */
