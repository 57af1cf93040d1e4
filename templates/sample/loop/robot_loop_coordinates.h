/* Which coordinates are driven, elastic, of quaternions: a sample of what is generated. */
#ifndef ROBOT_LOOP_COORDINATES_H
#define ROBOT_LOOP_COORDINATES_H

#include "robot.h"
#include "robot_loop.h"

static const unsigned char robot_loop_driven[ROBOT_NV] = {1, !ROBOT_HYBRID}; /* 1: a velocity with a drive */
#if ROBOT_PASSIVE
static const unsigned char robot_loop_driven_q[ROBOT_NQ] = {1}; /* the same of the coordinates */
#endif
#if ROBOT_QUATERNIONS
static const short robot_loop_beside[ROBOT_NV] = {
    0, 1, -1, -1, -1};                                            /* coordinate beside a velocity; -1: a quaternion's */
static const int robot_loop_quaternions[ROBOT_QUATERNIONS] = {2}; /* where in q they start */
static const unsigned short robot_loop_free_q[ROBOT_FREE_Q] = {
    2, 3, 4, 5};                                                         /* coordinates of joints with a quaternion */
static const unsigned short robot_loop_free_v[ROBOT_FREE_V] = {2, 3, 4}; /* velocities of these joints */
#else
static const short robot_loop_beside[ROBOT_NV] = {0, 1};
#endif
#if ROBOT_NE && !ROBOT_PASSIVE
static const unsigned short robot_loop_elastic[ROBOT_NE] = {1};   /* elastic coordinates, in qd */
static const unsigned short robot_loop_elastic_q[ROBOT_NE] = {1}; /* the same in q */
#endif
#if ROBOT_SLIDING
static const int robot_loop_sliding[ROBOT_SLIDING] = {0}; /* coordinates of the sliding joints */
#endif

#endif /* ROBOT_LOOP_COORDINATES_H */
