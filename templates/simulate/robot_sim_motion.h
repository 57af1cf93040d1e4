/* Part of robot_simulate.c: words of the integrators for one motion. Several at once have the same in
 * robot_lanes_motion.h: sets of motions are bits, of which one motion has one. */
#ifndef ROBOT_SIM_MOTION_H
#define ROBOT_SIM_MOTION_H

#if ROBOT_LANES
#include "robot_lanes_motion.h"
#else
#include "robot_sim_numbers.h"

#include <float.h>
#include <math.h>

#define ROBOT_SIM_EVERY 1u /* the set of all motions */

/* The same number in all motions. */
static robot_sim_state_t robot_sim_all(robot_scalar_t number)
{
    return number;
}

/* What happens to a motion of the set: its step fails. */
static void robot_sim_fail(robot_sim_motion_t *w, unsigned set, int status)
{
    w->status = (set != 0u) ? status : w->status;
}

/* The equations of motion are evaluated in a set of motions. */
static void robot_sim_count_evaluation(robot_sim_motion_t *w, unsigned set)
{
    w->control->evaluations += set;
}

static int robot_sim_all_finite(const robot_sim_state_t *x, int n)
{
    int finite = 1;
    for (int i = 0; i < n; ++i) {
        finite = finite && (ROBOT_FABS(x[i]) <= ROBOT_LARGEST); /* false for NaN */
    }
    return finite;
}

/* Why the equations of motion could not be solved at the state y, where they could not. */
static void robot_sim_judge(robot_sim_motion_t *w, unsigned good, const robot_sim_state_t *y)
{
    const int singular = w->code == ROBOT_ERROR_NOT_POSITIVE_DEFINITE;
    if (good == 0u) {
        w->status = singular ? ROBOT_SIM_STATUS_SINGULAR : ROBOT_SIM_STATUS_OUT_OF_RANGE;
        w->status = robot_sim_all_finite(y, ROBOT_SIM_NX) ? w->status : ROBOT_SIM_STATUS_NOT_FINITE;
    }
}

#if ROBOT_TIMED
static void robot_sim_set_time(robot_sim_motion_t *w, robot_scalar_t t)
{
    w->now.time = (robot_real_t)t;
}
#endif

#if ROBOT_QUATERNIONS
static robot_sim_state_t robot_sim_root(robot_sim_state_t x)
{
    return ROBOT_SQRT(x);
}
#endif

#if ROBOT_CAN_GENERALIZED_ALPHA
static robot_sim_choice_t robot_sim_choice(unsigned set)
{
    return (set != 0u) ? 1 : 0;
}

/* Where a new matrix of Newton's method is computed, and how a set of motions takes it over. */
static robot_sim_state_t *robot_sim_fresh(robot_sim_motion_t *w)
{
    return w->M;
}

static robot_sim_place_t *robot_sim_fresh_pivots(robot_sim_motion_t *w)
{
    return w->pivots;
}

static void robot_sim_take_fresh(robot_sim_motion_t *w, unsigned set)
{
    w->control->factorizations += set;
}
#endif
#endif

#endif /* ROBOT_SIM_MOTION_H */
