/**
 * @file  robot_fmu.h
 * @brief The robot as a functional mock-up unit: variables, motion, events, derivatives.
 */

#ifndef ROBOT_FMU_H
#define ROBOT_FMU_H

#include "robot_simulate.h"
#if ROBOT_LOOPS
#include "robot_loops.h"
#endif

#include "robot_fmu_variables.h"

#define ROBOT_FMU_STATES (ROBOT_NQ + ROBOT_NV) /* q, then qd */
#if ROBOT_SLIDING
#define ROBOT_FMU_INDICATORS 1
#else
#define ROBOT_FMU_INDICATORS 0
#endif

/** What robot_fmu_ functions return. */
#define ROBOT_FMU_OK     0
#define ROBOT_FMU_FAILED (-1)

/** All that changes in one instance and nothing else: may be copied and kept. */
typedef struct {
    char unit[sizeof ROBOT_FMU_UNIT]; /* whose state it is */
    double v[ROBOT_FMU_SIZE];
    double step;      /* of the integrator, the last one [s]; 0: none yet */
    double tolerance; /* relative, of the integrator */
#if ROBOT_SLIDING
    int k[ROBOT_SLIDING]; /* elements inside the sliding joints */
#endif
    int stale; /* whether variables that are computed are out of date */
} robot_fmu_state_t;

/** One instance. */
typedef struct {
    robot_fmu_state_t state;
    robot_params_t p;
#if ROBOT_SLIDING
    const int *k; /* the elements that forces are computed for */
#endif
    const char *problem; /* why the last call failed */
    robot_sim_workspace_t simulation;
#if ROBOT_SLIDING
    robot_switch_work_t switching;
#endif
#if ROBOT_LOOPS
    robot_loops_workspace_t loops;
#endif
} robot_fmu_t;

/** Set every variable to its start value. */
void robot_fmu_reset(robot_fmu_t *fmu);

/** Take over start values: elements inside the joints, unit quaternions, loops closed with the drives where they are.
 */
int robot_fmu_begin(robot_fmu_t *fmu);

/** Values of variables. Set refuses what is computed; both refuse references that do not exist. */
int robot_fmu_get(robot_fmu_t *fmu, const unsigned int *references, size_t count, double *values);
int robot_fmu_set(robot_fmu_t *fmu, const unsigned int *references, size_t count, const double *values);

/** Replace the time [s]. */
void robot_fmu_set_time(robot_fmu_t *fmu, double time);

/** Change of variables along a change of states and inputs, to first order. */
int robot_fmu_directional(robot_fmu_t *fmu, const unsigned int *unknowns, size_t unknown_count,
    const unsigned int *knowns, size_t known_count, const double *change, double *answer);

/** How far the nearest border of an element is [m]; negative beyond it. Without sliding joints 1. */
double robot_fmu_indicator(const robot_fmu_t *fmu);

/** Whether a state has to be carried over a border, its quaternions be made unit, or its loops be closed. */
int robot_fmu_wants_event(const robot_fmu_t *fmu);

/** Do that; *changed says whether states changed. */
int robot_fmu_event(robot_fmu_t *fmu, int *changed);

/** Integrate from one time to another with the inputs as they are. */
int robot_fmu_advance(robot_fmu_t *fmu, double from, double to);

#endif /* ROBOT_FMU_H */
