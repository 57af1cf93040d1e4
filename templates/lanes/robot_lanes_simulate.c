/* Simulation of several motions at once: the equal steps of the integrators, on vectors. */
#include "robot_lanes_simulate.h"

#include "robot_lanes_motion.h"
#include "robot_sim_equal_step.h"
#include "robot_sim_methods.h"

/* Lanes in which all of x is finite. */
static unsigned robot_lanes_finite(const robot_sim_state_t *x, int n)
{
    robot_sim_choice_t finite = robot_sim_size(x[0]) <= DBL_MAX; /* false for NaN */
    for (int i = 1; i < n; ++i) {
        finite &= robot_sim_size(x[i]) <= DBL_MAX;
    }
    return robot_sim_set(finite);
}

/* Number i of a row of the next sample, of all motions that go on here. */
static void robot_lanes_record(const robot_sim_motion_t *w, double *to, robot_sim_state_t value, size_t size, size_t i)
{
    for (size_t lane = 0u; (lane < EG_LANES) && (to != NULL); ++lane) {
        if (((w->on >> lane) & 1u) != 0u) {
            to[((((w->first + lane) * w->batch->samples) + w->sample) * size) + i] = value[lane];
        }
    }
}

/* Store the next sample. */
static void robot_lanes_store(robot_sim_motion_t *w)
{
    const robot_sim_record_t *const to = w->record;
    const robot_sim_state_t *const y = w->y;
#if ROBOT_TIMED
    robot_sim_set_time(w, w->t);
#endif
    if (to->F != NULL) {
        (void)robot_sim_force(w, w->t, y, &y[ROBOT_NQ], w->F);
    }
#if ROBOT_HAS_KINETIC_ENERGY
    if (to->kinetic != NULL) {
        robot_sim_state_t kinetic;
        (void)robot_sim_call_kinetic_energy(w, y, &y[ROBOT_NQ], &kinetic);
        robot_lanes_record(w, to->kinetic, kinetic, 1u, 0u);
    }
#endif
#if ROBOT_HAS_POTENTIAL_ENERGY
    if (to->potential != NULL) {
        robot_sim_state_t potential;
        (void)robot_sim_call_potential_energy(w, y, &potential);
        robot_lanes_record(w, to->potential, potential, 1u, 0u);
    }
#endif
    for (size_t i = 0u; i < ROBOT_NQ; ++i) {
        robot_lanes_record(w, to->q, y[i], ROBOT_NQ, i);
    }
    for (size_t i = 0u; i < ROBOT_NV; ++i) {
        robot_lanes_record(w, to->qd, y[ROBOT_NQ + i], ROBOT_NV, i);
        robot_lanes_record(w, to->F, w->F[i], ROBOT_NV, i);
    }
    robot_lanes_record(w, to->work, y[ROBOT_SIM_NX], 1u, 0u);
    robot_lanes_record(w, to->loss, y[ROBOT_SIM_NX + 1], 1u, 0u);
    ++w->sample;
}

/* What the motion in a lane has cost and how far it is. */
static void robot_lanes_account(const robot_sim_motion_t *w, int lane)
{
    robot_sim_control_t *const control = &w->batch->controls[w->first + (size_t)lane];
    control->time = w->t;
    control->samples = w->sample;
    control->steps = w->steps;
    control->evaluations = w->evaluations[lane];
    control->factorizations = w->factorizations[lane];
}

static void robot_lanes_end(robot_sim_motion_t *w, int lane, int status)
{
    robot_lanes_account(w, lane);
    w->batch->status[w->first + (size_t)lane] = status;
    w->on &= ~(1u << lane);
}

/* The state of a lane before a step, for who watches its limits. */
static void robot_lanes_tell(robot_sim_stops_t *stops, const robot_sim_state_t *y, double t, int lane)
{
    stops->before_t = t;
    for (int i = 0; i < ROBOT_NQ; ++i) {
        stops->before_q[i] = y[i][lane];
    }
    for (int i = 0; i < ROBOT_NV; ++i) {
        stops->before_qd[i] = y[i + ROBOT_NQ][lane];
    }
}

/* The motion in a lane goes on alone, from the beginning of the present step: it fails there or needs another length.
 */
static void robot_lanes_leave(robot_sim_motion_t *w, int lane)
{
    const size_t k = w->first + (size_t)lane;
    robot_sim_workspace_t *const alone = &w->alone;
    (void)robot_sim_begin_alone(w->batch, k, &w->alone_options, &w->alone_record, alone);
    alone->sample = w->sample;
    alone->row = w->row;
    alone->ready = w->ready;
    alone->t = w->t;
    alone->t_before = w->t;
    for (int i = 0; i < ROBOT_SIM_NY; ++i) {
        alone->y[i] = w->y[i][lane];
    }
#if ROBOT_CAN_GENERALIZED_ALPHA
    for (int i = 0; (i < ROBOT_NV) && w->ready; ++i) {
        alone->qdd[i] = w->qdd[i][lane];
        alone->a[i] = w->a[i][lane];
        alone->power[0] = w->power[0][lane];
        alone->power[1] = w->power[1][lane];
    }
#endif
    robot_lanes_account(w, lane);
    if (w->batch->stops != NULL) {
        robot_lanes_tell(&w->batch->stops[k], w->y, w->t, lane);
    }
    w->batch->status[k] = robot_sim_go_on_alone(alone, w->batch->samples);
    w->on &= ~(1u << lane);
}

/* After a step: motions that are beyond a limit for the first time. */
static void robot_lanes_watch(robot_sim_motion_t *w)
{
    const robot_sim_stops_t *const limits = w->batch->limits;
    robot_sim_choice_t beyond = {0};
    for (int i = 0; i < ROBOT_NQ; ++i) {
        beyond |= (w->y[i] > limits->upper[i]) | (w->y[i] < limits->lower[i]);
    }
    const unsigned found = robot_sim_set(beyond) & w->on & ~w->passed;
    for (int lane = 0; (lane < EG_LANES) && (found != 0u); ++lane) {
        robot_sim_stops_t *const stops = &w->batch->stops[w->first + (size_t)lane];
        double now[ROBOT_SIM_NX];
        if (((found >> lane) & 1u) != 0u) {
            robot_lanes_tell(stops, w->before, w->t_before, lane);
            for (int i = 0; i < ROBOT_SIM_NX; ++i) {
                now[i] = w->y[i][lane];
            }
            if (w->options->event(stops, w->t, now, &now[ROBOT_NQ]) < 0) {
                robot_lanes_end(w, lane, ROBOT_SIM_STATUS_EVENT);
            }
        }
    }
    w->passed |= found;
}

/* Take over the state in w->trial where it is sound; other motions leave. */
static void robot_lanes_accept(robot_sim_motion_t *w, double after, unsigned good)
{
    good &= robot_lanes_finite(w->trial, ROBOT_SIM_NX);
    for (int lane = 0; lane < EG_LANES; ++lane) {
        if ((((w->on & ~good) >> lane) & 1u) != 0u) {
            robot_lanes_leave(w, lane);
        }
        w->evaluations[lane] += w->tried[lane];
        w->factorizations[lane] += w->factorized[lane];
    }
#if ROBOT_QUATERNIONS
    robot_sim_unit(w->trial);
#endif
    w->t_before = w->t;
    w->t = after;
    ++w->steps;
    for (int i = 0; i < ROBOT_SIM_NY; ++i) {
        w->before[i] = w->y[i];
        w->y[i] = w->trial[i];
    }
}

/* One step of all motions that does not pass the limits: of the forces' smooth piece, and of the samples. */
static void robot_lanes_step(robot_sim_motion_t *w)
{
    const double next = robot_sim_next_break(w);
    const double limit = (next < w->times[w->sample]) ? next : w->times[w->sample];
    double after = limit;
    const double h = robot_sim_equal_step(w, limit, &after);
    for (int lane = 0; lane < EG_LANES; ++lane) {
        w->tried[lane] = 0u;
        w->factorized[lane] = 0u;
    }
    const unsigned ready = w->on & robot_sim_start(w);
    robot_lanes_accept(w, after, robot_sim_take(w, h, after, ready));
    robot_sim_took(w);
    if (w->batch->stops != NULL) {
        robot_lanes_watch(w);
    }
}

/* The first states of the motions; beyond the last one it is repeated, and not recorded. */
static void robot_lanes_begin(robot_sim_motion_t *w, const robot_sim_batch_t *batch, size_t first, size_t count)
{
    w->batch = batch;
    w->first = first;
    w->on = 0u;
    w->passed = 0u;
    w->steps = 0u;
    for (size_t lane = 0u; lane < EG_LANES; ++lane) {
        if (lane < count) {
            const size_t k = first + lane;
            if (batch->stops != NULL) {
                batch->stops[k] = *batch->limits;
            }
            batch->status[k] = robot_sim_begin_alone(batch, k, &w->alone_options, &w->alone_record, &w->alone);
            w->on |= (batch->status[k] == ROBOT_SIM_STATUS_OK) ? (1u << lane) : 0u;
        }
        for (int i = 0; i < ROBOT_SIM_NY; ++i) {
            w->y[i][lane] = w->alone.y[i];
        }
        w->evaluations[lane] = 0u;
        w->factorizations[lane] = 0u;
    }
#if ROBOT_CAN_GENERALIZED_ALPHA
    for (int i = 0; i < ROBOT_NV; ++i) {
        w->pivots[i] = robot_sim_place_of(0); /* places, also in lanes that never get their own */
    }
#endif
    w->input = batch->input;
    w->options = batch->options;
    w->record = &batch->record;
    w->times = batch->times;
    w->sample = 0u;
    w->row = 0u;
    w->ready = 0;
    w->t = w->alone.t;
    w->t_before = w->alone.t;
    w->p = (eg_lanes_params_t){0};
    if (batch->nparams > 0u) {
        eg_lanes_read(
            (eg_lanes_real_t *)&w->p, batch->params, batch->nparams, first, first + count, (int)batch->nparams);
    }
}

size_t robot_lanes_simulate_memory(void)
{
    return sizeof(robot_sim_motion_t);
}

void robot_lanes_simulate(const robot_sim_batch_t *batch, size_t first, size_t count, void *memory)
{
    robot_sim_motion_t *const w = (robot_sim_motion_t *)memory;
    robot_lanes_begin(w, batch, first, count);
    while ((w->on != 0u) && (w->sample < batch->samples)) {
        w->ready = !robot_sim_pass_rows(w) && w->ready;
        if (w->times[w->sample] <= w->t) {
            robot_lanes_store(w);
        } else {
            for (int lane = 0; lane < EG_LANES; ++lane) {
                const unsigned on = (w->on >> lane) & 1u;
                if ((on != 0u) && (batch->controls[first + (size_t)lane].cancel != 0)) {
                    robot_lanes_end(w, lane, ROBOT_SIM_STATUS_CANCELLED);
                } else if (on != 0u) {
                    batch->controls[first + (size_t)lane].time = w->t; /* for those who watch */
                } else {
                    /* it has left */
                }
            }
            if (w->on != 0u) {
                robot_lanes_step(w);
            }
        }
    }
    for (int lane = 0; lane < EG_LANES; ++lane) {
        if (((w->on >> lane) & 1u) != 0u) {
            robot_lanes_end(w, lane, ROBOT_SIM_STATUS_OK);
        }
    }
}
