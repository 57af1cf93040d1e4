/* Part of robot_loop_thread.c: what follows a cycle that took too long. */
#ifndef ROBOT_LOOP_OVERRUN_H
#define ROBOT_LOOP_OVERRUN_H

#include "robot_loop_prepare.h"

/* A loop that has ended is late for nothing. */
static void robot_loop_trip_late(robot_loop_t *loop, int32_t status)
{
    if (loop->phase != ROBOT_LOOP_ENDED) {
        robot_loop_trip(loop, status);
    }
}

/* Periods that were over when a cycle ended, in a row with those before it: a driver that blocks, or a thread that
 * starves. */
static void robot_loop_count_row(robot_loop_thread_t *thread, uint64_t over)
{
    const robot_loop_options_t *const options = &thread->options;
    robot_loop_statistics_t *const statistics = &thread->statistics;
    if (options->on_overrun == ROBOT_LOOP_SKIP) {
        thread->row = (over > 0u) ? (thread->row + over) : 0u;
    } else {
        thread->row = over; /* nothing was left out: this is how far behind it is */
    }
    if (thread->row > statistics->longest_row) {
        ROBOT_LOOP_COUNT(&statistics->longest_row, thread->row);
    }
    if ((options->most_overruns > 0u) && (thread->row > options->most_overruns)) {
        robot_loop_trip_late(thread->loop, ROBOT_LOOP_STATUS_BLOCKED);
    }
}

/* Number of the next period, after one that ended at `end`, both since the first deadline. */
static uint64_t robot_loop_next(robot_loop_thread_t *thread, uint64_t k, uint64_t end)
{
    const robot_loop_options_t *const options = &thread->options;
    robot_loop_statistics_t *const statistics = &thread->statistics;
    const int overrun = (options->free_running == 0) && (end > robot_loop_due(options, k + 1u));
    const uint64_t over = overrun ? (robot_loop_period_at(options, end) - k) : 0u;
    uint64_t next = k + 1u;
    robot_loop_count_row(thread, over);
    if (overrun) {
        ROBOT_LOOP_COUNT(&statistics->overruns, statistics->overruns + 1u);
        if (options->on_overrun == ROBOT_LOOP_SKIP) {
            const uint64_t last = ((options->periods > 0u) && (k < options->periods)) ? options->periods : UINT64_MAX;
            next = k + over + 1u;
            next = (next < last) ? next : last; /* what comes after the end of the run is not skipped */
            ROBOT_LOOP_COUNT(&statistics->skipped, statistics->skipped + ((next - k) - 1u));
        } else if (options->on_overrun == ROBOT_LOOP_STOP) {
            robot_loop_trip_late(thread->loop, ROBOT_LOOP_STATUS_OVERRUN);
        } else {
            /* CATCH_UP: the next deadline is over already, so the thread will not sleep */
        }
    }
    return next;
}

#endif /* ROBOT_LOOP_OVERRUN_H */
