/* Drives, start values and parameters of the sample robot's unit: a sample of what is generated. */
#ifndef ROBOT_FMU_TABLES_H
#define ROBOT_FMU_TABLES_H

#include "robot_fmu.h"

static const int robot_fmu_driven[ROBOT_FMU_NF] = {0, 1}; /* which velocities */
#if ROBOT_QUATERNIONS
static const int robot_fmu_quaternions[ROBOT_QUATERNIONS] = {2}; /* where in q they start */
#endif

#if ROBOT_LOOPS
static const unsigned char robot_fmu_held[ROBOT_NV] = {1, 0}; /* drives stay while loops are closed */
#define ROBOT_FMU_CLOSED 1e-12                                /* residual of closed loops [m or 1] */
#define ROBOT_FMU_OPEN   1e-9                                 /* from which on they are closed again */
#endif

static const double robot_fmu_start[ROBOT_FMU_DERIVATIVES] = {0.0, 2.0, 50.0, 0.5};

/* Hand the live parameters and the time to the model. */
static void robot_fmu_take_parameters(robot_fmu_t *fmu)
{
    fmu->p.mass = (robot_real_t)fmu->state.v[ROBOT_FMU_PARAMETERS];
    fmu->p.stiffness = (robot_real_t)fmu->state.v[ROBOT_FMU_PARAMETERS + 1];
    fmu->p.damping = (robot_real_t)fmu->state.v[ROBOT_FMU_PARAMETERS + 2];
    fmu->p.time = (robot_real_t)fmu->state.v[ROBOT_FMU_TIME];
    fmu->state.stale = 1;
}

#endif /* ROBOT_FMU_TABLES_H */
