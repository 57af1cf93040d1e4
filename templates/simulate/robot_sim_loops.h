/* Part of robot_simulate.c: loops stay closed. Accelerations keep them closed but for the errors of steps; these are
 * taken away after each step, by Newton's method for the nearest closed state. */
#ifndef ROBOT_SIM_LOOPS_H
#define ROBOT_SIM_LOOPS_H

#if ROBOT_LOOPS
#include "robot_sim_calls.h"
#include "robot_sim_loop_tables.h"

#define ROBOT_SIM_LOOP_ROUNDS 12 /* of Newton's method, at most */

/* Largest residual of the rows that are kept, into w->loop_e, at the positions q. */
static robot_scalar_t robot_sim_loop_gap(robot_sim_workspace_t *w, const robot_scalar_t *q)
{
    robot_scalar_t largest = REAL(0.0);
    (void)robot_sim_call_loop_residual(w, q, w->loop_e);
    for (int r = 0; r < ROBOT_LOOPS; ++r) {
        const robot_scalar_t size = ROBOT_FABS(w->loop_e[robot_sim_loop_rows[r]]);
        largest = (size <= largest) ? largest : size; /* a NaN stays */
    }
    return largest;
}

/* Factorize J W J^T at the positions q, by Cholesky; returns whether it is positive definite. */
static int robot_sim_loop_factorize(robot_sim_workspace_t *w, const robot_scalar_t *q)
{
    robot_scalar_t *const L = w->loop_L;
    int regular = 1;
    (void)robot_sim_call_loop_jacobian(w, q, w->loop_J);
    for (int r = 0; r < ROBOT_LOOPS; ++r) {
        const robot_scalar_t *const row = &w->loop_J[robot_sim_loop_rows[r] * ROBOT_NV];
        for (int c = 0; c <= r; ++c) {
            const robot_scalar_t *const other = &w->loop_J[robot_sim_loop_rows[c] * ROBOT_NV];
            robot_scalar_t sum = REAL(0.0);
            for (int k = 0; k < ROBOT_NV; ++k) {
                sum += row[k] * robot_sim_loop_weights[k] * other[k];
            }
            const robot_scalar_t whole = sum;
            for (int k = 0; k < c; ++k) {
                sum -= L[(r * ROBOT_LOOPS) + k] * L[(c * ROBOT_LOOPS) + k];
            }
            if (c < r) {
                L[(r * ROBOT_LOOPS) + c] = sum / L[(c * ROBOT_LOOPS) + c];
            } else {
                regular = regular && (sum > (REAL(1e3) * ROBOT_EPSILON * whole));
                L[(r * ROBOT_LOOPS) + c] = ROBOT_SQRT((sum > REAL(0.0)) ? sum : REAL(1.0));
            }
        }
    }
    return regular;
}

/* The least displacement v, in the weights, with J v = -x; x in w->loop_x, v into w->loop_v. */
static void robot_sim_loop_step(robot_sim_workspace_t *w)
{
    const robot_scalar_t *const L = w->loop_L;
    robot_scalar_t *const x = w->loop_x;
    for (int r = 0; r < ROBOT_LOOPS; ++r) {
        for (int k = 0; k < r; ++k) {
            x[r] -= L[(r * ROBOT_LOOPS) + k] * x[k];
        }
        x[r] /= L[(r * ROBOT_LOOPS) + r];
    }
    for (int r = ROBOT_LOOPS - 1; r >= 0; --r) {
        for (int k = r + 1; k < ROBOT_LOOPS; ++k) {
            x[r] -= L[(k * ROBOT_LOOPS) + r] * x[k];
        }
        x[r] /= L[(r * ROBOT_LOOPS) + r];
    }
    for (int k = 0; k < ROBOT_NV; ++k) {
        robot_scalar_t sum = REAL(0.0);
        for (int r = 0; r < ROBOT_LOOPS; ++r) {
            sum += w->loop_J[(robot_sim_loop_rows[r] * ROBOT_NV) + k] * x[r];
        }
        w->loop_v[k] = -robot_sim_loop_weights[k] * sum;
    }
}

/* Displace positions by w->loop_v. */
static void robot_sim_loop_move(robot_sim_workspace_t *w, robot_scalar_t *q)
{
#if ROBOT_QUATERNIONS
    robot_scalar_t moved[ROBOT_NQ];
    (void)robot_sim_call_integrate(w, q, w->loop_v, moved);
    for (int i = 0; i < ROBOT_NQ; ++i) {
        q[i] = moved[i];
    }
#else
    for (int i = 0; i < ROBOT_NQ; ++i) {
        q[i] += w->loop_v[i];
    }
#endif
}

/* Bring a state y, positions and velocities, to the nearest one that is closed; returns whether there is one. */
static int robot_sim_keep_closed(robot_sim_workspace_t *w, robot_scalar_t *y)
{
    robot_scalar_t *const qd = &y[ROBOT_NQ];
    robot_scalar_t gap = robot_sim_loop_gap(w, y);
    int regular = robot_sim_loop_factorize(w, y);
    int moved = 0;
    for (int round = 0; (round < ROBOT_SIM_LOOP_ROUNDS) && regular && !(gap <= ROBOT_SIM_LOOP_NEAR); ++round) {
        if (moved != 0) {
            regular = robot_sim_loop_factorize(w, y);
        }
        for (int r = 0; r < ROBOT_LOOPS; ++r) {
            w->loop_x[r] = w->loop_e[robot_sim_loop_rows[r]];
        }
        robot_sim_loop_step(w);
        robot_sim_loop_move(w, y);
        gap = robot_sim_loop_gap(w, y);
        moved = 1;
    }
    if (moved && regular) {
        regular = robot_sim_loop_factorize(w, y);
    }
    if (regular != 0) {
        for (int r = 0; r < ROBOT_LOOPS; ++r) {
            const robot_scalar_t *const row = &w->loop_J[robot_sim_loop_rows[r] * ROBOT_NV];
            w->loop_x[r] = REAL(0.0);
            for (int k = 0; k < ROBOT_NV; ++k) {
                w->loop_x[r] += row[k] * qd[k];
            }
        }
        robot_sim_loop_step(w);
        for (int k = 0; k < ROBOT_NV; ++k) {
            qd[k] += w->loop_v[k];
        }
    }
    return regular && (gap <= ROBOT_SIM_LOOP_CLOSED);
}

/* The first state: closed but for rounding errors, which are taken away. */
static int robot_sim_begin_closed(robot_sim_workspace_t *w)
{
    return (robot_sim_loop_gap(w, w->y) <= ROBOT_SIM_LOOP_START) && robot_sim_keep_closed(w, w->y);
}
#endif

#endif /* ROBOT_SIM_LOOPS_H */
