/* Part of robot_loop.c: what sensors of the simulated robot read. */
#ifndef ROBOT_LOOP_PLANT_MEASURE_H
#define ROBOT_LOOP_PLANT_MEASURE_H

#include "robot_loop_readings.h"

#if ROBOT_OBSERVED
/* A number of mean 0 and variance 1: twelve equally distributed ones (xorshift, Marsaglia 2003), added. */
static robot_real_t robot_loop_noise(robot_loop_plant_t *plant)
{
    robot_real_t sum = REAL(-6.0);
    for (int k = 0; k < 12; ++k) {
        uint32_t x = (plant->random != 0u) ? plant->random : 1u;
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
        plant->random = x;
        sum += (robot_real_t)(x >> 8) / REAL(16777216.0);
    }
    return sum;
}

int robot_loop_plant_measure(void *io, uint64_t tick, robot_real_t *y)
{
    robot_loop_plant_t *const plant = (robot_loop_plant_t *)io;
    robot_real_t F[ROBOT_NV];
    (void)tick;
    for (int i = 0; i < ROBOT_NV; ++i) {
        F[i] = plant->F[i] + plant->disturbance[i];
    }
    const int status = robot_loop_measure(&plant->p, plant->q, plant->qd, F, y);
    for (int r = 0; r < ROBOT_READINGS; ++r) {
        y[r] += plant->noise[r] * robot_loop_noise(plant);
    }
    return status;
}
#endif

#endif /* ROBOT_LOOP_PLANT_MEASURE_H */
