/* Part of robot_loop_thread.c: clock, deadlines, and what the thread asks of the system. */
#ifndef ROBOT_LOOP_PREPARE_H
#define ROBOT_LOOP_PREPARE_H

#include "robot_loop_thread_base.h"

static uint64_t robot_loop_monotonic_now(void *context)
{
    struct timespec t = {0, 0};
    (void)context;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return ((uint64_t)t.tv_sec * ROBOT_LOOP_SECOND) + (uint64_t)t.tv_nsec;
}

static void robot_loop_monotonic_sleep(void *context, uint64_t deadline)
{
    struct timespec t;
    (void)context;
    t.tv_sec = (time_t)(deadline / ROBOT_LOOP_SECOND);
    t.tv_nsec = (long)(deadline % ROBOT_LOOP_SECOND);
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, 0) == EINTR) {
        /* a signal of somebody else: the deadline is absolute, sleep on */
    }
}

uint64_t robot_loop_due(const robot_loop_options_t *options, uint64_t k)
{
    const uint64_t parts = options->period_parts;
    return ((k / parts) * options->period_ns) + (((k % parts) * options->period_ns) / parts);
}

/* Number of the last period that is due at a time after the first deadline. */
static uint64_t robot_loop_period_at(const robot_loop_options_t *options, uint64_t time)
{
    const uint64_t parts = options->period_parts;
    uint64_t k = ((time / options->period_ns) * parts) + (((time % options->period_ns) * parts) / options->period_ns);
    while (robot_loop_due(options, k + 1u) <= time) {
        ++k; /* at most once: deadlines are rounded down */
    }
    return k;
}

static void robot_loop_touch_stack(void)
{
    volatile unsigned char stack[ROBOT_LOOP_STACK_BYTES];
    for (unsigned k = 0u; k < ROBOT_LOOP_STACK_BYTES; k += ROBOT_LOOP_PAGE_BYTES) {
        stack[k] = 0u;
    }
    (void)stack[0];
}

static uint32_t robot_loop_prepare(const robot_loop_options_t *options)
{
    uint32_t notices = 0u;
#if defined(__linux__)
    (void)prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL); /* by default a sleep may be 50 us longer than asked */
    if (options->cpu >= 0) {
        cpu_set_t set;
        CPU_ZERO(&set);
        if (options->cpu < CPU_SETSIZE) {
            CPU_SET((unsigned)options->cpu, &set);
        }
        notices |= (pthread_setaffinity_np(pthread_self(), sizeof(set), &set) != 0) ? ROBOT_LOOP_NOTICE_CPU : 0u;
    }
#else
    notices |= (options->cpu >= 0) ? ROBOT_LOOP_NOTICE_CPU : 0u;
#endif
    if (options->lock_memory != 0) {
        notices |= (mlockall(MCL_CURRENT | MCL_FUTURE) != 0) ? ROBOT_LOOP_NOTICE_MEMORY : 0u;
    }
    robot_loop_touch_stack();
    if (options->priority > 0) {
        struct sched_param parameters = {0};
        parameters.sched_priority = options->priority;
        notices |= (pthread_setschedparam(pthread_self(), SCHED_FIFO, &parameters) != 0) ? ROBOT_LOOP_NOTICE_FIFO : 0u;
    }
    return notices;
}

#endif /* ROBOT_LOOP_PREPARE_H */
