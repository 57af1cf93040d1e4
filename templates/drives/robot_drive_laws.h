/* Part of robot_simulate.c, robot_loop.c and robot_play.c: control laws of drives. */
#ifndef ROBOT_DRIVE_LAWS_H
#define ROBOT_DRIVE_LAWS_H

/* kp e + kd de of one drive. */
static inline robot_law_state_t robot_law_pd(
    robot_scalar_t kp, robot_scalar_t kd, robot_law_state_t e, robot_law_state_t de)
{
    return (kp * e) + (kd * de);
}

/* Inverse dynamics of the model. */
typedef robot_law_answer_t (*robot_law_dynamics_t)(robot_law_model_t *model, const robot_law_state_t *q,
    const robot_law_state_t *qd, const robot_law_state_t *qdd, robot_law_state_t *F);

/* Computed torque: the forces F of the accelerations qdd + pd, where pd = kp e + kd de; returns what the model does. */
static inline robot_law_answer_t robot_law_computed_torque(robot_law_dynamics_t dynamics, robot_law_model_t *model,
    const robot_law_state_t *q, const robot_law_state_t *qd, const robot_law_state_t *qdd, const robot_law_state_t *pd,
    robot_law_state_t *F)
{
    robot_law_state_t wanted[ROBOT_NV];
    for (int i = 0; i < ROBOT_NV; ++i) {
        wanted[i] = qdd[i] + pd[i];
    }
    return dynamics(model, q, qd, wanted, F);
}

#endif /* ROBOT_DRIVE_LAWS_H */
