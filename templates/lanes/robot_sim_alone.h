/* Part of the extension module: the scalar code's side of simulations in lanes. */
#ifndef ROBOT_SIM_ALONE_H
#define ROBOT_SIM_ALONE_H

#include "robot_lanes_simulate.h"

/* Row n of an array with rows of a size, or null. */
static robot_scalar_t *robot_sim_row_of(robot_scalar_t *array, size_t n, size_t size)
{
    return (array != NULL) ? array + (n * size) : NULL;
}

int robot_sim_begin_alone(const robot_sim_batch_t *batch, size_t k, robot_sim_options_t *options,
    robot_sim_record_t *record, robot_sim_workspace_t *w)
{
    const robot_real_t *const values = (batch->nparams > 0u) ? batch->params + (k * batch->nparams) : NULL;
    const size_t n = k * batch->samples;
    robot_sim_prepare(
        w, (values != NULL) ? (const robot_params_t *)(const void *)values : &robot_params_nominal, batch->input);
    *options = *batch->options;
    options->event_context = (batch->stops != NULL) ? &batch->stops[k] : NULL;
    *record = batch->record; /* the rows of motion k */
    record->q = robot_sim_row_of(record->q, n, ROBOT_NQ);
    record->qd = robot_sim_row_of(record->qd, n, ROBOT_NV);
    record->F = robot_sim_row_of(record->F, n, ROBOT_NV);
    record->kinetic = robot_sim_row_of(record->kinetic, n, 1u);
    record->potential = robot_sim_row_of(record->potential, n, 1u);
    record->work = robot_sim_row_of(record->work, n, 1u);
    record->loss = robot_sim_row_of(record->loss, n, 1u);
    w->options = options;
    w->record = record;
    w->control = batch->controls + k;
    w->times = batch->times;
    return robot_sim_begin(w, batch->q0 + (k * ROBOT_NQ), batch->qd0 + (k * ROBOT_NV), batch->samples);
}

int robot_sim_go_on_alone(robot_sim_workspace_t *w, size_t samples)
{
    return robot_sim_go_on(w, samples);
}

/* How many motions are simulated at once; 1: this machine has no vectors. */
static int robot_sim_lanes(void)
{
    return EG_LANES;
}

/* Bytes of memory that a batch needs. */
static size_t robot_sim_memory(void)
{
#if EG_LANES > 1
    return robot_lanes_simulate_memory() + ROBOT_LANES_ALIGNMENT;
#else
    return 0u;
#endif
}

/* Motions first, first + 1, ... of a batch, as many at once as there are lanes; memory has robot_sim_memory() bytes. */
static void robot_simulate_batch(const robot_sim_batch_t *batch, size_t first, size_t count, void *memory)
{
#if EG_LANES > 1
    void *const aligned = (char *)memory + (ROBOT_LANES_ALIGNMENT - ((uintptr_t)memory % ROBOT_LANES_ALIGNMENT));
    for (size_t k = 0u; k < count; k += EG_LANES) {
        robot_lanes_simulate(batch, first + k, ((count - k) < EG_LANES) ? count - k : EG_LANES, aligned);
    }
#else
    (void)batch;
    (void)first;
    (void)count;
    (void)memory;
#endif
}

#endif /* ROBOT_SIM_ALONE_H */
