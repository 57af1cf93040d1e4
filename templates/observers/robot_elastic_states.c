/**
 * @file  robot_elastic_states.c
 * @brief Elastic coordinates along a motion of the joints, documented in robot_elastic_states.h.
 */

#include "robot_elastic_states.h"

#include "robot_lu.h"
#include "robot_elastic_calls.h"

#define ROBOT_ELASTIC_WIDTH      ((3 * ROBOT_NV) + ROBOT_ELASTIC_PARAMETERS)
#define ROBOT_ELASTIC_ITERATIONS 20
#if ROBOT_SINGLE
#define ROBOT_ELASTIC_TOLERANCE REAL(1e-5) /* relative, of accelerations */
#define ROBOT_ELASTIC_ROUNDING  REAL(1e-2)
#else
#define ROBOT_ELASTIC_TOLERANCE REAL(1e-13) /* relative, of accelerations */
#define ROBOT_ELASTIC_ROUNDING  REAL(1e-6)
#endif

/* One sample: where it is, how much of a change of the accelerations goes into q and qd, its derivatives. */
typedef struct {
    robot_real_t *q;
    robot_real_t *qd;
    robot_real_t *qdd;
    robot_real_t *F;
    robot_real_t into_q;
    robot_real_t into_qd;
} robot_elastic_sample_t;

/* Newton's method for the elastic accelerations of a sample; q and qd move with them. A is left factorized at the end.
 */
static int robot_elastic_solve(const robot_params_t *p, const robot_elastic_sample_t *s, robot_elastic_states_work_t *w)
{
    int status = ROBOT_ELASTIC_STATES_DIVERGED;
    robot_real_t last = REAL(1e30);
    for (int round = 0; (round < ROBOT_ELASTIC_ITERATIONS) && (status == ROBOT_ELASTIC_STATES_DIVERGED); ++round) {
        robot_real_t largest = REAL(0.0);
        robot_real_t usual = REAL(1e-9);
        int finite = 1;
        (void)robot_elastic_call_inverse_dynamics(p, s->q, s->qd, s->qdd, s->F);
        (void)robot_elastic_call_inverse_dynamics_sensitivity_by_parameters(p, s->q, s->qd, s->qdd, w->J);
        for (int i = 0; i < ROBOT_NV; ++i) {
            const robot_real_t *row = w->J + (i * ROBOT_ELASTIC_WIDTH);
            w->x[i] = (robot_elastic_own[i] != 0) ? -s->F[i] : REAL(0.0);
            for (int j = 0; j < ROBOT_NV; ++j) {
                const int own = (robot_elastic_own[i] != 0) && (robot_elastic_own[j] != 0);
                const robot_real_t slope =
                    (s->into_q * row[j]) + (s->into_qd * row[ROBOT_NV + j]) + row[(2 * ROBOT_NV) + j];
                w->A[(i * ROBOT_NV) + j] = own ? slope : ((i == j) ? REAL(1.0) : REAL(0.0));
            }
        }
        if (robot_lu_factorize(w->A, w->pivots) == 0u) {
            status = ROBOT_ELASTIC_STATES_SINGULAR;
        } else {
            robot_lu_solve(w->A, w->pivots, w->x);
            for (int i = 0; i < ROBOT_NV; ++i) {
                if (robot_elastic_own[i] != 0) {
                    s->qdd[i] += w->x[i];
                    s->qd[i] += s->into_qd * w->x[i];
                    s->q[i] += s->into_q * w->x[i];
                    largest = ROBOT_FMAX(largest, ROBOT_FABS(w->x[i]));
                    finite = finite && (ROBOT_FABS(w->x[i]) <= REAL(1e30));
                }
                usual = ROBOT_FMAX(usual, ROBOT_FABS(s->qdd[i]));
            }
            if (!finite) {
                break;
            }
            if ((largest <= (ROBOT_ELASTIC_TOLERANCE * usual))
                || ((round > 2) && (largest >= (REAL(0.5) * last)) && (largest <= (ROBOT_ELASTIC_ROUNDING * usual)))) {
                status = 0; /* the second: rounding errors are all that is left */
            }
            last = largest;
        }
    }
    return status;
}

/* The derivatives of a solved sample: columns of dq and dqd have what comes from the sample before. */
static void robot_elastic_differentiate(const robot_elastic_sample_t *s, size_t columns, robot_real_t *dq,
    robot_real_t *dqd, robot_real_t *dqdd, robot_real_t *dF, robot_elastic_states_work_t *w)
{
    for (size_t c = 0; c < columns; ++c) {
        for (int i = 0; i < ROBOT_NV; ++i) {
            const robot_real_t *row = w->J + (i * ROBOT_ELASTIC_WIDTH);
            robot_real_t sum = (c < ROBOT_ELASTIC_PARAMETERS) ? row[(3 * ROBOT_NV) + (int)c] : REAL(0.0);
            for (int j = 0; j < ROBOT_NV; ++j) {
                const size_t at = ((size_t)j * columns) + c;
                sum += (row[j] * dq[at]) + (row[ROBOT_NV + j] * dqd[at]);
            }
            dF[((size_t)i * columns) + c] = sum;
            w->x[i] = (robot_elastic_own[i] != 0) ? -sum : REAL(0.0);
        }
        robot_lu_solve(w->A, w->pivots, w->x);
        for (int i = 0; i < ROBOT_NV; ++i) {
            const robot_real_t *row = w->J + (i * ROBOT_ELASTIC_WIDTH);
            const size_t at = ((size_t)i * columns) + c;
            for (int j = 0; j < ROBOT_NV; ++j) {
                const robot_real_t slope =
                    (s->into_q * row[j]) + (s->into_qd * row[ROBOT_NV + j]) + row[(2 * ROBOT_NV) + j];
                dF[at] += slope * w->x[j];
            }
            dF[at] = (robot_elastic_own[i] != 0) ? REAL(0.0) : dF[at];
        }
        for (int i = 0; i < ROBOT_NV; ++i) {
            const size_t at = ((size_t)i * columns) + c;
            dq[at] += s->into_q * w->x[i];
            dqd[at] += s->into_qd * w->x[i];
            dqdd[at] = w->x[i];
        }
    }
}

int robot_elastic_states(const robot_params_t *p, size_t n, robot_real_t dt, robot_real_t *q, robot_real_t *qd,
    robot_real_t *qdd, robot_real_t *F, size_t columns, robot_real_t *dq, robot_real_t *dqd, robot_real_t *dqdd,
    robot_real_t *dF, robot_elastic_states_work_t *w)
{
    const robot_real_t half = REAL(0.5) * dt;
    const robot_real_t quarter = REAL(0.25) * dt * dt;
    int status = 0;
    if (!(dt > REAL(0.0)) || ((columns > 0u) && (columns < ROBOT_ELASTIC_PARAMETERS))) {
        status = ROBOT_ELASTIC_STATES_ARGUMENT;
    }
    for (size_t k = 0; (k < n) && (status == 0); ++k) {
        const size_t now = k * ROBOT_NV;
        const size_t first = now * columns;
        const robot_elastic_sample_t s = {
            q + now, qd + now, qdd + now, F + now, (k == 0u) ? REAL(0.0) : quarter, (k == 0u) ? REAL(0.0) : half};
        for (int i = 0; i < ROBOT_NV; ++i) {
            if (robot_elastic_own[i] != 0) {
                if (k == 0u) {
                    s.qdd[i] = REAL(0.0);
                } else { /* as if the accelerations went on */
                    const size_t before = (now - ROBOT_NV) + (size_t)i;
                    s.qdd[i] = qdd[before];
                    s.qd[i] = qd[before] + (dt * qdd[before]);
                    s.q[i] = q[before] + (dt * qd[before]) + (REAL(2.0) * quarter * qdd[before]);
                }
            }
        }
        status = robot_elastic_solve(p, &s, w);
        if (status == 0 && (columns > 0u)) {
            if (k > 0u) {
                const size_t size = (size_t)ROBOT_NV * columns;
                for (size_t at = first; at < (first + size); ++at) {
                    dq[at] = dq[at - size] + (dt * dqd[at - size]) + (quarter * dqdd[at - size]);
                    dqd[at] = dqd[at - size] + (half * dqdd[at - size]);
                }
            }
            robot_elastic_differentiate(&s, columns, dq + first, dqd + first, dqdd + first, dF + first, w);
        }
        for (int i = 0; (i < ROBOT_NV) && (status == 0); ++i) {
            s.F[i] = (robot_elastic_own[i] != 0) ? REAL(0.0) : s.F[i];
        }
    }
    return status;
}
