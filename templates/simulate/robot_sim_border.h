/* Part of robot_simulate.c: borders of elements and the ground, which end steps. */
#ifndef ROBOT_SIM_BORDER_H
#define ROBOT_SIM_BORDER_H

#include "robot_sim_step.h"

#if ROBOT_SLIDING || ROBOT_GROUND
#if ROBOT_SINGLE
#define ROBOT_SIM_AT_BORDER REAL(1e-6) /* [m]: so near is at the border */
#else
#define ROBOT_SIM_AT_BORDER REAL(1e-13) /* [m]: so near is at the border */
#endif

/* How far a state is from the next border [m]; negative beyond it. */
static robot_scalar_t robot_sim_margin(robot_sim_workspace_t *w, const robot_scalar_t *y)
{
#if ROBOT_SLIDING
    robot_scalar_t least = robot_switch_margin(w->k, y);
#else
    robot_scalar_t least = ROBOT_HUGE;
#endif
#if ROBOT_GROUND
    (void)robot_sim_call_ground_motion(w, y, &y[ROBOT_NQ], w->gaps, w->rates);
    for (int k = 0; k < ROBOT_GROUND; ++k) {
        const robot_scalar_t margin = (w->below[k] != 0) ? -w->gaps[k] : w->gaps[k];
        least = (margin < least) ? margin : least;
    }
#endif
    return least;
}

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
 * What rattles at a border, back within no time, is let go on. */
static int robot_sim_locate(robot_sim_workspace_t *w)
{
    robot_scalar_t low = REAL(0.0);
    robot_scalar_t high = w->t - w->t_before;
    robot_scalar_t before = robot_sim_margin(w, w->before);
    robot_scalar_t beyond = robot_sim_margin(w, w->y);
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
        const robot_scalar_t margin = robot_sim_margin(w, w->y);
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

#if ROBOT_GROUND
/* The points that crossed the surface of the ground in the last step are on its other side now. */
static void robot_sim_touch(robot_sim_workspace_t *w)
{
    (void)robot_sim_call_ground_motion(w, w->y, &w->y[ROBOT_NQ], w->gaps, w->rates);
    for (int k = 0; k < ROBOT_GROUND; ++k) {
        const int below = w->gaps[k] < REAL(0.0);
        if (below != w->below[k]) {
            if ((w->record->touches != NULL) && (w->control->touches < w->record->most_touches)) {
                robot_sim_touch_t *const found = &w->record->touches[w->control->touches];
                found->time = w->t;
                found->speed = w->rates[k];
                found->point = k;
                found->touches = below;
            }
            ++w->control->touches;
            w->below[k] = below;
            w->t_switch = w->t;
            w->ready = 0;
        }
    }
}
#endif

#if ROBOT_SLIDING
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
#endif

#endif /* ROBOT_SIM_BORDER_H */
