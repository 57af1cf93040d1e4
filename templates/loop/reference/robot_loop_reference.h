/* Part of robot_loop.c: reference motions. */
#ifndef ROBOT_LOOP_REFERENCE_H
#define ROBOT_LOOP_REFERENCE_H

#include "robot_loop_base.h"

#define ROBOT_LOOP_ORDERS 5u /* of a reference: q and four derivatives */

/* Numbers of q and its derivatives in a row of a table; derivatives have fewer where there are quaternions. */
static uint32_t robot_loop_motion_width(const robot_loop_reference_t *reference)
{
    const uint32_t nv = ROBOT_NV, more = ROBOT_NQ - ROBOT_NV;
    return more + (((reference->orders == ROBOT_LOOP_ORDERS) ? ROBOT_LOOP_ORDERS : 3u) * nv);
}

/* Numbers of a row of a table, forces included. */
static uint32_t robot_loop_row_width(const robot_loop_reference_t *reference)
{
    const uint32_t nv = ROBOT_NV;
    return robot_loop_motion_width(reference) + ((reference->forces != 0u) ? nv : 0u);
}

/* The force of a reference so many ticks after it was taken. */
static robot_real_t robot_loop_force_of(const robot_loop_reference_t *reference, uint64_t ticks, uint32_t i)
{
    robot_real_t force = reference->F[i];
    if ((reference->kind == ROBOT_LOOP_TABLE) && (reference->forces != 0u) && (reference->rows > 0u)) {
        const uint32_t last = reference->rows - 1u;
        const uint32_t row = (ticks < last) ? (uint32_t)ticks : last;
        const uint32_t place = (row * robot_loop_row_width(reference)) + robot_loop_motion_width(reference);
        force += reference->table[place + i];
    }
    return force;
}

static void robot_loop_stand(robot_loop_t *loop, const robot_real_t *q)
{
    for (int i = 0; i < ROBOT_NQ; ++i) {
        loop->plain[0][i] = q[i];
        for (int order = 1; order < 5; ++order) {
            loop->plain[order][i] = REAL(0.0);
        }
    }
}

#if ROBOT_QUATERNIONS
/*
 * On the manifold a motion is exp(p(s)) behind the place where it begins: p goes from 0 to the displacement to the
 * goal. From rest that is the geodesic between them.
 */
static void robot_loop_leave(
    robot_loop_t *loop, const robot_loop_reference_t *reference, robot_real_t begins[ROBOT_LOOP_ORDER][ROBOT_NV])
{
    for (int i = 0; i < ROBOT_NQ; ++i) {
        loop->origin[i] = loop->plain[0][i];
    }
    for (int i = 0; i < ROBOT_NV; ++i) {
        loop->way[i] = REAL(0.0);
#if !ROBOT_NE
        begins[1][i] = loop->plain[1][i];
        begins[2][i] = loop->plain[2][i];
#endif
    }
    if (reference->kind != ROBOT_LOOP_TABLE) {
        robot_difference(loop->view.p, loop->origin, reference->q, loop->way);
    }
    for (int i = 0; i < ROBOT_NV; ++i) {
        begins[0][i] = -loop->way[i];
    }
#if ROBOT_NE
    robot_start_of_path(loop->view.p, loop->plain[1], loop->plain[2], loop->plain[3], loop->plain[4], begins[1],
        begins[2], begins[3], begins[4]);
#endif
}

#endif
/*
 * A motion x(s) from given values of it and of its derivatives to rest in zero, with s = t / duration and n =
 * ROBOT_LOOP_ORDER: x(s) = (1 - s)^n r(s). The polynomial r takes these values over: r = x / (1 - s)^n up to s^(n - 1).
 */
static void robot_loop_plan_motion(
    robot_loop_t *loop, robot_real_t duration, robot_real_t begins[ROBOT_LOOP_ORDER][ROBOT_NV])
{
#if ROBOT_NE
    static const robot_real_t series[ROBOT_LOOP_ORDER] = {
        REAL(1.0), REAL(5.0), REAL(15.0), REAL(35.0), REAL(70.0)}; /* of 1 / (1 - s)^n */
#else
    static const robot_real_t series[ROBOT_LOOP_ORDER] = {REAL(1.0), REAL(3.0), REAL(6.0)}; /* of 1 / (1 - s)^n */
#endif
    for (int i = 0; i < ROBOT_NV; ++i) {
        robot_real_t scale = REAL(1.0); /* duration^k / k! */
        for (int k = 0; k < ROBOT_LOOP_ORDER; ++k) {
            loop->motion[i][k] = REAL(0.0);
        }
        for (int k = 0; k < ROBOT_LOOP_ORDER; ++k) {
            const robot_real_t term = scale * begins[k][i];
            for (int j = k; j < ROBOT_LOOP_ORDER; ++j) {
                loop->motion[i][j] += term * series[j - k];
            }
            scale *= duration / (robot_real_t)(k + 1);
        }
    }
}

#endif /* ROBOT_LOOP_REFERENCE_H */
