/* Part of robot_loop.c: the simulated robot on the borders of its elements, and when it leaves its beam. */
#ifndef ROBOT_LOOP_PLANT_SWITCH_H
#define ROBOT_LOOP_PLANT_SWITCH_H

#include "robot_loop_base.h"

#if ROBOT_SLIDING
/* Elements inside the sliding joints at the start; then, after every step, over the borders that were passed in it. */
static int robot_loop_plant_switch(robot_loop_plant_t *plant)
{
    robot_real_t q[ROBOT_NQ], qd[ROBOT_NQ];
    robot_switch_t report;
    int status = 0;
    for (int i = 0; i < ROBOT_NQ; ++i) {
        q[i] = plant->q[i];
        qd[i] = plant->qd[i];
    }
    if (plant->held == 0) {
        plant->held = 1;
        status = robot_switch_elements(q, plant->k);
        if (status == 0) {
            robot_switch_hold(plant->k, q, qd);
        }
    } else {
        do {
            status = robot_switch(&plant->p, plant->k, q, qd, &report, &plant->switching);
            plant->switches += (status == 1) ? 1u : 0u;
        } while (status == 1);
    }
    for (int i = 0; i < ROBOT_NQ; ++i) {
        plant->q[i] = q[i];
        plant->qd[i] = qd[i];
    }
    return status;
}

/* What a failure of the simulated robot is called: the joint that left its beam, or a motion that diverged. */
static int robot_loop_plant_failure(const robot_loop_plant_t *plant)
{
    robot_real_t q[ROBOT_NQ];
    int k[ROBOT_SLIDING];
    int answer = ROBOT_LOOP_DIVERGED;
    for (int i = 0; i < ROBOT_NQ; ++i) {
        q[i] = plant->q[i];
    }
    (void)robot_switch_elements(q, k);
    for (int j = ROBOT_SLIDING - 1; j >= 0; --j) {
        answer = (k[j] < 0) ? (ROBOT_LOOP_OUTSIDE + robot_loop_sliding[j]) : answer;
    }
    return answer;
}
#endif

#endif /* ROBOT_LOOP_PLANT_SWITCH_H */
