/* Part of robot_sim_stops.h: what watches the limits of the joints in a simulation. */
#ifndef ROBOT_SIM_STOPS_TYPES_H
#define ROBOT_SIM_STOPS_TYPES_H

#include "robot_simulate.h"

typedef struct {
    const robot_scalar_t *lower; /* nq [rad, m]; infinite: no limit */
    const robot_scalar_t *upper;
    const robot_scalar_t *stiffness; /* nq: of the springs beyond them */
    const robot_scalar_t *damping;
    int ends;                /* non-zero: the simulation ends at a limit */
    int index;               /* out: first coordinate beyond its limit, -1: none yet */
    int side;                /* out: 1: its upper one, -1: its lower one */
    robot_scalar_t time;     /* out: when it passed it [s] */
    robot_scalar_t before_t; /* the step before: set it to the start */
    robot_scalar_t before_q[ROBOT_NQ];
    robot_scalar_t before_qd[ROBOT_NV];
    const robot_real_t *params; /* for the springs: what computes the driving forces */
    const robot_sim_input_t *input;
    robot_sim_workspace_t *workspace;
} robot_sim_stops_t;

#endif /* ROBOT_SIM_STOPS_TYPES_H */
