/* The functions of the model as an estimator calls them, and its tables: a sample of what is generated. */
#ifndef ROBOT_ESTIMATOR_CALLS_H
#define ROBOT_ESTIMATOR_CALLS_H

#include "robot.h"

#include "robot_estimator_sizes.h"

#if ROBOT_QUATERNIONS
static const int robot_estimator_drive[ROBOT_NV] = {0, 1, -1, -1, -1};
static const robot_scalar_t robot_estimator_width[ROBOT_NV] = {
    REAL(0.01), REAL(0.01), REAL(0.01), REAL(0.01), REAL(0.01)};
#else
static const int robot_estimator_drive[ROBOT_NV] = {0, 1};
static const robot_scalar_t robot_estimator_width[ROBOT_NV] = {REAL(0.01), REAL(0.01)};
#endif
#if ROBOT_ESTIMATES_PAYLOAD
static const robot_scalar_t robot_estimator_payload[100] = {REAL(1.0)};

#endif

static int robot_estimator_call_inverse_dynamics(const robot_params_t *p, const robot_scalar_t *q,
    const robot_scalar_t *qd, const robot_scalar_t *qdd, robot_scalar_t *F)
{
    robot_inverse_dynamics(p, q, qd, qdd, F);
    return 0;
}

static int robot_estimator_call_regressor(const robot_params_t *p, const robot_scalar_t *q, const robot_scalar_t *qd,
    const robot_scalar_t *qdd, robot_scalar_t *Y)
{
    (void)p;
    (void)q;
    (void)qd;
    for (int i = 0; i < (ROBOT_NV * ROBOT_ESTIMATOR_COLUMNS); ++i) {
        Y[i] = ((i % ROBOT_ESTIMATOR_COLUMNS) == 0) ? qdd[i / ROBOT_ESTIMATOR_COLUMNS] : REAL(0.0);
    }
    return 0;
}

#endif /* ROBOT_ESTIMATOR_CALLS_H */
