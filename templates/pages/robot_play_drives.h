/* Part of robot_play.c: what acts on the robot, by the drives and by the hand. */
#ifndef ROBOT_PLAY_DRIVES_H
#define ROBOT_PLAY_DRIVES_H

#include "robot_play.h"
#include "robot_play_tables.h"

typedef double robot_law_state_t;
typedef const robot_params_t robot_law_model_t;
typedef int robot_law_answer_t;

#include "robot_drive_laws.h"

static robot_params_t robot_play_params;
static double robot_play_q[ROBOT_NQ];
static double robot_play_qd[ROBOT_NV];
static double robot_play_targets[ROBOT_NV];
static double robot_play_kp[ROBOT_NV];
static double robot_play_kd[ROBOT_NV];
static double robot_play_law[4];
static double robot_play_hand[8] = {-1.0};
static double robot_play_steps;
static double robot_play_nodes[3 * ROBOT_PLAY_NODES]; /* as drawn */
static double robot_play_wrenches[6 * ROBOT_PLAY_NODES];

/* J^T of the spring from the hand to the place that it holds: the force at its node, and its moment about the node. */
static void robot_play_pull(const double *q, double *F)
{
    const double *const hand = robot_play_hand;
    const int node = (int)hand[0];
    const double *const lever = &hand[2];
    double places[3 * ROBOT_PLAY_NODES];
    double *const f = &robot_play_wrenches[6 * node];
    double *const m = f + 3;
    (void)robot_point_positions(&robot_play_params, q, places);
    for (int k = 0; k < 3; ++k) {
        f[k] = hand[1] * (hand[5 + k] - places[(3 * node) + k] - lever[k]);
    }
    for (int k = 0; k < 3; ++k) {
        m[k] = (lever[(k + 1) % 3] * f[(k + 2) % 3]) - (lever[(k + 2) % 3] * f[(k + 1) % 3]);
    }
    (void)robot_point_forces(&robot_play_params, q, robot_play_wrenches, F);
    for (int k = 0; k < 6; ++k) {
        f[k] = 0.0;
    }
}

#if ROBOT_PLAY_COMPUTES
static int robot_play_dynamics(const robot_params_t *p, const double *q, const double *qd, const double *qdd, double *F)
{
    (void)robot_inverse_dynamics(p, q, qd, qdd, F);
    return 0;
}

/* Computed torque: errors vanish with the bandwidth of the page. */
static void robot_play_compute(const double *q, const double *qd, double *F)
{
    const double still[ROBOT_NV] = {0.0};
    double pd[ROBOT_NV];
    for (int i = 0; i < ROBOT_NV; ++i) {
        const double e = robot_play_targets[i] - q[robot_play_places[i]];
        pd[i] = robot_law_pd(ROBOT_PLAY_BANDWIDTH * ROBOT_PLAY_BANDWIDTH, 2.0 * ROBOT_PLAY_BANDWIDTH, e, -qd[i]);
    }
    (void)robot_law_computed_torque(robot_play_dynamics, &robot_play_params, q, qd, still, pd, F);
}
#endif

/* Parts of the weight, and of PD. */
static void robot_play_hold(const double *q, const double *qd, double *F)
{
    const double *const law = robot_play_law;
    (void)robot_gravity_vector(&robot_play_params, q, F);
    for (int i = 0; i < ROBOT_NV; ++i) {
        const double e = robot_play_targets[i] - q[robot_play_places[i]];
        F[i] = (law[0] * F[i]) + robot_law_pd(law[1] * robot_play_kp[i], law[2] * robot_play_kd[i], e, -qd[i]);
    }
}

/* The forces of the drives, and those of the hand. */
static int robot_play_force(void *context, double t, const double *q, const double *qd, double *F)
{
    double pulled[ROBOT_NV] = {0.0};
    (void)context;
    (void)t;
#if ROBOT_PLAY_COMPUTES
    if (robot_play_law[3] > 0.0) {
        robot_play_compute(q, qd, F);
    } else {
        robot_play_hold(q, qd, F);
    }
#else
    robot_play_hold(q, qd, F);
#endif
    if (robot_play_hand[0] >= 0.0) {
        robot_play_pull(q, pulled);
    }
    for (int i = 0; i < ROBOT_NV; ++i) {
        F[i] = ((robot_play_kp[i] > 0.0) ? F[i] : 0.0) + pulled[i];
    }
    return 0;
}

#endif /* ROBOT_PLAY_DRIVES_H */
