/* How many motions the sample is simulated with at once: a sample of what is generated. */
#ifndef EG_LANES_H
#define EG_LANES_H

#include "robot.h"

#define EG_LANES 2

#endif /* EG_LANES_H */
