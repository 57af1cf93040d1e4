/**
 * @file  robot_loop_thread.h
 * @brief Runs the control loop in a POSIX thread.
 */

#ifndef ROBOT_LOOP_THREAD_H
#define ROBOT_LOOP_THREAD_H

#include "robot_loop.h"

#include <pthread.h>

#include "robot_loop_thread_constants.h"

#ifdef __cplusplus
extern "C" {
#endif

#include "robot_loop_thread_types.h"

#include "robot_loop_thread_functions.h"

#ifdef __cplusplus
}
#endif

#endif /* ROBOT_LOOP_THREAD_H */
