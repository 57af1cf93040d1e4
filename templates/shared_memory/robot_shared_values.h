/* Part of robot_shared.c: states and commands in a shared block, the next place first, its number last. */
#ifndef ROBOT_SHARED_VALUES_H
#define ROBOT_SHARED_VALUES_H

#include "robot_shared.h"

#if defined(__GNUC__) && !defined(ROBOT_SHARED_LOAD)
#define ROBOT_SHARED_LOAD(place)             __atomic_load_n((place), __ATOMIC_ACQUIRE)
#define ROBOT_SHARED_STORE(place, value)     __atomic_store_n((place), (value), __ATOMIC_RELEASE)
#define ROBOT_SHARED_LOAD_REAL(place, into)  __atomic_load((place), (into), __ATOMIC_ACQUIRE)
#define ROBOT_SHARED_STORE_REAL(place, from) __atomic_store((place), (from), __ATOMIC_RELEASE)
#endif

#define ROBOT_SHARED_TRIES 8 /* to copy values that the other side does not replace meanwhile */

static void robot_shared_set(robot_scalar_t *place, robot_scalar_t value)
{
    ROBOT_SHARED_STORE_REAL(place, &value);
}

/* The last values of the other side, `width` of them, and their number; 0 if it was faster than this copy, again and
 * again. */
static int robot_shared_copy(
    uint32_t *number, robot_scalar_t *values, uint32_t width, robot_scalar_t *out, uint32_t *taken)
{
    for (int attempt = 0; attempt < ROBOT_SHARED_TRIES; ++attempt) {
        const uint32_t n = ROBOT_SHARED_LOAD(number);
        robot_scalar_t *const place = &values[(n % ROBOT_SHARED_PLACES) * width];
        for (uint32_t k = 0; k < width; ++k) {
            ROBOT_SHARED_LOAD_REAL(&place[k], &out[k]);
        }
        if ((ROBOT_SHARED_LOAD(number) - n)
            <= (ROBOT_SHARED_PLACES - 2u)) { /* number n + 4 goes here after n + 3 is out */
            *taken = n;
            return 1;
        }
    }
    return 0;
}

void robot_shared_put(robot_shared_t *robot, const robot_scalar_t *q, const robot_scalar_t *qd)
{
    robot_shared_block_t *const block = robot->block;
    const uint32_t number = block->state_number + 1u; /* this side alone writes it */
    robot_scalar_t *const place = block->state[number % ROBOT_SHARED_PLACES];
    for (int i = 0; i < ROBOT_SHARED_NQ; ++i) {
        robot_shared_set(&place[i], q[i]);
    }
    for (int i = 0; i < ROBOT_SHARED_NV; ++i) {
        robot_shared_set(&place[ROBOT_SHARED_NQ + i], qd[i]);
    }
    ROBOT_SHARED_STORE(&block->state_number, number);
    ROBOT_SHARED_STORE(&block->state_given, 1u);
}

int robot_shared_get(robot_shared_t *robot, robot_scalar_t *F)
{
    robot_shared_block_t *const block = robot->block;
    robot_scalar_t values[ROBOT_SHARED_NV];
    const uint32_t last = robot->last;
    if ((ROBOT_SHARED_LOAD(&block->command_given) == 0u)
        || !robot_shared_copy(&block->command_number, block->command[0], ROBOT_SHARED_NV, values, &robot->last)) {
        return ROBOT_SHARED_NONE;
    }
    for (int i = 0; i < ROBOT_SHARED_NV; ++i) {
        F[i] = values[i];
    }
    return (robot->last != last) ? ROBOT_SHARED_OK : ROBOT_SHARED_OLD;
}

int robot_shared_ready(robot_shared_t *loop)
{
    return (ROBOT_SHARED_LOAD(&loop->block->state_given) != 0u)
           && (ROBOT_SHARED_LOAD(&loop->block->state_number) != loop->last);
}

int robot_shared_read(void *io, uint64_t tick, robot_scalar_t *q, robot_scalar_t *qd)
{
    robot_shared_t *const end = (robot_shared_t *)io;
    robot_shared_block_t *const block = end->block;
    robot_scalar_t values[ROBOT_SHARED_NQ + ROBOT_SHARED_NV];
    (void)tick;
    const int is_new = robot_shared_ready(end)
                       && robot_shared_copy(&block->state_number, block->state[0], ROBOT_SHARED_NQ + ROBOT_SHARED_NV,
                           values, &end->last);
    if (is_new) {
        end->started = 1u;
        end->stale = 0u;
        for (int i = 0; i < ROBOT_SHARED_NQ; ++i) {
            q[i] = values[i];
        }
        for (int i = 0; i < ROBOT_SHARED_NV; ++i) {
            qd[i] = values[ROBOT_SHARED_NQ + i];
        }
    } else {
        ++end->stale;
    }
    const int is_late = (end->stale_limit > 0u) && (end->stale >= end->stale_limit);
    return ((end->started == 0u) || is_late) ? ROBOT_SHARED_STALE : ROBOT_SHARED_OK;
}

int robot_shared_write(void *io, uint64_t tick, const robot_scalar_t *F)
{
    robot_shared_block_t *const block = ((robot_shared_t *)io)->block;
    const uint32_t number = block->command_number + 1u;
    (void)tick;
    for (int i = 0; i < ROBOT_SHARED_NV; ++i) {
        robot_shared_set(&block->command[number % ROBOT_SHARED_PLACES][i], F[i]);
    }
    ROBOT_SHARED_STORE(&block->command_number, number);
    ROBOT_SHARED_STORE(&block->command_given, 1u);
    return ROBOT_SHARED_OK;
}

#endif /* ROBOT_SHARED_VALUES_H */
