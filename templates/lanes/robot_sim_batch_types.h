/* Part of robot_lanes_simulate.h: a batch of motions that differ in state and live parameters. */
#ifndef ROBOT_SIM_BATCH_TYPES_H
#define ROBOT_SIM_BATCH_TYPES_H

#include "robot_sim_stops_types.h"

/* Arrays hold one motion after the other. */
typedef struct {
    const robot_real_t *params;
    size_t nparams;
    const robot_scalar_t *q0;
    const robot_scalar_t *qd0;
    size_t samples;
    const robot_scalar_t *times;
    const robot_sim_input_t *input;
    const robot_sim_options_t *options; /* its event is what watches the limits, asked where one is passed */
    robot_sim_record_t record;          /* of all motions */
    robot_sim_control_t *controls;
    int *status;
    const robot_sim_stops_t *limits; /* null: none are watched */
    robot_sim_stops_t *stops;        /* null, or one for each motion */
} robot_sim_batch_t;

#endif /* ROBOT_SIM_BATCH_TYPES_H */
