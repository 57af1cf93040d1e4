/* Part of robot_loop_thread.h: constants. */
#ifndef ROBOT_LOOP_THREAD_CONSTANTS_H
#define ROBOT_LOOP_THREAD_CONSTANTS_H

#include "robot.h"

#define ROBOT_LOOP_SKIP            0     /* overrun: leave out the periods that are over */
#define ROBOT_LOOP_CATCH_UP        1     /* overrun: run all cycles, without sleep until they are on time */
#define ROBOT_LOOP_STOP            2     /* overrun: a fault */
#define ROBOT_LOOP_NOTICE_FIFO     1u    /* SCHED_FIFO was refused */
#define ROBOT_LOOP_NOTICE_CPU      2u    /* the processor was refused */
#define ROBOT_LOOP_NOTICE_MEMORY   4u    /* memory could not be locked */
#define ROBOT_LOOP_THREAD_STARTING 1u    /* the thread prepares itself */
#define ROBOT_LOOP_THREAD_RUNNING  2u    /* cycles run */
#define ROBOT_LOOP_THREAD_ENDED    3u    /* the last command was written; join it */
#define ROBOT_LOOP_BUCKETS         1056u /* of a histogram: up to 2^36 ns */

#endif /* ROBOT_LOOP_THREAD_CONSTANTS_H */
