/* Part of robot_loop_thread.c: shared words and sizes. */
#ifndef ROBOT_LOOP_THREAD_BASE_H
#define ROBOT_LOOP_THREAD_BASE_H

#include "robot_loop_thread.h"

#define ROBOT_LOOP_GET(place)          __atomic_load_n((place), __ATOMIC_ACQUIRE)
#define ROBOT_LOOP_PUT(place, value)   __atomic_store_n((place), (value), __ATOMIC_RELEASE)
#define ROBOT_LOOP_COUNT(place, value) __atomic_store_n((place), (value), __ATOMIC_RELAXED)
#define ROBOT_LOOP_STACK_BYTES         65536u
#define ROBOT_LOOP_PAGE_BYTES          4096u
#define ROBOT_LOOP_SECOND              1000000000u /* [ns] */

#endif /* ROBOT_LOOP_THREAD_BASE_H */
