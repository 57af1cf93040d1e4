/* Part of robot_loop.c: reference tables and values. */
#ifndef ROBOT_LOOP_TABLE_H
#define ROBOT_LOOP_TABLE_H

#include "robot_loop_reference.h"
#include "robot_loop_reference_at.h"

/* Jerk and snap of a table without them, from the accelerations of the rows before and after. */
static void robot_loop_difference(
    robot_loop_t *loop, const robot_real_t *before, const robot_real_t *now, const robot_real_t *after)
{
    const robot_real_t T = loop->period;
    for (int i = 0; i < ROBOT_NV; ++i) {
        loop->plain[3][i] = (after[i] - before[i]) / (REAL(2.0) * T);
        loop->plain[4][i] = ((after[i] - now[i]) - (now[i] - before[i])) / (T * T);
    }
}

static void robot_loop_in_table(robot_loop_t *loop, const robot_loop_reference_t *reference, uint64_t ticks)
{
    const uint32_t nv = ROBOT_NV, more = ROBOT_NQ - ROBOT_NV;
    const uint32_t last = reference->rows - 1u;
    const uint32_t row = (ticks < last) ? (uint32_t)ticks : last;
    const uint32_t orders = (reference->orders == ROBOT_LOOP_ORDERS) ? ROBOT_LOOP_ORDERS : 3u;
    const uint32_t width = robot_loop_row_width(reference);
    const robot_real_t *const values = &reference->table[row * width];
    for (uint32_t i = 0; i < (nv + more); ++i) {
        loop->plain[0][i] = values[i];
    }
    for (uint32_t order = 1; order < ROBOT_LOOP_ORDERS; ++order) {
        for (uint32_t i = 0; i < nv; ++i) {
            loop->plain[order][i] = (order < orders) ? values[more + (order * nv) + i] : REAL(0.0);
        }
    }
    if ((orders == 3u) && (row > 0u) && (row < last)) {
        const robot_real_t *const qdd = &values[ROBOT_NQ + ROBOT_NV];
        const robot_real_t *const before = &reference->table[((row - 1u) * width) + ROBOT_NQ + ROBOT_NV];
        robot_loop_difference(loop, before, qdd, &qdd[width]);
    }
}

static void robot_loop_in_place(robot_loop_t *loop, const robot_loop_reference_t *reference)
{
    for (int i = 0; i < ROBOT_NQ; ++i) {
        loop->plain[0][i] = reference->q[i];
    }
    for (int i = 0; i < ROBOT_NV; ++i) {
        loop->plain[1][i] = reference->qd[i];
        loop->plain[2][i] = reference->qdd[i];
        loop->plain[3][i] = REAL(0.0);
        loop->plain[4][i] = REAL(0.0);
    }
}

/* A MOVE is on its motion to the goal; to a HOLD or a TABLE leads the motion of what parts them. */
static void robot_loop_join(robot_loop_t *loop, const robot_loop_reference_t *reference, uint64_t ticks)
{
    robot_real_t x[5][ROBOT_NV];
    robot_loop_on_motion(loop, reference->duration, ticks, x);
#if !ROBOT_QUATERNIONS
    for (int order = 0; order < 5; ++order) {
        for (int i = 0; i < ROBOT_NV; ++i) {
            loop->plain[order][i] += x[order][i];
        }
    }
#else
    for (int i = 0; i < ROBOT_NV; ++i) {
        x[0][i] += loop->way[i];
    }
    robot_motion_on_path(loop->view.p, loop->origin, x[0], x[1], x[2], x[3], x[4], loop->plain[0], loop->plain[1],
        loop->plain[2], loop->plain[3], loop->plain[4]);
#endif
}

/* The reference at this tick, before the shaper, as if it had been joined long ago. */
static void robot_loop_proper(robot_loop_t *loop, const robot_loop_reference_t *reference, uint64_t ticks)
{
    if (reference->kind == ROBOT_LOOP_HOLD) {
        robot_loop_in_place(loop, reference);
    } else if (reference->kind == ROBOT_LOOP_MOVE) {
        robot_loop_stand(loop, reference->q);
    } else if ((reference->kind == ROBOT_LOOP_TABLE) && (reference->rows > 0u)) {
        robot_loop_in_table(loop, reference, ticks);
    } else {
        /* HERE: stay where the loop began */
    }
}

/* The reference at this tick, before the shaper. */
static void robot_loop_proceed(robot_loop_t *loop)
{
    const robot_loop_reference_t *const reference = &loop->reference[loop->reference_exchange.reader];
    const uint64_t ticks = loop->tick - loop->reference_tick;
    robot_loop_proper(loop, reference, ticks);
#if ROBOT_QUATERNIONS
    const int joins =
        (reference->kind != ROBOT_LOOP_HERE) && (reference->kind != ROBOT_LOOP_TABLE); /* tables at once */
#else
    const int joins = reference->kind != ROBOT_LOOP_HERE;
#endif
    if (joins && !robot_loop_motion_is_over(loop, reference->duration, ticks)) {
        robot_loop_join(loop, reference, ticks);
    }
}

/* A new reference: the motion to it begins with the present values. Its forces come as slowly as it does. */
static void robot_loop_take_up(robot_loop_t *loop, const robot_loop_reference_t *reference)
{
    robot_real_t begins[ROBOT_LOOP_ORDER][ROBOT_NV];
    int differs = 0;
#if !ROBOT_QUATERNIONS
    for (int order = 0; order < ROBOT_LOOP_ORDER; ++order) {
        for (int i = 0; i < ROBOT_NV; ++i) {
            begins[order][i] = loop->plain[order][i];
        }
    }
    robot_loop_proper(loop, reference, 0u);
    for (int order = 0; order < ROBOT_LOOP_ORDER; ++order) {
        for (int i = 0; i < ROBOT_NV; ++i) {
            begins[order][i] -= loop->plain[order][i];
        }
    }
#else
    robot_loop_leave(loop, reference, begins);
#endif
    robot_loop_plan_motion(loop, reference->duration, begins);
    for (uint32_t i = 0; i < ROBOT_NV; ++i) {
        const robot_real_t force = robot_loop_force_of(reference, 0u, i);
        differs |= ((force < loop->view.F_ref[i]) || (force > loop->view.F_ref[i])) ? 1 : 0;
    }
    if ((differs != 0) && (reference->duration > REAL(0.0))) {
        loop->bump_ticks = (uint32_t)(reference->duration / loop->period);
        loop->bump_wanted = 1u;
    }
    robot_loop_proceed(loop);
}

#endif /* ROBOT_LOOP_TABLE_H */
