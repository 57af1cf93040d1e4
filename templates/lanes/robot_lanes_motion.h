/* Part of robot_lanes_simulate.c: words of the integrators for several motions at once, one in each lane of a vector.
 * Sets of motions are bits. */
#ifndef ROBOT_LANES_MOTION_H
#define ROBOT_LANES_MOTION_H

#include "robot_lanes_model.h"
#include "robot_lanes_simulate.h"

#include <float.h>
#include <math.h>

#define ROBOT_SIM_EVERY ((1u << EG_LANES) - 1u) /* the set of all motions */

/* State and time are double, whatever the model's own numbers are. */
typedef double robot_sim_state_t __attribute__((vector_size(EG_LANES * 8)));
typedef int64_t robot_sim_choice_t __attribute__((vector_size(EG_LANES * 8))); /* -1 or 0: what a comparison gives */
typedef int64_t robot_sim_place_t __attribute__((vector_size(EG_LANES * 8)));

/* A step is the same for all motions: its time and what drives it are scalar. */
typedef struct {
    const robot_sim_input_t *input;
    const robot_sim_options_t *options;
    const robot_sim_record_t *record; /* of all motions */
    const double *times;
    size_t sample, row;
    int ready;
    double t, t_before;
    robot_sim_workspace_t alone; /* of a motion that begins, or leaves its lane */
    robot_sim_options_t alone_options;
    robot_sim_record_t alone_record;
    const robot_sim_batch_t *batch;
    size_t first;    /* number of the motion in lane 0 */
    unsigned on;     /* lanes that go on here */
    unsigned passed; /* lanes whose motion has passed a limit */
    uint64_t steps;
    uint64_t evaluations[EG_LANES], factorizations[EG_LANES];
    unsigned tried[EG_LANES], factorized[EG_LANES]; /* of the present step */
    eg_lanes_params_t p;
    robot_sim_state_t y[ROBOT_SIM_NY], before[ROBOT_SIM_NY], trial[ROBOT_SIM_NY];
    robot_sim_state_t slopes[4][ROBOT_SIM_NY];
    robot_sim_state_t F[ROBOT_NV];
#if ROBOT_CAN_GENERALIZED_ALPHA
    robot_sim_state_t qdd[ROBOT_NV], qdd_next[ROBOT_NV], a[ROBOT_NV], a_next[ROBOT_NV], residual[ROBOT_NV];
    robot_sim_state_t power[2], power_next[2];
    robot_sim_state_t dF_dq[ROBOT_NV * ROBOT_NV], dF_dqd[ROBOT_NV * ROBOT_NV];
    robot_sim_state_t fresh[ROBOT_NV * ROBOT_NV], M[ROBOT_NV * ROBOT_NV];
    robot_sim_place_t fresh_pivots[ROBOT_NV], pivots[ROBOT_NV];
#endif
} robot_sim_motion_t;

/* An error where the memory of a simulation would have to begin elsewhere. */
typedef char robot_lanes_aligned_t[(__alignof__(robot_sim_motion_t) <= ROBOT_LANES_ALIGNMENT) ? 1 : -1];

static inline robot_sim_state_t robot_sim_all(double number)
{
    return number - (robot_sim_state_t){0}; /* keeps the sign of a zero */
}

/* A motion whose step fails leaves its lane, and the scalar code says why. */
static inline void robot_sim_fail(robot_sim_motion_t *w, unsigned set, int status)
{
    (void)w;
    (void)set;
    (void)status;
}

static inline void robot_sim_judge(robot_sim_motion_t *w, unsigned good, const robot_sim_state_t *y)
{
    (void)w;
    (void)good;
    (void)y;
}

static inline void robot_sim_count_evaluation(robot_sim_motion_t *w, unsigned set)
{
    for (int lane = 0; lane < EG_LANES; ++lane) {
        w->tried[lane] += (set >> lane) & 1u;
    }
}

#if ROBOT_TIMED
static inline void robot_sim_set_time(robot_sim_motion_t *w, double t)
{
    w->p.time = EG_LANES_ALL((robot_real_t)t);
}
#endif

#if ROBOT_QUATERNIONS
static inline robot_sim_state_t robot_sim_root(robot_sim_state_t x)
{
    for (int lane = 0; lane < EG_LANES; ++lane) {
        x[lane] = __builtin_sqrt(x[lane]);
    }
    return x;
}
#endif

static inline unsigned robot_sim_set(robot_sim_choice_t choice)
{
    unsigned bits = 0u;
    for (int lane = 0; lane < EG_LANES; ++lane) {
        bits |= (choice[lane] != 0) ? (1u << lane) : 0u;
    }
    return bits;
}

/* Without its sign. */
static inline robot_sim_state_t robot_sim_size(robot_sim_state_t x)
{
    return (robot_sim_state_t)((robot_sim_choice_t)x & INT64_MAX);
}

#if ROBOT_CAN_GENERALIZED_ALPHA
static inline robot_sim_choice_t robot_sim_choice(unsigned set)
{
    robot_sim_choice_t choice = {0};
    for (int lane = 0; lane < EG_LANES; ++lane) {
        choice[lane] = -(int64_t)((set >> lane) & 1u);
    }
    return choice;
}

static inline robot_sim_state_t robot_sim_choose(robot_sim_choice_t choice, robot_sim_state_t yes, robot_sim_state_t no)
{
    return (robot_sim_state_t)((choice & (robot_sim_choice_t)yes) | (~choice & (robot_sim_choice_t)no));
}

static inline robot_sim_place_t robot_sim_place_of(int row)
{
    return (robot_sim_place_t){0} + (int64_t)row;
}

static inline robot_sim_place_t robot_sim_choose_place(robot_sim_choice_t choice, int yes, robot_sim_place_t no)
{
    return (choice & (int64_t)yes) | (~choice & no);
}

/* Exchange number i of each lane for the one that its pivot names; numbers are stride apart. */
static void robot_sim_exchange(robot_sim_state_t *x, int i, robot_sim_place_t pivot, int stride)
{
    for (int lane = 0; lane < EG_LANES; ++lane) {
        const int other = (int)pivot[lane];
        if (other != i) {
            const double value = x[other * stride][lane];
            x[other * stride][lane] = x[i * stride][lane];
            x[i * stride][lane] = value;
        }
    }
}

/* Where a new matrix of Newton's method is computed, and how a set of motions takes it over. */
static inline robot_sim_state_t *robot_sim_fresh(robot_sim_motion_t *w)
{
    return w->fresh;
}

static inline robot_sim_place_t *robot_sim_fresh_pivots(robot_sim_motion_t *w)
{
    return w->fresh_pivots;
}

static inline void robot_sim_take_fresh(robot_sim_motion_t *w, unsigned set)
{
    const robot_sim_choice_t anew = robot_sim_choice(set);
    for (int k = 0; k < (ROBOT_NV * ROBOT_NV); ++k) {
        w->M[k] = robot_sim_choose(anew, w->fresh[k], w->M[k]);
    }
    for (int k = 0; k < ROBOT_NV; ++k) {
        w->pivots[k] = (anew & w->fresh_pivots[k]) | (~anew & w->pivots[k]);
    }
    for (int lane = 0; lane < EG_LANES; ++lane) {
        w->factorized[lane] += (set >> lane) & 1u;
    }
}
#endif

#endif /* ROBOT_LANES_MOTION_H */
