/**
 * @file  robot_loops.h
 * @brief Configurations in which all loops are closed.
 */

/*
 * SI units, radians. No heap, no I/O, all memory is the caller's: any number of threads and interrupts at once.
 *
 * Newton's method with a bound of steps: each is the least displacement of the coordinates that are not held, in the
 * linear model damped as the residuals are large. Where it gets stuck, as in a loop that is open by exactly pi, it
 * starts again from a displaced configuration, of which the sequence is fixed. Where two links close each loop and
 * just the independent velocities are held, explicit formulas come first.
 */

#ifndef ROBOT_LOOPS_H
#define ROBOT_LOOPS_H

#include "robot.h"

#include <stddef.h>

#define ROBOT_LOOPS_CLOSED 0    /* all residuals are within the tolerance */
#define ROBOT_LOOPS_OPEN   1    /* they are not: q is the best found, gap what remains */
#define ROBOT_LOOPS_ERROR  (-1) /* NaN or infinity, or a tolerance that is not positive; q is as it was */

#ifdef __cplusplus
extern "C" {
#endif

/** Memory of a search; nothing in it needs a value before or is meant for the caller. */
typedef struct {
    robot_real_t e[ROBOT_LOOP_ROWS];
    robot_real_t J[ROBOT_LOOP_ROWS * ROBOT_NV];
    robot_real_t L[ROBOT_LOOPS * ROBOT_LOOPS];
    robot_real_t x[ROBOT_LOOPS];
    robot_real_t v[ROBOT_NV];
    robot_real_t q[ROBOT_NQ];
    robot_real_t best[ROBOT_NQ];
} robot_loops_workspace_t;

/**
 * @brief The nearest configuration in which all loops are closed.
 *
 * @param[in]     p  live parameters
 * @param[in]     held  ROBOT_NV values, 1: this velocity is zero, its coordinate stays; null: everything may move
 * @param[in]     tolerance  of the residuals [m or 1], above 0
 * @param[in,out] q  start, then the configuration, ROBOT_NQ values
 * @param[out]    gap  largest residual there; may be null
 * @param[in,out] workspace  memory of this search
 * @return ROBOT_LOOPS_CLOSED, ROBOT_LOOPS_OPEN or ROBOT_LOOPS_ERROR
 */
int robot_close_loops(const robot_params_t *p, const unsigned char *held, robot_real_t tolerance, robot_real_t *q,
    robot_real_t *gap, robot_loops_workspace_t *workspace);

/**
 * @brief The nearest velocities that keep closed loops closed, J qd = 0.
 *
 * @param[in]     p  live parameters
 * @param[in]     held  ROBOT_NV values, 1: this velocity stays; null: all may change
 * @param[in]     q  configuration, closed, ROBOT_NQ values
 * @param[in,out] qd  velocities, ROBOT_NV values
 * @param[in,out] workspace  memory of this search
 * @return ROBOT_LOOPS_CLOSED, ROBOT_LOOPS_OPEN where those that are held do not allow it, ROBOT_LOOPS_ERROR for NaN
 */
int robot_close_velocities(const robot_params_t *p, const unsigned char *held, const robot_real_t *q, robot_real_t *qd,
    robot_loops_workspace_t *workspace);

#ifdef __cplusplus
}
#endif

#endif /* ROBOT_LOOPS_H */
