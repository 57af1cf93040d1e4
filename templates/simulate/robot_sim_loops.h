/* Part of robot_simulate.c: loops stay closed. Accelerations keep them closed but for the errors of steps; these are
 * taken away after each step, by Newton's method for the nearest closed state. */
#ifndef ROBOT_SIM_LOOPS_H
#define ROBOT_SIM_LOOPS_H

#if ROBOT_LOOPS
#include "robot_sim_calls.h"
#include "robot_sim_loop_tables.h"

#define ROBOT_SIM_LOOP_ROUNDS 12        /* of Newton's method, at most */
#define ROBOT_SIM_LOOP_JUMP   REAL(0.1) /* share of the largest velocity: greater changes near lost rank are errors */

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

/* Factorize J W J^T at the positions q, by Cholesky; returns the least square of a row beside those before it, as a
 * share of its usual one, 0 where it is not positive definite. */
static robot_scalar_t robot_sim_loop_factorize(robot_sim_workspace_t *w, const robot_scalar_t *q)
{
    robot_scalar_t *const L = w->loop_L;
    robot_scalar_t least = REAL(1.0);
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
                const robot_scalar_t usual = robot_sim_loop_sizes[r] * robot_sim_loop_sizes[r];
                const robot_scalar_t share = (sum > (REAL(1e3) * ROBOT_EPSILON * whole)) ? (sum / usual) : REAL(0.0);
                least = (share < least) ? share : least;
                L[(r * ROBOT_LOOPS) + c] = ROBOT_SQRT((sum > REAL(0.0)) ? sum : REAL(1.0));
            }
        }
    }
    return least;
}

/* Whether velocities change by more than a motion's own accelerations do in a step: rounding errors, divided by what is
 * left of a row where rank is nearly lost. */
static int robot_sim_loop_jumps(const robot_scalar_t *change, const robot_scalar_t *from, const robot_scalar_t *qd)
{
    robot_scalar_t largest = REAL(1.0); /* [rad/s, m/s]: a motion may begin at rest */
    robot_scalar_t jump = REAL(0.0);
    for (int k = 0; k < ROBOT_NV; ++k) {
        const robot_scalar_t moved = (change != NULL) ? change[k] : (qd[k] - from[k]);
        const robot_scalar_t size = ROBOT_FABS((change != NULL) ? qd[k] : from[k]);
        largest = (size > largest) ? size : largest;
        jump = (ROBOT_FABS(moved) > jump) ? ROBOT_FABS(moved) : jump;
    }
    return jump > (ROBOT_SIM_LOOP_JUMP * largest);
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

/* Bring a state y, positions and velocities, to the nearest one that is closed; returns whether there is one.
 * Velocities ``from`` are those before a step, or null. */
static int robot_sim_keep_closed(robot_sim_workspace_t *w, robot_scalar_t *y, const robot_scalar_t *from)
{
    robot_scalar_t *const qd = &y[ROBOT_NQ];
    robot_scalar_t gap = robot_sim_loop_gap(w, y);
    robot_scalar_t least = robot_sim_loop_factorize(w, y);
    int regular = least > REAL(0.0);
    int moved = 0;
    for (int round = 0; (round < ROBOT_SIM_LOOP_ROUNDS) && regular && !(gap <= ROBOT_SIM_LOOP_NEAR); ++round) {
        if (moved != 0) {
            least = robot_sim_loop_factorize(w, y);
            regular = least > REAL(0.0);
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
        least = robot_sim_loop_factorize(w, y);
        regular = least > REAL(0.0);
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
        if (least < ROBOT_SIM_LOOP_WEAK) {
            regular = !robot_sim_loop_jumps(w->loop_v, NULL, qd);
            regular = regular && ((from == NULL) || !robot_sim_loop_jumps(NULL, from, qd));
        }
        for (int k = 0; (k < ROBOT_NV) && regular; ++k) {
            qd[k] += w->loop_v[k];
        }
    }
    return regular && (gap <= ROBOT_SIM_LOOP_CLOSED);
}

/* The first state: closed but for rounding errors, which are taken away. */
static int robot_sim_begin_closed(robot_sim_workspace_t *w)
{
    return (robot_sim_loop_gap(w, w->y) <= ROBOT_SIM_LOOP_START) && robot_sim_keep_closed(w, w->y, NULL);
}
#endif

#endif /* ROBOT_SIM_LOOPS_H */
