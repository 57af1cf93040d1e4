/* Frames of the sample robot: a sample of what is generated. */
#ifndef ROBOT_IK_FRAMES_H
#define ROBOT_IK_FRAMES_H

/* Frames, in the order of the targets:
 *   0: tool
 */
#define ROBOT_IK_FRAMES      1 /* number of targets */
#define ROBOT_IK_COORDINATES 2 /* number of velocities that are moved */
#define ROBOT_IK_ROWS        6 /* number of errors */

#endif /* ROBOT_IK_FRAMES_H */
