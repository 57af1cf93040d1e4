/**
 * @file  robot_online_estimator.c
 * @brief Payload and friction while the robot moves, documented in robot_online_estimator.h.
 */

#include "robot_online_estimator.h"

#include <math.h>

#include "robot_estimator_calls.h"
#include "robot_observer_finite.h"

void robot_online_estimator_reset(robot_online_estimator_t *estimator, const robot_online_estimator_options_t *options)
{
    for (int i = 0; i < ROBOT_ESTIMATED; ++i) {
        estimator->theta[i] = REAL(0.0);
        for (int j = 0; j < ROBOT_ESTIMATED; ++j) {
            estimator->P[(i * ROBOT_ESTIMATED) + j] =
                (i == j) ? (options->uncertainty[i] * options->uncertainty[i]) : REAL(0.0);
        }
    }
    estimator->begun = 0;
}

/* The row of drive i: what theta adds to its force. */
static void robot_estimator_row(robot_online_estimator_t *e, int i)
{
    for (int k = 0; k < ROBOT_ESTIMATED; ++k) {
        e->row[k] = REAL(0.0);
    }
#if ROBOT_ESTIMATES_PAYLOAD
    for (int k = 0; k < 10; ++k) {
        for (int j = 0; j < 10; ++j) {
            e->row[k] += e->Y[(i * ROBOT_ESTIMATOR_COLUMNS) + ROBOT_ESTIMATOR_CARRIER + j]
                         * robot_estimator_payload[(10 * j) + k];
        }
    }
#endif
#if ROBOT_ESTIMATES_FRICTION
    const int first = ROBOT_ESTIMATED_BEFORE + (3 * robot_estimator_drive[i]);
    e->row[first] = e->qd[i];
    e->row[first + 1] = ROBOT_TANH(e->qd[i] / robot_estimator_width[i]);
    e->row[first + 2] = REAL(1.0);
#endif
}

/* One row into the estimate: the Kalman filter of a constant. */
static void robot_estimator_learn(robot_online_estimator_t *e, robot_real_t left, robot_real_t noise)
{
    robot_real_t variance = noise * noise;
    robot_real_t error = left;
    for (int j = 0; j < ROBOT_ESTIMATED; ++j) {
        e->gain[j] = REAL(0.0);
        for (int k = 0; k < ROBOT_ESTIMATED; ++k) {
            e->gain[j] += e->P[(j * ROBOT_ESTIMATED) + k] * e->row[k];
        }
        variance += e->row[j] * e->gain[j];
        error -= e->row[j] * e->theta[j];
    }
    for (int j = 0; j < ROBOT_ESTIMATED; ++j) {
        e->theta[j] += e->gain[j] * error / variance;
        for (int k = 0; k <= j; ++k) { /* symmetric, whatever is rounded */
            const robot_real_t entry = e->P[(j * ROBOT_ESTIMATED) + k] - (e->gain[j] * e->gain[k] / variance);
            e->P[(j * ROBOT_ESTIMATED) + k] = entry;
            e->P[(k * ROBOT_ESTIMATED) + j] = entry;
        }
    }
}

/* Older rows count less; no number becomes less certain than it was at the start. */
static void robot_estimator_forget(
    robot_online_estimator_t *e, const robot_online_estimator_options_t *options, robot_real_t dt)
{
    const robot_real_t grown = (options->memory > REAL(0.0)) ? (REAL(1.0) + (dt / options->memory)) : REAL(1.0);
    int allowed = 1;
    for (int j = 0; j < ROBOT_ESTIMATED; ++j) {
        const robot_real_t most = options->uncertainty[j] * options->uncertainty[j];
        allowed = allowed && ((grown * e->P[j * (ROBOT_ESTIMATED + 1)]) <= most);
    }
    for (int j = 0; (j < (ROBOT_ESTIMATED * ROBOT_ESTIMATED)) && allowed; ++j) {
        e->P[j] *= grown;
    }
}

static int robot_estimator_valid(const robot_online_estimator_options_t *options, robot_real_t dt)
{
    int valid = (dt > REAL(0.0)) && (dt <= ROBOT_OBSERVER_LARGEST) && (options->bandwidth > REAL(0.0))
                && (options->bandwidth <= ROBOT_OBSERVER_LARGEST) && (options->memory >= REAL(0.0));
    for (int i = 0; i < ROBOT_NV; ++i) {
        valid = valid && (options->noise[i] > REAL(0.0));
    }
    return valid;
}

int robot_online_estimator_update(robot_online_estimator_t *estimator, const robot_online_estimator_options_t *options,
    const robot_params_t *p, robot_real_t dt, const robot_real_t q[ROBOT_NQ], const robot_real_t qd[ROBOT_NV],
    const robot_real_t F[ROBOT_NV])
{
    robot_online_estimator_t *const e = estimator;
    int status = ROBOT_ONLINE_ESTIMATOR_OK;
    if (!robot_estimator_valid(options, dt)) {
        status = ROBOT_ONLINE_ESTIMATOR_ARGUMENT;
    } else if (!(robot_observer_finite(q, ROBOT_NQ) && robot_observer_finite(qd, ROBOT_NV)
                   && robot_observer_finite(F, ROBOT_NV))) {
        status = ROBOT_ONLINE_ESTIMATOR_NOT_FINITE;
    } else {
        /* implicit steps of x' = w (u - x): stable with every bandwidth */
        const robot_real_t share = (options->bandwidth * dt) / (REAL(1.0) + (options->bandwidth * dt));
        for (int i = 0; i < ROBOT_NQ; ++i) {
            e->q[i] = (e->begun != 0) ? (e->q[i] + (share * (q[i] - e->q[i]))) : q[i];
        }
        for (int i = 0; i < ROBOT_NV; ++i) {
            const robot_real_t before = (e->begun != 0) ? e->qd[i] : qd[i];
            e->qd[i] = before + (share * (qd[i] - before));
            e->qdd[i] = (e->qd[i] - before) / dt;
            e->F[i] = (e->begun != 0) ? (e->F[i] + (share * (F[i] - e->F[i]))) : F[i];
        }
        status = robot_estimator_call_inverse_dynamics(p, e->q, e->qd, e->qdd, e->known);
#if ROBOT_ESTIMATES_PAYLOAD
        status |= robot_estimator_call_regressor(p, e->q, e->qd, e->qdd, e->Y);
        status |= !robot_observer_finite(e->Y, ROBOT_NV * ROBOT_ESTIMATOR_COLUMNS);
#endif
        if ((status != 0) || !robot_observer_finite(e->known, ROBOT_NV)) {
            status = ROBOT_ONLINE_ESTIMATOR_MODEL;
        } else if (e->begun != 0) {
            robot_estimator_forget(e, options, dt);
            for (int i = 0; i < ROBOT_NV; ++i) {
                if (robot_estimator_drive[i] >= 0) {
                    robot_estimator_row(e, i);
                    robot_estimator_learn(e, e->F[i] - e->known[i], options->noise[i]);
                }
            }
        }
        e->begun = 1;
    }
    return status;
}
