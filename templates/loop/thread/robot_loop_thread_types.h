/* Part of robot_loop_thread.h: clock, options, statistics. */
#ifndef ROBOT_LOOP_THREAD_TYPES_H
#define ROBOT_LOOP_THREAD_TYPES_H

#include "robot_loop.h"
#include <pthread.h>

/** A clock; all three fields are zero for the monotonic clock of the system. */
typedef struct {
    uint64_t (*now)(void *context);                        /* [ns] */
    void (*sleep_until)(void *context, uint64_t deadline); /* absolute [ns] */
    void *context;
} robot_loop_clock_t;

/** How to run a loop. Period k is due at start + k period_ns / period_parts, rounded down: no drift at any rate. */
typedef struct {
    uint64_t period_ns;    /* with period_parts: the period as a fraction [ns] */
    uint64_t period_parts; /* at least 1 */
    uint64_t cycles;       /* the loop ends after so many; 0: when it is stopped */
    uint64_t periods;      /* the loop ends before this period, that is, after this time; 0: when it is stopped */
    uint64_t spin_ns;      /* wait the last part of each period busily: less late, but a whole processor [ns] */
    uint64_t lead_ns;      /* from the start of the thread to the first deadline [ns] */
    int32_t on_overrun;    /* SKIP, CATCH_UP or STOP */
    int32_t free_running;  /* non-zero: no deadlines, one cycle after the other */
    int32_t priority;      /* of SCHED_FIFO, 1 to 99; 0: the default scheduling */
    int32_t cpu;           /* the processor to stay on; -1: any */
    int32_t lock_memory;   /* non-zero: keep all memory of the process resident */
    int32_t reserved;
    uint64_t
        most_overruns; /* periods in a row that may be over when a cycle ends; more are STATUS_BLOCKED; 0: any number */
    robot_loop_clock_t clock;
} robot_loop_options_t;

/** A histogram of times, finer than 3.2 %: bucket k < 64 holds k ns; above, 32 buckets for each power of two. */
typedef struct {
    uint64_t counts[ROBOT_LOOP_BUCKETS];
    uint64_t number;
    uint64_t sum;   /* [ns] */
    uint64_t least; /* [ns] */
    uint64_t most;  /* [ns] */
} robot_loop_histogram_t;

/** What the thread counted. Words change one by one while it runs. */
typedef struct {
    uint64_t cycles;                  /* that ran */
    uint64_t safe;                    /* of these in another phase than RUNNING */
    uint64_t late;                    /* cycles that began after the next deadline */
    uint64_t overruns;                /* cycles that ended after the next deadline, those that began late among them */
    uint64_t skipped;                 /* periods without a cycle (SKIP) */
    uint64_t longest_row;             /* most periods in a row that were over when a cycle ended */
    robot_loop_histogram_t lateness;  /* from the deadline to the beginning of the cycle */
    robot_loop_histogram_t execution; /* from the beginning to the end of the cycle */
} robot_loop_statistics_t;

/** A thread that runs a loop; caller-owned, must stay where it is until it is joined. */
typedef struct {
    robot_loop_t *loop;
    robot_loop_options_t options;
    robot_loop_statistics_t statistics;
    pthread_t thread;
    uint64_t start;   /* first deadline [ns] */
    uint64_t row;     /* periods in a row that were over when a cycle ended */
    uint32_t state;   /* one of the THREAD constants */
    uint32_t stop;    /* non-zero ends the loop */
    uint32_t notices; /* which of the options were refused by the system, bits NOTICE */
    int32_t status;   /* STATUS of the loop */
} robot_loop_thread_t;

#endif /* ROBOT_LOOP_THREAD_TYPES_H */
