/**
 * @file  robot_ik.c
 * @brief Inverse kinematics, documented in robot_ik.h.
 */

#include "robot_ik.h"

#include <math.h>
#include <stddef.h>

#include "robot_ik_moved.h"

#define ROBOT_IK_MOST    REAL(1e6)  /* of what multiplies the damping */
#define ROBOT_IK_LARGEST REAL(1e30) /* beyond it numbers do not count as finite */

const robot_ik_options_t robot_ik_options_default = {
    100, ROBOT_IK_DAMPING, ROBOT_IK_TOLERANCE, ROBOT_IK_TOLERANCE, REAL(0.0), REAL(0.5), NULL, NULL};

/* Rotation vector [rad] of the rotation from R to T, in base components; at most half a revolution long. */
static robot_real_t robot_ik_turn(const robot_real_t *T, const robot_real_t *R, robot_real_t *v)
{
    robot_real_t E[9]; /* T R^T = cos E3 + sin {a x} + (1 - cos) a a^T, a the axis */
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            E[3 * i + j] = (T[3 * i] * R[3 * j]) + (T[3 * i + 1] * R[3 * j + 1]) + (T[3 * i + 2] * R[3 * j + 2]);
        }
    }
    v[0] = REAL(0.5) * (E[7] - E[5]);
    v[1] = REAL(0.5) * (E[2] - E[6]);
    v[2] = REAL(0.5) * (E[3] - E[1]);
    const robot_real_t cosine = REAL(0.5) * (E[0] + E[4] + E[8] - REAL(1.0));
    const robot_real_t sine = ROBOT_SQRT((v[0] * v[0]) + (v[1] * v[1]) + (v[2] * v[2]));
    const robot_real_t angle = ROBOT_ATAN2(sine, cosine);
    if (cosine >= REAL(0.0)) {
        const robot_real_t scale = sine > REAL(0.0) ? angle / sine : REAL(1.0);
        for (int i = 0; i < 3; ++i) {
            v[i] *= scale;
        }
    } else { /* beyond a quarter of a revolution, from the largest column of (1 - cos) a a^T: exact at a half */
        const int k = E[0] >= E[4] ? (E[0] >= E[8] ? 0 : 2) : (E[4] >= E[8] ? 1 : 2);
        robot_real_t a[3];
        robot_real_t square = REAL(0.0);
        robot_real_t along = REAL(0.0);
        for (int i = 0; i < 3; ++i) {
            a[i] = (REAL(0.5) * (E[3 * i + k] + E[3 * k + i])) - (i == k ? cosine : REAL(0.0));
            square += a[i] * a[i];
            along += a[i] * v[i];
        }
        const robot_real_t scale = (along < REAL(0.0) ? -angle : angle) / ROBOT_SQRT(square);
        for (int i = 0; i < 3; ++i) {
            v[i] = a[i] * scale;
        }
    }
    return angle;
}

/* Weighted errors and Jacobians of the frames in w, the largest errors for the report; returns e^T e. */
static robot_real_t robot_ik_errors(const robot_ik_target_t *target, robot_ik_workspace_t *w, robot_ik_report_t *report)
{
    robot_real_t total = REAL(0.0);
    report->position_error = REAL(0.0);
    report->rotation_error = REAL(0.0);
    for (int k = 0; k < ROBOT_IK_FRAMES; ++k) {
        robot_real_t *e = w->e + (6 * k);
        robot_real_t *J = w->J + (6 * k * ROBOT_NV);
        robot_real_t distance = REAL(0.0);
        for (int i = 0; i < 3; ++i) {
            e[i] = target[k].position[i] - w->r[3 * k + i];
            distance += e[i] * e[i];
        }
        distance = ROBOT_SQRT(distance);
        const robot_real_t angle = robot_ik_turn(target[k].rotation, w->R + (9 * k), e + 3);
        if ((target[k].position_weight > REAL(0.0)) && !(distance <= report->position_error)) {
            report->position_error = distance;
        }
        if ((target[k].rotation_weight > REAL(0.0)) && !(angle <= report->rotation_error)) {
            report->rotation_error = angle;
        }
        for (int i = 0; i < 6; ++i) {
            const robot_real_t weight = i < 3 ? target[k].position_weight : target[k].rotation_weight;
            e[i] *= weight;
            total += e[i] * e[i];
            for (int j = 0; j < ROBOT_NV; ++j) {
                J[(i * ROBOT_NV) + j] *= weight;
            }
        }
    }
    return total;
}

static robot_real_t robot_ik_lower(const robot_ik_options_t *o, int m)
{
    const int k = robot_ik_moved[m].position;
#if ROBOT_IK_CAN_FAIL
    const robot_real_t given = ((k >= 0) && (o->lower != NULL)) ? o->lower[k] : robot_ik_moved[m].lower;
    return given > robot_ik_moved[m].first ? given : robot_ik_moved[m].first;
#else
    return ((k >= 0) && (o->lower != NULL)) ? o->lower[k] : robot_ik_moved[m].lower;
#endif
}

static robot_real_t robot_ik_upper(const robot_ik_options_t *o, int m)
{
    const int k = robot_ik_moved[m].position;
#if ROBOT_IK_CAN_FAIL
    const robot_real_t given = ((k >= 0) && (o->upper != NULL)) ? o->upper[k] : robot_ik_moved[m].upper;
    return given < robot_ik_moved[m].last ? given : robot_ik_moved[m].last;
#else
    return ((k >= 0) && (o->upper != NULL)) ? o->upper[k] : robot_ik_moved[m].upper;
#endif
}

/* w->y = (J J^T + damping E)^-1 (e - J d), J over the coordinates that are not held; d is what all of them do by
 * themselves. */
static void robot_ik_solve(robot_ik_workspace_t *w, robot_real_t damping)
{
    const int n = ROBOT_IK_ROWS;
    for (int i = 0; i < n; ++i) { /* Cholesky's factor in the lower triangle of A, row by row; y on the way */
        const robot_real_t *Ji = w->J + (i * ROBOT_NV);
        robot_real_t right = w->e[i];
        for (int m = 0; m < ROBOT_IK_COORDINATES; ++m) {
            const int v = robot_ik_moved[m].velocity;
            right -= Ji[v] * w->d[v];
        }
        for (int j = 0; j <= i; ++j) {
            const robot_real_t *Jj = w->J + (j * ROBOT_NV);
            robot_real_t sum = i == j ? damping : REAL(0.0);
            for (int m = 0; m < ROBOT_IK_COORDINATES; ++m) {
                const int v = robot_ik_moved[m].velocity;
                if (w->held[m] == 0) {
                    sum += Ji[v] * Jj[v];
                }
            }
            for (int k = 0; k < j; ++k) {
                sum -= w->A[(i * n) + k] * w->A[(j * n) + k];
            }
            if (i != j) {
                w->A[(i * n) + j] = sum / w->A[(j * n) + j];
                right -= w->A[(i * n) + j] * w->y[j];
            } else { /* no pivot is less than the damping, but for rounding */
                w->A[(i * n) + i] = ROBOT_SQRT(sum > damping ? sum : damping);
                w->y[i] = right / w->A[(i * n) + i];
            }
        }
    }
    for (int i = n - 1; i >= 0; --i) {
        for (int k = i + 1; k < n; ++k) {
            w->y[i] -= w->A[(k * n) + i] * w->y[k];
        }
        w->y[i] /= w->A[(i * n) + i];
    }
}

/* w->d = z + J^T y for the coordinates that are not held, none longer than the longest step. */
static void robot_ik_spread(const robot_ik_options_t *o, robot_ik_workspace_t *w)
{
    robot_real_t longest = REAL(0.0);
    for (int m = 0; m < ROBOT_IK_COORDINATES; ++m) {
        const int v = robot_ik_moved[m].velocity;
        if (w->held[m] == 0) {
            robot_real_t sum = w->z[v];
            for (int i = 0; i < ROBOT_IK_ROWS; ++i) {
                sum += w->J[(i * ROBOT_NV) + v] * w->y[i];
            }
            w->d[v] = sum;
            longest = ROBOT_FABS(sum) > longest ? ROBOT_FABS(sum) : longest;
        }
    }
    const robot_real_t scale = longest > o->longest_step ? o->longest_step / longest : REAL(1.0);
    for (int m = 0; m < ROBOT_IK_COORDINATES; ++m) {
        const int v = robot_ik_moved[m].velocity;
        w->d[v] *= w->held[m] == 0 ? scale : REAL(1.0);
    }
}

/* Put on their limits, and hold there, coordinates that would pass them; returns how many. */
static int robot_ik_hold(const robot_ik_options_t *o, const robot_real_t *q, robot_ik_workspace_t *w)
{
    int count = 0;
    for (int m = 0; m < ROBOT_IK_COORDINATES; ++m) {
        const int v = robot_ik_moved[m].velocity;
        const int k = robot_ik_moved[m].position;
        if ((k >= 0) && (w->held[m] == 0)) {
            const robot_real_t lower = robot_ik_lower(o, m);
            const robot_real_t upper = robot_ik_upper(o, m);
            if ((q[k] + w->d[v] < lower) || (q[k] + w->d[v] > upper)) {
                w->d[v] = (q[k] + w->d[v] < lower ? lower : upper) - q[k];
                w->held[m] = 1;
                ++count;
            }
        }
    }
    return count;
}

/* The step w->d from q, with the errors and Jacobians of q in w. */
static void robot_ik_step(
    const robot_ik_options_t *o, const robot_real_t *q, robot_real_t damping, robot_ik_workspace_t *w)
{
    int more = 1;
    for (int m = 0; m < ROBOT_IK_COORDINATES; ++m) {
        w->held[m] = 0;
    }
    while (more != 0) { /* each time at least one coordinate more is held */
        for (int m = 0; m < ROBOT_IK_COORDINATES; ++m) {
            const int v = robot_ik_moved[m].velocity;
            w->d[v] = w->held[m] == 0 ? w->z[v] : w->d[v];
        }
        robot_ik_solve(w, damping);
        robot_ik_spread(o, w);
        more = robot_ik_hold(o, q, w);
    }
}

static void robot_ik_copy(const robot_real_t *from, robot_real_t *to)
{
    for (int i = 0; i < ROBOT_NQ; ++i) {
        to[i] = from[i];
    }
}

/* Put coordinates between their limits. */
static void robot_ik_clamp(const robot_ik_options_t *o, robot_real_t *q)
{
    for (int m = 0; m < ROBOT_IK_COORDINATES; ++m) {
        const int k = robot_ik_moved[m].position;
        if (k >= 0) {
            q[k] = q[k] < robot_ik_lower(o, m) ? robot_ik_lower(o, m) : q[k];
            q[k] = q[k] > robot_ik_upper(o, m) ? robot_ik_upper(o, m) : q[k];
        }
    }
}

/* What leads towards the posture, w->z; zero for what is not moved. */
static void robot_ik_incline(const robot_params_t *p, const robot_ik_options_t *o, const robot_real_t *q,
    const robot_real_t *posture, robot_ik_workspace_t *w)
{
    for (int i = 0; i < ROBOT_NV; ++i) {
        w->z[i] = REAL(0.0);
        w->d[i] = REAL(0.0);
    }
    if (o->posture_gain > REAL(0.0)) {
#if ROBOT_QUATERNIONS
        robot_difference(p, q, posture, w->d);
#endif
        for (int m = 0; m < ROBOT_IK_COORDINATES; ++m) {
            const int v = robot_ik_moved[m].velocity;
#if ROBOT_QUATERNIONS
            w->z[v] = o->posture_gain * w->d[v];
#else
            w->z[v] = o->posture_gain * (posture[robot_ik_moved[m].position] - q[robot_ik_moved[m].position]);
#endif
        }
    }
#if ROBOT_QUATERNIONS
    for (int i = 0; i < ROBOT_NV; ++i) {
        w->d[i] = REAL(0.0);
    }
#else
    (void)p;
#endif
}

static void robot_ik_move(
    const robot_params_t *p, const robot_ik_options_t *o, robot_real_t *q, robot_ik_workspace_t *w)
{
#if ROBOT_QUATERNIONS
    robot_ik_copy(q, w->from);
    robot_integrate(p, w->from, w->d, q);
#else
    (void)p;
    for (int m = 0; m < ROBOT_IK_COORDINATES; ++m) {
        q[robot_ik_moved[m].position] += w->d[robot_ik_moved[m].velocity];
    }
#endif
    robot_ik_clamp(o, q); /* rounding may have led beyond a limit */
}

static int robot_ik_is_valid(const robot_ik_options_t *o, const robot_ik_target_t *target)
{
    int valid = (o->iterations >= 1) && (o->damping >= REAL(0.0)) && (o->position_tolerance >= REAL(0.0))
                && (o->rotation_tolerance >= REAL(0.0)) && (o->posture_gain >= REAL(0.0))
                && (o->posture_gain <= REAL(1.0)) && (o->longest_step > REAL(0.0));
    for (int k = 0; k < ROBOT_IK_FRAMES; ++k) {
        valid = valid && (target[k].position_weight >= REAL(0.0)) && (target[k].rotation_weight >= REAL(0.0));
    }
    return valid;
}

int robot_inverse_kinematics(const robot_params_t *p, const robot_ik_options_t *options,
    const robot_ik_target_t target[ROBOT_IK_FRAMES], const robot_real_t q0[ROBOT_NQ], const robot_real_t *posture,
    robot_real_t q[ROBOT_NQ], robot_ik_report_t *report, robot_ik_workspace_t *w)
{
    robot_ik_report_t now = {REAL(0.0), REAL(0.0), 0};
    robot_real_t before = ROBOT_IK_LARGEST; /* e^T e of the last iteration */
    robot_real_t caution = REAL(1.0);
    robot_real_t least = REAL(-1.0); /* e^T e of w->best; negative: there is none yet */
    int status = robot_ik_is_valid(options, target) ? ROBOT_IK_NOT_CONVERGED : ROBOT_IK_ERROR_ARGUMENT;
    int settled = 0;

    robot_ik_copy(q0, q);
    robot_ik_copy(q0, w->best);
    *report = now;
    if (status == ROBOT_IK_NOT_CONVERGED) {
        robot_ik_clamp(options, q);
    }
    while ((status >= 0) && (settled == 0)) {
#if ROBOT_IK_CAN_FAIL
        if (robot_frame_pose_and_jacobian(p, q, w->r, w->R, w->J) != 0) {
            status = least < REAL(0.0) ? ROBOT_IK_ERROR_OUT_OF_RANGE : status;
            break;
        }
#else
        robot_frame_pose_and_jacobian(p, q, w->r, w->R, w->J);
#endif
        const robot_real_t square = robot_ik_errors(target, w, &now);
        if (!(square <= ROBOT_IK_LARGEST)) {
            status = ROBOT_IK_ERROR_NOT_FINITE;
            break;
        }
        const int reached =
            (now.position_error <= options->position_tolerance) && (now.rotation_error <= options->rotation_tolerance);
        if ((reached != 0) || ((status != ROBOT_IK_CONVERGED) && ((least < REAL(0.0)) || (square < least)))) {
            robot_ik_copy(q, w->best); /* once on the target, the last one on it: it is the nearest to the posture */
            report->position_error = now.position_error;
            report->rotation_error = now.rotation_error;
            least = square;
            status = reached != 0 ? ROBOT_IK_CONVERGED : status;
        }
        settled = (now.iterations >= options->iterations) || ((reached != 0) && !(options->posture_gain > REAL(0.0)));
        if (settled == 0) {
            robot_ik_incline(p, options, q, posture, w);
            const robot_real_t far = square < REAL(1.0) ? square : REAL(1.0);
            caution = square > before ? REAL(4.0) * caution : REAL(0.5) * caution; /* as Levenberg and Marquardt */
            caution = caution < REAL(1.0) ? REAL(1.0) : caution;
            caution = caution > ROBOT_IK_MOST ? ROBOT_IK_MOST : caution;
            before = square;
            robot_ik_step(options, q, (options->damping * caution * far) + ROBOT_IK_FLOOR, w);
            robot_real_t longest = REAL(0.0);
            for (int i = 0; i < ROBOT_NV; ++i) {
                longest = ROBOT_FABS(w->d[i]) > longest ? ROBOT_FABS(w->d[i]) : longest;
            }
            settled =
                (reached != 0) && (longest <= options->rotation_tolerance); /* the posture is as near as it gets */
            robot_ik_move(p, options, q, w);
            ++now.iterations;
        }
    }
    report->iterations = now.iterations;
    robot_ik_copy(status < 0 ? q0 : w->best, q);
    return status;
}
