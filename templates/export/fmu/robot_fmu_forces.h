/* Part of robot_fmu.c: generalized forces of the inputs, and the place of the tip. */
#ifndef ROBOT_FMU_FORCES_H
#define ROBOT_FMU_FORCES_H

#include "robot_fmu.h"
#include "robot_fmu_calls.h"
#include "robot_fmu_tables.h"

static int robot_fmu_any(const double *x, int n)
{
    int any = 0;
    for (int i = 0; i < n; ++i) {
        any = any || (x[i] < 0.0) || (x[i] > 0.0);
    }
    return any;
}

/* Add J^T w, J of ROBOT_NV columns. */
static void robot_fmu_add_loads(const double *J, const double *w, double *F)
{
    for (int i = 0; i < 6; ++i) {
        for (int j = 0; j < ROBOT_NV; ++j) {
            F[j] += J[(i * ROBOT_NV) + j] * w[i];
        }
    }
}

/* Forces of the drives, and of the wrenches on the tip, the points and the frames at q; returns a status of the model.
 */
static int robot_fmu_forces(const robot_fmu_t *fmu, const double *q, double *F)
{
    const double *const given = &fmu->state.v[ROBOT_FMU_FORCES];
    const double *const tip = &fmu->state.v[ROBOT_FMU_WRENCHES];
    int status = 0;
    for (int i = 0; i < ROBOT_NV; ++i) {
        F[i] = 0.0;
    }
    for (int i = 0; i < ROBOT_FMU_NF; ++i) {
        F[robot_fmu_driven[i]] = given[i];
    }
    if (robot_fmu_any(tip, 6)) {
        double J[6 * ROBOT_NV];
        status = robot_fmu_call_jacobian(fmu, q, J);
        robot_fmu_add_loads(J, tip, F);
    }
#if ROBOT_FMU_POINTS_COUNT
    if ((status == 0) && robot_fmu_any(tip + ROBOT_FMU_POINT_WRENCHES, ROBOT_FMU_POINT_NUMBERS)) {
        double Q[ROBOT_NV];
        status = robot_fmu_call_point_forces(fmu, q, tip + ROBOT_FMU_POINT_WRENCHES, Q);
        for (int i = 0; i < ROBOT_NV; ++i) {
            F[i] += Q[i];
        }
    }
#endif
#if ROBOT_FMU_FRAMES_COUNT
    if ((status == 0) && robot_fmu_any(tip + ROBOT_FMU_FRAME_WRENCHES, ROBOT_FMU_FRAME_NUMBERS)) {
        double Q[ROBOT_NV];
        status = robot_fmu_call_frame_forces(fmu, q, tip + ROBOT_FMU_FRAME_WRENCHES, Q);
        for (int i = 0; i < ROBOT_NV; ++i) {
            F[i] += Q[i];
        }
    }
#endif
    return status;
}

/* Position and rotation of the tip out of its transformation, row-major. */
static void robot_fmu_place_tip(const double *T, double *v)
{
    for (int i = 0; i < 3; ++i) {
        v[ROBOT_FMU_TIP + i] = T[(4 * i) + 3];
        for (int j = 0; j < 3; ++j) {
            v[ROBOT_FMU_TIP + 3 + (3 * i) + j] = T[(4 * i) + j];
        }
    }
}

#endif /* ROBOT_FMU_FORCES_H */
