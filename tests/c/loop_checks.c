/* Checks of the loop that need C: a clock of our own, counted allocations, threads under a sanitizer, an interrupt. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "two_link_loop_thread.h"
#include "two_link_shared.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { CAPACITY = 256, ROWS = 300 };

static two_link_loop_t the_loop;
static two_link_loop_thread_t the_thread;
static two_link_loop_plant_t plant;
static two_link_loop_slot_t slots[CAPACITY];
static double delay_line[ROWS * TWO_LINK_LOOP_DELAY_WIDTH];
static two_link_loop_tuning_t tuning;

static void set_up(double period)
{
    two_link_loop_init(&the_loop, period);
    plant.p = two_link_params_nominal;
    plant.method = TWO_LINK_LOOP_RK4;
    plant.substeps = 1;
    plant.period = period;
    plant.measured = 2;
    plant.map[1] = 1;
    the_loop.read = two_link_loop_plant_read;
    the_loop.write = two_link_loop_plant_write;
    the_loop.io = &plant;
    the_loop.controller = two_link_loop_computed_torque;
    the_loop.slots = slots;
    the_loop.capacity = CAPACITY;
    the_loop.keep = TWO_LINK_LOOP_KEEP_NEWEST;
    the_loop.delay_line = delay_line;
    the_loop.delay_rows = ROWS;
    tuning = the_loop.tuning[0];
    for (int i = 0; i < 2; ++i) {
        tuning.kp[i] = 400.0;
        tuning.kd[i] = 40.0;
    }
    tuning.rest[0] = tuning.rest[1] = 1e9; /* always at rest: the ends of runs are what is looked at */
    tuning.after = TWO_LINK_LOOP_AFTER_END;
    tuning.taps = 2;
    tuning.tap_delay[1] = 250;
    tuning.tap_gain[0] = tuning.tap_gain[1] = 0.5;
    two_link_loop_set_tuning(&the_loop, &tuning);
    the_thread.loop = &the_loop;
    the_thread.options.period_parts = 1;
    the_thread.options.cpu = -1;
}

/* ---- a clock that only moves when reported to: deadlines and counts are exact */

static uint64_t virtual_time, slow_cycle, stop_cycle, long_work;
static int slow_each; /* above 0: of so many cycles one is slow */

static uint64_t virtual_now(void *context)
{
    (void)context;
    return virtual_time;
}

static void virtual_sleep(void *context, uint64_t deadline)
{
    (void)context;
    printf("sleep %llu\n", (unsigned long long)deadline);
    virtual_time = (deadline > virtual_time) ? deadline : virtual_time;
}

static int slow_controller(void *context, const two_link_loop_view_t *view, double *F)
{
    (void)context;
    F[0] = F[1] = 0.0;
    printf("cycle %llu at %llu\n", (unsigned long long)view->tick, (unsigned long long)virtual_time);
    const int is_slow = (slow_each > 0) ? ((view->tick % (uint64_t)slow_each) == 0u) : (view->tick == slow_cycle);
    virtual_time += is_slow ? long_work : 300u;
    if (view->tick == stop_cycle) {
        two_link_loop_thread_stop(&the_thread);
    }
    return 0;
}

static void policy(char **arguments)
{
    set_up(1e-6);
    the_loop.controller = slow_controller;
    the_thread.options.on_overrun = atoi(arguments[0]);
    the_thread.options.period_ns = strtoull(arguments[1], 0, 10);
    the_thread.options.period_parts = strtoull(arguments[2], 0, 10);
    the_thread.options.cycles = strtoull(arguments[3], 0, 10);
    slow_cycle = strtoull(arguments[4], 0, 10);
    slow_each = -atoi(arguments[4]);
    long_work = strtoull(arguments[5], 0, 10);
    stop_cycle = strtoull(arguments[6], 0, 10);
    the_thread.options.most_overruns = (arguments[7] != 0) ? strtoull(arguments[7], 0, 10) : 0u;
    the_thread.options.periods = ((arguments[7] != 0) && (arguments[8] != 0)) ? strtoull(arguments[8], 0, 10) : 0u;
    the_thread.options.clock.now = virtual_now;
    the_thread.options.clock.sleep_until = virtual_sleep;
    two_link_loop_thread_run(&the_thread);
    printf("cycles %llu\noverruns %llu\nskipped %llu\nlate %llu\nrow %llu\nsafe %llu\nstatus %d\n", (unsigned long long)the_thread.statistics.cycles,
        (unsigned long long)the_thread.statistics.overruns, (unsigned long long)the_thread.statistics.skipped,
        (unsigned long long)the_thread.statistics.late, (unsigned long long)the_thread.statistics.longest_row,
        (unsigned long long)the_thread.statistics.safe, (int)the_thread.status);
}

/* ---- a reference that grows old, with or without heartbeats */

static uint64_t beat_every;

static int beating_controller(void *context, const two_link_loop_view_t *view, double *F)
{
    (void)context;
    F[0] = F[1] = 1.0;
    if ((beat_every > 0u) && ((view->tick % beat_every) == 0u)) {
        two_link_loop_heartbeat(&the_loop);
    }
    return 0;
}

static void stale(char **arguments)
{
    set_up(1e-3);
    the_loop.controller = beating_controller;
    tuning.reference_age = (uint32_t)strtoul(arguments[0], 0, 10);
    tuning.safe_F[0] = 7.0;
    beat_every = strtoull(arguments[1], 0, 10);
    two_link_loop_set_tuning(&the_loop, &tuning);
    the_thread.options.free_running = 1;
    the_thread.options.period_ns = 1000000u;
    the_thread.options.cycles = strtoull(arguments[2], 0, 10);
    two_link_loop_thread_run(&the_thread);
    printf("cycles %llu\nstatus %d\nforce %d\n", (unsigned long long)the_loop.cycle, (int)the_thread.status, (int)plant.F[0]);
}

/* ---- every allocation of the process is counted */

#if defined(COUNT_ALLOCATIONS)
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t number, size_t size);
extern void *__libc_realloc(void *block, size_t size);
static volatile unsigned long allocations;

void *malloc(size_t size)
{
    ++allocations;
    return __libc_malloc(size);
}

void *calloc(size_t number, size_t size)
{
    ++allocations;
    return __libc_calloc(number, size);
}

void *realloc(void *block, size_t size)
{
    ++allocations;
    return __libc_realloc(block, size);
}

static void count_allocations(void)
{
    two_link_loop_record_t records[16];
    two_link_loop_reference_t reference = { 0 };
    uint32_t lost = 0;
    free(malloc(10)); /* the counter counts */
    const unsigned long self_test = allocations;
    set_up(1e-3);
    the_thread.options.period_ns = 1000000u;
    the_thread.options.free_running = 1;
    the_thread.options.cycles = 100000u;
    const unsigned long before = allocations;
    for (int k = 0; k < 10; ++k) {
        reference.kind = TWO_LINK_LOOP_MOVE;
        reference.q[0] = reference.q[1] = 0.1 * (k + 1);
        reference.duration = 10.0;
        two_link_loop_set_reference(&the_loop, &reference);
        two_link_loop_thread_run(&the_thread);
        (void)two_link_loop_take_records(&the_loop, records, 16u, &lost);
    }
    const unsigned long after = allocations;
    printf("self_test %lu\ncycles %llu\nallocations %lu\nstatus %d\n", self_test, (unsigned long long)the_loop.cycle,
        after - before, (int)the_thread.status);
}
#endif

/* ---- loop, reader and writer at once */

static int checking_controller(void *context, const two_link_loop_view_t *view, double *F)
{
    (void)context;
    for (int i = 1; i < 32; ++i) { /* a block of gains that is not whole fails */
        if (view->tuning->user[i] > view->tuning->user[0] || view->tuning->user[i] < view->tuning->user[0]) {
            return 1;
        }
    }
    F[0] = view->q_ref[0];
    F[1] = view->F_ref[1];
    return (F[0] > F[1]) || (F[0] < F[1]); /* a reference that is not whole fails */
}

static void threads(int keep, unsigned long cycles)
{
    static two_link_loop_record_t records[64];
    two_link_loop_reference_t reference = { 0 };
    unsigned long taken = 0, torn = 0, disordered = 0, number = 0;
    uint64_t next = 0;
    uint32_t lost = 0;
    set_up(1e-3);
    tuning.taps = 0;
    tuning.reference_age = UINT32_MAX;
    two_link_loop_set_tuning(&the_loop, &tuning);
    the_loop.controller = checking_controller;
    the_loop.keep = keep;
    the_thread.options.free_running = 1;
    the_thread.options.period_ns = 1000000u;
    the_thread.options.cycles = cycles;
    if (two_link_loop_thread_start(&the_thread) != 0) {
        exit(1);
    }
    two_link_loop_statistics_t *const statistics = malloc(sizeof(*statistics));
    int is_over = 0;
    do {
        is_over = two_link_loop_thread_state(&the_thread) == TWO_LINK_LOOP_THREAD_ENDED;
        ++number;
        reference.kind = TWO_LINK_LOOP_HOLD;
        reference.number = (uint32_t)number;
        for (int i = 0; i < 2; ++i) {
            reference.q[i] = reference.F[i] = (double)number;
        }
        for (int i = 0; i < 32; ++i) {
            tuning.user[i] = (double)number;
        }
        two_link_loop_set_reference(&the_loop, &reference);
        two_link_loop_set_tuning(&the_loop, &tuning);
        two_link_loop_heartbeat(&the_loop);
        two_link_loop_thread_statistics(&the_thread, statistics);
        if ((number % 7u) == 0u) {
            (void)usleep(500); /* a reader that stalls */
        }
        uint32_t count = 0;
        while ((count = two_link_loop_take_records(&the_loop, records, 64u, &lost)) > 0u) {
            for (uint32_t k = 0; k < count; ++k) {
                torn += two_link_loop_checksum(&records[k]) != records[k].checksum;
                torn += (records[k].reference != 0u) && ((records[k].q_ref[0] - (double)records[k].reference) * (records[k].q_ref[0] - (double)records[k].reference) > 0.0);
                disordered += records[k].cycle < next;
                next = records[k].cycle + 1u;
            }
            taken += count;
        }
    } while (!is_over);
    (void)two_link_loop_thread_join(&the_thread);
    printf("cycles %llu\ntaken %lu\nlost %lu\ntorn %lu\ndisordered %lu\nupdates %lu\nstatus %d\n", (unsigned long long)statistics->cycles,
        taken, (unsigned long)lost + two_link_loop_dropped(&the_loop), torn, disordered, number, (int)the_thread.status);
    free(statistics);
}

/* ---- a robot at the other end of shared memory, at the same time */

static int differ(const double *values, int count)
{
    int differences = 0;
    for (int i = 1; i < count; ++i) {
        differences += (values[i] > values[0]) || (values[i] < values[0]);
    }
    return differences;
}

static int echoing_controller(void *context, const two_link_loop_view_t *view, double *F)
{
    (void)context;
    F[0] = F[1] = view->q[0];
    return differ(view->q, 2) + differ(view->qd, 2) + ((view->q[0] > view->qd[0]) || (view->q[0] < view->qd[0]));
}

static void shared_memory(unsigned long cycles)
{
    static two_link_shared_block_t block;
    two_link_shared_t loop_side, robot_side;
    unsigned long puts = 0, commands = 0, torn = 0;
    double F[2] = { 0.0, 0.0 };
    set_up(1e-3);
    two_link_shared_format(&block);
    if ((two_link_shared_attach(&loop_side, &block, TWO_LINK_SHARED_LOOP) != 0) || (two_link_shared_attach(&robot_side, &block, TWO_LINK_SHARED_ROBOT) != 0)) {
        exit(1);
    }
    the_loop.read = two_link_shared_read;
    the_loop.write = two_link_shared_write;
    the_loop.io = &loop_side;
    const double first[2] = { 0.5, 0.5 };
    two_link_shared_put(&robot_side, first, first);
    the_loop.controller = echoing_controller;
    the_thread.options.free_running = 1;
    the_thread.options.period_ns = 1000000u;
    the_thread.options.cycles = cycles;
    if (two_link_loop_thread_start(&the_thread) != 0) {
        exit(1);
    }
    while (two_link_loop_thread_state(&the_thread) != TWO_LINK_LOOP_THREAD_ENDED) {
        const double state[2] = { (double)(puts % 1000u), (double)(puts % 1000u) };
        two_link_shared_put(&robot_side, state, state);
        ++puts;
        if (two_link_shared_get(&robot_side, F) == TWO_LINK_SHARED_OK) {
            ++commands;
            torn += (unsigned long)differ(F, 2);
        }
    }
    (void)two_link_loop_thread_join(&the_thread);
    printf("cycles %llu\nputs %lu\ncommands %lu\ntorn %lu\nstatus %d\n", (unsigned long long)the_loop.cycle, puts, commands, torn,
        (int)the_thread.status);
}

/* ---- the step in a timer signal, as in an interrupt */

static void on_timer(int signal_number)
{
    (void)signal_number;
    (void)two_link_loop_step(&the_loop);
}

static void interrupt(void)
{
    const struct itimerval timer = { { 0, 2000 }, { 0, 2000 } };
    struct sigaction action;
    memset(&action, 0, sizeof(action));
    action.sa_handler = on_timer;
    set_up(2e-3);
    (void)sigaction(SIGALRM, &action, 0);
    (void)setitimer(ITIMER_REAL, &timer, 0);
    uint32_t lost = 0;
    unsigned long taken = 0;
    two_link_loop_record_t record;
    const time_t limit = time(0) + 20;
    while ((taken < 50u) && (time(0) < limit)) {
        (void)pause();
        while (two_link_loop_take_records(&the_loop, &record, 1u, &lost) > 0u) {
            ++taken;
        }
    }
    printf("taken %lu\nstatus %d\n", taken, (int)the_loop.status);
}

int main(int count, char **arguments)
{
    const char *const check = (count > 1) ? arguments[1] : "";
    if (strcmp(check, "policy") == 0) {
        policy(arguments + 2);
    } else if (strcmp(check, "stale") == 0) {
        stale(arguments + 2);
#if defined(COUNT_ALLOCATIONS)
    } else if (strcmp(check, "allocations") == 0) {
        count_allocations();
#endif
    } else if (strcmp(check, "threads") == 0) {
        threads(atoi(arguments[2]), strtoul(arguments[3], 0, 10));
    } else if (strcmp(check, "shared") == 0) {
        shared_memory(strtoul(arguments[2], 0, 10));
    } else if (strcmp(check, "interrupt") == 0) {
        interrupt();
    } else {
        return 2;
    }
    return 0;
}
