/*
 * The loop in a timer of Zephyr: its expiry function runs in the interrupt of the system clock. With a simulated arm.
 *
 *     elastogen export two_link two_link --format zephyr --loop
 *     west build -b mps2/an386 examples/zephyr -- -DEXTRA_ZEPHYR_MODULES=$PWD/two_link
 *     west build -t run
 *
 * On a board of yours, read_arm and write_arm read its sensors and drive its motors; they must not wait.
 */
#include <zephyr/kernel.h>
#include <zephyr/sys/printk.h>

#include "two_link_loop.h"

enum { TENTHS = 5 }; /* of a second, until the end */

static two_link_loop_t loop; /* all that the loop remembers */
static two_link_loop_slot_t slots[256];
static two_link_loop_plant_t arm;

static int read_arm(void *io, uint64_t tick, two_link_real_t *q, two_link_real_t *qd) /* not 0: the sensors failed */
{
    return two_link_loop_plant_read(io, tick, q, qd) || !k_is_in_isr();
}

static int write_arm(void *io, uint64_t tick, const two_link_real_t *F)
{
    return two_link_loop_plant_write(io, tick, F);
}

static void cycle(struct k_timer *timer)
{
    ARG_UNUSED(timer);
    (void)two_link_loop_step(&loop);
}

K_TIMER_DEFINE(period, cycle, NULL);

static int thousandths(float value)
{
    return (int)((1000.0f * value) + ((value < 0.0f) ? -0.5f : 0.5f));
}

/* Print the last of the records that are there; return how many were lost, or whether there was a fault. */
static uint32_t log_records(void)
{
    two_link_loop_record_t record;
    uint32_t failed = 0u, lost = 0u, taken = 0u;
    while (two_link_loop_take_records(&loop, &record, 1u, &lost) > 0u) {
        failed += lost + ((record.status != 0) ? 1u : 0u);
        ++taken;
    }
    if (taken > 0u) {
        printk("%u: q %d %d mrad, F %d %d mN m, status %d\n", (unsigned)record.cycle, thousandths(record.q[0]),
            thousandths(record.q[1]), thousandths(record.F[0]), thousandths(record.F[1]), (int)record.status);
    }
    return failed;
}

int main(void)
{
    arm.p = two_link_params_nominal;
    arm.substeps = 1u;
    arm.period = 1e-3f;
    arm.measured = TWO_LINK_NQ;
    for (uint32_t k = 0; k < TWO_LINK_NQ; ++k) {
        arm.map[k] = k;
    }

    two_link_loop_init(&loop, 1e-3f);
    loop.io = &arm;
    loop.read = read_arm;
    loop.write = write_arm;
    loop.controller = two_link_loop_computed_torque;
    loop.slots = slots;
    loop.capacity = 256u;

    static two_link_loop_tuning_t tuning;
    tuning = loop.tuning[0]; /* nominal parameters, no limits */
    for (int i = 0; i < TWO_LINK_NQ; ++i) {
        tuning.kp[i] = 400.0f;
        tuning.kd[i] = 40.0f;
        tuning.F_max[i] = 80.0f;
        tuning.safe_damping[i] = 20.0f; /* with these a fault ends at rest */
        tuning.safe_kp[i] = 100.0f;
        tuning.safe_kd[i] = 20.0f;
    }
    two_link_loop_set_tuning(&loop, &tuning);

    static two_link_loop_reference_t reference;
    reference.kind = TWO_LINK_LOOP_MOVE;
    reference.q[0] = 0.5f;
    reference.q[1] = -0.3f;
    reference.duration = 0.3f;
    two_link_loop_set_reference(&loop, &reference);

    uint32_t failed = 0u;
    k_timer_start(&period, K_MSEC(1), K_MSEC(1));
    for (int tenth = 0; tenth < TENTHS; ++tenth) { /* beside the interrupt: take records, send references and gains */
        k_msleep(100);
        failed += log_records();
    }
    k_timer_stop(&period);
    return (failed > 0u) ? 1 : 0;
}
