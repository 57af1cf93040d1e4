/* Shared part: which numbers observers take. */
#ifndef ROBOT_OBSERVER_FINITE_H
#define ROBOT_OBSERVER_FINITE_H

#include "robot.h"

#define ROBOT_OBSERVER_LARGEST REAL(1e30) /* beyond it numbers do not count as finite */

static int robot_observer_finite(const robot_real_t *x, int n)
{
    int finite = 1;
    for (int i = 0; i < n; ++i) {
        finite = finite && (x[i] >= -ROBOT_OBSERVER_LARGEST) && (x[i] <= ROBOT_OBSERVER_LARGEST);
    }
    return finite;
}

#endif /* ROBOT_OBSERVER_FINITE_H */
