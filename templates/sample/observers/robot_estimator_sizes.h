/* Part of robot_online_estimator.h: what is estimated; a sample of what is generated. */
#ifndef ROBOT_ESTIMATOR_SIZES_H
#define ROBOT_ESTIMATOR_SIZES_H

#define ROBOT_ESTIMATED         16 /* numbers that are estimated */
#define ROBOT_ESTIMATOR_COLUMNS 10 /* of the regressor */
#define ROBOT_ESTIMATED_BEFORE  10 /* those of the payload */
#define ROBOT_ESTIMATOR_CARRIER 0  /* the first column of the link that carries the payload */

#endif /* ROBOT_ESTIMATOR_SIZES_H */
