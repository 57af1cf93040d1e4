/**
 * @file  robot_loop.c
 * @brief The control loop, documented in robot_loop.h.
 */

#include "robot_loop.h"

#include <float.h>

#include "robot_loop_discretize.h"
#include "robot_loop_ring_reader.h"
#include "robot_loop_cycle.h"
