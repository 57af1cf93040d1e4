/* Part of robot_loop.c: one cycle, from its parts. */
#ifndef ROBOT_LOOP_CYCLE_H
#define ROBOT_LOOP_CYCLE_H

#include "robot_loop_laws.h"
#include "robot_loop_reset.h"
#include "robot_loop_ring.h"

#define ROBOT_LOOP_STOP_SECONDS REAL(1.0)  /* unless the tuning says otherwise [s] */
#define ROBOT_LOOP_FADE_SECONDS REAL(0.05) /* [s] */
#define ROBOT_LOOP_REST_SPEED   REAL(0.02) /* [rad/s, m/s] */

static uint32_t robot_loop_ticks(robot_real_t seconds, robot_real_t period)
{
    return (uint32_t)((seconds / period) + REAL(0.5));
}

/* A cycle of RUNNING; a fault, or the wish to end, begins the stop in this very cycle. */
static int32_t robot_loop_run_cycle(robot_loop_t *loop, const robot_loop_tuning_t *tuning)
{
    int32_t status = robot_loop_take_trip(loop, robot_loop_sense(loop, tuning));
    if (status == ROBOT_LOOP_STATUS_OK) {
        robot_loop_refer(loop, tuning);
        status = robot_loop_watch(loop, tuning);
    }
#if ROBOT_OBSERVED
    status = (status == ROBOT_LOOP_STATUS_OK) ? robot_loop_observe(loop) : status;
#endif
    const int ends = (status == ROBOT_LOOP_STATUS_OK) && (ROBOT_LOOP_LOAD(&loop->end_wanted) != 0u);
    if ((status == ROBOT_LOOP_STATUS_OK) && !ends) {
        status = robot_loop_command(loop, tuning);
        loop->view.begins = 0;
    }
    if ((status != ROBOT_LOOP_STATUS_OK) || ends) {
        robot_loop_begin_stop(loop, robot_loop_is_sensor_fault(status));
        robot_loop_go_on_by_model(loop, tuning);
        robot_loop_safe_command(loop, tuning);
    }
    return status;
}

int32_t robot_loop_step(robot_loop_t *loop)
{
    robot_loop_answer(loop);
    const robot_loop_tuning_t *const tuning = robot_loop_receive_all(loop);
    int32_t status = ROBOT_LOOP_STATUS_OK;
    loop->saturated = 0u;
    if (loop->phase == ROBOT_LOOP_RUNNING) {
        status = robot_loop_run_cycle(loop, tuning);
    } else {
        status = robot_loop_take_trip(loop, robot_loop_safe_cycle(loop, tuning));
    }
    loop->view.tick = loop->tick;
    if ((loop->write(loop->io, loop->tick, loop->F) != 0) && (status == ROBOT_LOOP_STATUS_OK)) {
        status = robot_loop_fault(loop, ROBOT_LOOP_STATUS_WRITE, -1);
        if (loop->phase == ROBOT_LOOP_RUNNING) {
            robot_loop_begin_stop(loop, 0);
        }
    }
    ROBOT_LOOP_STORE(&loop->status, status);
    loop->saturations += (loop->saturated > 0u) ? 1u : 0u;
    robot_loop_record(loop);
    ++loop->cycle;
    ++loop->tick;
    return status;
}

void robot_loop_stop(robot_loop_t *loop)
{
    ROBOT_LOOP_STORE(&loop->end_wanted, 1u);
}

void robot_loop_trip(robot_loop_t *loop, int32_t status)
{
    ROBOT_LOOP_STORE(&loop->tripped, (uint32_t)status);
}

int32_t robot_loop_finish(robot_loop_t *loop)
{
    const robot_loop_tuning_t *const tuning = robot_loop_receive_all(loop);
    const int can_end =
        (loop->phase == ROBOT_LOOP_HOLDING)
        || ((loop->phase == ROBOT_LOOP_RUNNING) && ((robot_loop_at_rest(loop) != 0) || (loop->seen == 0u)));
    robot_loop_stop(loop);
    if (can_end && robot_loop_releases(loop, tuning, 1)) {
        loop->phase = ROBOT_LOOP_ENDED;
        robot_loop_safe_command(loop, tuning);
        (void)loop->write(loop->io, loop->tick, loop->F);
        ROBOT_LOOP_STORE(&loop->status, robot_loop_take_trip(loop, loop->status));
    }
    const int falls = (loop->phase == ROBOT_LOOP_ENDED) && !robot_loop_releases(loop, tuning, 0);
    return falls ? ROBOT_LOOP_STOPPING : loop->phase;
}

void robot_loop_init_again(robot_loop_t *loop, robot_real_t period)
{
    const robot_real_t no_limit = ROBOT_LARGEST;
    const uint32_t tripped = sizeof(loop->tripped);
    unsigned char *const bytes = (unsigned char *)loop;
    const unsigned char *const kept = (const unsigned char *)&loop->tripped;
    for (uint32_t k = 0; k < sizeof(*loop); ++k) {
        if ((&bytes[k] < kept) || (&bytes[k] >= &kept[tripped])) {
            bytes[k] = 0u;
        }
    }
    loop->period = period;
    loop->view.period = period;
    loop->view.begins = 1;
    loop->controller = robot_loop_pd_gravity;
    loop->fault_index = -1;
    loop->phase = ROBOT_LOOP_RUNNING;
    robot_loop_exchange_init(&loop->reference_exchange);
    robot_loop_exchange_init(&loop->tuning_exchange);
    for (int copy = 0; copy < 3; ++copy) {
        robot_loop_tuning_t *const tuning = &loop->tuning[copy];
        tuning->p = robot_params_nominal;
        tuning->stop = ROBOT_LOOP_STOP_DAMPED;
        tuning->after = ROBOT_LOOP_AFTER_HOLD;
        tuning->stop_ticks = robot_loop_ticks(ROBOT_LOOP_STOP_SECONDS, period);
        tuning->fade_ticks = robot_loop_ticks(ROBOT_LOOP_FADE_SECONDS, period);
        tuning->safe_gravity = 1;
        for (int i = 0; i < ROBOT_NV; ++i) {
            tuning->F_step[i] = no_limit;
            tuning->rest[i] = ROBOT_LOOP_REST_SPEED;
            tuning->F_max[i] = no_limit;
            tuning->F_trip[i] = no_limit;
            tuning->qd_max[i] = no_limit;
            tuning->error_max[i] = no_limit;
        }
        for (int i = 0; i < ROBOT_NQ; ++i) {
            tuning->jump[i] = no_limit;
            tuning->q_max[i] = no_limit;
            tuning->q_min[i] = -no_limit;
        }
    }
    (void)robot_loop_receive_all(loop);
}

void robot_loop_init(robot_loop_t *loop, robot_real_t period)
{
    loop->tripped = 0u;
    robot_loop_init_again(loop, period);
}

#endif /* ROBOT_LOOP_CYCLE_H */
