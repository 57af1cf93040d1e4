/* Part of robot_loop.h: what controllers, simulated robots and telemetry see. */
#ifndef ROBOT_LOOP_IO_TYPES_H
#define ROBOT_LOOP_IO_TYPES_H

#include "robot_loop_tuning_types.h"
#include "robot_loop_observer_types.h"

/** What a controller sees. Elastic coordinates and a free base have no drive: forces on them are set to zero. */
typedef struct {
    uint64_t tick;           /* number of the period since the start */
    robot_real_t period;     /* [s] */
    const robot_params_t *p; /* live parameters */
    const robot_loop_tuning_t *tuning;
    robot_real_t q[ROBOT_NQ], qd[ROBOT_NV]; /* measured */
    robot_real_t q_ref[ROBOT_NQ], qd_ref[ROBOT_NV], qdd_ref[ROBOT_NV], qddd_ref[ROBOT_NV],
        qdddd_ref[ROBOT_NV];      /* after the shaper */
    robot_real_t F_ref[ROBOT_NV]; /* forces of the reference */
    int32_t begins; /* non-zero until a command was computed since the start, a reset or a change of the controller: a
                       controller with states begins them anew; a reset tries its first cycle more than once */
#if ROBOT_QUATERNIONS
    robot_real_t error[ROBOT_NV]; /* displacement from q to q_ref along the velocities [rad, m] */
#endif
} robot_loop_view_t;

/** One cycle, as the telemetry tells it. */
typedef struct {
    uint64_t cycle;       /* cycles that ran before this one */
    uint64_t tick;        /* number of the period since the start; greater than cycle where periods were skipped */
    int64_t deadline_ns;  /* when the cycle was due, since the start [ns]; 0 without a clock */
    int64_t lateness_ns;  /* how much later it began [ns] */
    int64_t execution_ns; /* how long the cycle before this one took [ns] */
    int32_t status;       /* one of the STATUS constants */
    uint32_t saturated;   /* number of coordinates whose force was cut to F_max */
    uint64_t reference;   /* number of the reference that was followed */
    uint32_t checksum;    /* over all other bytes, see robot_loop_checksum */
    int32_t phase;        /* RUNNING, STOPPING, HOLDING, ENDED */
    uint32_t bridged;     /* cycles in a row, up to this one, whose state is the model's */
    uint32_t blind;       /* non-zero: the sensors are not trusted any more */
    robot_real_t q[ROBOT_NQ], qd[ROBOT_NV]; /* as they were read, or bridged */
    robot_real_t q_ref[ROBOT_NQ], qd_ref[ROBOT_NV];
    robot_real_t F[ROBOT_NV]; /* written */
} robot_loop_record_t;

/** Reads the state at a tick into q and qd; STALE (the state is too old) and other non-zero values are a fault. */
typedef int (*robot_loop_read_t)(void *io, uint64_t tick, robot_real_t *q, robot_real_t *qd);

/** Writes the command; non-zero is a fault. */
typedef int (*robot_loop_write_t)(void *io, uint64_t tick, const robot_real_t *F);

/** Computes the command; non-zero is a fault. */
typedef int (*robot_loop_controller_t)(void *context, const robot_loop_view_t *view, robot_real_t *F);

/** Gains over the workspace, for robot_loop_scheduled_feedback; between knots they are interpolated, ends are held. */
typedef struct {
    uint32_t axes;                                       /* how many coordinates they depend on */
    uint32_t coordinate[ROBOT_LOOP_SCHEDULE_AXES];       /* which ones, in q */
    uint32_t count[ROBOT_LOOP_SCHEDULE_AXES];            /* of the knots of each, at least 1 */
    const robot_real_t *knots[ROBOT_LOOP_SCHEDULE_AXES]; /* increasing [rad, m] */
    const robot_real_t *K; /* for each place of the grid, the last axis fastest: NV x 2 NV, row-major */
} robot_loop_schedule_t;

/** A simulated robot; robot_loop_plant_read and _plant_write stand in for sensors and drives. */
typedef struct {
    robot_params_t p;       /* its own live parameters: they may differ from the controller's */
    int32_t method;         /* RK4, or SEMI_IMPLICIT Euler (velocities first) */
    uint32_t substeps;      /* of one period, at least 1 */
    robot_real_t period;    /* [s] */
    uint32_t measured;      /* how many velocities are read and driven */
    uint32_t map[ROBOT_NV]; /* which ones */
#if ROBOT_QUATERNIONS
    uint32_t positions;          /* how many coordinates are read */
    uint32_t position[ROBOT_NQ]; /* which ones */
#endif
    robot_real_t q[ROBOT_NQ], qd[ROBOT_NV]; /* state now */
    robot_real_t F[ROBOT_NV];               /* last command, held between the cycles */
    robot_real_t disturbance[ROBOT_NV];     /* forces that are added to it [N m, N] */
    uint64_t tick;                          /* the state's */
#if ROBOT_OBSERVED
    robot_real_t noise[ROBOT_READINGS]; /* standard deviations of what its sensors read */
    uint32_t random;                    /* of that noise; another number gives other noise */
#endif
#if ROBOT_SLIDING
    uint64_t switches;    /* changes of the element inside a sliding joint */
    int32_t held;         /* whether k is that of the state; set it to 0 after writing q */
    int k[ROBOT_SLIDING]; /* elements inside the sliding joints */
    robot_switch_work_t switching;
#endif
} robot_loop_plant_t;

#endif /* ROBOT_LOOP_IO_TYPES_H */
