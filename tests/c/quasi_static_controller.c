/*
 * What the feedforward of a flexible arm is measured against: the elastic coordinates in the equilibrium of the reference
 * motion, moving with the velocity that the force rates give, but without acceleration of their own.
 */
static void relax(const bending_arm_loop_tuning_t *tuning, const double *Q, double *x)
{
    static const int elastic[4] = { 1, 2, 4, 5 };
    for (int i = 0; i < 4; ++i) {
        for (int j = 0; j < 4; ++j) {
            x[elastic[i]] -= tuning->compliance[i][j] * Q[elastic[j]];
        }
    }
}

int user_controller(void *context, const bending_arm_loop_view_t *view, bending_arm_real_t *F)
{
    double *const x = (double *)context; /* the deflection, from cycle to cycle, at the places of its coordinates */
    double q[6], qd[6] = { 0 }, qdd[6] = { 0 }, qddd[6] = { 0 }, xd[6] = { 0 };
    for (int i = 0; i < 6; ++i) {
        q[i] = x[i];
    }
    for (int i = 0; i < 6; i += 3) {
        q[i] = view->q_ref[i];
        qd[i] = view->qd_ref[i];
        qdd[i] = view->qdd_ref[i];
        qddd[i] = view->qddd_ref[i];
    }
    for (int round = 0; round < 2; ++round) {
        bending_arm_inverse_dynamics(view->p, q, qd, qdd, F);
        relax(view->tuning, F, q);
    }
    bending_arm_inverse_dynamics_rate_1(view->p, q, qd, qdd, qddd, F);
    relax(view->tuning, F, xd);
    for (int i = 0; i < 6; ++i) {
        x[i] = q[i];
        qd[i] += xd[i];
    }
    bending_arm_inverse_dynamics(view->p, q, qd, qdd, F);
    for (int i = 0; i < 6; ++i) {
        F[i] += view->tuning->kp[i] * (view->q_ref[i] - view->q[i]) + view->tuning->kd[i] * (view->qd_ref[i] - view->qd[i]);
    }
    return 0;
}
