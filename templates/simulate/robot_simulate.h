/**
 * @file  robot_simulate.h
 * @brief Simulation: integrators for the equations of motion.
 */

/*
 * SI units, radians. Time, state and forces are robot_scalar_t; the model is evaluated in its own precision.
 * No heap, no I/O, all state in the caller's workspace: simulations may run in several threads at once.
 */

#ifndef ROBOT_SIMULATE_H
#define ROBOT_SIMULATE_H

#include "robot.h"
#if ROBOT_SLIDING
#include "robot_switch.h"
#endif

#include <stddef.h>
#include <stdint.h>

#include "robot_sim_method_constants.h"

#define ROBOT_SIM_INPUT_HOLD            0 /* forces of the last row */
#define ROBOT_SIM_INPUT_LINEAR          1 /* forces on the line between two rows */
#define ROBOT_SIM_INPUT_PD              2 /* PD control with gravity compensation on a reference */
#define ROBOT_SIM_INPUT_COMPUTED_TORQUE 3 /* computed torque on a reference */
#define ROBOT_SIM_INPUT_FUNCTION        4 /* a function of the caller */

#define ROBOT_SIM_STATUS_OK             0    /* reached the last sample */
#define ROBOT_SIM_STATUS_CANCELLED      1    /* control->cancel was set */
#define ROBOT_SIM_STATUS_SINGULAR       (-1) /* the mass matrix is not positive definite */
#define ROBOT_SIM_STATUS_NOT_FINITE     (-2) /* NaN or infinity */
#define ROBOT_SIM_STATUS_STEP_TOO_SMALL (-3) /* no step is small enough for the tolerances */
#define ROBOT_SIM_STATUS_NEWTON         (-4) /* the iteration of an implicit step does not converge */
#define ROBOT_SIM_STATUS_FUNCTION       (-5) /* the function of the input returned non-zero */
#define ROBOT_SIM_STATUS_EVENT          (-6) /* the event function returned a negative number */
#define ROBOT_SIM_STATUS_ARGUMENT       (-7) /* an option or a time is out of range, or the method needs other functions */
#define ROBOT_SIM_STATUS_OUT_OF_RANGE   (-8) /* a sliding joint left its beam */
#define ROBOT_SIM_STATUS_OPEN           (-9) /* the loops are open at the start, or cannot be kept closed */

#define ROBOT_SIM_NX (ROBOT_NQ + ROBOT_NV)     /* state of the motion */
#define ROBOT_SIM_NY (ROBOT_NQ + ROBOT_NV + 2) /* with work and loss */

#ifdef __cplusplus
extern "C" {
#endif

#include "robot_sim_types.h"

/** Memory of one simulation; nothing in it needs a value before or is meant for the caller. */
typedef struct {
    const robot_params_t *p;
#if ROBOT_TIMED
    robot_params_t now; /* the live parameters, with the time that is being integrated */
#endif
    const robot_sim_input_t *input;
    const robot_sim_options_t *options;
    const robot_sim_record_t *record;
    robot_sim_control_t *control;
    const robot_scalar_t *times;
    size_t sample;                    /* the next one */
    size_t row;                       /* number of rows of the input whose time has come */
    int ready;                        /* whether what the last step left for the next is valid */
    int status;                       /* why a step failed */
    int code;                         /* what the model's function returned that failed */
    robot_scalar_t t, t_before;       /* time now, and before the last step */
    robot_scalar_t h, h_least, error; /* step size, the least of it, and the error of the last step */
    robot_scalar_t y[ROBOT_SIM_NY];   /* q, qd, work, loss */
    robot_scalar_t before[ROBOT_SIM_NY];
    robot_scalar_t trial[ROBOT_SIM_NY];
    robot_scalar_t slopes[7][ROBOT_SIM_NY];
    robot_scalar_t F[ROBOT_NV];
#if ROBOT_SLIDING
    int k[ROBOT_SLIDING]; /* elements inside the sliding joints */
    robot_switch_work_t switching;
#endif
#if ROBOT_GROUND
    int below[ROBOT_GROUND]; /* whether a point is in the ground */
    robot_scalar_t gaps[ROBOT_GROUND], rates[ROBOT_GROUND];
#endif
#if ROBOT_SLIDING || ROBOT_GROUND
    robot_scalar_t t_switch; /* when a step ended at a border last */
#endif
#if ROBOT_LOOPS
    robot_scalar_t loop_e[ROBOT_LOOP_ROWS], loop_J[ROBOT_LOOP_ROWS * ROBOT_NV]; /* residuals and rows of the loops */
    robot_scalar_t loop_L[ROBOT_LOOPS * ROBOT_LOOPS], loop_x[ROBOT_LOOPS];      /* factors of J W J^T, multipliers */
    robot_scalar_t loop_v[ROBOT_NV];                                            /* displacement that closes them */
#endif
#if ROBOT_CAN_GENERALIZED_ALPHA
    robot_scalar_t qdd[ROBOT_NV], qdd_next[ROBOT_NV], a[ROBOT_NV], a_next[ROBOT_NV], residual[ROBOT_NV];
    robot_scalar_t power[2], power_next[2];
    robot_scalar_t dF_dq[ROBOT_NV * ROBOT_NV], dF_dqd[ROBOT_NV * ROBOT_NV], M[ROBOT_NV * ROBOT_NV];
    int pivots[ROBOT_NV];
#if ROBOT_SLIDING || ROBOT_GROUND
    robot_scalar_t qdd_before[ROBOT_NV], a_before[ROBOT_NV], power_before[2];
#endif
#endif
} robot_sim_workspace_t;

/**
 * @brief Simulate the model from times[0] to times[samples - 1] and record the state at every time between.
 *
 * @param[in]     p, input, options  live parameters, driving forces, method
 * @param[in]     q0, qd0  state at times[0], ROBOT_NQ and ROBOT_NV values; quaternions are made unit
 * @param[in]     samples, times  increasing times [s]
 * @param[in]     record  where the samples go
 * @param[in,out] workspace  memory of this simulation
 * @param[in,out] control  set cancel to 0 before
 * @return 0, or another STATUS constant; control->samples rows are valid in any case.
 */
int robot_simulate(const robot_params_t *p, const robot_sim_input_t *input, const robot_sim_options_t *options,
    const robot_scalar_t *q0, const robot_scalar_t *qd0, size_t samples, const robot_scalar_t *times,
    const robot_sim_record_t *record, robot_sim_workspace_t *workspace, robot_sim_control_t *control);

/** @brief Driving forces of an input at one time and state; returns 0 or a STATUS constant. */
int robot_simulate_input(const robot_params_t *p, const robot_sim_input_t *input, robot_scalar_t t,
    const robot_scalar_t *q, const robot_scalar_t *qd, robot_scalar_t *F, robot_sim_workspace_t *workspace);

#ifdef __cplusplus
}
#endif

#endif /* ROBOT_SIMULATE_H */
