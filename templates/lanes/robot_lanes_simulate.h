/* Simulation of a batch in lanes: what both sides of the extension module know. */
#ifndef ROBOT_LANES_SIMULATE_H
#define ROBOT_LANES_SIMULATE_H

#include "eg_lanes.h"
#include "robot_simulate.h"

#include "robot_sim_batch_types.h"
#include "robot_sim_stops_types.h"

/* Multiple of bytes where the memory of robot_lanes_simulate begins: vectors of double, in float models too. */
#define ROBOT_LANES_ALIGNMENT (EG_LANES * 8u)

/* Bytes of memory that robot_lanes_simulate needs. */
size_t robot_lanes_simulate_memory(void);

/* Simulate the motions first, first + 1, ..., at most EG_LANES of them, at once. Where they branch, for a
 * failure or a shorter step, a motion leaves its lane and goes on alone. */
void robot_lanes_simulate(const robot_sim_batch_t *batch, size_t first, size_t count, void *memory);

/* The scalar code's part: the start of motion k and, from where its workspace is, its course up to the end; return a
 * status. */
int robot_sim_begin_alone(const robot_sim_batch_t *batch, size_t k, robot_sim_options_t *options,
    robot_sim_record_t *record, robot_sim_workspace_t *w);
int robot_sim_go_on_alone(robot_sim_workspace_t *w, size_t samples);

#endif /* ROBOT_LANES_SIMULATE_H */
