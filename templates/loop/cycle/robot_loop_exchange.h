/* Part of robot_loop.c: references and tuning travel through three copies each. */
#ifndef ROBOT_LOOP_EXCHANGE_H
#define ROBOT_LOOP_EXCHANGE_H

#include "robot_loop_base.h"

/* Exchange: the writer fills its copy and swaps it with the one on its way; the loop swaps when that is new */

#define ROBOT_LOOP_NEW 4u

static void robot_loop_exchange_init(robot_loop_exchange_t *exchange)
{
    exchange->shared = 0u;
    exchange->writer = 1u;
    exchange->reader = 2u;
}

static void robot_loop_publish(robot_loop_exchange_t *exchange)
{
    exchange->writer = ROBOT_LOOP_EXCHANGE(&exchange->shared, exchange->writer | ROBOT_LOOP_NEW) & 3u;
}

/* Whether the reader has a new copy now. */
static int robot_loop_receive(robot_loop_exchange_t *exchange)
{
    const int is_new = (ROBOT_LOOP_LOAD(&exchange->shared) & ROBOT_LOOP_NEW) != 0u;
    if (is_new != 0) {
        exchange->reader = ROBOT_LOOP_EXCHANGE(&exchange->shared, exchange->reader) & 3u;
    }
    return is_new;
}

void robot_loop_set_reference(robot_loop_t *loop, const robot_loop_reference_t *reference)
{
    loop->reference[loop->reference_exchange.writer] = *reference;
    robot_loop_publish(&loop->reference_exchange);
}

void robot_loop_heartbeat(robot_loop_t *loop)
{
    ROBOT_LOOP_STORE(&loop->heartbeat, loop->heartbeat + 1u);
}

void robot_loop_set_tuning(robot_loop_t *loop, const robot_loop_tuning_t *tuning)
{
    loop->tuning[loop->tuning_exchange.writer] = *tuning;
    robot_loop_publish(&loop->tuning_exchange);
}

#endif /* ROBOT_LOOP_EXCHANGE_H */
