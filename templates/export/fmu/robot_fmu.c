/**
 * @file  robot_fmu.c
 * @brief The robot as a functional mock-up unit, documented in robot_fmu.h.
 */

#include "robot_fmu.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "robot_fmu_calls.h"
#include "robot_fmu_tables.h"
#include "robot_fmu_forces.h"

#if ROBOT_LOOPS
#define ROBOT_FMU_SINGULAR                                                                                             \
    "the loops are in a singular configuration, or the mass matrix is not positive definite: check start values, "     \
    "inertias and live parameters"
#else
#define ROBOT_FMU_SINGULAR "the mass matrix is not positive definite: check inertias and live parameters"
#endif

void robot_fmu_reset(robot_fmu_t *fmu)
{
    for (int i = 0; i < ROBOT_FMU_SIZE; ++i) {
        fmu->state.v[i] = (i < ROBOT_FMU_DERIVATIVES) ? robot_fmu_start[i] : 0.0;
    }
    (void)memcpy(fmu->state.unit, ROBOT_FMU_UNIT, sizeof fmu->state.unit);
    fmu->p = robot_params_nominal;
    fmu->problem = "";
    fmu->state.step = 0.0;
    fmu->state.tolerance = ROBOT_FMU_TOLERANCE;
#if ROBOT_SLIDING
    fmu->k = fmu->state.k;
    (void)robot_switch_elements(&fmu->state.v[ROBOT_FMU_Q], fmu->state.k);
#endif
    robot_fmu_take_parameters(fmu);
}

void robot_fmu_set_time(robot_fmu_t *fmu, double time)
{
    fmu->state.v[ROBOT_FMU_TIME] = time;
#if ROBOT_TIMED
    robot_fmu_take_parameters(fmu);
#endif
}

int robot_fmu_set(robot_fmu_t *fmu, const unsigned int *references, size_t count, const double *values)
{
    int status = ROBOT_FMU_OK;
    for (size_t i = 0u; i < count; ++i) {
        if ((references[i] == ROBOT_FMU_TIME) || (references[i] >= ROBOT_FMU_DERIVATIVES)) {
            fmu->problem = "a variable was set that is computed or does not exist";
            status = ROBOT_FMU_FAILED;
        } else {
            fmu->state.v[references[i]] = values[i];
        }
    }
    robot_fmu_take_parameters(fmu);
    return status;
}

/* Accelerations, tip, points and frames: all that is computed from time, parameters, inputs and states. */
static int robot_fmu_compute(robot_fmu_t *fmu)
{
    double *const v = fmu->state.v;
    const double *const q = &v[ROBOT_FMU_Q];
    const double *const qd = &v[ROBOT_FMU_QD];
    double F[ROBOT_NV];
    double T[16 * ROBOT_NFRAMES];
    int status = robot_fmu_forces(fmu, q, F);
#if ROBOT_QUATERNIONS
    status = (status != 0) ? status : robot_fmu_call_configuration_rate(fmu, q, qd, &v[ROBOT_FMU_DERIVATIVES]);
#else
    for (int i = 0; i < ROBOT_NQ; ++i) {
        v[ROBOT_FMU_DERIVATIVES + i] = qd[i];
    }
#endif
    status =
        (status != 0) ? status : robot_fmu_call_forward_dynamics(fmu, q, qd, F, &v[ROBOT_FMU_DERIVATIVES + ROBOT_NQ]);
    status = (status != 0) ? status : robot_fmu_call_forward_kinematics(fmu, q, T);
#if ROBOT_FMU_POINTS_COUNT
    status = (status != 0) ? status : robot_fmu_call_point_positions(fmu, q, &v[ROBOT_FMU_POINTS]);
#endif
#if ROBOT_FMU_FRAMES_COUNT
    status = (status != 0)
                 ? status
                 : robot_fmu_call_frame_pose(fmu, q, &v[ROBOT_FMU_FRAME_POSITIONS], &v[ROBOT_FMU_FRAME_ROTATIONS]);
    status = (status != 0) ? status : robot_fmu_call_frame_velocity(fmu, q, qd, &v[ROBOT_FMU_FRAME_VELOCITIES]);
#endif
    if (status == 0) {
        robot_fmu_place_tip(&T[16 * (ROBOT_NFRAMES - 1)], v);
#if ROBOT_SLIDING
        v[ROBOT_FMU_MARGIN] = robot_fmu_indicator(fmu);
#endif
        fmu->state.stale = 0;
    } else {
        fmu->problem = (status == ROBOT_ERROR_NOT_POSITIVE_DEFINITE)
                           ? ROBOT_FMU_SINGULAR
                           : "a sliding joint is out of the range of its beam";
    }
    return (status == 0) ? ROBOT_FMU_OK : ROBOT_FMU_FAILED;
}

int robot_fmu_get(robot_fmu_t *fmu, const unsigned int *references, size_t count, double *values)
{
    int status = ROBOT_FMU_OK;
    for (size_t i = 0u; (i < count) && (status == ROBOT_FMU_OK); ++i) {
        if (references[i] >= ROBOT_FMU_SIZE) {
            fmu->problem = "a variable was read that does not exist";
            status = ROBOT_FMU_FAILED;
        } else {
            const int computed = references[i] >= ROBOT_FMU_DERIVATIVES;
            status = (computed && (fmu->state.stale != 0)) ? robot_fmu_compute(fmu) : status;
            values[i] = fmu->state.v[references[i]];
        }
    }
    return status;
}

#include "robot_fmu_change.h"

int robot_fmu_directional(robot_fmu_t *fmu, const unsigned int *unknowns, size_t unknown_count,
    const unsigned int *knowns, size_t known_count, const double *change, double *answer)
{
    double d[ROBOT_FMU_SIZE] = {0.0};
    int status = ROBOT_FMU_OK;
    for (size_t i = 0u; i < known_count; ++i) {
        if ((knowns[i] < ROBOT_FMU_FORCES) || (knowns[i] >= ROBOT_FMU_DERIVATIVES)) {
            status = ROBOT_FMU_FAILED;
        } else {
            d[knowns[i]] += change[i];
        }
    }
    for (size_t i = 0u; i < unknown_count; ++i) {
        status = (unknowns[i] < ROBOT_FMU_SIZE) ? status : ROBOT_FMU_FAILED;
    }
    if (status != ROBOT_FMU_OK) {
        fmu->problem = "directional derivatives are along inputs and states, of variables that exist";
    } else if (robot_fmu_change(fmu, d) != 0) {
        fmu->problem = "no derivatives here: the mass matrix is not positive definite, or a joint is out of range";
        status = ROBOT_FMU_FAILED;
    } else {
        for (size_t i = 0u; i < unknown_count; ++i) {
            answer[i] = d[unknowns[i]];
        }
    }
    return status;
}

#if ROBOT_QUATERNIONS
/* The largest deviation of a quaternion's length from 1. */
static double robot_fmu_drift(const double *q)
{
    double most = 0.0;
    for (int k = 0; k < ROBOT_QUATERNIONS; ++k) {
        const double *const x = q + robot_fmu_quaternions[k];
        const double drift = fabs(sqrt((x[0] * x[0]) + (x[1] * x[1]) + (x[2] * x[2]) + (x[3] * x[3])) - 1.0);
        most = (drift > most) ? drift : most;
    }
    return most;
}

static void robot_fmu_unit(double *q)
{
    for (int k = 0; k < ROBOT_QUATERNIONS; ++k) {
        double *const x = q + robot_fmu_quaternions[k];
        const double length = sqrt((x[0] * x[0]) + (x[1] * x[1]) + (x[2] * x[2]) + (x[3] * x[3]));
        for (int i = 0; i < 4; ++i) {
            x[i] = (length > 0.0) ? x[i] / length : ((i == 3) ? 1.0 : 0.0);
        }
    }
}

#endif
#if ROBOT_LOOPS
/* The largest residual of the loops. */
static double robot_fmu_gap(const robot_fmu_t *fmu)
{
    robot_real_t q[ROBOT_NQ];
    robot_real_t e[ROBOT_LOOP_ROWS];
    double largest = 0.0;
    for (int i = 0; i < ROBOT_NQ; ++i) {
        q[i] = (robot_real_t)fmu->state.v[ROBOT_FMU_Q + i];
    }
    robot_loop_residual(&fmu->p, q, e);
    for (int r = 0; r < ROBOT_LOOP_ROWS; ++r) {
        const double size = fabs((double)e[r]);
        largest = (size <= largest) ? largest : size;
    }
    return largest;
}

/* Bring the state to the nearest one whose loops are closed; velocities that are held stay. */
static int robot_fmu_close(robot_fmu_t *fmu, const unsigned char *held)
{
    double *const v = fmu->state.v;
    robot_real_t q[ROBOT_NQ];
    robot_real_t qd[ROBOT_NV];
    for (int i = 0; i < ROBOT_NQ; ++i) {
        q[i] = (robot_real_t)v[ROBOT_FMU_Q + i];
    }
    for (int i = 0; i < ROBOT_NV; ++i) {
        qd[i] = (robot_real_t)v[ROBOT_FMU_QD + i];
    }
    int status = robot_close_loops(&fmu->p, held, (robot_real_t)ROBOT_FMU_CLOSED, q, NULL, &fmu->loops);
    status = (status != ROBOT_LOOPS_CLOSED) ? status : robot_close_velocities(&fmu->p, held, q, qd, &fmu->loops);
    if (status == ROBOT_LOOPS_CLOSED) {
        for (int i = 0; i < ROBOT_NQ; ++i) {
            v[ROBOT_FMU_Q + i] = (double)q[i];
        }
        for (int i = 0; i < ROBOT_NV; ++i) {
            v[ROBOT_FMU_QD + i] = (double)qd[i];
        }
    } else {
        fmu->problem = "the loops cannot be closed with the drives where they are: set start values of q and qd nearer "
                       "to a closed configuration";
    }
    return (status == ROBOT_LOOPS_CLOSED) ? ROBOT_FMU_OK : ROBOT_FMU_FAILED;
}

#endif
int robot_fmu_begin(robot_fmu_t *fmu)
{
    int status = ROBOT_FMU_OK;
#if ROBOT_QUATERNIONS
    robot_fmu_unit(&fmu->state.v[ROBOT_FMU_Q]);
#endif
#if ROBOT_SLIDING
    double *const q = &fmu->state.v[ROBOT_FMU_Q];
    if (robot_switch_elements(q, fmu->state.k) == 0) {
        robot_switch_hold(fmu->state.k, q, &fmu->state.v[ROBOT_FMU_QD]);
    } else {
        fmu->problem = "a sliding joint starts out of the range of its beam: set the start values of q";
        status = ROBOT_FMU_FAILED;
    }
#endif
#if ROBOT_LOOPS
    status = (status != ROBOT_FMU_OK) ? status : robot_fmu_close(fmu, robot_fmu_held);
#endif
    fmu->state.stale = 1;
    return status;
}

double robot_fmu_indicator(const robot_fmu_t *fmu)
{
#if ROBOT_SLIDING
    /* zero a little beyond the border, so that who finds the zero is beyond it, whatever the rounding */
    return robot_switch_margin(fmu->state.k, &fmu->state.v[ROBOT_FMU_Q]) + 1e-12;
#else
    (void)fmu;
    return 1.0;
#endif
}

int robot_fmu_wants_event(const robot_fmu_t *fmu)
{
#if ROBOT_SLIDING || ROBOT_QUATERNIONS || ROBOT_LOOPS
    int wants = 0;
#if ROBOT_SLIDING
    wants = robot_switch_margin(fmu->state.k, &fmu->state.v[ROBOT_FMU_Q]) < 0.0;
#endif
#if ROBOT_QUATERNIONS
    wants = wants || (robot_fmu_drift(&fmu->state.v[ROBOT_FMU_Q]) > 1e-9);
#endif
#if ROBOT_LOOPS
    wants = wants || (robot_fmu_gap(fmu) > ROBOT_FMU_OPEN);
#endif
    return wants;
#else
    (void)fmu;
    return 0;
#endif
}

int robot_fmu_event(robot_fmu_t *fmu, int *changed)
{
    *changed = 0;
#if ROBOT_QUATERNIONS
    *changed = robot_fmu_drift(&fmu->state.v[ROBOT_FMU_Q]) > 0.0;
    robot_fmu_unit(&fmu->state.v[ROBOT_FMU_Q]);
#endif
    int answer = 0;
#if ROBOT_SLIDING
    int left = 1000;
    do {
        robot_switch_t found = {0};
        answer = robot_switch(
            &fmu->p, fmu->state.k, &fmu->state.v[ROBOT_FMU_Q], &fmu->state.v[ROBOT_FMU_QD], &found, &fmu->switching);
        *changed = *changed || (answer == 1);
        --left;
    } while ((answer == 1) && (left > 0));
    if (answer < 0) {
        fmu->problem = "a sliding joint left its beam";
    }
#endif
#if ROBOT_LOOPS
    if (robot_fmu_gap(fmu) > ROBOT_FMU_CLOSED) {
        *changed = 1;
        answer = (robot_fmu_close(fmu, NULL) == ROBOT_FMU_OK) ? answer : -1;
    }
#endif
    fmu->state.stale = 1;
    return (answer < 0) ? ROBOT_FMU_FAILED : ROBOT_FMU_OK;
}

/* Forces during a step, for the integrator. */
static int robot_fmu_drive(void *context, double t, const double *q, const double *qd, double *F)
{
    robot_fmu_t *const fmu = context;
#if ROBOT_TIMED
    fmu->p.time = (robot_real_t)t;
#else
    (void)t;
#endif
    (void)qd;
    return robot_fmu_forces(fmu, q, F);
}

static const char *robot_fmu_reason(int status)
{
    const char *reason = "the simulation failed";
    switch (status) {
    case ROBOT_SIM_STATUS_SINGULAR:
        reason = ROBOT_FMU_SINGULAR;
        break;
#if ROBOT_LOOPS
    case ROBOT_SIM_STATUS_OPEN:
        reason = "the loops are open, or cannot be kept closed: a singular configuration was met, or q was set to an "
                 "open one";
        break;
#endif
    case ROBOT_SIM_STATUS_NOT_FINITE:
        reason = "the state is not finite: check inputs and parameters";
        break;
    case ROBOT_SIM_STATUS_STEP_TOO_SMALL:
        reason = "no step of the integrator is small enough for its tolerance";
        break;
    case ROBOT_SIM_STATUS_OUT_OF_RANGE:
    case ROBOT_SIM_STATUS_FUNCTION:
        reason = "a sliding joint left its beam";
        break;
    default:
        break;
    }
    return reason;
}

int robot_fmu_advance(robot_fmu_t *fmu, double from, double to)
{
    double *const v = fmu->state.v;
    const double times[2] = {from, to};
    double q[2 * ROBOT_NQ];
    double qd[2 * ROBOT_NV];
    const robot_sim_input_t input = {.kind = ROBOT_SIM_INPUT_FUNCTION, .function = robot_fmu_drive, .context = fmu};
    const robot_sim_options_t options = {.method = ROBOT_SIM_METHOD_TSIT5,
        .step = fmu->state.step,
        .rtol = fmu->state.tolerance,
        .atol = 0.01 * fmu->state.tolerance};
    const robot_sim_record_t record = {.q = q, .qd = qd};
    robot_sim_control_t control = {0};
#if ROBOT_SLIDING
    fmu->k = fmu->simulation.k;
#endif
    const int status = robot_simulate(
        &fmu->p, &input, &options, &v[ROBOT_FMU_Q], &v[ROBOT_FMU_QD], 2u, times, &record, &fmu->simulation, &control);
#if ROBOT_SLIDING
    fmu->k = fmu->state.k;
#endif
    if (status == ROBOT_SIM_STATUS_OK) {
        for (int i = 0; i < ROBOT_NQ; ++i) {
            v[ROBOT_FMU_Q + i] = q[ROBOT_NQ + i];
        }
        for (int i = 0; i < ROBOT_NV; ++i) {
            v[ROBOT_FMU_QD + i] = qd[ROBOT_NV + i];
        }
#if ROBOT_SLIDING
        for (int i = 0; i < ROBOT_SLIDING; ++i) {
            fmu->state.k[i] = fmu->simulation.k[i];
        }
#endif
        v[ROBOT_FMU_TIME] = to;
        fmu->state.step = fmu->simulation.h;
    } else {
        fmu->problem = robot_fmu_reason(status);
    }
    robot_fmu_take_parameters(fmu);
    return (status == ROBOT_SIM_STATUS_OK) ? ROBOT_FMU_OK : ROBOT_FMU_FAILED;
}
