/* Part of robot_simulate.c: tables of forces, and references of controllers. */
#ifndef ROBOT_SIM_INPUT_H
#define ROBOT_SIM_INPUT_H

#include "robot_sim_motion.h"

/* Take in the rows of the input whose time has come; returns 1 if there were any, that is, a break of the forces.
 * Steps end at breaks, so that each of them sees one smooth piece. */
static int robot_sim_pass_rows(robot_sim_motion_t *w)
{
    const size_t before = w->row;
    while ((w->row < w->input->rows) && (w->input->times[w->row] <= w->t)) {
        ++w->row;
    }
    return w->row != before;
}

static robot_scalar_t robot_sim_next_break(const robot_sim_motion_t *w)
{
    return (w->row < w->input->rows) ? w->input->times[w->row] : ROBOT_HUGE;
}

/* Row of the input that holds now, and the fraction of the way to the next one. */
static robot_scalar_t robot_sim_place(const robot_sim_motion_t *w, robot_scalar_t t, size_t *row)
{
    const robot_scalar_t *const times = w->input->times;
    const int inside = (w->row > 0u) && (w->row < w->input->rows);
    *row = (w->row > 0u) ? (w->row - 1u) : 0u;
    return inside ? (t - times[*row]) / (times[*row + 1u] - times[*row]) : REAL(0.0);
}

static void robot_sim_table(const robot_sim_motion_t *w, robot_scalar_t t, robot_sim_state_t *F)
{
    size_t row = 0u;
    const robot_scalar_t s = robot_sim_place(w, t, &row);
    const robot_scalar_t *const now = w->input->values + (row * ROBOT_NV);
    const int linear = (w->input->kind == ROBOT_SIM_INPUT_LINEAR) && (w->row > 0u) && (w->row < w->input->rows);
    for (int i = 0; i < ROBOT_NV; ++i) {
        F[i] = robot_sim_all(linear ? now[i] + (s * (now[i + ROBOT_NV] - now[i])) : now[i]);
    }
}

#if ROBOT_CONTROLLERS
/* Reference position, velocity and acceleration of coordinate i: the quintic between two rows, at rest outside. */
static void robot_sim_reference(const robot_sim_motion_t *w, robot_scalar_t t, int i, robot_scalar_t r[3])
{
    const robot_sim_input_t *const in = w->input;
    size_t row = 0u;
    const robot_scalar_t s = robot_sim_place(w, t, &row);
    const size_t k = (row * ROBOT_NQ) + (size_t)i;
    r[0] = in->values[k];
    r[1] = REAL(0.0);
    r[2] = REAL(0.0);
    if ((w->row > 0u) && (w->row < in->rows)) {
        const size_t n = k + ROBOT_NQ;
        const robot_scalar_t h = in->times[row + 1u] - in->times[row];
        const robot_scalar_t v = h * in->rates[k];
        const robot_scalar_t a = REAL(0.5) * h * h * in->accelerations[k];
        /* what cubic, quartic and quintic must add */
        const robot_scalar_t x = in->values[n] - in->values[k] - v - a;
        const robot_scalar_t dx = (h * in->rates[n]) - v - (REAL(2.0) * a);
        const robot_scalar_t ddx = (h * h * in->accelerations[n]) - (REAL(2.0) * a);
        const robot_scalar_t c3 = (REAL(10.0) * x) - (REAL(4.0) * dx) + (REAL(0.5) * ddx);
        const robot_scalar_t c4 = (REAL(7.0) * dx) - (REAL(15.0) * x) - ddx;
        const robot_scalar_t c5 = (REAL(6.0) * x) - (REAL(3.0) * dx) + (REAL(0.5) * ddx);
        const robot_scalar_t slope_5 = (REAL(4.0) * c4) + (REAL(5.0) * s * c5);
        const robot_scalar_t bend_5 = (REAL(12.0) * c4) + (REAL(20.0) * s * c5);
        r[0] += s * (v + (s * (a + (s * (c3 + (s * (c4 + (s * c5))))))));
        r[1] = (v + (s * ((REAL(2.0) * a) + (s * ((REAL(3.0) * c3) + (s * slope_5)))))) / h;
        r[2] = ((REAL(2.0) * a) + (s * ((REAL(6.0) * c3) + (s * bend_5)))) / (h * h);
    }
}
#endif

#endif /* ROBOT_SIM_INPUT_H */
