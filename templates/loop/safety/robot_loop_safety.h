/* Part of robot_loop.c: from a fault, or the wish to end, to rest. */
#ifndef ROBOT_LOOP_SAFETY_H
#define ROBOT_LOOP_SAFETY_H

#include "robot_loop_command.h"
#include "robot_loop_sense.h"

/*
 *   RUNNING --fault or stop--> STOPPING --at rest--> HOLDING
 *      ^                          |                     |
 *      |                          | time over           | stop
 *      |                          v                     |
 *      +---reset, cause gone--- ENDED <-----------------+        HOLDING --reset, cause gone--> RUNNING
 *                                                                HOLDING --state lost--> STOPPING
 *
 * RUNNING   the controller's command.
 * STOPPING  the loop goes on reading. Force by tuning->stop: DAMPED, RAMP (both later caught where they are), HOLD,
 * OFF; or, once the state is not known (blind), from the force at that moment to that of the weights at the last sound
 * position, and to none. HOLDING   a PD law of the loop's own keeps the position of rest. Only robot_loop_reset leads
 * back. ENDED     the constant forces safe_F, zero unless they are set.
 *
 * STOPPING leads to HOLDING at rest after a fault, if tuning->after is AFTER_HOLD; in all other cases to ENDED. It
 * leads to ENDED, whether at rest or not, when stop_ticks are over and the loop is to end, is blind, or is OFF. A fault
 * that is found later does not replace the first one; loss of the state is kept in loop->blind.
 */
#define ROBOT_LOOP_BRAKING_SHARE                                                                                       \
    REAL(0.6) /* of stop_ticks; what moves then, by weights that the model does not know, is caught */

#define ROBOT_LOOP_DOUBTFUL REAL(0.125) /* of jump: a velocity that is so far off brakes no more */

/* The state is not known any more: forces fade from here on. Only a reset trusts the sensors again. */
static void robot_loop_go_blind(robot_loop_t *loop)
{
    if (loop->blind == 0u) {
        loop->blind = 1u;
        loop->rest_cycles = 0u; /* nobody sees that it is at rest */
        loop->fade_tick = loop->tick;
        for (int i = 0; i < ROBOT_NV; ++i) {
            loop->fade_F[i] = loop->F[i];
        }
    }
}

/* The model instead of the sensors. Where it fails, too, or never knew the state, forces fade from there on. */
static void robot_loop_go_on_by_model(robot_loop_t *loop, const robot_loop_tuning_t *tuning)
{
    const int asked = (loop->blind != 0u) && (tuning->predict != 0) && (loop->lost == 0u);
    if (asked && ((loop->seen == 0u) || (robot_loop_predict(loop, tuning) != 0))) {
        loop->lost = 1u;
        loop->rest_cycles = 0u;
        loop->fade_tick = loop->tick;
        for (int i = 0; i < ROBOT_NV; ++i) {
            loop->fade_F[i] = loop->F[i];
        }
    }
}

/* From RUNNING to STOPPING; a fault of the sensors makes blind. */
static void robot_loop_begin_stop(robot_loop_t *loop, int sensors_failed)
{
    if (sensors_failed != 0) {
        robot_loop_believe_shadow(loop);
        robot_loop_go_blind(loop);
    }
    loop->phase = ROBOT_LOOP_STOPPING;
    loop->bump_ticks = 0u; /* what was smoothed is the controller's */
    loop->stop_tick = loop->tick;
    loop->fade_tick = loop->tick;
    for (int i = 0; i < ROBOT_NQ; ++i) {
        loop->stop_q[i] = loop->sound_q[i];
    }
    for (int i = 0; i < ROBOT_NV; ++i) {
        loop->stop_qd[i] = loop->sound_qd[i];
        loop->fade_F[i] = loop->F[i];
    }
}

/* Whether a fault is one of the sensors: what they say is not to be used. */
static int robot_loop_is_sensor_fault(int32_t status)
{
    return (status == ROBOT_LOOP_STATUS_READ) || (status == ROBOT_LOOP_STATUS_STATE_NOT_FINITE)
           || (status == ROBOT_LOOP_STATUS_STALE_STATE) || (status == ROBOT_LOOP_STATUS_OUTSIDE)
           || (status == ROBOT_LOOP_STATUS_DIVERGED) || (status == ROBOT_LOOP_STATUS_IMPLAUSIBLE)
           || (status == ROBOT_LOOP_STATUS_JUMP) || (status == ROBOT_LOOP_STATUS_FROZEN);
}

/* Part of a number of ticks that is over, 0 to 1; no ticks are over at once. */
static robot_real_t robot_loop_part(uint64_t passed, uint32_t ticks)
{
    return (passed < ticks) ? ((robot_real_t)passed / (robot_real_t)ticks) : REAL(1.0);
}

/* Which share of the time of a stop only brakes, before the robot is caught where it is. */
static robot_real_t robot_loop_braking_share(int32_t stop)
{
    const int brakes = (stop == ROBOT_LOOP_STOP_DAMPED) || (stop == ROBOT_LOOP_STOP_RAMP);
    return brakes ? ROBOT_LOOP_BRAKING_SHARE : REAL(0.0); /* STOP_HOLD goes back to the place of the fault */
}

/*
 * The reference of a stop: at rest, in the place of the fault, of the catch or of rest. While RAMP brakes, with s = t /
 * T, qd_ref = v_0 (1 - 3 s^2 + 2 s^3): no jump of velocity, no acceleration at both ends. Returns whether the loop only
 * brakes.
 */
static int robot_loop_refer_to_rest(robot_loop_t *loop, const robot_loop_tuning_t *tuning)
{
    robot_loop_view_t *const view = &loop->view;
    const robot_real_t T = robot_loop_braking_share(tuning->stop) * (robot_real_t)tuning->stop_ticks;
    const robot_real_t t = (robot_real_t)(loop->tick - loop->stop_tick);
    const int brakes = (loop->phase == ROBOT_LOOP_STOPPING) && (t < T);
    const robot_real_t s = brakes ? (t / T) : REAL(1.0);
    const int ramp = tuning->stop == ROBOT_LOOP_STOP_RAMP;
    const robot_real_t speed = ramp ? (REAL(1.0) - ((s * s) * (REAL(3.0) - (REAL(2.0) * s)))) : REAL(0.0);
    for (int i = 0; i < ROBOT_NQ; ++i) {
        loop->stop_q[i] = brakes ? loop->sound_q[i] : loop->stop_q[i];
        view->q_ref[i] = loop->stop_q[i];
    }
    for (int i = 0; i < ROBOT_NV; ++i) {
        view->qd_ref[i] = speed * loop->stop_qd[i];
    }
#if ROBOT_QUATERNIONS
    robot_difference(view->p, loop->sound_q, view->q_ref, view->error);
#endif
    return brakes;
}

/* Trust in the velocity of a drive, 1 to 0: one that the position belies soon would drive what it should brake. */
static robot_real_t robot_loop_trust(const robot_loop_t *loop, const robot_loop_tuning_t *tuning, int i)
{
    const int k = robot_loop_beside[i];
    const robot_real_t most = (k >= 0) ? (ROBOT_LOOP_DOUBTFUL * tuning->jump[k]) : REAL(0.0);
    const robot_real_t off = (tuning->frozen > 0u) ? robot_loop_size(loop->stuck[i]) : REAL(0.0);
    return (off > REAL(0.0)) ? ((off < most) ? (REAL(1.0) - (off / most)) : REAL(0.0)) : REAL(1.0);
}

/*
 * F = safe_F + G(q) + brake, on what was measured in this cycle. While the loop only brakes: -damping qd (DAMPED), or
 * kd (qd_ref - qd) where that is against the velocity (RAMP): it never drives. Then kp (q_ref - q) + kd (qd_ref - qd).
 */
static void robot_loop_rest_law(
    robot_loop_t *loop, const robot_loop_tuning_t *tuning, const robot_real_t *weights, robot_real_t *F)
{
    const robot_loop_view_t *const view = &loop->view;
    const int brakes = robot_loop_refer_to_rest(loop, tuning);
    for (int i = 0; i < ROBOT_NV; ++i) {
#if ROBOT_QUATERNIONS
        const robot_real_t error = view->error[i];
#else
        const robot_real_t error = view->q_ref[i] - loop->sound_q[i];
#endif
        const robot_real_t slower = robot_loop_trust(loop, tuning, i) * (view->qd_ref[i] - loop->sound_qd[i]);
        robot_real_t brake = (tuning->safe_kp[i] * error) + (tuning->safe_kd[i] * slower);
        if (brakes && (tuning->stop == ROBOT_LOOP_STOP_DAMPED)) {
            brake = tuning->safe_damping[i] * slower;
        } else if (brakes != 0) {
            brake = ((slower * loop->sound_qd[i]) < REAL(0.0)) ? (tuning->safe_kd[i] * slower) : REAL(0.0);
        } else {
            /* caught, or held */
        }
        F[i] = (tuning->safe_F[i] + weights[i]) + brake;
    }
}

/* From the force when the fade began to safe_F, by way of the weights at the last sound position unless the drives go
 * OFF. */
static void robot_loop_fade(
    const robot_loop_t *loop, const robot_loop_tuning_t *tuning, const robot_real_t *weights, robot_real_t *F)
{
    const uint64_t passed = loop->tick - loop->fade_tick, stopping = loop->tick - loop->stop_tick;
    const uint64_t left = (stopping < tuning->stop_ticks) ? (tuning->stop_ticks - stopping) : 0u;
    const robot_real_t rise = robot_loop_part(passed, tuning->fade_ticks);
    const robot_real_t fall =
        (tuning->stop == ROBOT_LOOP_STOP_OFF) ? REAL(0.0) : robot_loop_part(left, tuning->fade_ticks);
    for (int i = 0; i < ROBOT_NV; ++i) {
        const robot_real_t goal = tuning->safe_F[i] + (fall * weights[i]);
        F[i] = loop->fade_F[i] + (rise * (goal - loop->fade_F[i]));
    }
}

/* The weights of the last sound position; those of new parameters take over by their ramp, without a jump. */
static void robot_loop_weigh(robot_loop_t *loop, const robot_loop_tuning_t *tuning, robot_real_t *weights)
{
    if ((tuning->safe_gravity != 0) && (loop->seen != 0u)) {
        (void)robot_loop_call_gravity_vector(loop->view.p, loop->sound_q, weights);
    }
    for (int i = 0; (loop->bump_wanted != 0u) && (i < ROBOT_NV); ++i) {
        loop->bump[i] = loop->weights[i] - weights[i];
        loop->bump_tick = loop->tick;
    }
    loop->bump_wanted = 0u;
    robot_loop_add_bump(loop, weights);
    for (int i = 0; i < ROBOT_NV; ++i) {
        loop->weights[i] = weights[i];
    }
}

/* Whether the drives have the forces after the end; in_a_cycle: or can have them after one more. What may not change
 * stays. */
static int robot_loop_releases(const robot_loop_t *loop, const robot_loop_tuning_t *tuning, int in_a_cycle)
{
    int falls = 0;
    for (int i = 0; i < ROBOT_NV; ++i) {
        const robot_real_t F = tuning->safe_F[i], limit = tuning->F_max[i], step = tuning->F_step[i];
        const robot_real_t last = (F < -limit) ? -limit : ((F > limit) ? limit : F);
        const robot_real_t way = robot_loop_size(loop->F[i] - last), reach = (in_a_cycle != 0) ? step : REAL(0.0);
        falls |= ((robot_loop_driven[i] != 0u) && (step > REAL(0.0)) && (way > reach)) ? 1 : 0;
    }
    return falls == 0;
}

/* The forces of all phases but RUNNING, finite and within F_max. */
static void robot_loop_safe_command(robot_loop_t *loop, const robot_loop_tuning_t *tuning)
{
    robot_real_t weights[ROBOT_NV] = {REAL(0.0)}, F[ROBOT_NV];
    const int known = (loop->blind == 0u) || ((tuning->predict != 0) && (loop->lost == 0u));
    if (loop->phase != ROBOT_LOOP_ENDED) {
        robot_loop_weigh(loop, tuning, weights);
    }
    if (loop->phase == ROBOT_LOOP_ENDED) {
        for (int i = 0; i < ROBOT_NV; ++i) {
            F[i] = tuning->safe_F[i];
        }
    } else if ((tuning->stop == ROBOT_LOOP_STOP_OFF) || !known) {
        robot_loop_fade(loop, tuning, weights, F);
    } else {
        robot_loop_rest_law(loop, tuning, weights, F);
    }
    for (int i = 0; i < ROBOT_NV; ++i) {
        const robot_real_t sound = robot_loop_is_finite(F[i]) ? F[i] : REAL(0.0);
        loop->F[i] = (robot_loop_driven[i] != 0u) ? robot_loop_within(loop, tuning, i, sound) : REAL(0.0);
    }
}

/* From STOPPING to HOLDING or ENDED, and from HOLDING to ENDED. */
static void robot_loop_next_phase(robot_loop_t *loop, const robot_loop_tuning_t *tuning)
{
    const int is_over = (loop->tick - loop->stop_tick) >= tuning->stop_ticks;
    const int off = (tuning->stop == ROBOT_LOOP_STOP_OFF) && ((loop->tick - loop->fade_tick) >= tuning->fade_ticks);
    const int ends = (ROBOT_LOOP_LOAD(&loop->end_wanted) != 0u) || (tuning->after == ROBOT_LOOP_AFTER_END);
    if (loop->phase == ROBOT_LOOP_HOLDING) {
        loop->phase = (loop->blind != 0u) ? ROBOT_LOOP_STOPPING : (ends ? ROBOT_LOOP_ENDED : ROBOT_LOOP_HOLDING);
        loop->stop_tick = loop->tick; /* from where it is now, if it must stop again */
    } else if (off || (is_over && (ends || (loop->blind != 0u)))) {
        loop->unfinished += robot_loop_at_rest(loop) ? 0u : 1u;
        loop->phase = ROBOT_LOOP_ENDED;
    } else if ((loop->blind == 0u) && (tuning->stop != ROBOT_LOOP_STOP_OFF) && robot_loop_at_rest(loop)) {
        loop->phase = ends ? ROBOT_LOOP_ENDED : ROBOT_LOOP_HOLDING;
    } else {
        loop->overtime += is_over ? 1u : 0u; /* still STOPPING */
    }
}

/*
 * A cycle of STOPPING, HOLDING or ENDED. It reads, so that the state stays known and a simulated robot moves on.
 * Sensors that fail during a stop without a fault are the first fault; while nothing is commanded they are none.
 */
static int32_t robot_loop_safe_cycle(robot_loop_t *loop, const robot_loop_tuning_t *tuning)
{
    const int32_t index = loop->fault_index;
    const int is_first = (loop->status == ROBOT_LOOP_STATUS_OK) && (loop->phase != ROBOT_LOOP_ENDED);
    int32_t found = ROBOT_LOOP_STATUS_OK;
    if (loop->blind == 0u) {
        found = robot_loop_sense(loop, tuning);
    }
    if (loop->blind != 0u) {
        (void)loop->read(loop->io, loop->tick, loop->view.q, loop->view.qd); /* for the records only */
    } else if (found != ROBOT_LOOP_STATUS_OK) {
        robot_loop_go_blind(loop);
    } else {
        /* the state is known */
#if ROBOT_OBSERVED
        (void)robot_loop_observe(loop); /* what has no encoder; a robot is stopped by those that have one */
#endif
    }
    if (!is_first || (found == ROBOT_LOOP_STATUS_OK)) {
        loop->fault_index = index;
        found = loop->status;
    }
    robot_loop_go_on_by_model(loop, tuning);
    if (loop->phase != ROBOT_LOOP_ENDED) {
        robot_loop_next_phase(loop, tuning);
    }
    robot_loop_safe_command(loop, tuning);
    return found;
}

#endif /* ROBOT_LOOP_SAFETY_H */
