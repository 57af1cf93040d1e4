/* From 0 to 1 in two seconds, at rest at the ends: a sample of what is generated. */
#ifndef ROBOT_TRAJECTORY_TABLES_H
#define ROBOT_TRAJECTORY_TABLES_H

#define ROBOT_TRAJECTORY_SEGMENTS 2
#define ROBOT_TRAJECTORY_DEGREE   2

const robot_trajectory_real_t robot_trajectory_start = REAL(0.0);
const robot_trajectory_real_t robot_trajectory_end = REAL(2.0);

/* Segment s lasts from breaks[s] to breaks[s + 1]. */
static const robot_trajectory_real_t robot_trajectory_breaks[ROBOT_TRAJECTORY_SEGMENTS + 1] = {
    REAL(0.0), REAL(1.0), REAL(2.0)};

/* Coordinate j on segment s: sum over k of coefficients[s][j][k] (t - breaks[s])^k. */
static const robot_trajectory_real_t
    robot_trajectory_coefficients[ROBOT_TRAJECTORY_SEGMENTS][ROBOT_TRAJECTORY_SIZE][ROBOT_TRAJECTORY_DEGREE + 1] = {
        {{REAL(0.0), REAL(0.0), REAL(0.5)}}, {{REAL(0.5), REAL(1.0), REAL(-0.5)}}};

#endif /* ROBOT_TRAJECTORY_TABLES_H */
