/* Part of robot_simulate.h: types of the simulation, which the extension module has, too. */
#ifndef ROBOT_SIM_TYPES_H
#define ROBOT_SIM_TYPES_H

#include "robot.h"
#if ROBOT_SLIDING
#include "robot_switch.h"
#endif

#include <stddef.h>
#include <stdint.h>

/** Driving forces F [N m] or [N] at time t [s], positions q and velocities qd; non-zero ends the simulation. */
typedef int (*robot_sim_function_t)(
    void *context, robot_scalar_t t, const robot_scalar_t *q, const robot_scalar_t *qd, robot_scalar_t *F);

/** Called after every step, may change the state; returns 0: go on, 1: the state was changed, negative: end. */
typedef int (*robot_sim_event_t)(void *context, robot_scalar_t t, robot_scalar_t *q, robot_scalar_t *qd);

/** What drives the model: no rows and no function mean no forces. Rows belong to the times; values are row-major. */
typedef struct {
    int kind;                            /* one of the INPUT constants */
    size_t rows;                         /* number of times */
    const robot_scalar_t *times;         /* increasing [s]; the first and the last row hold before and after them */
    const robot_scalar_t *values;        /* rows x nv: forces [N m, N]; of a controller: reference positions [rad, m] */
    const robot_scalar_t *rates;         /* rows x nv: reference velocities [rad/s, m/s] */
    const robot_scalar_t *accelerations; /* rows x nv: reference accelerations [rad/s^2, m/s^2] */
    const robot_scalar_t *position_gain; /* nv: [N m/rad, N/m] of PD, [1/s^2] of computed torque */
    const robot_scalar_t *velocity_gain; /* nv: [N m s/rad, N s/m] of PD, [1/s] of computed torque */
    const int *actuated;                 /* nv: 0 where a controller has no drive; null: drives everywhere */
    robot_sim_function_t function;
    void *context; /* first argument of function */
} robot_sim_input_t;

/** How to integrate. */
typedef struct {
    int method;              /* one of the METHOD constants */
    robot_scalar_t step;     /* [s]: the largest of equal steps; of TSIT5 the first one, 0: found by itself */
    robot_scalar_t max_step; /* [s]: TSIT5 takes no longer ones; 0: no limit */
    robot_scalar_t rtol;     /* relative tolerance: of one step (TSIT5), of Newton's method (GENERALIZED_ALPHA) */
    robot_scalar_t atol;     /* absolute tolerance, in the units of q and qd */
    robot_scalar_t rho_inf;  /* GENERALIZED_ALPHA: what a step leaves of the fastest vibrations, 0 to 1 */
    robot_sim_event_t event; /* may be null */
    void *event_context;
} robot_sim_options_t;

#if ROBOT_GROUND
/** A point touches the ground, or lifts off: there the step ends. */
typedef struct {
    robot_scalar_t time;  /* [s] */
    robot_scalar_t speed; /* along the normal, away from the ground [m/s] */
    int point;            /* which of the ground's points */
    int touches;          /* 1: it touches, 0: it lifts off */
} robot_sim_touch_t;
#endif

/** Where the samples go, one row for each sample time; what is null is not recorded. */
typedef struct {
    robot_scalar_t *q;         /* [rad, m], nq in a row */
    robot_scalar_t *qd;        /* [rad/s, m/s], nv in a row */
    robot_scalar_t *F;         /* [N m, N], nv in a row */
    robot_scalar_t *kinetic;   /* [J] */
    robot_scalar_t *potential; /* [J] */
    robot_scalar_t *work;      /* [J] done by F since the first sample, integrated with the motion */
    robot_scalar_t *loss; /* [J] taken by friction and damping since the first sample, integrated with the motion */
#if ROBOT_SLIDING
    robot_switch_t *switches; /* changes of the element inside a sliding joint, in the order of time */
    size_t most_switches;     /* how many of them there is room for */
#endif
#if ROBOT_GROUND
    robot_sim_touch_t *touches; /* of the points of the ground, in the order of time */
    size_t most_touches;        /* how many of them there is room for */
#endif
} robot_sim_record_t;

/** What another thread may watch, and how it may stop the simulation. */
typedef struct {
    volatile int cancel;          /* in: non-zero ends the simulation at the next step */
    volatile robot_scalar_t time; /* out: time that is reached [s]; after a failure, the last sound state's */
    size_t samples;               /* out: rows that were recorded */
    uint64_t steps;               /* out: accepted steps */
    uint64_t rejections;          /* out: steps that were taken again, shorter */
    uint64_t evaluations;         /* out: of the equations of motion */
    uint64_t factorizations;      /* out: of Newton's matrix */
#if ROBOT_SLIDING
    uint64_t switches; /* out: borders of elements that sliding joints passed, recorded or not */
    int left;          /* out: after STATUS_OUT_OF_RANGE, the position in k of the joint that left its beam */
#endif
#if ROBOT_GROUND
    uint64_t touches; /* out: how often points touched the ground or lifted off, recorded or not */
#endif
} robot_sim_control_t;

#endif /* ROBOT_SIM_TYPES_H */
