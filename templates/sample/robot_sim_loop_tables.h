/* Rows of loops that are kept, weights of the velocities, and tolerances: a sample of what is generated. */
#ifndef ROBOT_SIM_LOOP_TABLES_H
#define ROBOT_SIM_LOOP_TABLES_H

static const int robot_sim_loop_rows[ROBOT_LOOPS] = {0};                               /* independent ones */
static const robot_scalar_t robot_sim_loop_weights[ROBOT_NV] = {REAL(1.0), REAL(1.0)}; /* small: moves little */
static const robot_scalar_t robot_sim_loop_sizes[ROBOT_LOOPS] = {REAL(1.0)};           /* usual ones of the rows */

#define ROBOT_SIM_LOOP_NEAR   REAL(1e-14) /* residual that is not corrected any more [m or 1] */
#define ROBOT_SIM_LOOP_CLOSED REAL(1e-11) /* residual that counts as closed */
#define ROBOT_SIM_LOOP_START  REAL(1e-6)  /* residual of a start that is taken for closed */
#define ROBOT_SIM_LOOP_WEAK   REAL(1e-4)  /* share of a row's usual square: below, rank is nearly lost */

#endif /* ROBOT_SIM_LOOP_TABLES_H */
