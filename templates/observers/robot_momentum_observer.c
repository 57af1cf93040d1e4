/**
 * @file  robot_momentum_observer.c
 * @brief External forces from the generalized momentum, documented in robot_momentum_observer.h.
 */

#include "robot_momentum_observer.h"

#include "robot_observer_calls.h"
#include "robot_observer_finite.h"

void robot_momentum_observer_reset(robot_momentum_observer_t *observer)
{
    for (int i = 0; i < ROBOT_NV; ++i) {
        observer->force[i] = REAL(0.0);
        observer->expected[i] = REAL(0.0);
        observer->known[i] = REAL(0.0);
    }
    observer->begun = 0;
}

/* M qd into momentum, C^T qd - D qd - Q_e - G - friction into rate, F without the friction of loads into drive. */
static int robot_observer_evaluate(robot_momentum_observer_t *o, const robot_params_t *p, const robot_real_t *q,
    const robot_real_t *qd, const robot_real_t *F)
{
    int status = robot_observer_call_mass_matrix(p, q, o->M);
    for (int i = 0; i < ROBOT_NV; ++i) {
        o->zero[i] = REAL(0.0);
        o->momentum[i] = REAL(0.0);
        o->drive[i] = F[i];
        for (int j = 0; j < ROBOT_NV; ++j) {
            o->momentum[i] += o->M[(i * ROBOT_NV) + j] * qd[j];
        }
    }
    status |= robot_observer_call_inverse_dynamics(p, q, qd, o->zero, o->rate); /* C qd + D qd + ... */
#if ROBOT_HAS_LOAD_FRICTION_FORCES
    /* Friction that grows with load belongs to the forces that act, not to those that hold the state. */
    status |= robot_observer_call_load_friction_forces(p, qd, o->rate, o->zero);
    for (int i = 0; i < ROBOT_NV; ++i) {
        o->rate[i] -= o->zero[i];
    }
    status |= robot_observer_call_load_friction_forces(p, qd, F, o->zero);
    for (int i = 0; i < ROBOT_NV; ++i) {
        o->drive[i] -= o->zero[i];
    }
#endif
    status |= robot_observer_call_coriolis_matrix(p, q, qd, o->M);
    for (int i = 0; i < ROBOT_NV; ++i) {
        robot_real_t both = REAL(0.0); /* (C + C^T) qd: what inverse dynamics has of C qd goes, C^T qd comes */
        for (int j = 0; j < ROBOT_NV; ++j) {
            both += (o->M[(i * ROBOT_NV) + j] + o->M[(j * ROBOT_NV) + i]) * qd[j];
        }
        o->rate[i] = both - o->rate[i];
    }
    return status;
}

int robot_momentum_observer_update(robot_momentum_observer_t *observer, const robot_params_t *p,
    const robot_real_t gain[ROBOT_NV], robot_real_t dt, const robot_real_t q[ROBOT_NQ], const robot_real_t qd[ROBOT_NV],
    const robot_real_t F[ROBOT_NV])
{
    robot_momentum_observer_t *const o = observer;
    int status = ROBOT_MOMENTUM_OBSERVER_OK;
    for (int i = 0; i < ROBOT_NV; ++i) {
        if (!((gain[i] >= REAL(0.0)) && (gain[i] <= ROBOT_OBSERVER_LARGEST))) {
            status = ROBOT_MOMENTUM_OBSERVER_ARGUMENT;
        }
    }
    if ((o->begun != 0) && !((dt > REAL(0.0)) && (dt <= ROBOT_OBSERVER_LARGEST))) {
        status = ROBOT_MOMENTUM_OBSERVER_ARGUMENT;
    }
    if ((status == ROBOT_MOMENTUM_OBSERVER_OK)
        && !(robot_observer_finite(q, ROBOT_NQ) && robot_observer_finite(qd, ROBOT_NV)
             && robot_observer_finite(F, ROBOT_NV))) {
        status = ROBOT_MOMENTUM_OBSERVER_NOT_FINITE;
    }
    if ((status == ROBOT_MOMENTUM_OBSERVER_OK)
        && ((robot_observer_evaluate(o, p, q, qd, F) != 0)
            || !(robot_observer_finite(o->momentum, ROBOT_NV) && robot_observer_finite(o->rate, ROBOT_NV)))) {
        status = ROBOT_MOMENTUM_OBSERVER_MODEL;
    }
    if (status == ROBOT_MOMENTUM_OBSERVER_OK) {
        for (int i = 0; i < ROBOT_NV; ++i) {
            if (o->begun == 0) {
                o->expected[i] = o->momentum[i];
                o->force[i] = REAL(0.0);
            } else {
                const robot_real_t rate = o->drive[i] + (REAL(0.5) * (o->known[i] + o->rate[i]));
                const robot_real_t missing = o->momentum[i] - o->expected[i] - (dt * rate);
                o->force[i] = (gain[i] * missing) / (REAL(1.0) + (gain[i] * dt));
                o->expected[i] += dt * (rate + o->force[i]);
            }
            o->known[i] = o->rate[i];
        }
        o->begun = 1;
    }
    return status;
}
