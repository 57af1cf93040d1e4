/**
 * @file  robot_loop_thread.c
 * @brief The thread of the control loop, documented in robot_loop_thread.h.
 */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* processor affinity */
#endif

#include "robot_loop_thread.h"

#include <errno.h>
#include <sched.h>
#include <sys/mman.h>
#include <time.h>
#if defined(__linux__)
#include <sys/prctl.h>
#endif

#include "robot_loop_run.h"

static void *robot_loop_thread_body(void *thread)
{
    robot_loop_thread_run((robot_loop_thread_t *)thread);
    return 0;
}

int robot_loop_thread_start(robot_loop_thread_t *thread)
{
    thread->stop = 0u;
    thread->status = ROBOT_LOOP_STATUS_OK;
    thread->notices = 0u;
    ROBOT_LOOP_PUT(&thread->state, ROBOT_LOOP_THREAD_STARTING);
    const int error = pthread_create(&thread->thread, 0, robot_loop_thread_body, thread);
    if (error != 0) {
        ROBOT_LOOP_PUT(&thread->state, ROBOT_LOOP_THREAD_ENDED);
    }
    return error;
}

void robot_loop_thread_stop(robot_loop_thread_t *thread)
{
    ROBOT_LOOP_PUT(&thread->stop, 1u);
}

int robot_loop_thread_join(robot_loop_thread_t *thread)
{
    return pthread_join(thread->thread, 0);
}

uint32_t robot_loop_thread_state(robot_loop_thread_t *thread)
{
    return ROBOT_LOOP_GET(&thread->state);
}
