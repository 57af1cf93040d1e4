/* What the numbers of the sample robot mean: a sample of what is generated. */
#ifndef ROBOT_SHARED_MEANING_H
#define ROBOT_SHARED_MEANING_H

#include "robot.h"

#define ROBOT_SHARED_NQ        ROBOT_NQ /* positions */
#define ROBOT_SHARED_NV        ROBOT_NV /* velocities and forces */
#define ROBOT_SHARED_MEANING_0 0x00000001u
#define ROBOT_SHARED_MEANING_1 0x00000002u

#endif /* ROBOT_SHARED_MEANING_H */
