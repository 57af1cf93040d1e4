/* Rows of loops that are kept, and weights of the velocities: a sample of what is generated. */
#ifndef ROBOT_LOOP_TABLES_H
#define ROBOT_LOOP_TABLES_H

static const int robot_loop_rows[ROBOT_LOOPS] = {0}; /* independent ones */
static const unsigned char robot_loop_independent[ROBOT_NV] = {1u, 0u};
static const robot_real_t robot_loop_weights[ROBOT_NV] = {REAL(1.0), REAL(1.0)}; /* small: moves little */

#endif /* ROBOT_LOOP_TABLES_H */
