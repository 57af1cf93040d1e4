/* Part of robot_loop.c: reading and driving the simulated robot. */
#ifndef ROBOT_LOOP_PLANT_IO_H
#define ROBOT_LOOP_PLANT_IO_H

#include "robot_loop_plant_switch.h"
#include "robot_loop_rk4.h"

#define ROBOT_LOOP_MOST_PERIODS 1000u       /* of the simulated robot in one cycle, after a long delay */
#define ROBOT_LOOP_MOST_WAY     REAL(1.0e4) /* of a coordinate in one period [rad, m]; beyond it the motion diverged */

/* Whether a coordinate moves so far in one period that an angle in single precision has no digits left. */
static int robot_loop_runs_away(const robot_loop_plant_t *plant)
{
    int answer = 0;
    for (int i = 0; i < ROBOT_NV; ++i) {
        const robot_real_t way = plant->period * plant->qd[i];
        answer |= ((way > ROBOT_LOOP_MOST_WAY) || (way < -ROBOT_LOOP_MOST_WAY)) ? 1 : 0;
    }
    return answer;
}

int robot_loop_plant_read(void *io, uint64_t tick, robot_real_t *q, robot_real_t *qd)
{
    robot_loop_plant_t *const plant = (robot_loop_plant_t *)io;
    const robot_real_t h = plant->period / (robot_real_t)plant->substeps;
    const uint64_t behind = tick - plant->tick;
    const uint64_t periods = (behind < ROBOT_LOOP_MOST_PERIODS) ? behind : ROBOT_LOOP_MOST_PERIODS;
    int status = 0;
#if ROBOT_TIMED
    plant->p.time = (robot_real_t)plant->tick * plant->period;
#endif
#if ROBOT_SLIDING
    if (plant->held == 0) {
        status = robot_loop_plant_switch(plant);
    }
#endif
    for (uint64_t steps = periods * plant->substeps; (steps > 0u) && (status == 0); --steps) {
        if (plant->method == ROBOT_LOOP_RK4) {
            status |= robot_loop_step_rk4(plant, h);
        } else {
            status |= robot_loop_step_semi_implicit(plant, h);
        }
#if ROBOT_LOOPS
        status |= robot_loop_assemble(&plant->p, plant->q, plant->qd);
#endif
#if ROBOT_SLIDING
        status |= robot_loop_plant_switch(plant);
#endif
        status |= robot_loop_runs_away(plant);
    }
    plant->tick = tick;
#if ROBOT_TIMED
    plant->p.time = (robot_real_t)tick * plant->period;
#endif
#if ROBOT_QUATERNIONS
    for (uint32_t k = 0; k < plant->positions; ++k) {
        q[k] = plant->q[plant->position[k]];
    }
#endif
    for (uint32_t k = 0; k < plant->measured; ++k) {
#if !ROBOT_QUATERNIONS
        q[k] = plant->q[plant->map[k]];
#endif
        qd[k] = plant->qd[plant->map[k]];
    }
#if ROBOT_SLIDING
    return (status == 0) ? 0 : robot_loop_plant_failure(plant);
#else
    return (status == 0) ? 0 : ROBOT_LOOP_DIVERGED;
#endif
}

int robot_loop_plant_write(void *io, uint64_t tick, const robot_real_t *F)
{
    robot_loop_plant_t *const plant = (robot_loop_plant_t *)io;
    (void)tick;
    for (uint32_t k = 0; k < plant->measured; ++k) {
        plant->F[plant->map[k]] = F[k];
    }
    return 0;
}

#endif /* ROBOT_LOOP_PLANT_IO_H */
