/* The integrators of the sample robot, two masses on springs and dampers, against its motion in closed form. */
#include "robot_simulate.h"

#include <math.h>
#include <stdio.h>

#define SAMPLES 5
#define SECONDS 2.0

static int failures = 0;

static void expect(int holds, const char *what)
{
    if (!holds) {
        ++failures;
        (void)printf("wrong: %s\n", what);
    }
}

/* Position and velocity of m x'' + d x' + k x = 0 from rest at x0. */
static void exact(double t, double x0, double *x, double *v)
{
    const double decay = 0.5 * robot_params_nominal.damping / robot_params_nominal.mass;
    const double rate = sqrt((robot_params_nominal.stiffness / robot_params_nominal.mass) - (decay * decay));
    *x = x0 * exp(-decay * t) * (cos(rate * t) + ((decay / rate) * sin(rate * t)));
    *v = -x0 * exp(-decay * t) * ((rate + ((decay * decay) / rate)) * sin(rate * t));
}

static double largest(double x, double y)
{
    return (x > y) ? x : y;
}

/* Error of a motion from rest, of position and velocity; also of the balance of energy. */
static double error_of(int method, double step, double rtol, robot_sim_control_t *control, int *status)
{
    static const double q0[2] = {0.3, -0.1};
    static const double qd0[2] = {0.0, 0.0};
    const robot_sim_input_t input = {0};
    robot_sim_options_t options = {0};
    robot_sim_workspace_t workspace;
    double times[SAMPLES];
    double q[2 * SAMPLES];
    double qd[2 * SAMPLES];
    double kinetic[SAMPLES];
    double potential[SAMPLES];
    double loss[SAMPLES];
    robot_sim_record_t record = {0};
    double error = 0.0;
    options.method = method;
    options.step = step;
    options.rtol = rtol;
    options.atol = rtol;
    options.rho_inf = 1.0;
    record.q = q;
    record.qd = qd;
    record.kinetic = kinetic;
    record.potential = potential;
    record.loss = loss;
    for (int k = 0; k < SAMPLES; ++k) {
        times[k] = SECONDS * k / (SAMPLES - 1);
    }
    *status =
        robot_simulate(&robot_params_nominal, &input, &options, q0, qd0, SAMPLES, times, &record, &workspace, control);
    for (int k = 0; k < SAMPLES; ++k) {
        for (int i = 0; i < 2; ++i) {
            double x = 0.0;
            double v = 0.0;
            exact(times[k], q0[i], &x, &v);
            error = largest(error, largest(fabs(q[(2 * k) + i] - x), fabs(qd[(2 * k) + i] - v)));
        }
        error = largest(error, fabs(kinetic[k] + potential[k] + loss[k] - potential[0]));
    }
    return error;
}

/* By how much a step of half the length makes the error smaller: 2 to the order of the method. */
static double gain_of(int method, double step)
{
    robot_sim_control_t control = {0};
    int status = 0;
    const double whole = error_of(method, step, 1e-12, &control, &status);
    const double half = error_of(method, 0.5 * step, 1e-12, &control, &status);
    expect(status == ROBOT_SIM_STATUS_OK, "status of equal steps");
    return whole / half;
}

int main(void)
{
    robot_sim_control_t control = {0};
    int status = 0;
    const double fourth = gain_of(ROBOT_SIM_METHOD_RK4, 0.02);
    const double second = gain_of(ROBOT_SIM_METHOD_GENERALIZED_ALPHA, 0.005);
    expect((fourth > 15.0) && (fourth < 17.0), "rk4 is of order 4");
    expect((second > 3.9) && (second < 4.1), "generalized_alpha is of order 2");
    expect(error_of(ROBOT_SIM_METHOD_TSIT5, 0.0, 1e-11, &control, &status) < 1e-9, "tsit5 follows its tolerances");
    expect((status == ROBOT_SIM_STATUS_OK) && (control.samples == SAMPLES), "status of tsit5");
    expect(error_of(ROBOT_SIM_METHOD_RK4, 1e-3, 1e-9, &control, &status) < 1e-9, "rk4 at a millisecond");
    expect(control.evaluations == 4u * control.steps, "four evaluations a step");
    (void)error_of(99, 1e-3, 1e-9, &control, &status);
    expect(status == ROBOT_SIM_STATUS_ARGUMENT, "a method that is none");
    (void)error_of(ROBOT_SIM_METHOD_RK4, 0.0, 1e-9, &control, &status);
    expect(status == ROBOT_SIM_STATUS_ARGUMENT, "no step");
    control.cancel = 1;
    (void)error_of(ROBOT_SIM_METHOD_RK4, 1e-3, 1e-9, &control, &status);
    expect((status == ROBOT_SIM_STATUS_CANCELLED) && (control.samples == 1u), "cancelled after the first sample");
    return (failures == 0) ? 0 : 1;
}
