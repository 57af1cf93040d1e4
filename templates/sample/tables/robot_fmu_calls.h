/* The functions of the model as a unit calls them: a sample of what is generated. The tip moves along x with the first
 * mass. */
#ifndef ROBOT_FMU_CALLS_H
#define ROBOT_FMU_CALLS_H

#include "robot_fmu.h"

static int robot_fmu_call_forward_dynamics(
    const robot_fmu_t *fmu, const double *q, const double *qd, const double *F, double *qdd)
{
    return robot_forward_dynamics(&fmu->p, q, qd, F, qdd);
}

static int robot_fmu_call_forward_dynamics_tangent(const robot_fmu_t *fmu, const double *q, const double *qd,
    const double *F, const double *dq, const double *dqd, const double *dF, double *dqdd)
{
    (void)q; /* the model is linear */
    (void)qd;
    (void)F;
    return robot_forward_dynamics(&fmu->p, dq, dqd, dF, dqdd);
}

static int robot_fmu_call_forward_kinematics(const robot_fmu_t *fmu, const double *q, double *T)
{
    (void)fmu;
    for (int i = 0; i < 16; ++i) {
        T[i] = ((i % 5) == 0) ? 1.0 : 0.0;
    }
    T[3] = q[0];
    return 0;
}

static int robot_fmu_call_forward_kinematics_tangent(
    const robot_fmu_t *fmu, const double *q, const double *dq, double *dT)
{
    (void)fmu;
    (void)q;
    for (int i = 0; i < 16; ++i) {
        dT[i] = (i == 3) ? dq[0] : 0.0;
    }
    return 0;
}

static int robot_fmu_call_jacobian(const robot_fmu_t *fmu, const double *q, double *J)
{
    (void)fmu;
    (void)q;
    for (int i = 0; i < (6 * ROBOT_NV); ++i) {
        J[i] = (i == 0) ? 1.0 : 0.0;
    }
    return 0;
}

static int robot_fmu_call_jacobian_tangent(const robot_fmu_t *fmu, const double *q, const double *dq, double *dJ)
{
    (void)fmu;
    (void)q;
    (void)dq;
    for (int i = 0; i < (6 * ROBOT_NV); ++i) {
        dJ[i] = 0.0;
    }
    return 0;
}

#if ROBOT_QUATERNIONS
static int robot_fmu_call_configuration_rate(const robot_fmu_t *fmu, const double *q, const double *v, double *dq)
{
    robot_configuration_rate(&fmu->p, q, v, dq);
    return 0;
}

static int robot_fmu_call_configuration_rate_tangent(
    const robot_fmu_t *fmu, const double *q, const double *v, const double *dq, const double *dv, double *change)
{
    (void)v;
    (void)dq;
    robot_configuration_rate(&fmu->p, q, dv, change);
    return 0;
}
#endif

#endif /* ROBOT_FMU_CALLS_H */
