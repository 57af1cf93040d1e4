/* Coordinates of the sample robot: a sample of what is generated. */
#ifndef ROBOT_IK_MOVED_H
#define ROBOT_IK_MOVED_H

/* The velocities that are moved, the coordinate beside each (-1: part of a quaternion's joint), and its limits. */
static const struct {
    int velocity;
    int position;
    robot_real_t lower;
    robot_real_t upper;
#if ROBOT_IK_CAN_FAIL
    robot_real_t first; /* range of a sliding joint on its beam */
    robot_real_t last;
#endif
} robot_ik_moved[ROBOT_IK_COORDINATES] = {
#if ROBOT_IK_CAN_FAIL
    {0, 0, REAL(-1.0), REAL(1.0), REAL(0.0), REAL(1.0)},
    {1, 1, REAL(-1.0), REAL(1.0), REAL(-1e30), REAL(1e30)},
#else
    {0, 0, REAL(-1.0), REAL(1.0)},
    {1, 1, REAL(-1.0), REAL(1.0)},
#endif
};

#endif /* ROBOT_IK_MOVED_H */
