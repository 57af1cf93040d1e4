/* What the sample robot has. A robot's own files are emitted with these conditions decided. */
#ifndef ROBOT_FEATURES_H
#define ROBOT_FEATURES_H

#ifndef ROBOT_QUATERNIONS
#define ROBOT_QUATERNIONS 0 /* number of quaternions among the coordinates */
#endif
#ifndef ROBOT_SLIDING
#define ROBOT_SLIDING 0 /* number of joints that slide along beams, or beams through them */
#endif
#ifndef ROBOT_GROUND
#define ROBOT_GROUND 0 /* number of points that touch a ground */
#endif
#ifndef ROBOT_REFRACTS
#define ROBOT_REFRACTS                                                                                                 \
    ROBOT_SLIDING /* whether the mass matrix jumps where a sliding joint passes from element to element */
#endif
#ifndef ROBOT_IK_CAN_FAIL
#define ROBOT_IK_CAN_FAIL ROBOT_SLIDING /* whether a frame can be out of range */
#endif
#ifndef ROBOT_TRAJECTORY_HOLDS
#define ROBOT_TRAJECTORY_HOLDS 1 /* whether a trajectory holds its ends; else it is zero outside */
#endif
#ifndef ROBOT_FMU_POINTS_COUNT
#define ROBOT_FMU_POINTS_COUNT 0 /* points of links that a functional mock-up unit has */
#endif
#ifndef ROBOT_FMU_FRAMES_COUNT
#define ROBOT_FMU_FRAMES_COUNT 0 /* frames that the user chose */
#endif
#ifndef ROBOT_TIMED
#define ROBOT_TIMED 1 /* whether the live parameter time follows a simulation */
#endif
#ifndef ROBOT_SINGLE
#define ROBOT_SINGLE 0 /* 1: numbers are float */
#endif
#ifndef ROBOT_LANES
#define ROBOT_LANES 0 /* 1: several motions at once, one in each lane of the processor's vectors */
#endif

#ifndef ROBOT_NE
#define ROBOT_NE 0 /* number of elastic coordinates */
#endif
#ifndef ROBOT_NE_PLACES
#define ROBOT_NE_PLACES (ROBOT_NE + (ROBOT_NE == 0)) /* the same, 1 where there are none */
#endif
#ifndef ROBOT_PASSIVE
#define ROBOT_PASSIVE 0 /* whether a joint has no drives */
#endif
#ifndef ROBOT_HYBRID
#define ROBOT_HYBRID (ROBOT_NE || ROBOT_PASSIVE) /* whether anything has none */
#endif
#ifndef ROBOT_FREE_Q
#define ROBOT_FREE_Q (4 * ROBOT_QUATERNIONS) /* number of coordinates of joints with a quaternion */
#endif
#ifndef ROBOT_FREE_V
#define ROBOT_FREE_V (3 * ROBOT_QUATERNIONS) /* number of velocities of joints with a quaternion */
#endif

#ifndef ROBOT_LOOPS
#define ROBOT_LOOPS 0 /* number of independent rows of loops */
#endif
#ifndef ROBOT_LOOP_ROWS
#define ROBOT_LOOP_ROWS ROBOT_LOOPS /* number of all rows of loops */
#endif
#ifndef ROBOT_TWO_LINKS
#define ROBOT_TWO_LINKS ROBOT_LOOPS /* whether explicit formulas close the loops */
#endif

#ifndef ROBOT_READINGS
#define ROBOT_READINGS 2 /* numbers that the sensors of an observer read */
#endif

#ifndef ROBOT_OBSERVED
#define ROBOT_OBSERVED (!ROBOT_QUATERNIONS && !ROBOT_SLIDING) /* whether its loop can have an observer */
#endif

#ifndef ROBOT_ESTIMATES_PAYLOAD
#define ROBOT_ESTIMATES_PAYLOAD 1 /* whether the payload is estimated while the robot moves */
#endif
#ifndef ROBOT_ESTIMATES_FRICTION
#define ROBOT_ESTIMATES_FRICTION 1 /* whether friction is */
#endif

#ifndef ROBOT_PLAY_BENT
#define ROBOT_PLAY_BENT 1 /* points of beams whose curvatures a page draws */
#endif
#ifndef ROBOT_PLAY_COMPUTES
#define ROBOT_PLAY_COMPUTES 1 /* whether a page offers computed torque */
#endif

/* Functions of the model that may be missing. */
#ifndef ROBOT_HAS_INVERSE_DYNAMICS
#define ROBOT_HAS_INVERSE_DYNAMICS 1
#endif
#ifndef ROBOT_HAS_INVERSE_DYNAMICS_DERIVATIVES
#define ROBOT_HAS_INVERSE_DYNAMICS_DERIVATIVES 1
#endif
#ifndef ROBOT_CAN_GENERALIZED_ALPHA
#define ROBOT_CAN_GENERALIZED_ALPHA                                                                                    \
    (ROBOT_HAS_INVERSE_DYNAMICS && ROBOT_HAS_INVERSE_DYNAMICS_DERIVATIVES) /* has what this method needs */
#endif
#ifndef ROBOT_HAS_GRAVITY_VECTOR
#define ROBOT_HAS_GRAVITY_VECTOR 1
#endif
#ifndef ROBOT_HAS_FRICTION_FORCES
#define ROBOT_HAS_FRICTION_FORCES 1
#endif
#ifndef ROBOT_HAS_LOAD_FRICTION_FORCES
#define ROBOT_HAS_LOAD_FRICTION_FORCES 0
#endif
#ifndef ROBOT_HAS_KINETIC_ENERGY
#define ROBOT_HAS_KINETIC_ENERGY 1
#endif
#ifndef ROBOT_HAS_POTENTIAL_ENERGY
#define ROBOT_HAS_POTENTIAL_ENERGY 1
#endif
#ifndef ROBOT_CONTROLLERS
#define ROBOT_CONTROLLERS 1 /* whether there are some that follow a reference */
#endif

#endif /* ROBOT_FEATURES_H */
