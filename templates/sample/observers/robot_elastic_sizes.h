/* Part of robot_elastic_states.h: how many live parameters there are; a sample of what is generated. */
#ifndef ROBOT_ELASTIC_SIZES_H
#define ROBOT_ELASTIC_SIZES_H

#define ROBOT_ELASTIC_PARAMETERS 4 /* number of live parameters */

#endif /* ROBOT_ELASTIC_SIZES_H */
