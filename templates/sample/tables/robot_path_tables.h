/* One geodesic of the sample robot: a sample of what is generated. */
#ifndef ROBOT_PATH_TABLES_H
#define ROBOT_PATH_TABLES_H

#define ROBOT_PATH_LEGS 1

/* Where each leg begins, and the displacement to its end along the velocities. */
static const robot_path_real_t robot_path_points[ROBOT_PATH_LEGS][ROBOT_PATH_NQ] = {{REAL(0.0), REAL(0.0)}};
static const robot_path_real_t robot_path_ways[ROBOT_PATH_LEGS][ROBOT_PATH_NV] = {{REAL(1.0), REAL(2.0)}};

#endif /* ROBOT_PATH_TABLES_H */
