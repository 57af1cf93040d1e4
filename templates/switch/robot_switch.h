/**
 * @file  robot_switch.h
 * @brief Sliding joints: from one element of a beam to the next.
 */

/*
 * For integrators. Within a step they keep the elements k (the functions whose names end with _in take them); where the
 * step leads beyond a border, they shorten it to end there and call robot_switch. State in robot_scalar_t, SI units,
 * radians. What happens at the borders of each joint stands in robot_switch.c.
 */

#ifndef ROBOT_SWITCH_H
#define ROBOT_SWITCH_H

#include "robot.h"

#ifdef __cplusplus
extern "C" {
#endif

#include "robot_switch_types.h"

/** Memory of robot_switch; nothing in it needs a value before or is meant for the caller. */
typedef struct {
#if ROBOT_REFRACTS
    robot_scalar_t M[ROBOT_NV * ROBOT_NV];
    robot_scalar_t without[ROBOT_NV], push[ROBOT_NV];
    int pivots[ROBOT_NV];
#else
    int unused;
#endif
} robot_switch_work_t;

/** @brief Elements inside the joints at a state; 0, or ROBOT_ERROR_OUT_OF_RANGE with -1 for such joints. */
int robot_switch_elements(const robot_scalar_t q[ROBOT_NQ], int k[ROBOT_SLIDING]);

/** @brief How far a state is from the nearest border of the elements k [m]; negative beyond it. */
robot_scalar_t robot_switch_margin(const int k[ROBOT_SLIDING], const robot_scalar_t q[ROBOT_NQ]);

/** @brief Set to zero what the elements k clamp: coordinates of elements that are inside a joint with a clamped
 * element. */
void robot_switch_hold(const int k[ROBOT_SLIDING], robot_scalar_t q[ROBOT_NQ], robot_scalar_t qd[ROBOT_NV]);

/**
 * @brief Carry a state that is beyond a border of the elements k over to the next element.
 *
 * @param[in]     p  live parameters
 * @param[in,out] k  elements inside the joints, ROBOT_SLIDING values
 * @param[in,out] q, qd  state just beyond the border, ROBOT_NQ values each
 * @param[out]    report  what happened
 * @param         work  memory
 * @return 1 if a border was passed (another may be left: call again); 0 if there is none;
 *         ROBOT_ERROR_OUT_OF_RANGE at the end of a beam, and other errors of the model's functions.
 */
int robot_switch(const robot_params_t *p, int k[ROBOT_SLIDING], robot_scalar_t q[ROBOT_NQ], robot_scalar_t qd[ROBOT_NV],
    robot_switch_t *report, robot_switch_work_t *work);

#ifdef __cplusplus
}
#endif

#endif /* ROBOT_SWITCH_H */
