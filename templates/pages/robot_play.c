/**
 * @file  robot_play.c
 * @brief The model and its integrators behind a page, documented in robot_play.h.
 */

#include "robot_play.h"

#include "robot_play_drives.h"

double *robot_play_positions(void)
{
    return robot_play_q;
}

double *robot_play_velocities(void)
{
    return robot_play_qd;
}

double *robot_play_target_positions(void)
{
    return robot_play_targets;
}

double *robot_play_position_gains(void)
{
    return robot_play_kp;
}

double *robot_play_velocity_gains(void)
{
    return robot_play_kd;
}

double *robot_play_control_law(void)
{
    return robot_play_law;
}

double *robot_play_hand_spring(void)
{
    return robot_play_hand;
}

robot_params_t *robot_play_live_parameters(void)
{
    return &robot_play_params;
}

double *robot_play_steps_taken(void)
{
    return &robot_play_steps;
}

void robot_play_start(void)
{
    robot_play_params = robot_params_nominal;
}

double *robot_play_draw(void)
{
    (void)robot_point_positions(&robot_play_params, robot_play_q, robot_play_nodes);
    return robot_play_nodes;
}

#if ROBOT_PLAY_BENT
double *robot_play_curvatures(void)
{
    static double bent[2 * ROBOT_PLAY_BENT];
    (void)robot_point_curvatures(&robot_play_params, robot_play_q, bent);
    return bent;
}
#endif

int robot_play_go(double seconds, double step)
{
    static robot_sim_workspace_t workspace;
    const double times[2] = {0.0, seconds};
    double q[2 * ROBOT_NQ];
    double qd[2 * ROBOT_NV];
    const robot_sim_input_t input = {.kind = ROBOT_SIM_INPUT_FUNCTION, .function = robot_play_force};
    const robot_sim_options_t options = {
        .method = ROBOT_SIM_METHOD_GENERALIZED_ALPHA, .step = step, .rtol = 1e-8, .atol = 1e-10, .rho_inf = 0.9};
    const robot_sim_record_t record = {.q = q, .qd = qd};
    robot_sim_control_t control = {.cancel = 0};
    const int status = robot_simulate(
        &robot_play_params, &input, &options, robot_play_q, robot_play_qd, 2u, times, &record, &workspace, &control);
    robot_play_steps += (double)control.steps;
    if (status == ROBOT_SIM_STATUS_OK) {
        for (int i = 0; i < ROBOT_NQ; ++i) {
            robot_play_q[i] = q[ROBOT_NQ + i];
        }
        for (int i = 0; i < ROBOT_NV; ++i) {
            robot_play_qd[i] = qd[ROBOT_NV + i];
        }
    }
    return status;
}
