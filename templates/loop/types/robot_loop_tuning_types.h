/* Part of robot_loop.h: what the other side hands over. */
#ifndef ROBOT_LOOP_TUNING_TYPES_H
#define ROBOT_LOOP_TUNING_TYPES_H

#include "robot_loop_constants.h"
#include "robot.h"

/** What to follow. Values that are not named beside a kind are not read. */
typedef struct {
    int32_t kind;               /* HOLD: q, qd, qdd as they are; MOVE: to q in duration; TABLE: one row for each tick */
    uint64_t number;            /* the sender's; comes back in the records */
    robot_real_t q[ROBOT_NQ];   /* HOLD, MOVE: positions [rad, m]; quaternions of length 1 */
    robot_real_t qd[ROBOT_NV];  /* HOLD: velocities [rad/s, m/s] */
    robot_real_t qdd[ROBOT_NV]; /* HOLD: accelerations [rad/s^2, m/s^2] */
    robot_real_t F[ROBOT_NV];   /* all kinds: forces that are added to the controller's [N m, N] */
    robot_real_t duration; /* HOLD, TABLE: to join it in this time, 0: at once, as tables of robots with quaternions
                              always are; MOVE: in this time [s]; a motion of degree 2 ROBOT_LOOP_ORDER - 1, whose first
                              ROBOT_LOOP_ORDER - 1 derivatives do not jump */
    uint32_t rows;         /* TABLE: number of rows; the last one is held */
    uint32_t orders; /* TABLE: 5: rows of q and four derivatives; else: of q, qd, qdd, jerk and snap by differences */
    uint32_t
        forces; /* TABLE: non-zero: every row ends with forces, which are added to F [N m, N]; no shaper acts on them */
    const robot_real_t *table; /* TABLE: must stay as it is while it is followed */
} robot_loop_reference_t;

/** What may be changed while the loop runs, always as a whole. An infinite limit is no limit. */
typedef struct {
    robot_params_t p;                       /* live parameters of the controller's model */
    robot_real_t kp[ROBOT_NV];              /* position gains: [N m/rad, N/m]; computed torque [1/s^2] */
    robot_real_t kd[ROBOT_NV];              /* velocity gains: [N m s/rad, N s/m]; computed torque [1/s] */
    robot_real_t K[ROBOT_NV][2 * ROBOT_NV]; /* state feedback F = F_ref - K (q - q_ref, qd - qd_ref) */
    robot_real_t compliance[ROBOT_NE_PLACES]
                           [ROBOT_NE_PLACES]; /* feedforward: inverse stiffness of the elastic coordinates */
    int32_t feedforward;                      /* state feedback: non-zero adds the inverse dynamics of the reference */
    robot_real_t F_max[ROBOT_NV];             /* commands are cut to +-F_max [N m, N] */
    robot_real_t F_trip[ROBOT_NV];            /* a command beyond +-F_trip stops the loop [N m, N] */
    robot_real_t q_min[ROBOT_NQ];             /* a position below stops the loop [rad, m] */
    robot_real_t q_max[ROBOT_NQ];             /* a position above stops the loop [rad, m] */
    robot_real_t qd_max[ROBOT_NV];            /* a velocity beyond +-qd_max stops the loop [rad/s, m/s] */
    robot_real_t error_max[ROBOT_NV];         /* a tracking error beyond +-error_max stops the loop [rad, m] */
    uint32_t reference_age;      /* a reference or heartbeat that is older stops the loop [ticks]; 0: not watched */
    robot_real_t jump[ROBOT_NQ]; /* a position that changes by more than this beyond what its velocity explains stops
                                    the loop [rad, m] */
    uint32_t
        frozen; /* so many cycles a position may stay the same to the last bit while its reference moves; 0: for ever */
    uint32_t bridge;               /* so many cycles in a row without numbers in the state are bridged by the model */
    uint32_t substeps;             /* of the model in one period, where it stands in for the state; 0: 1 */
    robot_real_t F_step[ROBOT_NV]; /* commands change by at most this in a cycle [N m, N] */
    int32_t stop;                  /* after a fault: STOP_DAMPED, STOP_RAMP, STOP_HOLD or STOP_OFF */
    int32_t after;                 /* at rest after a fault: AFTER_HOLD or AFTER_END */
    uint32_t stop_ticks;           /* in which the robot should come to rest */
    uint32_t fade_ticks;           /* of forces where the state is lost, where drives go off, after a reset */
    robot_real_t rest[ROBOT_NV];   /* at rest: drives that are not faster [rad/s, m/s] */
    robot_real_t safe_F[ROBOT_NV]; /* constant forces of all phases but RUNNING [N m, N] */
    robot_real_t safe_damping[ROBOT_NV]; /* STOP_DAMPED [N m s/rad, N s/m] */
    robot_real_t safe_kp[ROBOT_NV];      /* STOP_RAMP, STOP_HOLD, HOLDING [N m/rad, N/m] */
    robot_real_t safe_kd[ROBOT_NV];      /* the same [N m s/rad, N s/m] */
    int32_t safe_gravity;                /* non-zero: and the forces that carry the weights */
    int32_t predict; /* non-zero: without sensors the robot is stopped by the state that the model predicts */
    uint32_t law;    /* which controller: 0: loop.controller, k: loop.others[k - 1] */
    uint32_t ramp;   /* in so many cycles kp, kd and K, and the command, go over to this tuning; 0: at once */
    uint32_t taps;   /* input shaper: number of impulses; 0: none */
    uint32_t tap_delay[ROBOT_LOOP_TAPS];       /* of each impulse [ticks] */
    robot_real_t tap_gain[ROBOT_LOOP_TAPS];    /* of each impulse; they add up to 1 */
    robot_real_t user[ROBOT_LOOP_USER_VALUES]; /* for a controller of the user's own */
} robot_loop_tuning_t;

#endif /* ROBOT_LOOP_TUNING_TYPES_H */
