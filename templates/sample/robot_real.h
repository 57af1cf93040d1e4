/* Numbers of the precision that a file is emitted in: there, these words are written out. */
#ifndef ROBOT_REAL_H
#define ROBOT_REAL_H

#include "robot_features.h"

#include <float.h>
#include <math.h>

#if ROBOT_SINGLE
typedef float robot_scalar_t;
#define REAL(number)  ((float)(number))
#define ROBOT_ATAN2   atan2f
#define ROBOT_CEIL    ceilf
#define ROBOT_COS     cosf
#define ROBOT_FABS    fabsf
#define ROBOT_FLOOR   floorf
#define ROBOT_FMAX    fmaxf
#define ROBOT_FMIN    fminf
#define ROBOT_POW     powf
#define ROBOT_SIN     sinf
#define ROBOT_SQRT    sqrtf
#define ROBOT_TANH    tanhf
#define ROBOT_LARGEST FLT_MAX
#define ROBOT_EPSILON FLT_EPSILON
#define ROBOT_HUGE    INFINITY
#else
typedef double robot_scalar_t;
#define REAL(number)  (number)
#define ROBOT_ATAN2   atan2
#define ROBOT_CEIL    ceil
#define ROBOT_COS     cos
#define ROBOT_FABS    fabs
#define ROBOT_FLOOR   floor
#define ROBOT_FMAX    fmax
#define ROBOT_FMIN    fmin
#define ROBOT_POW     pow
#define ROBOT_SIN     sin
#define ROBOT_SQRT    sqrt
#define ROBOT_TANH    tanh
#define ROBOT_LARGEST DBL_MAX
#define ROBOT_EPSILON DBL_EPSILON
#define ROBOT_HUGE    HUGE_VAL
#endif

#endif /* ROBOT_REAL_H */
