/* Part of robot_loop_thread.c: cycle after cycle, on time. */
#ifndef ROBOT_LOOP_RUN_H
#define ROBOT_LOOP_RUN_H

#include "robot_loop_overrun.h"
#include "robot_loop_statistics.h"

static void robot_loop_wait(const robot_loop_options_t *options, const robot_loop_clock_t *clock, uint64_t deadline)
{
    clock->sleep_until(clock->context, deadline - options->spin_ns);
    while ((options->spin_ns > 0u) && (clock->now(clock->context) < deadline)) {
        /* busy */
    }
}

void robot_loop_thread_run(robot_loop_thread_t *thread)
{
    const robot_loop_options_t *const options = &thread->options;
    robot_loop_statistics_t *const statistics = &thread->statistics;
    robot_loop_t *const loop = thread->loop;
    robot_loop_clock_t clock = options->clock;
    if (clock.now == NULL) {
        clock.now = robot_loop_monotonic_now;
        clock.sleep_until = robot_loop_monotonic_sleep;
    }
    ROBOT_LOOP_COUNT(&statistics->cycles, (uint64_t)0);
    ROBOT_LOOP_COUNT(&statistics->overruns, (uint64_t)0);
    ROBOT_LOOP_COUNT(&statistics->skipped, (uint64_t)0);
    ROBOT_LOOP_COUNT(&statistics->late, (uint64_t)0);
    ROBOT_LOOP_COUNT(&statistics->safe, (uint64_t)0);
    ROBOT_LOOP_COUNT(&statistics->longest_row, (uint64_t)0);
    thread->row = 0u;
    robot_loop_histogram_clear(&statistics->lateness);
    robot_loop_histogram_clear(&statistics->execution);
    thread->notices = robot_loop_prepare(options);
    thread->start = clock.now(clock.context) + options->lead_ns;
    ROBOT_LOOP_PUT(&thread->state, ROBOT_LOOP_THREAD_RUNNING);

    robot_loop_resume(loop);
    const uint64_t first = loop->tick; /* a loop that ran before goes on */
    uint64_t k = 0;
    int is_over = 0;
    while (!is_over) {
        const uint64_t due = robot_loop_due(options, k);
        if (options->free_running == 0) {
            robot_loop_wait(options, &clock, thread->start + due);
        }
        const uint64_t begin = clock.now(clock.context);
        if ((ROBOT_LOOP_GET(&thread->stop) != 0u) && (robot_loop_finish(loop) == ROBOT_LOOP_ENDED)) {
            break;
        }
        loop->tick = first + k;
        loop->deadline_ns = (options->free_running == 0) ? (int64_t)due : 0;
        loop->lateness_ns = (options->free_running == 0) ? (int64_t)(begin - (thread->start + due)) : 0;
        ROBOT_LOOP_PUT(&thread->status, robot_loop_step(loop));
        const uint64_t end = clock.now(clock.context);
        loop->execution_ns = (int64_t)(end - begin);
        robot_loop_histogram_add(&statistics->lateness, loop->lateness_ns);
        robot_loop_histogram_add(&statistics->execution, loop->execution_ns);
        ROBOT_LOOP_COUNT(&statistics->cycles, statistics->cycles + 1u);
        if ((options->free_running == 0) && (begin > (thread->start + robot_loop_due(options, k + 1u)))) {
            ROBOT_LOOP_COUNT(&statistics->late, statistics->late + 1u);
        }
        if (loop->phase != ROBOT_LOOP_RUNNING) {
            ROBOT_LOOP_COUNT(&statistics->safe, statistics->safe + 1u);
        }
        k = robot_loop_next(thread, k, end - thread->start);
        is_over =
            (loop->phase == ROBOT_LOOP_ENDED) && (robot_loop_finish(loop) == ROBOT_LOOP_ENDED); /* no force left */
        if (((options->cycles > 0u) && (statistics->cycles >= options->cycles))
            || ((options->periods > 0u) && (k >= options->periods))) {
            is_over |= (robot_loop_finish(loop) == ROBOT_LOOP_ENDED);
        }
    }
    if ((options->lock_memory != 0) && ((thread->notices & ROBOT_LOOP_NOTICE_MEMORY) == 0u)) {
        (void)munlockall();
    }
    ROBOT_LOOP_PUT(&thread->state, ROBOT_LOOP_THREAD_ENDED);
}

#endif /* ROBOT_LOOP_RUN_H */
