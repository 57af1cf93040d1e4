/* Part of robot_simulate.c: checks and initial values. */
#ifndef ROBOT_SIM_BEGIN_H
#define ROBOT_SIM_BEGIN_H

#include "robot_sim_loops.h"
#include "robot_sim_methods.h"

/* A workspace for the arguments of a simulation. */
static void robot_sim_prepare(robot_sim_workspace_t *w, const robot_params_t *p, const robot_sim_input_t *input)
{
#if ROBOT_TIMED
    w->now = *p;
    w->p = &w->now;
#else
    w->p = p;
#endif
    w->input = input;
}

/* Set the workspace to the first state; returns a status. */
static int robot_sim_begin(
    robot_sim_workspace_t *w, const robot_scalar_t *q0, const robot_scalar_t *qd0, size_t samples)
{
    const robot_sim_options_t *const o = w->options;
    const int equal = !robot_sim_is_adaptive(o->method);
    int sound = (samples > 0u) && (!equal || (o->step > REAL(0.0))) && (!equal || (o->rho_inf >= REAL(0.0)));
    sound = sound && (!robot_sim_is_tolerant(o->method) || ((o->atol > REAL(0.0)) && (o->rtol >= REAL(0.0))));
    for (size_t k = 1u; k < samples; ++k) {
        sound = sound && (w->times[k] > w->times[k - 1u]);
    }
    w->sample = 0u;
    w->row = 0u;
    w->ready = 0;
    w->t = sound ? w->times[0] : REAL(0.0);
    w->t_before = w->t;
    w->h = REAL(0.0);
    w->h_least = sound ? REAL(16.0) * ROBOT_EPSILON * (ROBOT_FABS(w->t) + (w->times[samples - 1u] - w->t)) : REAL(0.0);
    w->error = REAL(1e-4);
    for (int i = 0; i < ROBOT_NQ; ++i) {
        w->y[i] = q0[i];
    }
#if ROBOT_QUATERNIONS
    robot_sim_unit(w->y);
#endif
    for (int i = 0; i < ROBOT_NV; ++i) {
        w->y[i + ROBOT_NQ] = qd0[i];
    }
    w->y[ROBOT_SIM_NX] = REAL(0.0);
    w->y[ROBOT_SIM_NX + 1] = REAL(0.0);
    w->control->samples = 0u;
    w->control->steps = 0u;
    w->control->rejections = 0u;
    w->control->evaluations = 0u;
    w->control->factorizations = 0u;
    w->control->time = w->t;
    int status = !sound
                     ? ROBOT_SIM_STATUS_ARGUMENT
                     : (robot_sim_all_finite(w->y, ROBOT_SIM_NX) ? ROBOT_SIM_STATUS_OK : ROBOT_SIM_STATUS_NOT_FINITE);
#if ROBOT_SLIDING || ROBOT_GROUND
    w->t_switch = -ROBOT_HUGE;
#endif
#if ROBOT_GROUND
    w->control->touches = 0u;
    (void)robot_sim_call_ground_motion(w, w->y, &w->y[ROBOT_NQ], w->gaps, w->rates);
    for (int k = 0; k < ROBOT_GROUND; ++k) {
        w->below[k] = w->gaps[k] < REAL(0.0);
    }
#endif
#if ROBOT_SLIDING
    w->control->switches = 0u;
    w->control->left = 0;
    if (status == ROBOT_SIM_STATUS_OK) {
        if (robot_switch_elements(w->y, w->k) != 0) {
            status = ROBOT_SIM_STATUS_OUT_OF_RANGE;
            for (int j = 0; j < ROBOT_SLIDING; ++j) {
                w->control->left = (w->k[j] < 0) ? j : w->control->left;
            }
        } else {
            robot_switch_hold(w->k, w->y, &w->y[ROBOT_NQ]);
        }
    }
#endif
#if ROBOT_LOOPS
    if (status == ROBOT_SIM_STATUS_OK) {
        status = robot_sim_begin_closed(w) ? status : ROBOT_SIM_STATUS_OPEN;
    }
#endif
    return status;
}

#endif /* ROBOT_SIM_BEGIN_H */
