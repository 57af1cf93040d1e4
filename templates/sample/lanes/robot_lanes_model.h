/* Vectors of motions of the sample robot: a sample of what is generated. */
#ifndef ROBOT_LANES_MODEL_H
#define ROBOT_LANES_MODEL_H

#include "eg_lanes.h"

#include <stddef.h>
#include <stdint.h>

#define EG_LANES_ALL(number) ((eg_lanes_real_t){0} + (number))

typedef robot_real_t eg_lanes_real_t __attribute__((vector_size(EG_LANES * 8)));

typedef struct {
    eg_lanes_real_t mass, stiffness, damping, time;
} eg_lanes_params_t;

/* States k, k + 1, ... of a batch of n, number by number; beyond the last one it is repeated. */
static inline void eg_lanes_read(
    eg_lanes_real_t *to, const robot_real_t *from, size_t stride, size_t k, size_t n, int size)
{
    for (size_t lane = 0u; lane < EG_LANES; ++lane) {
        const size_t state = ((k + lane) < n) ? (k + lane) : (n - 1u);
        for (int i = 0; i < size; ++i) {
            to[i][lane] = from[(state * stride) + (size_t)i];
        }
    }
}

#endif /* ROBOT_LANES_MODEL_H */
