/* Part of robot_fmu.c: directional derivatives, by tangents of the model's functions. */
#ifndef ROBOT_FMU_CHANGE_H
#define ROBOT_FMU_CHANGE_H

#include "robot_fmu_forces.h"

/* Changes of forces: of the drives, and J^T dw + dJ^T w of the wrenches. */
static int robot_fmu_force_change(const robot_fmu_t *fmu, const double *q, const double *d, double *dF)
{
    const double *const w = &fmu->state.v[ROBOT_FMU_WRENCHES];
    const double *const dw = &d[ROBOT_FMU_WRENCHES];
    int status = 0;
    for (int i = 0; i < ROBOT_NV; ++i) {
        dF[i] = 0.0;
    }
    for (int i = 0; i < ROBOT_FMU_NF; ++i) {
        dF[robot_fmu_driven[i]] = d[ROBOT_FMU_FORCES + i];
    }
    if (robot_fmu_any(w, 6) || robot_fmu_any(dw, 6)) {
        double J[6 * ROBOT_NV];
        double dJ[6 * ROBOT_NV];
        status = robot_fmu_call_jacobian(fmu, q, J);
        status = (status != 0) ? status : robot_fmu_call_jacobian_tangent(fmu, q, &d[ROBOT_FMU_Q], dJ);
        robot_fmu_add_loads(J, dw, dF);
        robot_fmu_add_loads(dJ, w, dF);
    }
#if ROBOT_FMU_POINTS_COUNT
    if ((status == 0)
        && (robot_fmu_any(w + ROBOT_FMU_POINT_WRENCHES, ROBOT_FMU_POINT_NUMBERS)
            || robot_fmu_any(dw + ROBOT_FMU_POINT_WRENCHES, ROBOT_FMU_POINT_NUMBERS))) {
        double dQ[ROBOT_NV];
        status = robot_fmu_call_point_forces_tangent(
            fmu, q, w + ROBOT_FMU_POINT_WRENCHES, &d[ROBOT_FMU_Q], dw + ROBOT_FMU_POINT_WRENCHES, dQ);
        for (int i = 0; i < ROBOT_NV; ++i) {
            dF[i] += dQ[i];
        }
    }
#endif
#if ROBOT_FMU_FRAMES_COUNT
    if ((status == 0)
        && (robot_fmu_any(w + ROBOT_FMU_FRAME_WRENCHES, ROBOT_FMU_FRAME_NUMBERS)
            || robot_fmu_any(dw + ROBOT_FMU_FRAME_WRENCHES, ROBOT_FMU_FRAME_NUMBERS))) {
        double dQ[ROBOT_NV];
        status = robot_fmu_call_frame_forces_tangent(
            fmu, q, w + ROBOT_FMU_FRAME_WRENCHES, &d[ROBOT_FMU_Q], dw + ROBOT_FMU_FRAME_WRENCHES, dQ);
        for (int i = 0; i < ROBOT_NV; ++i) {
            dF[i] += dQ[i];
        }
    }
#endif
    return status;
}

/* Complete d, which has the changes of states and inputs, by those of all that is computed. */
static int robot_fmu_change(const robot_fmu_t *fmu, double *d)
{
    const double *const q = &fmu->state.v[ROBOT_FMU_Q];
    const double *const qd = &fmu->state.v[ROBOT_FMU_QD];
    const double *const dq = &d[ROBOT_FMU_Q];
    const double *const dqd = &d[ROBOT_FMU_QD];
    double F[ROBOT_NV];
    double dF[ROBOT_NV];
    double dT[16 * ROBOT_NFRAMES];
    int status = robot_fmu_forces(fmu, q, F);
    status = (status != 0) ? status : robot_fmu_force_change(fmu, q, d, dF);
#if ROBOT_QUATERNIONS
    status = (status != 0) ? status
                           : robot_fmu_call_configuration_rate_tangent(fmu, q, qd, dq, dqd, &d[ROBOT_FMU_DERIVATIVES]);
#else
    for (int i = 0; i < ROBOT_NQ; ++i) {
        d[ROBOT_FMU_DERIVATIVES + i] = dqd[i];
    }
#endif
    status = (status != 0) ? status
                           : robot_fmu_call_forward_dynamics_tangent(
                               fmu, q, qd, F, dq, dqd, dF, &d[ROBOT_FMU_DERIVATIVES + ROBOT_NQ]);
    status = (status != 0) ? status : robot_fmu_call_forward_kinematics_tangent(fmu, q, dq, dT);
    if (status == 0) {
        robot_fmu_place_tip(&dT[16 * (ROBOT_NFRAMES - 1)], d);
    }
#if ROBOT_FMU_POINTS_COUNT
    status = (status != 0) ? status : robot_fmu_call_point_positions_tangent(fmu, q, dq, &d[ROBOT_FMU_POINTS]);
#endif
#if ROBOT_FMU_FRAMES_COUNT
    status = (status != 0) ? status
                           : robot_fmu_call_frame_pose_tangent(
                               fmu, q, dq, &d[ROBOT_FMU_FRAME_POSITIONS], &d[ROBOT_FMU_FRAME_ROTATIONS]);
    status = (status != 0) ? status
                           : robot_fmu_call_frame_velocity_tangent(fmu, q, qd, dq, dqd, &d[ROBOT_FMU_FRAME_VELOCITIES]);
#endif
    return status;
}

#endif /* ROBOT_FMU_CHANGE_H */
