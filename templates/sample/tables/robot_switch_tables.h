/* Borders and sliding joints of the sample robot: a sample of what is generated. */
#ifndef ROBOT_SWITCH_TABLES_H
#define ROBOT_SWITCH_TABLES_H

/* All joints' borders: the beginning of the range, those between elements, the end of the range. */
static const robot_switch_border_t robot_switch_borders[3] = {{REAL(0.0), REAL(1.0), REAL(0.0), 0, 0},
    {REAL(0.5), REAL(1.0), REAL(0.0), 0, 0}, {REAL(1.0), REAL(1.0), REAL(0.0), 0, 0}};

/* What happens at the borders of each joint. */
static const robot_switch_joint_t robot_switch_joints[ROBOT_SLIDING] = {
    {0, 1, 1, 1, ROBOT_SWITCH_REFRACT, 0, 0} /* slider: energy and the momenta along the border go on */
};

#endif /* ROBOT_SWITCH_TABLES_H */
