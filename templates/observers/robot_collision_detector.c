/**
 * @file  robot_collision_detector.c
 * @brief Collisions beyond what the model's own uncertainty explains, documented in robot_collision_detector.h.
 */

#include "robot_collision_detector.h"

#include <math.h>

#include "robot_collision_calls.h"
#include "robot_observer_finite.h"

void robot_collision_detector_reset(robot_collision_detector_t *detector)
{
    robot_momentum_observer_reset(&detector->observer);
    for (int i = 0; i < ROBOT_NV; ++i) {
        detector->threshold[i] = REAL(0.0);
        detector->hit[i] = 0;
        detector->explained[i] = REAL(0.0);
    }
}

static int robot_collision_allowed(robot_real_t least, robot_real_t x)
{
    return (x >= least) && (x <= ROBOT_OBSERVER_LARGEST);
}

/* Whether the options can be; the observer looks at the gains. */
static int robot_collision_valid(robot_collision_detector_t *d, const robot_collision_options_t *o, robot_real_t dt)
{
    int valid =
        (dt > REAL(0.0)) && robot_collision_allowed(REAL(0.0), dt) && robot_collision_allowed(REAL(0.0), o->margin);
    for (int i = 0; i < ROBOT_NV; ++i) {
        valid = valid && (o->floor[i] > REAL(0.0)) && robot_collision_allowed(REAL(0.0), o->floor[i])
                && robot_collision_allowed(REAL(0.0), o->gain[i]);
    }
    d->by = o->uncertain;
    for (int k = 0; k < ROBOT_COLLISION_LIVE; ++k) {
        valid = valid && robot_collision_allowed(REAL(0.0), *robot_collision_live(&d->by, k));
    }
    return valid;
}

/* What the observer shows of a robot with more or less of parameter k: its larger size comes to the spread. */
static int robot_collision_explain(robot_collision_detector_t *d, const robot_params_t *p, int k, const robot_real_t *q,
    const robot_real_t *qd, const robot_real_t *F)
{
    const robot_real_t by = *robot_collision_live(&d->by, k);
    int status = 0;
    for (int side = 0; side < 2; ++side) {
        d->changed = *p;
        *robot_collision_live(&d->changed, k) += (side == 0) ? by : -by;
        status |= robot_collision_call_forward_dynamics(&d->changed, q, qd, F, d->qdd);
        status |= robot_collision_call_inverse_dynamics(p, q, qd, d->qdd, d->needed);
        status |= !robot_observer_finite(d->needed, ROBOT_NV);
        for (int i = 0; i < ROBOT_NV; ++i) {
            const robot_real_t shown = ROBOT_FABS(d->needed[i] - F[i]);
            d->largest[i] = ((side == 0) || (shown > d->largest[i])) ? shown : d->largest[i];
        }
    }
    for (int i = 0; i < ROBOT_NV; ++i) {
        d->spread[i] += d->largest[i];
    }
    return status;
}

/* What all uncertain parameters may show. */
static int robot_collision_spread(robot_collision_detector_t *d, const robot_params_t *p, const robot_real_t *q,
    const robot_real_t *qd, const robot_real_t *F)
{
    int status = 0;
    for (int i = 0; i < ROBOT_NV; ++i) {
        d->spread[i] = REAL(0.0);
    }
    for (int k = 0; k < ROBOT_COLLISION_LIVE; ++k) {
        if (*robot_collision_live(&d->by, k) > REAL(0.0)) {
            status |= robot_collision_explain(d, p, k, q, qd, F);
        }
    }
    return (status != 0) || !robot_observer_finite(d->spread, ROBOT_NV);
}

/* Thresholds of this step, and which forces exceed them. */
static int robot_collision_decide(
    robot_collision_detector_t *d, const robot_collision_options_t *options, robot_real_t dt)
{
    int status = ROBOT_COLLISION_DETECTOR_OK;
    for (int i = 0; i < ROBOT_NV; ++i) {
        const robot_real_t part = dt * options->gain[i];
        d->explained[i] = (d->explained[i] + (part * d->spread[i])) / (REAL(1.0) + part);
        d->threshold[i] = options->floor[i] + (options->margin * d->explained[i]);
        d->hit[i] = (ROBOT_FABS(d->observer.force[i]) > d->threshold[i]) ? 1 : 0;
        if (d->hit[i] != 0) {
            status = ROBOT_COLLISION_DETECTOR_HIT;
        }
    }
    return status;
}

int robot_collision_detector_update(robot_collision_detector_t *detector, const robot_collision_options_t *options,
    const robot_params_t *p, robot_real_t dt, const robot_real_t q[ROBOT_NQ], const robot_real_t qd[ROBOT_NV],
    const robot_real_t F[ROBOT_NV])
{
    int status = ROBOT_COLLISION_DETECTOR_OK;
    if (!robot_collision_valid(detector, options, dt)) {
        status = ROBOT_COLLISION_DETECTOR_ARGUMENT;
    } else if (!(robot_observer_finite(q, ROBOT_NQ) && robot_observer_finite(qd, ROBOT_NV)
                   && robot_observer_finite(F, ROBOT_NV))) {
        status = ROBOT_COLLISION_DETECTOR_NOT_FINITE;
    } else if (robot_collision_spread(detector, p, q, qd, F) != 0) {
        status = ROBOT_COLLISION_DETECTOR_MODEL;
    } else {
        status = robot_momentum_observer_update(&detector->observer, p, options->gain, dt, q, qd, F);
        if (status == ROBOT_MOMENTUM_OBSERVER_OK) {
            status = robot_collision_decide(detector, options, dt);
        }
    }
    return status;
}
