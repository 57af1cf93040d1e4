/**
 * @file  robot_loops.c
 * @brief Closed configurations, documented in robot_loops.h.
 */

#include "robot_loops.h"

#include <float.h>
#include <math.h>

#include "robot_loop_tables.h"

#define ROBOT_LOOPS_STEPS  60 /* of Newton's method, at most */
#define ROBOT_LOOPS_STARTS 12 /* how often it starts, displaced */
#define ROBOT_LOOPS_ROUNDS 8  /* of refining velocities */

/* Residuals at q into w->e; returns the largest. */
static robot_real_t robot_loops_gap(const robot_params_t *p, const robot_real_t *q, robot_loops_workspace_t *w)
{
    robot_real_t largest = REAL(0.0);
    robot_loop_residual(p, q, w->e);
    for (int r = 0; r < ROBOT_LOOP_ROWS; ++r) {
        const robot_real_t size = ROBOT_FABS(w->e[r]);
        largest = (size <= largest) ? largest : size; /* a NaN stays */
    }
    return largest;
}

/* Weight of a velocity: none where it is held, little where it bends a link. */
static robot_real_t robot_loops_weight(const unsigned char *held, int k)
{
    return ((held != NULL) && (held[k] != 0u)) ? REAL(0.0) : robot_loop_weights[k];
}

/* Factorize J W J^T + damping of the independent rows, by Cholesky. */
static void robot_loops_factorize(const unsigned char *held, robot_real_t damping, robot_loops_workspace_t *w)
{
    for (int r = 0; r < ROBOT_LOOPS; ++r) {
        const robot_real_t *const row = &w->J[robot_loop_rows[r] * ROBOT_NV];
        for (int c = 0; c <= r; ++c) {
            const robot_real_t *const other = &w->J[robot_loop_rows[c] * ROBOT_NV];
            robot_real_t sum = (r == c) ? damping : REAL(0.0);
            for (int k = 0; k < ROBOT_NV; ++k) {
                sum += row[k] * robot_loops_weight(held, k) * other[k];
            }
            for (int k = 0; k < c; ++k) {
                sum -= w->L[(r * ROBOT_LOOPS) + k] * w->L[(c * ROBOT_LOOPS) + k];
            }
            if (c < r) {
                w->L[(r * ROBOT_LOOPS) + c] = sum / w->L[(c * ROBOT_LOOPS) + c];
            } else {
                w->L[(r * ROBOT_LOOPS) + c] = ROBOT_SQRT((sum > damping) ? sum : damping);
            }
        }
    }
}

/* The least w->v, in the weights, that takes the rows' values w->e away. */
static void robot_loops_solve(const unsigned char *held, robot_loops_workspace_t *w)
{
    for (int r = 0; r < ROBOT_LOOPS; ++r) {
        w->x[r] = w->e[robot_loop_rows[r]];
        for (int k = 0; k < r; ++k) {
            w->x[r] -= w->L[(r * ROBOT_LOOPS) + k] * w->x[k];
        }
        w->x[r] /= w->L[(r * ROBOT_LOOPS) + r];
    }
    for (int r = ROBOT_LOOPS - 1; r >= 0; --r) {
        for (int k = r + 1; k < ROBOT_LOOPS; ++k) {
            w->x[r] -= w->L[(k * ROBOT_LOOPS) + r] * w->x[k];
        }
        w->x[r] /= w->L[(r * ROBOT_LOOPS) + r];
    }
    for (int k = 0; k < ROBOT_NV; ++k) {
        robot_real_t sum = REAL(0.0);
        for (int r = 0; r < ROBOT_LOOPS; ++r) {
            sum += w->J[(robot_loop_rows[r] * ROBOT_NV) + k] * w->x[r];
        }
        w->v[k] = -robot_loops_weight(held, k) * sum;
    }
}

/* The displacement w->v that takes the residuals w->e away in the linear model, none longer than half a radian or
 * metre. */
static void robot_loops_step(const unsigned char *held, robot_loops_workspace_t *w)
{
    robot_real_t longest = REAL(0.5);
    robot_loops_solve(held, w);
    for (int k = 0; k < ROBOT_NV; ++k) {
        longest = (ROBOT_FABS(w->v[k]) > longest) ? ROBOT_FABS(w->v[k]) : longest;
    }
    for (int k = 0; k < ROBOT_NV; ++k) {
        w->v[k] *= REAL(0.5) / longest;
    }
}

/* Displace w->q by w->v. */
static void robot_loops_move(const robot_params_t *p, robot_loops_workspace_t *w)
{
#if ROBOT_QUATERNIONS
    robot_real_t moved[ROBOT_NQ];
    robot_integrate(p, w->q, w->v, moved);
    for (int i = 0; i < ROBOT_NQ; ++i) {
        w->q[i] = moved[i];
    }
#else
    (void)p;
    for (int i = 0; i < ROBOT_NQ; ++i) {
        w->q[i] += w->v[i];
    }
#endif
}

/* Newton from w->q; returns the largest residual where it ends. */
static robot_real_t robot_loops_search(
    const robot_params_t *p, const unsigned char *held, robot_real_t tolerance, robot_loops_workspace_t *w)
{
    robot_real_t gap = robot_loops_gap(p, w->q, w);
    for (int step = 0; (step < ROBOT_LOOPS_STEPS) && (gap > tolerance) && (gap <= ROBOT_LARGEST); ++step) {
        const robot_real_t large = (gap < REAL(1.0)) ? gap : REAL(1.0);
        robot_loop_jacobian(p, w->q, w->J);
        robot_loops_factorize(held, (REAL(1e-3) * large * large) + (REAL(64.0) * ROBOT_EPSILON), w);
        robot_loops_step(held, w);
        robot_loops_move(p, w);
        gap = robot_loops_gap(p, w->q, w);
    }
    return gap;
}

/* A displacement of the coordinates that are not held, further with every start; the sequence is that of Lehmer 1951.
 */
static void robot_loops_displace(const unsigned char *held, int start, unsigned long *seed, robot_loops_workspace_t *w)
{
    for (int k = 0; k < ROBOT_NV; ++k) {
        *seed = (*seed * 48271ul) % 2147483647ul;
        const robot_real_t part = ((robot_real_t)*seed / REAL(2147483647.0)) - REAL(0.5);
        w->v[k] = REAL(0.5) * (robot_real_t)start * part * robot_loops_weight(held, k);
    }
}

#if ROBOT_TWO_LINKS
/* Where just the independent velocities are held: the configuration of the explicit formulas in w->q, and its largest
 * residual. */
static robot_real_t robot_loops_explicit(
    const robot_params_t *p, const unsigned char *held, const robot_real_t *q, robot_loops_workspace_t *w)
{
    int same = held != NULL;
    for (int k = 0; (k < ROBOT_NV) && same; ++k) {
        same = (held[k] != 0u) == (robot_loop_independent[k] != 0u);
    }
    robot_closed_configuration(p, q, w->q);
    return same ? robot_loops_gap(p, w->q, w) : ROBOT_HUGE;
}
#endif

int robot_close_loops(const robot_params_t *p, const unsigned char *held, robot_real_t tolerance, robot_real_t *q,
    robot_real_t *gap, robot_loops_workspace_t *workspace)
{
    robot_loops_workspace_t *const w = workspace;
    robot_real_t least = robot_loops_gap(p, q, w);
    const int sound = (least <= ROBOT_LARGEST) && (tolerance > REAL(0.0));
    unsigned long seed = 1ul;
    for (int i = 0; i < ROBOT_NQ; ++i) {
        w->best[i] = q[i];
    }
#if ROBOT_TWO_LINKS
    const robot_real_t exact = (sound && (least > tolerance)) ? robot_loops_explicit(p, held, q, w) : least;
    if (exact <= tolerance) {
        for (int i = 0; (i < ROBOT_NQ) && (exact < least); ++i) {
            w->best[i] = w->q[i];
        }
        least = exact;
    }
#endif
    for (int start = 0; sound && (start < ROBOT_LOOPS_STARTS) && (least > tolerance); ++start) {
        for (int i = 0; i < ROBOT_NQ; ++i) {
            w->q[i] = q[i];
        }
        robot_loops_displace(held, start, &seed, w);
        robot_loops_move(p, w);
        const robot_real_t found = robot_loops_search(p, held, tolerance, w);
        if (found < least) {
            least = found;
            for (int i = 0; i < ROBOT_NQ; ++i) {
                w->best[i] = w->q[i];
            }
        }
    }
    for (int i = 0; i < ROBOT_NQ; ++i) {
        q[i] = w->best[i];
    }
    if (gap != NULL) {
        *gap = least;
    }
    return !sound ? ROBOT_LOOPS_ERROR : ((least <= tolerance) ? ROBOT_LOOPS_CLOSED : ROBOT_LOOPS_OPEN);
}

/* J qd into w->e; returns the largest. */
static robot_real_t robot_loops_rates(const robot_real_t *qd, robot_loops_workspace_t *w)
{
    robot_real_t largest = REAL(0.0);
    for (int r = 0; r < ROBOT_LOOP_ROWS; ++r) {
        w->e[r] = REAL(0.0);
        for (int k = 0; k < ROBOT_NV; ++k) {
            w->e[r] += w->J[(r * ROBOT_NV) + k] * qd[k];
        }
        largest = (ROBOT_FABS(w->e[r]) <= largest) ? largest : ROBOT_FABS(w->e[r]); /* a NaN stays */
    }
    return largest;
}

int robot_close_velocities(const robot_params_t *p, const unsigned char *held, const robot_real_t *q, robot_real_t *qd,
    robot_loops_workspace_t *workspace)
{
    robot_loops_workspace_t *const w = workspace;
    robot_real_t size = REAL(1.0);
    for (int k = 0; k < ROBOT_NV; ++k) {
        size = (ROBOT_FABS(qd[k]) > size) ? ROBOT_FABS(qd[k]) : size;
    }
    robot_loop_jacobian(p, q, w->J);
    robot_real_t rate = robot_loops_rates(qd, w);
    const int sound = rate <= ROBOT_LARGEST;
    if (sound) {
        robot_loops_factorize(held, REAL(64.0) * ROBOT_EPSILON, w);
    }
    for (int round = 0; sound && (round < ROBOT_LOOPS_ROUNDS) && (rate > (REAL(8.0) * ROBOT_EPSILON * size)); ++round) {
        robot_loops_solve(held, w);
        for (int k = 0; k < ROBOT_NV; ++k) {
            qd[k] += w->v[k];
        }
        rate = robot_loops_rates(qd, w);
    }
    return !sound                                         ? ROBOT_LOOPS_ERROR
           : (rate <= (ROBOT_SQRT(ROBOT_EPSILON) * size)) ? ROBOT_LOOPS_CLOSED
                                                          : ROBOT_LOOPS_OPEN;
}
