/* Part of robot_simulate.c: what is recorded of a state. */
#ifndef ROBOT_SIM_STORE_H
#define ROBOT_SIM_STORE_H

#include "robot_sim_force.h"

/* Store the next sample: the state y at time t. */
static int robot_sim_store(robot_sim_workspace_t *w, robot_scalar_t t, const robot_scalar_t *y)
{
    const robot_sim_record_t *const to = w->record;
    const size_t k = w->sample;
    int status = ROBOT_SIM_STATUS_OK;
#if ROBOT_TIMED
    robot_sim_set_time(w, t);
#endif
    if (to->F != NULL) {
        const unsigned good = robot_sim_force(w, t, y, &y[ROBOT_NQ], to->F + (k * ROBOT_NV));
        status = (good != 0u) ? status : w->status;
    }
#if ROBOT_HAS_KINETIC_ENERGY
    if (to->kinetic != NULL) {
        (void)robot_sim_call_kinetic_energy(w, y, &y[ROBOT_NQ], to->kinetic + k);
    }
#endif
#if ROBOT_HAS_POTENTIAL_ENERGY
    if (to->potential != NULL) {
        (void)robot_sim_call_potential_energy(w, y, to->potential + k);
    }
#endif
    for (size_t i = 0u; (i < ROBOT_NQ) && (to->q != NULL); ++i) {
        to->q[(k * ROBOT_NQ) + i] = y[i];
    }
    for (size_t i = 0u; (i < ROBOT_NV) && (to->qd != NULL); ++i) {
        to->qd[(k * ROBOT_NV) + i] = y[i + ROBOT_NQ];
    }
    if (to->work != NULL) {
        to->work[k] = y[ROBOT_SIM_NX];
    }
    if (to->loss != NULL) {
        to->loss[k] = y[ROBOT_SIM_NX + 1];
    }
    if (status == ROBOT_SIM_STATUS_OK) {
        w->sample = k + 1u;
        w->control->samples = w->sample;
    }
    return status;
}

#endif /* ROBOT_SIM_STORE_H */
