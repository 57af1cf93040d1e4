/* Part of robot_loop_thread.h: its functions. */
#ifndef ROBOT_LOOP_THREAD_FUNCTIONS_H
#define ROBOT_LOOP_THREAD_FUNCTIONS_H

#include "robot_loop_thread_types.h"

/** @brief Start the thread; loop and options must be set. Returns 0 or an errno value. */
int robot_loop_thread_start(robot_loop_thread_t *thread);

/** @brief Ask the thread to bring the robot to rest and to end: at once, if it is at rest. Any thread may ask. */
void robot_loop_thread_stop(robot_loop_thread_t *thread);

/** @brief Wait for the end; once for each start. */
int robot_loop_thread_join(robot_loop_thread_t *thread);

/** @brief Run the loop in the calling thread until it ends. */
void robot_loop_thread_run(robot_loop_thread_t *thread);

/** @brief Any thread: one of the THREAD constants. */
uint32_t robot_loop_thread_state(robot_loop_thread_t *thread);

/** @brief Any thread: copy of the statistics, each word consistent. */
void robot_loop_thread_statistics(robot_loop_thread_t *thread, robot_loop_statistics_t *copy);

/** @brief When period k is due after the first deadline [ns], exactly. */
uint64_t robot_loop_due(const robot_loop_options_t *options, uint64_t k);

#endif /* ROBOT_LOOP_THREAD_FUNCTIONS_H */
