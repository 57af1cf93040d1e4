/* Variables of the sample robot's unit: a sample of what is generated. */
#ifndef ROBOT_FMU_VARIABLES_H
#define ROBOT_FMU_VARIABLES_H

#define ROBOT_FMU_UNIT      "{sample}" /* whose states these are */
#define ROBOT_FMU_TOLERANCE 1e-09      /* relative, of the integrator, where none is given */

/* All variables are doubles in one array; value references are their places in it. */
#define ROBOT_FMU_TIME        0
#define ROBOT_FMU_PARAMETERS  1  /* 3: live parameters */
#define ROBOT_FMU_FORCES      4  /* 2: forces of the drives [N] */
#define ROBOT_FMU_WRENCHES    6  /* 6: wrench on the tip [N, N m] */
#define ROBOT_FMU_Q           12 /* nq: positions */
#define ROBOT_FMU_QD          (ROBOT_FMU_Q + ROBOT_NQ)
#define ROBOT_FMU_DERIVATIVES (ROBOT_FMU_QD + ROBOT_NV)
#define ROBOT_FMU_TIP         (ROBOT_FMU_DERIVATIVES + ROBOT_NQ + ROBOT_NV) /* 12: position and rotation of the tip */
#define ROBOT_FMU_MARGIN      (ROBOT_FMU_TIP + 12)
#define ROBOT_FMU_SIZE        (ROBOT_FMU_MARGIN + 1)
#define ROBOT_FMU_NF          2 /* joints with a drive */

#endif /* ROBOT_FMU_VARIABLES_H */
