/* Part of robot_loop.h: the state of a loop. */
#ifndef ROBOT_LOOP_STATE_TYPES_H
#define ROBOT_LOOP_STATE_TYPES_H

#include "robot_loop_io_types.h"

/** A place of the telemetry ring. */
typedef struct {
    uint32_t sequence; /* 2 n + 1 while record n is written, 2 n + 2 when it is complete */
    uintptr_t words[sizeof(robot_loop_record_t) / sizeof(uintptr_t)];
} robot_loop_slot_t;

/** The elastic equilibrium and its time derivatives, which the feedforward controller carries from cycle to cycle. */
typedef struct {
    robot_real_t x[ROBOT_NE_PLACES], xd[ROBOT_NE_PLACES], xdd[ROBOT_NE_PLACES];
} robot_loop_elastic_t;

/** A controller with its first argument. */
typedef struct {
    robot_loop_controller_t controller;
    void *context;
} robot_loop_law_t;

/** Gains of a controller, as in a tuning. */
typedef struct {
    robot_real_t kp[ROBOT_NV], kd[ROBOT_NV], K[ROBOT_NV][2 * ROBOT_NV];
} robot_loop_gains_t;

/** A linear system from sample to sample, see robot_loop_discretize; the other fields are its work. */
typedef struct {
    robot_real_t step[2 * ROBOT_NV][3 * ROBOT_NV]; /* [A_d B_d]: (dq, dqd) after dt = A_d (dq, dqd) + B_d dF */
    robot_real_t part[2 * ROBOT_NV][3 * ROBOT_NV], term[2 * ROBOT_NV][3 * ROBOT_NV], next[2 * ROBOT_NV][3 * ROBOT_NV];
} robot_loop_discrete_t;

/** Three copies of something: one is written, one is read, one is on its way. Neither side ever waits. */
typedef struct {
    uint32_t shared; /* copy on its way, plus 4 if nobody took it yet */
    uint32_t writer; /* copy of the other side */
    uint32_t reader; /* copy of the loop */
} robot_loop_exchange_t;

/** State of a loop. */
typedef struct {
    /* The caller sets these between robot_loop_init and the first step. */
    robot_real_t period; /* [s] */
    robot_loop_read_t read;
    robot_loop_write_t write;
    void *io; /* first argument of read and write */
    robot_loop_controller_t controller;
    void *context; /* first argument of controller; of robot_loop_feedforward: &elastic */
    robot_loop_law_t others[ROBOT_LOOP_OTHER_LAWS]; /* further controllers, for tuning.law */
    robot_loop_slot_t *slots;                       /* telemetry ring; null: no telemetry */
    uint32_t capacity;                              /* number of slots, a power of two */
    int32_t keep;                                   /* KEEP_OLDEST or KEEP_NEWEST, when the reader is too slow */
    robot_real_t *delay_line; /* memory of the shaper, delay_rows x DELAY_WIDTH; null: no shaper */
    uint32_t delay_rows;      /* greater than every delay */
#if ROBOT_OBSERVED
    robot_loop_observer_t *observer; /* null: the controller sees what is read */
#endif

    /* A caller with a clock sets these before each step; they go into the record. */
    uint64_t tick;
    int64_t deadline_ns, lateness_ns, execution_ns;

    /* For reading only. */
    int32_t phase;        /* RUNNING, STOPPING, HOLDING, ENDED */
    int32_t status;       /* STATUS_OK, or the fault that stopped the loop */
    int32_t fault_index;  /* coordinate that caused it, -1: none */
    uint32_t blind;       /* non-zero: the sensors are not trusted any more */
    uint32_t bridged;     /* cycles in a row, up to now, whose state is the model's */
    uint64_t bridges;     /* cycles whose state was the model's */
    uint64_t overtime;    /* cycles of a stop beyond stop_ticks */
    uint64_t unfinished;  /* stops that ended before the robot was at rest */
    uint64_t cycle;       /* cycles done */
    uint64_t saturations; /* cycles in which a force was cut */
    robot_loop_view_t view;
    robot_real_t F[ROBOT_NV]; /* last command */
    robot_loop_elastic_t elastic;

    /* Internal. */
    robot_loop_exchange_t reference_exchange, tuning_exchange;
    robot_loop_reference_t reference[3];
    robot_loop_tuning_t tuning[3];
    robot_loop_tuning_t present;             /* what the controller sees: gains on their ramp */
    robot_loop_gains_t gains_from, gains_to; /* where that ramp began, and where it leads to */
    uint64_t gain_tick;
    uint32_t gain_ticks;
    robot_real_t sound_q[ROBOT_NQ],
        sound_qd[ROBOT_NV]; /* last measurement that can be, or the model's in place of one */
    uint64_t sound_tick;
    uint32_t same[ROBOT_NV];      /* cycles in which the position stayed the same to the last bit */
    uint32_t moved[ROBOT_NV];     /* cycles in which the reference moved */
    robot_real_t stuck[ROBOT_NV]; /* change of position beyond what a velocity says that stays the same [rad, m] */
    robot_real_t said[ROBOT_NV];  /* the way that it said meanwhile [rad, m] */
    uint32_t seen, suspicious, rest_cycles, tripped, end_wanted;
    uint32_t lost;         /* non-zero: the model that stood for the sensors failed, too */
    robot_real_t frozen_q; /* position of the sensor that failed, at that moment */
    uint32_t reset_asked, reset_answered;
    int32_t reset_answer, reset_index;
    uint64_t stop_tick, fade_tick, bump_tick; /* when these began */
    uint32_t bump_ticks, bump_wanted;
    robot_real_t stop_q[ROBOT_NQ], stop_qd[ROBOT_NV]; /* where the stop began; later, where the robot rests */
    robot_real_t fade_F[ROBOT_NV], bump[ROBOT_NV];
    robot_real_t weights[ROBOT_NV];                  /* that a stop carried in the last cycle */
    robot_loop_plant_t shadow;                       /* the model that bridges */
    robot_real_t motion[ROBOT_NV][ROBOT_LOOP_ORDER]; /* MOVE: coefficients of r(s) */
#if ROBOT_QUATERNIONS
    robot_real_t origin[ROBOT_NQ], way[ROBOT_NV]; /* MOVE: where it begins, displacement to the goal */
#endif
    robot_real_t plain[5][ROBOT_NQ]; /* reference before the shaper: q and four derivatives */
    uint64_t reference_tick;         /* when the reference was taken */
    uint64_t alive_tick;             /* when the last reference or heartbeat was seen */
    uint32_t heartbeat;              /* the other side's count */
    uint32_t last_heartbeat;
    uint32_t delay_row, started, saturated;
    uint32_t head, tail, dropped; /* of the ring */
} robot_loop_t;

#endif /* ROBOT_LOOP_STATE_TYPES_H */
