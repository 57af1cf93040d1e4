/* Part of robot_loop_thread.c: histograms of times. */
#ifndef ROBOT_LOOP_STATISTICS_H
#define ROBOT_LOOP_STATISTICS_H

#include "robot_loop_thread_base.h"

/* Statistics: one writer; readers see each word whole */

static void robot_loop_histogram_clear(robot_loop_histogram_t *histogram)
{
    for (unsigned k = 0u; k < ROBOT_LOOP_BUCKETS; ++k) {
        ROBOT_LOOP_COUNT(&histogram->counts[k], (uint64_t)0);
    }
    ROBOT_LOOP_COUNT(&histogram->number, (uint64_t)0);
    ROBOT_LOOP_COUNT(&histogram->sum, (uint64_t)0);
    ROBOT_LOOP_COUNT(&histogram->least, UINT64_MAX);
    ROBOT_LOOP_COUNT(&histogram->most, (uint64_t)0);
}

/* Bucket of a time: the exponent and the 5 bits below the leading one. */
static unsigned robot_loop_bucket(uint64_t time)
{
    unsigned bucket = (unsigned)time;
    if (time >= 64u) {
        const unsigned exponent = 58u - (unsigned)__builtin_clzll((unsigned long long)time);
        bucket = (exponent * 32u) + (unsigned)(time >> exponent);
    }
    return (bucket < ROBOT_LOOP_BUCKETS) ? bucket : (ROBOT_LOOP_BUCKETS - 1u);
}

static void robot_loop_histogram_add(robot_loop_histogram_t *histogram, int64_t time)
{
    const uint64_t value = (time > 0) ? (uint64_t)time : 0u;
    uint64_t *const count = &histogram->counts[robot_loop_bucket(value)];
    ROBOT_LOOP_COUNT(count, *count + 1u);
    ROBOT_LOOP_COUNT(&histogram->number, histogram->number + 1u);
    ROBOT_LOOP_COUNT(&histogram->sum, histogram->sum + value);
    if (value < histogram->least) {
        ROBOT_LOOP_COUNT(&histogram->least, value);
    }
    if (value > histogram->most) {
        ROBOT_LOOP_COUNT(&histogram->most, value);
    }
}

static void robot_loop_histogram_copy(robot_loop_histogram_t *from, robot_loop_histogram_t *to)
{
    for (unsigned k = 0u; k < ROBOT_LOOP_BUCKETS; ++k) {
        to->counts[k] = ROBOT_LOOP_GET(&from->counts[k]);
    }
    to->number = ROBOT_LOOP_GET(&from->number);
    to->sum = ROBOT_LOOP_GET(&from->sum);
    to->least = ROBOT_LOOP_GET(&from->least);
    to->most = ROBOT_LOOP_GET(&from->most);
}

void robot_loop_thread_statistics(robot_loop_thread_t *thread, robot_loop_statistics_t *copy)
{
    robot_loop_statistics_t *const statistics = &thread->statistics;
    copy->cycles = ROBOT_LOOP_GET(&statistics->cycles);
    copy->overruns = ROBOT_LOOP_GET(&statistics->overruns);
    copy->skipped = ROBOT_LOOP_GET(&statistics->skipped);
    copy->safe = ROBOT_LOOP_GET(&statistics->safe);
    copy->late = ROBOT_LOOP_GET(&statistics->late);
    copy->longest_row = ROBOT_LOOP_GET(&statistics->longest_row);
    robot_loop_histogram_copy(&statistics->lateness, &copy->lateness);
    robot_loop_histogram_copy(&statistics->execution, &copy->execution);
}

#endif /* ROBOT_LOOP_STATISTICS_H */
