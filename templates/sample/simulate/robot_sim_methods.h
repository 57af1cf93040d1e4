/* Part of robot_simulate.c: the choice among the integrators. */
#ifndef ROBOT_SIM_METHODS_H
#define ROBOT_SIM_METHODS_H

#include "robot_sim_slope.h"
#include "robot_sim_rk4.h"
#if !ROBOT_LANES
#include "robot_sim_tsit5.h"
#endif
#if ROBOT_CAN_GENERALIZED_ALPHA
#include "robot_sim_generalized_alpha.h"
#endif

#if !ROBOT_LANES
/* Whether a method chooses the lengths of its steps. */
static int robot_sim_is_adaptive(int method)
{
    return (method == ROBOT_SIM_METHOD_TSIT5);
}
#endif

#if !ROBOT_LANES
/* Whether a method solves equations in each step. */
static int robot_sim_is_implicit(int method)
{
    return (method == ROBOT_SIM_METHOD_GENERALIZED_ALPHA);
}
#endif

#if !ROBOT_LANES
/* Whether a method looks at the tolerances. */
static int robot_sim_is_tolerant(int method)
{
    return (method == ROBOT_SIM_METHOD_TSIT5) || (method == ROBOT_SIM_METHOD_GENERALIZED_ALPHA);
}
#endif

/* Before a step: what the method needs to know of the present state; returns the motions in which that succeeds. */
static unsigned robot_sim_start(robot_sim_motion_t *w)
{
    unsigned good = ROBOT_SIM_EVERY;
    switch (w->options->method) {
#if ROBOT_CAN_GENERALIZED_ALPHA
    case ROBOT_SIM_METHOD_GENERALIZED_ALPHA:
        good = robot_sim_generalized_alpha_begin(w);
        break;
#endif
    default:
        break;
    }
    return good;
}

/* A step of length h into w->trial, of the open motions; returns those in which it succeeds. */
static unsigned robot_sim_take(robot_sim_motion_t *w, robot_scalar_t h, robot_scalar_t after, unsigned open)
{
    unsigned good = 0u;
    switch (w->options->method) {
    case ROBOT_SIM_METHOD_RK4:
        good = robot_sim_rk4(w, h, after, open);
        break;
#if ROBOT_CAN_GENERALIZED_ALPHA
    case ROBOT_SIM_METHOD_GENERALIZED_ALPHA:
        good = robot_sim_generalized_alpha(w, h, after, open);
        break;
#endif
#if !ROBOT_LANES
    case ROBOT_SIM_METHOD_TSIT5:
        good = robot_sim_tsit5(w, h, after, open);
        break;
#endif
    default:
        break;
    }
    return good;
}

/* The step was taken over. */
static void robot_sim_took(robot_sim_motion_t *w)
{
    switch (w->options->method) {
#if ROBOT_CAN_GENERALIZED_ALPHA
    case ROBOT_SIM_METHOD_GENERALIZED_ALPHA:
        robot_sim_generalized_alpha_took(w);
        break;
#endif
    default:
        break;
    }
}

#if ROBOT_SLIDING || ROBOT_GROUND
/* The last step is taken again: back to where it started from. */
static void robot_sim_back(robot_sim_motion_t *w)
{
    switch (w->options->method) {
#if ROBOT_CAN_GENERALIZED_ALPHA
    case ROBOT_SIM_METHOD_GENERALIZED_ALPHA:
        robot_sim_generalized_alpha_back(w);
        break;
#endif
    default:
        break;
    }
}
#endif

#if !ROBOT_LANES
/* Steps of a method that chooses their lengths, one of them accepted, up to a limit; returns a status. */
static int robot_sim_up_to(robot_sim_motion_t *w, robot_scalar_t limit)
{
    int status = ROBOT_SIM_STATUS_ARGUMENT;
    switch (w->options->method) {
#if !ROBOT_LANES
    case ROBOT_SIM_METHOD_TSIT5:
        status = robot_sim_tsit5_up_to(w, limit);
        break;
#endif
    default:
        break;
    }
    return status;
}

/* The state at a time within the last step, into w->trial. */
static void robot_sim_dense(robot_sim_motion_t *w, robot_scalar_t t)
{
    switch (w->options->method) {
#if !ROBOT_LANES
    case ROBOT_SIM_METHOD_TSIT5:
        robot_sim_tsit5_dense(w, t);
        break;
#endif
    default:
        break;
    }
}
#endif

#endif /* ROBOT_SIM_METHODS_H */
