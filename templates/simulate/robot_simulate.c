/**
 * @file  robot_simulate.c
 * @brief Simulation, documented in robot_simulate.h.
 */

#include "robot_simulate.h"

#include "robot_sim_begin.h"
#include "robot_sim_border.h"
#include "robot_sim_step.h"
#include "robot_sim_store.h"

/* One step that does not pass the limits: of the forces' smooth piece, and of the samples. */
static int robot_sim_step(robot_sim_workspace_t *w, size_t samples)
{
    const int adaptive = robot_sim_is_adaptive(w->options->method);
    const size_t target = adaptive ? (samples - 1u) : w->sample;
    const robot_scalar_t next = robot_sim_next_break(w);
    const robot_scalar_t limit = (next < w->times[target]) ? next : w->times[target];
    robot_scalar_t after = limit;
    int status = ROBOT_SIM_STATUS_ARGUMENT;
    if (adaptive != 0) {
        status = robot_sim_up_to(w, limit);
    } else {
        const robot_scalar_t h = robot_sim_equal_step(w, limit, &after);
        status = robot_sim_step_of_length(w, h, after);
    }
#if ROBOT_SLIDING || ROBOT_GROUND
    const int ended = (status == ROBOT_SIM_STATUS_OK) && (robot_sim_margin(w, w->y) < REAL(0.0));
    status = ended ? robot_sim_locate(w) : status;
#endif
    while ((status == ROBOT_SIM_STATUS_OK) && adaptive && (w->times[w->sample] < w->t)) {
        robot_sim_dense(w, w->times[w->sample]);
        status = robot_sim_store(w, w->times[w->sample], w->trial);
    }
#if ROBOT_GROUND
    if (ended && (status == ROBOT_SIM_STATUS_OK)) {
        robot_sim_touch(w);
    }
#endif
#if ROBOT_SLIDING
#if ROBOT_GROUND
    const int crossed = ended && (robot_switch_margin(w->k, w->y) < REAL(0.0));
#else
    const int crossed = ended;
#endif
    status = (crossed && (status == ROBOT_SIM_STATUS_OK)) ? robot_sim_pass(w) : status;
#endif
    if ((status == ROBOT_SIM_STATUS_OK) && (w->options->event != NULL)) {
        const int answer = w->options->event(w->options->event_context, w->t, w->y, &w->y[ROBOT_NQ]);
        w->ready = w->ready && (answer == 0);
#if ROBOT_GROUND
        if (answer > 0) {
            robot_sim_touch(w);
        }
#endif
        status = (answer >= 0) ? status : ROBOT_SIM_STATUS_EVENT;
#if ROBOT_LOOPS
        if (answer > 0) {
            status = robot_sim_keep_closed(w, w->y, NULL) ? status : ROBOT_SIM_STATUS_OPEN;
        }
#endif
    }
    return status;
}

/* Steps and samples from where the workspace is, until the last sample or a failure. */
static int robot_sim_go_on(robot_sim_workspace_t *w, size_t samples)
{
    int status = ROBOT_SIM_STATUS_OK;
    while ((status == ROBOT_SIM_STATUS_OK) && (w->sample < samples)) {
        w->ready = !robot_sim_pass_rows(w) && w->ready;
        if (w->times[w->sample] <= w->t) {
            status = robot_sim_store(w, w->t, w->y);
        } else {
            status = (w->control->cancel != 0) ? ROBOT_SIM_STATUS_CANCELLED : robot_sim_step(w, samples);
            w->control->time = w->t;
        }
    }
    return status;
}

int robot_simulate(const robot_params_t *p, const robot_sim_input_t *input, const robot_sim_options_t *options,
    const robot_scalar_t *q0, const robot_scalar_t *qd0, size_t samples, const robot_scalar_t *times,
    const robot_sim_record_t *record, robot_sim_workspace_t *workspace, robot_sim_control_t *control)
{
    robot_sim_prepare(workspace, p, input);
    workspace->options = options;
    workspace->record = record;
    workspace->control = control;
    workspace->times = times;
    const int status = robot_sim_begin(workspace, q0, qd0, samples);
    return (status == ROBOT_SIM_STATUS_OK) ? robot_sim_go_on(workspace, samples) : status;
}

int robot_simulate_input(const robot_params_t *p, const robot_sim_input_t *input, robot_scalar_t t,
    const robot_scalar_t *q, const robot_scalar_t *qd, robot_scalar_t *F, robot_sim_workspace_t *workspace)
{
    robot_sim_prepare(workspace, p, input);
    workspace->t = t;
    workspace->row = 0u;
    workspace->status = ROBOT_SIM_STATUS_OK;
#if ROBOT_SLIDING
    (void)robot_switch_elements(q, workspace->k);
#endif
    (void)robot_sim_pass_rows(workspace);
    return (robot_sim_force(workspace, t, q, qd, F) != 0u) ? ROBOT_SIM_STATUS_OK : workspace->status;
}
