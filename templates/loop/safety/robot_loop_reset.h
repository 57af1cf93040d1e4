/* Part of robot_loop.c: the way back from a fault. */
#ifndef ROBOT_LOOP_RESET_H
#define ROBOT_LOOP_RESET_H

#include "robot_loop_refer.h"
#include "robot_loop_safety.h"
#include "robot_loop_watch.h"

/* Reset: back to RUNNING if a cycle, tried without writing its command, finds no fault */

/* The next cycle begins where the robot is; what was followed before is forgotten. */
static void robot_loop_begin_anew(robot_loop_t *loop)
{
    robot_loop_reference_t *const reference = &loop->reference[loop->reference_exchange.reader];
    reference->kind = ROBOT_LOOP_HERE;
    for (int i = 0; i < ROBOT_NV; ++i) {
        reference->F[i] = REAL(0.0);
        loop->moved[i] = 0u;
    }
    loop->started = 0u;
    loop->view.begins = 1;
}

void robot_loop_resume(robot_loop_t *loop)
{
    if (loop->phase == ROBOT_LOOP_ENDED) {
        ROBOT_LOOP_STORE(&loop->status, robot_loop_take_trip(loop, loop->status)); /* it came after the last step */
    }
    if ((loop->phase == ROBOT_LOOP_ENDED) && (loop->status == ROBOT_LOOP_STATUS_OK)) {
        robot_loop_begin_anew(loop);
        loop->phase = ROBOT_LOOP_RUNNING;
        loop->seen = 0u;
        loop->blind = 0u; /* sensors that were off between two runs */
        loop->lost = 0u;
#if ROBOT_OBSERVED
        robot_loop_forget(loop);
#endif
        ROBOT_LOOP_STORE(&loop->end_wanted, 0u);
    }
}

/* A measurement, without the model in its place: what is bridged is no proof that the sensors work. */
static int32_t robot_loop_sense_itself(robot_loop_t *loop, const robot_loop_tuning_t *tuning)
{
    const uint32_t bridged = loop->bridged;
    loop->bridged = tuning->bridge;
    const int32_t status = robot_loop_sense(loop, tuning);
    loop->bridged = (status == ROBOT_LOOP_STATUS_OK) ? loop->bridged : bridged;
    return status;
}

/* What would stop the loop again at once. */
static int32_t robot_loop_persists(robot_loop_t *loop, const robot_loop_tuning_t *tuning, int32_t cause, int index)
{
    if (loop->phase == ROBOT_LOOP_ENDED) {
        loop->seen = 0u; /* the robot may be elsewhere now: that is not a jump; one that is held stays where it is */
    }
#if ROBOT_OBSERVED
    robot_loop_forget(loop);
#endif
    int32_t status = robot_loop_sense_itself(loop, tuning);
    if ((status == ROBOT_LOOP_STATUS_OK) && (cause == ROBOT_LOOP_STATUS_FROZEN) && (index >= 0)) {
        const robot_real_t now = loop->sound_q[robot_loop_beside[index]], frozen = loop->frozen_q;
        status = ((now < frozen) || (now > frozen)) ? status : robot_loop_fault(loop, cause, index);
    }
    for (int i = 0; (i < ROBOT_NV) && (status == ROBOT_LOOP_STATUS_OK); ++i) {
        if ((robot_loop_driven[i] != 0u) && !(robot_loop_size(loop->view.qd[i]) <= tuning->rest[i])) {
            status = robot_loop_fault(loop, ROBOT_LOOP_STATUS_VELOCITY, i); /* it moves */
        }
    }
    if (status == ROBOT_LOOP_STATUS_OK) {
        (void)robot_loop_receive(&loop->reference_exchange); /* what was sent meanwhile is void, too */
        robot_loop_begin_anew(loop);
        robot_loop_refer(loop, tuning);
        status = robot_loop_watch(loop, tuning);
    }
#if ROBOT_OBSERVED
    status = (status == ROBOT_LOOP_STATUS_OK) ? robot_loop_observe(loop) : status;
#endif
    if (status == ROBOT_LOOP_STATUS_OK) {
        status = robot_loop_command(loop, tuning);
    }
    if ((status == ROBOT_LOOP_STATUS_OK) && (cause == ROBOT_LOOP_STATUS_WRITE)
        && (loop->write(loop->io, loop->tick, loop->F) != 0)) {
        status = robot_loop_fault(loop, cause, -1);
    }
    return robot_loop_take_trip(loop, status); /* one that came since the reset was asked for */
}

static int32_t robot_loop_try_reset(robot_loop_t *loop)
{
    if (loop->phase == ROBOT_LOOP_RUNNING) {
        return ROBOT_LOOP_STATUS_OK; /* there is nothing to reset, and a trip that nobody has seen yet stays */
    }
    if (loop->phase == ROBOT_LOOP_STOPPING) {
        return ROBOT_LOOP_RESET_TOO_EARLY;
    }
    const robot_loop_tuning_t *const tuning = robot_loop_receive_all(loop);
    const int index = loop->fault_index;
    robot_real_t F[ROBOT_NV];
    for (int i = 0; i < ROBOT_NV; ++i) {
        F[i] = loop->F[i];
    }
    if (loop->phase == ROBOT_LOOP_ENDED) {
        ROBOT_LOOP_STORE(&loop->end_wanted, 0u); /* it was fulfilled; one that comes meanwhile counts */
    }
    const int32_t answer = robot_loop_persists(loop, tuning, loop->status, index);
    loop->reset_index = loop->fault_index;
    for (int i = 0; i < ROBOT_NV; ++i) {
        loop->F[i] = F[i];
    }
    loop->saturated = 0u;
    if (answer == ROBOT_LOOP_STATUS_OK) {
        loop->phase = ROBOT_LOOP_RUNNING;
        loop->fault_index = -1;
        loop->blind = 0u;
        loop->lost = 0u;
        loop->bridged = 0u;
        ROBOT_LOOP_STORE(&loop->status, answer);
        loop->bump_ticks = tuning->fade_ticks; /* from the force that held the robot */
        loop->bump_wanted = 1u;
    } else {
        loop->fault_index = index;
    }
    return answer;
}

int32_t robot_loop_reset(robot_loop_t *loop)
{
    if ((loop->phase == ROBOT_LOOP_HOLDING) || (loop->phase == ROBOT_LOOP_ENDED)) {
        ROBOT_LOOP_STORE(&loop->tripped, 0u);
    }
    return robot_loop_try_reset(loop);
}

void robot_loop_ask_reset(robot_loop_t *loop)
{
    if (ROBOT_LOOP_LOAD(&loop->status) != ROBOT_LOOP_STATUS_OK) {
        ROBOT_LOOP_STORE(&loop->tripped, 0u); /* now, not when the loop answers: a trip in between counts */
    }
    ROBOT_LOOP_STORE(&loop->reset_asked, loop->reset_asked + 1u);
}

/* What the other side asked for since the last cycle. */
static void robot_loop_answer(robot_loop_t *loop)
{
    const uint32_t asked = ROBOT_LOOP_LOAD(&loop->reset_asked);
    if (asked != loop->reset_answered) {
        ROBOT_LOOP_STORE(&loop->reset_answer, robot_loop_try_reset(loop));
        ROBOT_LOOP_STORE(&loop->reset_answered, asked);
    }
}

#endif /* ROBOT_LOOP_RESET_H */
