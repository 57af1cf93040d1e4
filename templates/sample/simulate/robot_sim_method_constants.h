/* Part of robot_simulate.h: the integrators. */
#ifndef ROBOT_SIM_METHOD_CONSTANTS_H
#define ROBOT_SIM_METHOD_CONSTANTS_H

#define ROBOT_SIM_METHOD_RK4               0 /* Runge-Kutta of order 4, equal steps */
#define ROBOT_SIM_METHOD_TSIT5             1 /* Runge-Kutta of order 5(4), steps by error, dense output */
#define ROBOT_SIM_METHOD_GENERALIZED_ALPHA 2 /* implicit, order 2, equal steps, damps fast vibrations */

#endif /* ROBOT_SIM_METHOD_CONSTANTS_H */
