/* Part of robot_loop.c: the state by the model, where it was not measured. */
#ifndef ROBOT_LOOP_PREDICT_H
#define ROBOT_LOOP_PREDICT_H

#include "robot_loop_plant_io.h"
#include "robot_loop_sound.h"

/* The model begins where the last sound state is, with the last command. */
static void robot_loop_shadow_begins(robot_loop_t *loop)
{
    robot_loop_plant_t *const shadow = &loop->shadow;
    shadow->tick = loop->sound_tick;
#if ROBOT_SLIDING
    shadow->held = 0;
#endif
    for (int i = 0; i < ROBOT_NQ; ++i) {
        shadow->q[i] = loop->sound_q[i];
#if ROBOT_QUATERNIONS
        shadow->position[i] = (uint32_t)i;
#endif
    }
    for (int i = 0; i < ROBOT_NV; ++i) {
        shadow->qd[i] = loop->sound_qd[i];
        shadow->map[i] = (uint32_t)i;
    }
    shadow->measured = (uint32_t)ROBOT_NV;
#if ROBOT_QUATERNIONS
    shadow->positions = (uint32_t)ROBOT_NQ;
#endif
}

/* Moves the model on to this tick; 0, or it failed. */
static int robot_loop_shadow_moves(
    robot_loop_t *loop, const robot_loop_tuning_t *tuning, robot_real_t *q, robot_real_t *qd)
{
    robot_loop_plant_t *const shadow = &loop->shadow;
    shadow->p = tuning->p;
    shadow->period = loop->period;
    shadow->substeps = (tuning->substeps > 0u) ? tuning->substeps : 1u;
    for (int i = 0; i < ROBOT_NV; ++i) {
        shadow->F[i] = loop->F[i];
    }
    return robot_loop_plant_read(shadow, loop->tick, q, qd);
}

/*
 * With tuning->predict: as long as a position stays the same to the last bit while its reference moves, the model goes
 * on from the state before. If that is found to be a fault, later, the model's state is the sound one.
 */
static void robot_loop_suspect(robot_loop_t *loop, const robot_loop_tuning_t *tuning)
{
    robot_real_t q[ROBOT_NQ], qd[ROBOT_NV];
    int suspicious = 0;
    for (int i = 0; i < ROBOT_NV; ++i) {
        const int k = robot_loop_beside[i];
        const int stays = (k >= 0) && !(loop->view.q[k] < loop->sound_q[k]) && !(loop->view.q[k] > loop->sound_q[k]);
        suspicious |= (stays && (loop->moved[i] > 0u)) ? 1 : 0;
    }
    if ((suspicious == 0) || (tuning->predict == 0) || (loop->phase != ROBOT_LOOP_RUNNING)) {
        loop->suspicious = 0u;
    } else {
        if (loop->suspicious == 0u) {
            robot_loop_shadow_begins(loop);
        }
        loop->suspicious = (robot_loop_shadow_moves(loop, tuning, q, qd) == 0) ? 1u : 0u;
    }
}

/* A fault of the sensors was found, perhaps late: back to the state that the model had meanwhile. */
static void robot_loop_believe_shadow(robot_loop_t *loop)
{
    if (loop->suspicious != 0u) {
        loop->suspicious = 0u;
        for (int i = 0; i < ROBOT_NQ; ++i) {
            loop->sound_q[i] = loop->shadow.q[i];
        }
        for (int i = 0; i < ROBOT_NV; ++i) {
            loop->sound_qd[i] = loop->shadow.qd[i];
        }
        loop->sound_tick = loop->shadow.tick;
    }
}

/* Puts the last sound state, moved on by the model under the last command, in place of the measurement. 0, or it
 * failed. */
static int robot_loop_predict(robot_loop_t *loop, const robot_loop_tuning_t *tuning)
{
    robot_loop_view_t *const view = &loop->view;
    robot_loop_shadow_begins(loop);
    const int failed = robot_loop_shadow_moves(loop, tuning, view->q, view->qd);
    if ((failed != 0) || (robot_loop_not_finite(view) >= 0)) {
        return 1;
    }
    for (int i = 0; i < ROBOT_NV; ++i) {
        loop->stuck[i] = REAL(0.0); /* the velocities are the model's */
        loop->said[i] = REAL(0.0);
    }
    robot_loop_keep(loop, tuning);
    return 0;
}

#endif /* ROBOT_LOOP_PREDICT_H */
