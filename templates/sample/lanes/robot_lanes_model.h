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

#include "robot_lanes_memory.h"

#endif /* ROBOT_LANES_MODEL_H */
