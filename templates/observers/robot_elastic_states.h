/**
 * @file  robot_elastic_states.h
 * @brief Elastic coordinates that no sensor sees, along a measured motion of the joints, with all derivatives.
 */

/*
 * The joints move as measured: q, qd, qdd of their coordinates are given at equal steps. The elastic coordinates follow
 * from their own equations of motion, the rows of inverse dynamics in which no drive acts,
 *
 *     G(q, qd, qdd, p) = 0,
 *
 * integrated with average accelerations (Newmark, beta = 1/4, gamma = 1/2): stable at every step, of second order, and
 * without numerical damping. Derivatives by the live parameters and by the start are those of the integrated motion
 * itself, exact to rounding: each step's linear equations are solved again for their columns.
 *
 * No heap, no I/O, all memory is the caller's.
 */

#ifndef ROBOT_ELASTIC_STATES_H
#define ROBOT_ELASTIC_STATES_H

#include "robot.h"

#include <stddef.h>

#include "robot_elastic_sizes.h"

#define ROBOT_ELASTIC_STATES_SINGULAR (-1) /* no accelerations of the elastic coordinates exist */
#define ROBOT_ELASTIC_STATES_DIVERGED (-2) /* numbers grew beyond all bounds */
#define ROBOT_ELASTIC_STATES_ARGUMENT (-3) /* a step that is not above zero, or too few columns */

#ifdef __cplusplus
extern "C" {
#endif

/** Memory of one call; its content need not be set. */
typedef struct {
    robot_real_t J[ROBOT_NV * ((3 * ROBOT_NV) + ROBOT_ELASTIC_PARAMETERS)];
    robot_real_t A[ROBOT_NV * ROBOT_NV];
    robot_real_t x[ROBOT_NV];
    int pivots[ROBOT_NV];
} robot_elastic_states_work_t;

/**
 * @brief Elastic coordinates and the forces of all coordinates along a motion of the joints.
 *
 * @param[in]     p     live parameters
 * @param[in]     n     number of samples
 * @param[in]     dt    step between them [s], above zero
 * @param[in,out] q     n x ROBOT_NV: joints are given, elastic ones in the first row; the rest is found
 * @param[in,out] qd    n x ROBOT_NV: the same
 * @param[in,out] qdd   n x ROBOT_NV: joints are given
 * @param[out]    F     n x ROBOT_NV: driving forces, with zeros for elastic coordinates
 * @param[in]     columns  number of derivatives: ROBOT_ELASTIC_PARAMETERS or more; 0: none
 * @param[in,out] dq    n x ROBOT_NV x columns: derivatives of q, those of the first row are given; first by the live
 *                      parameters, then by what the caller means with further columns of the first row
 * @param[in,out] dqd   the same of qd
 * @param[out]    dqdd  the same of qdd
 * @param[out]    dF    the same of F
 * @param[out]    w     memory
 * @return 0, or a negative number: then results from some sample on are not defined.
 * @note Re-entrant. Arrays must not overlap.
 */
int robot_elastic_states(const robot_params_t *p, size_t n, robot_real_t dt, robot_real_t *q, robot_real_t *qd,
    robot_real_t *qdd, robot_real_t *F, size_t columns, robot_real_t *dq, robot_real_t *dqd, robot_real_t *dqdd,
    robot_real_t *dF, robot_elastic_states_work_t *w);

#ifdef __cplusplus
}
#endif

#endif /* ROBOT_ELASTIC_STATES_H */
