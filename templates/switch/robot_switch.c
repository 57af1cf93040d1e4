/**
 * @file  robot_switch.c
 * @brief Sliding joints, documented in robot_switch.h.
 */

#include "robot_switch.h"

#include <float.h>
#include <math.h>

/* A border: where first_weight q[first] + second_weight q[second] is the bound. */
typedef struct {
    robot_scalar_t bound, first_weight, second_weight;
    int first, second;
} robot_switch_border_t;

/* A joint: its first border, the number of those between elements, its first element and which one is next, what
 * happens at its borders, and whether the beginning of its range is outside. */
typedef struct {
    int base, count, first, step, passage, nodes, open;
} robot_switch_joint_t;

#define ROBOT_SWITCH_KEEP    0 /* positions and velocities go on */
#define ROBOT_SWITCH_REFRACT 1 /* energy and the momenta along the border go on */
#define ROBOT_SWITCH_CLAMP   2 /* coordinates of the new element vanish; the first of its link is q[nodes] */

#include "robot_switch_tables.h"

#include "robot_switch_calls.h"

/* How far beyond a border a state is [m]. */
static robot_scalar_t robot_switch_beyond(int border, const robot_scalar_t *q)
{
    const robot_switch_border_t *const b = &robot_switch_borders[border];
    return ((b->first_weight * q[b->first]) + (b->second_weight * q[b->second])) - b->bound;
}

/* How far a joint is from the nearer border of its element, negative beyond it, and that border. */
static robot_scalar_t robot_switch_joint_margin(int j, int k, const robot_scalar_t *q, int *border)
{
    const robot_switch_joint_t *const joint = &robot_switch_joints[j];
    const int lower = joint->base + ((k - joint->first) * joint->step);
    const robot_scalar_t above = robot_switch_beyond(lower, q);
    const robot_scalar_t below = -robot_switch_beyond(lower + 1, q);
    *border = (above < below) ? lower : lower + 1;
    return (above < below) ? above : below;
}

int robot_switch_elements(const robot_scalar_t q[ROBOT_NQ], int k[ROBOT_SLIDING])
{
    int status = 0;
    for (int j = 0; j < ROBOT_SLIDING; ++j) {
        const robot_switch_joint_t *const joint = &robot_switch_joints[j];
        const int end = joint->base + joint->count + 1;
        int count = 0;
        for (int border = joint->base + 1; border < end; ++border) {
            count += robot_switch_beyond(border, q) > REAL(0.0);
        }
        k[j] = joint->first + (joint->step * count);
        const robot_scalar_t above = robot_switch_beyond(joint->base, q);
        if (!(((above > REAL(0.0)) || ((above >= REAL(0.0)) && (joint->open == 0)))
                && (robot_switch_beyond(end, q) <= REAL(0.0)))) {
            k[j] = -1; /* a NaN as well */
            status = ROBOT_ERROR_OUT_OF_RANGE;
        }
    }
    return status;
}

robot_scalar_t robot_switch_margin(const int k[ROBOT_SLIDING], const robot_scalar_t q[ROBOT_NQ])
{
    robot_scalar_t least = ROBOT_LARGEST;
    for (int j = 0; j < ROBOT_SLIDING; ++j) {
        int border = 0;
        const robot_scalar_t margin = robot_switch_joint_margin(j, k[j], q, &border);
        least = (margin < least) ? margin : least;
    }
    return least;
}

#if ROBOT_REFRACTS
#include "robot_lu.h"

static robot_scalar_t robot_switch_dot(const robot_scalar_t *x, const robot_scalar_t *y)
{
    robot_scalar_t sum = REAL(0.0);
    for (int i = 0; i < ROBOT_NQ; ++i) {
        sum += x[i] * y[i];
    }
    return sum;
}

/* Factorize the mass matrix in work and solve for the border's normal, into push. Returns the mobility across the
 * border. */
static robot_scalar_t robot_switch_mobility(int border, robot_switch_work_t *work, int *status)
{
    const robot_switch_border_t *const b = &robot_switch_borders[border];
    robot_scalar_t mobility = REAL(0.0);
    for (int i = 0; i < ROBOT_NQ; ++i) {
        work->push[i] = REAL(0.0);
    }
    work->push[b->first] += b->first_weight;
    work->push[b->second] += b->second_weight;
    if ((*status == 0) && (robot_lu_factorize(work->M, work->pivots) != 0u)) {
        robot_lu_solve(work->M, work->pivots, work->push);
        mobility = (b->first_weight * work->push[b->first]) + (b->second_weight * work->push[b->second]);
    }
    if ((*status == 0) && !(mobility > REAL(0.0))) {
        *status = ROBOT_ERROR_NOT_POSITIVE_DEFINITE;
    }
    return mobility;
}

/* The border acts on the motion across it only: the momenta become M qd + lambda n, n = (weights of the border), as in
 * the limit of a fast but smooth transition of M. Energy goes on as well. M jumps in the rows of the motion across the
 * border only, so that with momenta p, 2 T = p^T M^-1 p = (n^T qd)^2 / (n^T M^-1 n) + what is the same on both sides:
 * the speed across the border changes with the root of the mobility n^T M^-1 n. */
static int robot_switch_refract(const robot_params_t *p, const int *k, const int *next, int border,
    const robot_scalar_t *q, robot_scalar_t *qd, robot_switch_work_t *work)
{
    const robot_switch_border_t *const b = &robot_switch_borders[border];
    int status = robot_switch_call_mass_matrix(p, k, q, work->M);
    for (int i = 0; i < ROBOT_NQ; ++i) {
        work->without[i] = robot_switch_dot(&work->M[i * ROBOT_NQ], qd);
    }
    const robot_scalar_t speed = (b->first_weight * qd[b->first]) + (b->second_weight * qd[b->second]);
    const robot_scalar_t before = robot_switch_mobility(border, work, &status);
    status = (status == 0) ? robot_switch_call_mass_matrix(p, next, q, work->M) : status;
    const robot_scalar_t after = robot_switch_mobility(border, work, &status);
    if (status == 0) {
        robot_lu_solve(work->M, work->pivots, work->without); /* velocities of the same momenta */
        const robot_scalar_t own =
            (b->first_weight * work->without[b->first]) + (b->second_weight * work->without[b->second]);
        const robot_scalar_t lambda = ((speed * ROBOT_SQRT(after / before)) - own) / after;
        for (int i = 0; i < ROBOT_NQ; ++i) {
            qd[i] = work->without[i] + (lambda * work->push[i]);
        }
    }
    return status;
}
#endif

static robot_scalar_t robot_switch_energy(
    const robot_params_t *p, const int *k, const robot_scalar_t *q, const robot_scalar_t *qd)
{
#if ROBOT_HAS_KINETIC_ENERGY && ROBOT_HAS_POTENTIAL_ENERGY
    robot_scalar_t T = REAL(0.0);
    robot_scalar_t V = REAL(0.0);
    const int failed = (robot_switch_call_kinetic_energy(p, k, q, qd, &T) != 0)
                       || (robot_switch_call_potential_energy(p, k, q, &V) != 0);
    return failed ? (robot_scalar_t)NAN : T + V;
#else
    (void)p;
    (void)k;
    (void)q;
    (void)qd;
    return (robot_scalar_t)NAN;
#endif
}

void robot_switch_hold(const int k[ROBOT_SLIDING], robot_scalar_t q[ROBOT_NQ], robot_scalar_t qd[ROBOT_NV])
{
    for (int j = 0; j < ROBOT_SLIDING; ++j) {
        const robot_switch_joint_t *const joint = &robot_switch_joints[j];
        for (int i = 0; (i < 4) && (joint->passage == ROBOT_SWITCH_CLAMP); ++i) { /* both nodes of the element */
            q[joint->nodes + (2 * (k[j] - 1)) + i] = REAL(0.0);
            qd[joint->nodes + (2 * (k[j] - 1)) + i] = REAL(0.0);
        }
    }
}

int robot_switch(const robot_params_t *p, int k[ROBOT_SLIDING], robot_scalar_t q[ROBOT_NQ], robot_scalar_t qd[ROBOT_NV],
    robot_switch_t *report, robot_switch_work_t *work)
{
    robot_scalar_t least = REAL(0.0);
    int border = 0;
    report->joint = -1;
    for (int j = 0; j < ROBOT_SLIDING; ++j) {
        int nearer = 0;
        const robot_scalar_t margin = robot_switch_joint_margin(j, k[j], q, &nearer);
        if (margin < least) {
            least = margin;
            border = nearer;
            report->joint = j;
        }
    }
#if !ROBOT_REFRACTS
    (void)work;
#endif
    if (report->joint < 0) {
        return 0;
    }
    const robot_switch_joint_t *const joint = &robot_switch_joints[report->joint];
    const int end = joint->base + joint->count + 1;
    if ((border == joint->base) || (border == end)) {
        return ROBOT_ERROR_OUT_OF_RANGE;
    }
    int next[ROBOT_SLIDING];
    for (int j = 0; j < ROBOT_SLIDING; ++j) {
        next[j] = k[j];
    }
    const int upward = border > (joint->base + ((k[report->joint] - joint->first) * joint->step));
    next[report->joint] += upward ? joint->step : -joint->step;
    report->before = k[report->joint];
    report->energy_before = robot_switch_energy(p, k, q, qd);
    report->after = next[report->joint];
    int status = 0;
#if ROBOT_REFRACTS
    if (joint->passage == ROBOT_SWITCH_REFRACT) {
        status = robot_switch_refract(p, k, next, border, q, qd, work);
    }
#endif
    k[report->joint] = next[report->joint];
    robot_switch_hold(k, q, qd);
    report->energy_after = robot_switch_energy(p, k, q, qd);
    return (status == 0) ? 1 : status;
}
