/* Part of robot_loop.c: shared words, and numbers that are none. */
#ifndef ROBOT_LOOP_BASE_H
#define ROBOT_LOOP_BASE_H

#include "robot_loop.h"
#include "robot_loop_coordinates.h"

#if defined(__FAST_MATH__)
#error "robot_loop looks for NaN: compile without -ffast-math"
#endif

#if defined(__GNUC__) && !defined(ROBOT_LOOP_LOAD)
#define ROBOT_LOOP_LOAD(place)            __atomic_load_n((place), __ATOMIC_ACQUIRE)
#define ROBOT_LOOP_STORE(place, value)    __atomic_store_n((place), (value), __ATOMIC_RELEASE)
#define ROBOT_LOOP_EXCHANGE(place, value) __atomic_exchange_n((place), (value), __ATOMIC_ACQ_REL)
#endif

/* NaN and infinity are beyond both bounds. */
static int robot_loop_is_finite(robot_real_t x)
{
    return (x >= -ROBOT_LARGEST) && (x <= ROBOT_LARGEST);
}

#endif /* ROBOT_LOOP_BASE_H */
