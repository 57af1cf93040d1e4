/* Part of robot_simulate.c: borders of elements, which end steps. */
#ifndef ROBOT_SIM_BORDER_H
#define ROBOT_SIM_BORDER_H

#include "robot_sim_step.h"

#if ROBOT_SLIDING
#if ROBOT_SINGLE
#define ROBOT_SIM_AT_BORDER REAL(1e-6) /* [m]: so near is at the border */
#else
#define ROBOT_SIM_AT_BORDER REAL(1e-13) /* [m]: so near is at the border */
#endif

/* Take the last step again, with another length. */
static int robot_sim_again(robot_sim_workspace_t *w, robot_scalar_t h)
{
    w->t = w->t_before;
    for (int i = 0; i < ROBOT_SIM_NY; ++i) {
        w->y[i] = w->before[i];
    }
    robot_sim_back(w);
    --w->control->steps;
    return robot_sim_step_of_length(w, h, w->t_before + h);
}

/* Shorten the last step, which led beyond a border, so that it ends just beyond it: regula falsi on the distance.
 * A joint that rattles at a border, back within no time, is let go on. */
static int robot_sim_locate(robot_sim_workspace_t *w)
{
    robot_scalar_t low = REAL(0.0);
    robot_scalar_t high = w->t - w->t_before;
    robot_scalar_t before = robot_switch_margin(w->k, w->before);
    robot_scalar_t beyond = robot_switch_margin(w->k, w->y);
    const robot_scalar_t whole = high;
    const int rattles = w->t_before <= w->t_switch;
    robot_scalar_t last = high;
    int status = ROBOT_SIM_STATUS_OK;
    before = (before > REAL(0.0)) ? before : REAL(0.0);
    for (int round = 0; (round < 100) && (status == ROBOT_SIM_STATUS_OK) && (beyond < -ROBOT_SIM_AT_BORDER)
                        && (high - low > w->h_least);
         ++round) {
        const robot_scalar_t width = high - low;
        robot_scalar_t h = high - ((width * beyond) / (beyond - before));
        h = (h > low + (REAL(0.01) * width)) ? h : low + (REAL(0.01) * width);
        h = (h < high - (REAL(0.01) * width)) ? h : high - (REAL(0.01) * width);
        status = robot_sim_again(w, h);
        last = h;
        const robot_scalar_t margin = robot_switch_margin(w->k, w->y);
        if (margin < REAL(0.0)) {
            high = h;
            beyond = margin;
            before *= REAL(0.5);
        } else {
            low = h;
            before = margin;
        }
    }
    if (rattles && (high < REAL(1e-4) * whole)) {
        high = whole;
    }
    if ((status == ROBOT_SIM_STATUS_OK) && ((last < high) || (last > high))) {
        status = robot_sim_again(w, high);
    }
    return status;
}

/* Carry the state over all borders that it is beyond. */
static int robot_sim_pass(robot_sim_workspace_t *w)
{
    int answer = 1;
    robot_switch_t found = {0};
    for (int most = 0; (most < 1000) && (answer == 1); ++most) {
        answer = robot_switch(w->p, w->k, w->y, &w->y[ROBOT_NQ], &found, &w->switching);
        found.time = w->t;
        if (answer == 1) {
            if ((w->record->switches != NULL) && (w->control->switches < w->record->most_switches)) {
                w->record->switches[w->control->switches] = found;
            }
            ++w->control->switches;
        }
    }
    w->ready = 0;
    w->control->left = found.joint;
    w->t_switch = w->t;
    /* M was regular before: states grew too large */
    const int status = (answer < 0) ? ROBOT_SIM_STATUS_NOT_FINITE : ROBOT_SIM_STATUS_OK;
    return (answer == ROBOT_ERROR_OUT_OF_RANGE) ? ROBOT_SIM_STATUS_OUT_OF_RANGE : status;
}
#endif

#endif /* ROBOT_SIM_BORDER_H */
