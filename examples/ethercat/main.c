/*
 * A loop over two CiA 402 drives, here simulated ones with the simulated arm behind them: enable, move, lose the bus, recover.
 *
 *     python -c "import elastogen; elastogen.generate_loop('two_link', 'generated')"
 *     cc -std=c99 -O2 -Igenerated main.c cia402.c generated/two_link.c generated/two_link_loop.c -lm -o cell && ./cell
 *
 * With a real master, exchange() sends and receives process data (ecrt_master_receive ... ecrt_master_send, or
 * ec_receive_processdata), at each period of a thread as <name>_loop_thread_run makes it, and drive_step goes.
 */
#include <stdio.h>

#include "cia402.h"
#include "two_link_loop.h"

enum { AXES = 2, WATCHDOG = 5 /* periods without process data, after which a drive stops by itself */ };

typedef struct { /* a simulated drive */
    cia402_state_t state;
    uint16_t error, last_control;
    int silent; /* periods since it heard something */
} drive_t;

typedef struct { /* what the loop's read and write know */
    cia402_axis_t axis[AXES];
    cia402_outputs_t outputs[AXES];
    cia402_inputs_t inputs[AXES];
    drive_t drive[AXES];
    two_link_loop_plant_t arm;
    int bus_works, reset_faults;
} cell_t;

static uint16_t status_of(cia402_state_t state)
{
    static const uint16_t words[] = { 0x00, 0x40, 0x21, 0x23, 0x27, 0x07, 0x0F, 0x08 };
    return words[state];
}

static void drive_step(drive_t *drive, const cia402_outputs_t *outputs)
{
    const uint16_t control = outputs->control;
    if (drive->silent > WATCHDOG) {
        drive->state = CIA402_FAULT;
        drive->error = 0x8130; /* life guard */
    } else if (drive->state == CIA402_FAULT) {
        if (((control & 0x80u) != 0u) && ((drive->last_control & 0x80u) == 0u)) { /* a rising edge */
            drive->state = CIA402_SWITCH_ON_DISABLED;
            drive->error = 0;
        }
    } else if (drive->state == CIA402_NOT_READY) {
        drive->state = CIA402_SWITCH_ON_DISABLED;
    } else if ((control & 0x02u) == 0u) { /* disable voltage */
        drive->state = CIA402_SWITCH_ON_DISABLED;
    } else if ((control & 0x0Fu) == 0x06u) {
        drive->state = CIA402_READY;
    } else if (((control & 0x0Fu) == 0x07u) && (drive->state >= CIA402_READY)) {
        drive->state = CIA402_SWITCHED_ON;
    } else if (((control & 0x0Fu) == 0x0Fu) && (drive->state >= CIA402_SWITCHED_ON)) {
        drive->state = CIA402_ENABLED;
    } else {
        /* stays */
    }
    drive->last_control = control;
}

/* One period of the bus: process data go both ways, if it works; drives and arm move on in any case. */
static void exchange(cell_t *cell, uint64_t tick)
{
    double q[AXES], qd[AXES], F[AXES];
    (void)two_link_loop_plant_read(&cell->arm, tick, q, qd);
    for (int i = 0; i < AXES; ++i) {
        cia402_axis_t *const axis = &cell->axis[i];
        drive_t *const drive = &cell->drive[i];
        const double counts = axis->counts_per_turn * axis->ratio / 6.283185307179586;
        drive->silent = cell->bus_works ? 0 : (drive->silent + 1);
        drive_step(drive, &cell->outputs[i]);
        F[i] = (drive->state == CIA402_ENABLED) ? (axis->ratio * axis->rated_torque * cell->outputs[i].torque / 1000.0) : 0.0;
        if (drive->state != CIA402_ENABLED) {
            cell->arm.qd[i] = 0.0; /* its brake closes */
        }
        if (cell->bus_works) {
            cell->inputs[i].status = status_of(drive->state);
            cell->inputs[i].error = drive->error;
            cell->inputs[i].position = (int32_t)(uint32_t)(int64_t)(counts * q[i] + 2147483000.0); /* it wraps on the way */
            cell->inputs[i].velocity = (int32_t)(counts * qd[i]);
        }
    }
    (void)two_link_loop_plant_write(&cell->arm, tick, F);
}

/* The loop's sensors: non-zero where the bus is silent or a drive is not enabled, which stops the loop without its sensors. */
static int cell_read(void *io, uint64_t tick, double *q, double *qd)
{
    cell_t *const cell = (cell_t *)io;
    int failed = !cell->bus_works;
    exchange(cell, tick);
    for (int i = 0; i < AXES; ++i) {
        cia402_measure(&cell->axis[i], &cell->inputs[i], &q[i], &qd[i]);
        failed |= cia402_state(cell->inputs[i].status) != CIA402_ENABLED;
    }
    return failed;
}

static int cell_write(void *io, uint64_t tick, const double *F)
{
    cell_t *const cell = (cell_t *)io;
    (void)tick;
    for (int i = 0; i < AXES; ++i) {
        const cia402_state_t state = cia402_state(cell->inputs[i].status);
        cell->outputs[i].control = cia402_towards_enabled(state, cell->reset_faults);
        cell->outputs[i].torque = (state == CIA402_ENABLED) ? cia402_torque(&cell->axis[i], F[i]) : 0;
        cell->outputs[i].mode = CIA402_MODE_CST;
    }
    return 0;
}

/* Steps until both drives are enabled, which then carry the weights at once; the number of periods, or -1. */
static int enable(cell_t *cell, uint64_t *tick)
{
    for (int k = 1; k <= 100; ++k) {
        double q[AXES], qd[AXES], weights[AXES];
        const int waiting = cell_read(cell, ++*tick, q, qd);
        two_link_gravity_vector(&two_link_params_nominal, q, weights);
        (void)cell_write(cell, *tick, weights);
        if (!waiting) {
            return k;
        }
    }
    return -1;
}

int main(void)
{
    static two_link_loop_t loop;
    static two_link_loop_tuning_t tuning;
    static cell_t cell;
    two_link_loop_reference_t reference = { 0 };
    uint64_t tick = 0;
    two_link_loop_init(&loop, 1e-3);
    loop.read = cell_read;
    loop.write = cell_write;
    loop.io = &cell;
    loop.controller = two_link_loop_computed_torque;
    tuning = loop.tuning[0];
    cell.arm.p = two_link_params_nominal;
    cell.arm.substeps = 1;
    cell.arm.period = 1e-3;
    cell.arm.measured = AXES;
    cell.arm.map[1] = 1;
    cell.bus_works = 1;
    for (int i = 0; i < AXES; ++i) {
        cell.axis[i].counts_per_turn = 1048576.0; /* 20 bits */
        cell.axis[i].ratio = (i == 0) ? 100.0 : -50.0;
        cell.axis[i].rated_torque = 1.27;
        cell.axis[i].torque_max = 3000.0;
        cell.axis[i].offset = -2147483000.0 * 6.283185307179586 / (1048576.0 * cell.axis[i].ratio);
        tuning.kp[i] = 400.0;
        tuning.kd[i] = 40.0;
        tuning.F_max[i] = 100.0;
        tuning.jump[i] = 0.1;
        tuning.safe_damping[i] = 20.0;
        tuning.safe_kp[i] = 100.0;
        tuning.safe_kd[i] = 20.0;
    }
    two_link_loop_set_tuning(&loop, &tuning);
    printf("enabled_after %d\n", enable(&cell, &tick));
    loop.tick = tick + 1u;

    reference.kind = TWO_LINK_LOOP_MOVE;
    reference.q[0] = 0.5;
    reference.q[1] = -0.4;
    reference.duration = 0.5;
    two_link_loop_set_reference(&loop, &reference);
    for (int k = 0; k < 700; ++k) {
        (void)two_link_loop_step(&loop);
    }
    printf("moved %.4f %.4f status %d\n", loop.view.q[0], loop.view.q[1], (int)loop.status);

    cell.bus_works = 0; /* somebody pulls the cable */
    for (int k = 0; k < 1100; ++k) {
        (void)two_link_loop_step(&loop);
    }
    printf("pulled status %d phase %d drive_error %04x\n", (int)loop.status, (int)loop.phase, cell.drive[0].error);
    cell.bus_works = 1;
    (void)two_link_loop_step(&loop);
    printf("refused %d\n", (int)two_link_loop_reset(&loop)); /* the drives are in fault */
    cell.reset_faults = 1;
    tick = loop.tick;
    printf("enabled_again %d\n", enable(&cell, &tick));
    loop.tick = tick + 1u;
    printf("reset %d\n", (int)two_link_loop_reset(&loop));
    const double held = loop.view.q[0];
    for (int k = 0; k < 300; ++k) {
        (void)two_link_loop_step(&loop);
    }
    printf("held %.6f status %d phase %d\n", loop.view.q[0] - held, (int)loop.status, (int)loop.phase);
    return 0;
}
