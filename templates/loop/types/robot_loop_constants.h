/* Part of robot_loop.h: constants. */
#ifndef ROBOT_LOOP_CONSTANTS_H
#define ROBOT_LOOP_CONSTANTS_H

#include "robot.h"

#define ROBOT_LOOP_HERE                      0    /* reference: stay where the loop began */
#define ROBOT_LOOP_HOLD                      1    /* reference: constant values */
#define ROBOT_LOOP_MOVE                      2    /* reference: to a goal in a given time */
#define ROBOT_LOOP_TABLE                     3    /* reference: one row for each tick */
#define ROBOT_LOOP_RK4                       0    /* simulated robot: Runge-Kutta of order 4, forces held */
#define ROBOT_LOOP_SEMI_IMPLICIT             1    /* simulated robot: Euler, velocities first */
#define ROBOT_LOOP_KEEP_OLDEST               0    /* telemetry: a full ring loses new records */
#define ROBOT_LOOP_KEEP_NEWEST               1    /* telemetry: a full ring loses old records */
#define ROBOT_LOOP_STATUS_OK                 0    /* no fault */
#define ROBOT_LOOP_STATUS_READ               1    /* the state could not be read */
#define ROBOT_LOOP_STATUS_STATE_NOT_FINITE   2    /* NaN or infinity in the state */
#define ROBOT_LOOP_STATUS_POSITION           3    /* a position beyond its limits */
#define ROBOT_LOOP_STATUS_VELOCITY           4    /* a velocity beyond its limit */
#define ROBOT_LOOP_STATUS_TRACKING           5    /* a tracking error beyond its limit */
#define ROBOT_LOOP_STATUS_CONTROLLER         6    /* the controller failed */
#define ROBOT_LOOP_STATUS_COMMAND_NOT_FINITE 7    /* NaN or infinity in the command */
#define ROBOT_LOOP_STATUS_FORCE              8    /* a command beyond F_trip */
#define ROBOT_LOOP_STATUS_WRITE              9    /* the command could not be written */
#define ROBOT_LOOP_STATUS_OVERRUN            10   /* a cycle took too long, and the policy is to stop */
#define ROBOT_LOOP_STATUS_STALE_STATE        11   /* no new state for too long */
#define ROBOT_LOOP_STATUS_STALE_REFERENCE    12   /* no new reference or heartbeat for too long */
#define ROBOT_LOOP_STATUS_OUTSIDE            13   /* a sliding joint left its beam */
#define ROBOT_LOOP_STATUS_DIVERGED           14   /* the motion of the simulated robot diverged */
#define ROBOT_LOOP_STATUS_IMPLAUSIBLE        15   /* a position or velocity that no sensor can give */
#define ROBOT_LOOP_STATUS_JUMP               16   /* a position that changed by more than its velocity explains */
#define ROBOT_LOOP_STATUS_FROZEN             17   /* a position that stays the same while its reference moves */
#define ROBOT_LOOP_STATUS_BLOCKED            18   /* too many periods in a row were over when a cycle ended */
#define ROBOT_LOOP_STATUS_REFERENCE          19   /* a reference beyond the limits */
#define ROBOT_LOOP_STATUS_TRIPPED            20   /* stopped by the caller, an emergency stop for example */
#define ROBOT_LOOP_STATUS_OBSERVER           21   /* the observer's estimate contradicts the readings, or has none */
#define ROBOT_LOOP_RUNNING                   0    /* phase: the controller's command */
#define ROBOT_LOOP_STOPPING                  1    /* phase: from a fault, or the wish to end, to rest */
#define ROBOT_LOOP_HOLDING                   2    /* phase: at rest after a fault */
#define ROBOT_LOOP_ENDED                     3    /* phase: no forces but safe_F */
#define ROBOT_LOOP_STOP_DAMPED               0    /* stop: forces against the velocities */
#define ROBOT_LOOP_STOP_RAMP                 1    /* stop: on a ramp of the velocities */
#define ROBOT_LOOP_STOP_HOLD                 2    /* stop: back to the place of the fault */
#define ROBOT_LOOP_STOP_OFF                  3    /* stop: no forces */
#define ROBOT_LOOP_AFTER_HOLD                0    /* at rest after a fault: hold the robot there */
#define ROBOT_LOOP_AFTER_END                 1    /* at rest after a fault: end */
#define ROBOT_LOOP_RESET_TOO_EARLY           (-1) /* answer to a reset: the robot is not at rest yet */
#define ROBOT_LOOP_DIVERGED                  4    /* what a read function returns for a motion that diverged */
#define ROBOT_LOOP_OUTSIDE                   16 /* what a read function returns, plus its index, for a coordinate that left its range */
#define ROBOT_LOOP_STALE                     2  /* what a read function returns for a state that is too old */
#define ROBOT_LOOP_OTHER_LAWS                8u /* controllers that a loop can change to */
#define ROBOT_LOOP_SCHEDULE_AXES             3  /* coordinates that gains can depend on */
#define ROBOT_LOOP_TAPS                      64 /* largest number of impulses of a shaper */
#define ROBOT_LOOP_ROUNDS                    2  /* iterations of the elastic equilibrium in each cycle */
#define ROBOT_LOOP_USER_VALUES               32 /* numbers that a controller of the user's own may tune */

#if ROBOT_NE
#define ROBOT_LOOP_ORDER                                                                                               \
    5 /* of a motion to a goal: value and derivatives that go on without a jump, jerk and snap too */
#else
#define ROBOT_LOOP_ORDER 3 /* of a motion to a goal: value and derivatives that go on without a jump */
#endif

#endif /* ROBOT_LOOP_CONSTANTS_H */
