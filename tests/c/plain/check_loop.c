/* The control loop of the sample robot, two masses on springs and dampers, against closed forms and its own contract.
 */
#include "robot_loop.h"

#include <math.h>
#include <stdio.h>

#define PERIOD   1e-3
#define CAPACITY 1024u

static robot_loop_t loop;
static robot_loop_plant_t plant;
static robot_loop_slot_t slots[CAPACITY];
static robot_loop_record_t records[CAPACITY];
static int failures = 0;

static void expect(int holds, const char *what)
{
    if (!holds) {
        ++failures;
        (void)printf("wrong: %s\n", what);
    }
}

/* Position of m x'' + d x' + k x = F from rest at x0, with a constant F. */
static double exact(double t, double x0, double F)
{
    const double rest = F / robot_params_nominal.stiffness;
    const double decay = 0.5 * robot_params_nominal.damping / robot_params_nominal.mass;
    const double rate = sqrt((robot_params_nominal.stiffness / robot_params_nominal.mass) - (decay * decay));
    return rest + ((x0 - rest) * exp(-decay * t) * (cos(rate * t) + ((decay / rate) * sin(rate * t))));
}

static void begin(double x0, double x1, double kp, double kd, robot_loop_controller_t controller)
{
    static const robot_loop_plant_t none = {.substeps = 1u};
    robot_loop_tuning_t tuning;
    plant = none;
    plant.p = robot_params_nominal;
    plant.period = PERIOD;
    plant.measured = 2u;
    plant.map[1] = 1u;
    plant.q[0] = x0;
    plant.q[1] = x1;
    robot_loop_init(&loop, PERIOD);
    loop.read = robot_loop_plant_read;
    loop.write = robot_loop_plant_write;
    loop.io = &plant;
    loop.controller = controller;
    loop.slots = slots;
    loop.capacity = CAPACITY;
    tuning = loop.tuning[0];
    for (int i = 0; i < 2; ++i) {
        tuning.kp[i] = kp;
        tuning.kd[i] = kd;
        tuning.safe_kp[i] = 200.0;
        tuning.safe_kd[i] = 40.0;
        tuning.safe_damping[i] = 20.0;
    }
    robot_loop_set_tuning(&loop, &tuning);
}

static void steps(int number)
{
    for (int k = 0; k < number; ++k) {
        (void)robot_loop_step(&loop);
    }
}

static uint32_t take(void)
{
    uint32_t lost = 0u;
    const uint32_t count = robot_loop_take_records(&loop, records, CAPACITY, &lost);
    expect(lost == 0u, "no record is lost");
    return count;
}

/* Without gains the simulated robot moves by itself, or by the forces of the reference. */
static void check_free_motion(void)
{
    robot_loop_reference_t reference = {.kind = ROBOT_LOOP_HOLD};
    begin(0.3, -0.1, 0.0, 0.0, robot_loop_pd_gravity);
    reference.F[0] = 4.0;
    robot_loop_set_reference(&loop, &reference);
    steps(1000);
    const uint32_t count = take();
    expect(count == 1000u, "a record for each cycle");
    for (uint32_t k = 1u; k < count; ++k) { /* the command of cycle k acts from k to k + 1 */
        const double t = PERIOD * (double)k;
        expect(fabs(records[k].q[0] - exact(t, 0.3, 4.0)) < 1e-10, "RK4 with a force");
        expect(fabs(records[k].q[1] - exact(t, -0.1, 0.0)) < 1e-10, "RK4 without one");
        expect(records[k].checksum == robot_loop_checksum(&records[k]), "checksum");
        expect(records[k].cycle == k, "records in their order");
    }
}

/* Computed torque leaves e'' + kd e' + kp e = 0: critically damped, e = e0 (1 + w t) exp(-w t). */
static void check_computed_torque(void)
{
    const double w = 20.0;
    robot_loop_reference_t reference = {.kind = ROBOT_LOOP_HOLD};
    begin(0.2, 0.0, w * w, 2.0 * w, robot_loop_computed_torque);
    robot_loop_set_reference(&loop, &reference);
    steps(500);
    const uint32_t count = take();
    for (uint32_t k = 0u; k < count; ++k) {
        const double t = PERIOD * (double)k;
        expect(
            fabs(records[k].q[0] - (0.2 * (1.0 + (w * t)) * exp(-w * t))) < 3e-3, "computed torque"); /* held forces */
    }
    expect(fabs(records[count - 1u].q[0]) < 1e-3, "computed torque reaches its goal");
}

/* Feedforward without feedback follows a MOVE: the forces are those of its very motion, held for a period. */
static void check_move(void)
{
    robot_loop_reference_t reference = {.kind = ROBOT_LOOP_MOVE, .number = 7u, .duration = 0.4};
    begin(0.0, 0.0, 0.0, 0.0, robot_loop_feedforward);
    loop.context = &loop.elastic;
    reference.q[0] = 0.1;
    robot_loop_set_reference(&loop, &reference);
    steps(600);
    const uint32_t count = take();
    for (uint32_t k = 0u; k < count; ++k) {
        const double s = (k < 400u) ? ((double)k / 400.0) : 1.0; /* quintic from rest to rest */
        const double r = 0.1 * s * s * s * (10.0 + (s * (-15.0 + (6.0 * s))));
        expect(fabs(records[k].q_ref[0] - r) < 1e-14, "the quintic of a MOVE");
        expect(
            fabs(records[k].q[0] - r) < 5e-4, "feedforward follows it"); /* half a period late: 0.5 m/s of the motion */
        expect(records[k].reference == 7u, "its number comes back");
    }
}

/* exp(A dt) and its integral for one oscillator: the position after a step of length dt is in closed form. */
static void check_discretize(void)
{
    static robot_loop_discrete_t d;
    const double k = robot_params_nominal.stiffness / robot_params_nominal.mass;
    const double c = robot_params_nominal.damping / robot_params_nominal.mass;
    const double A[4][4] = {{0.0, 0.0, 1.0, 0.0}, {0.0, 0.0, 0.0, 1.0}, {-k, 0.0, -c, 0.0}, {0.0, -k, 0.0, -c}};
    const double B[4][2] = {{0.0, 0.0}, {0.0, 0.0}, {0.5, 0.0}, {0.0, 0.5}};
    const double lengths[3] = {1e-3, 0.1, 3.0};
    for (int j = 0; j < 3; ++j) {
        const double dt = lengths[j];
        expect(robot_loop_discretize(&d, A, B, dt) == 0, "discretize");
        expect(fabs(d.step[0][0] - exact(dt, 1.0, 0.0)) < 1e-13, "exp(A dt)");
        expect(fabs(d.step[1][5] - exact(dt, 0.0, 1.0)) < 1e-13, "its integral");
        expect((d.step[0][1] == 0.0) && (d.step[0][5] == 0.0), "the masses do not couple");
    }
    expect(robot_loop_discretize(&d, A, B, (double)INFINITY) != 0, "beyond all numbers");
}

static int broken_sensor(void *io, uint64_t tick, robot_real_t *q, robot_real_t *qd)
{
    const int status = robot_loop_plant_read(io, tick, q, qd);
    q[1] = (tick == 100u) ? (double)NAN : q[1];
    return status;
}

/* A number that is none: blind from then on, the first fault stays, a reset that finds no fault leads back. */
static void check_fault_and_reset(void)
{
    begin(0.1, 0.0, 100.0, 20.0, robot_loop_pd_gravity);
    loop.read = broken_sensor;
    steps(100);
    expect(loop.phase == ROBOT_LOOP_RUNNING, "runs before");
    steps(1);
    expect((loop.status == ROBOT_LOOP_STATUS_STATE_NOT_FINITE) && (loop.fault_index == 1), "which coordinate it was");
    expect((loop.phase == ROBOT_LOOP_STOPPING) && (loop.blind != 0u), "stops blind");
    expect(robot_loop_reset(&loop) == ROBOT_LOOP_RESET_TOO_EARLY, "no reset while it stops");
    steps(2000);
    expect((loop.phase == ROBOT_LOOP_ENDED) && (loop.F[0] == 0.0), "ends without forces");
    expect(loop.status == ROBOT_LOOP_STATUS_STATE_NOT_FINITE, "the first fault stays");
    while (fabs(plant.qd[0]) > 0.01) { /* the springs bring it to rest */
        steps(1);
    }
    expect(robot_loop_reset(&loop) == ROBOT_LOOP_STATUS_OK, "reset");
    expect((loop.phase == ROBOT_LOOP_RUNNING) && (loop.status == ROBOT_LOOP_STATUS_OK), "runs again");
}

static int no_force(void *context, const robot_loop_view_t *view, robot_real_t *F)
{
    (void)context;
    (void)view;
    F[0] = 0.0;
    F[1] = 0.0;
    return 0;
}

/* Gains that are no numbers are gone with the next good tuning, sent before their ramp is over or later. */
static void check_gains_without_a_number(void)
{
    static const double bad[] = {(double)NAN, (double)INFINITY};
    for (int k = 0; k < 4; ++k) {
        robot_loop_tuning_t good, broken;
        begin(0.01, 0.0, 100.0, 10.0, no_force);
        steps(5);
        good = loop.present;
        good.ramp = 100u;
        broken = good;
        broken.kp[0] = bad[k % 2];
        broken.kd[1] = bad[k % 2];
        broken.K[1][2] = bad[k % 2];
        robot_loop_set_tuning(&loop, &broken);
        steps((k < 2) ? 10 : 300);
        robot_loop_set_tuning(&loop, &good);
        steps(50);
        expect(fabs(loop.present.kp[1] - 100.0) < 1e-12, "gains beside those without a number");
        steps(150);
        expect(fabs(loop.present.kp[0] - good.kp[0]) < 1e-12, "a position gain after one without a number");
        expect(fabs(loop.present.kd[1] - good.kd[1]) < 1e-12, "a velocity gain after one without a number");
        expect(fabs(loop.present.K[1][2] - good.K[1][2]) < 1e-12, "a matrix of gains after one without a number");
    }
}

int main(void)
{
    check_free_motion();
    check_computed_torque();
    check_move();
    check_discretize();
    check_fault_and_reset();
    check_gains_without_a_number();
    return (failures == 0) ? 0 : 1;
}
