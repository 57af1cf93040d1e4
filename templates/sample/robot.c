/**
 * @file  robot.c
 * @brief The model of the sample robot, documented in robot.h.
 */

#include "robot.h"

const robot_params_t robot_params_nominal = {
    REAL(2.0),  /* mass */
    REAL(50.0), /* stiffness */
    REAL(0.5),  /* damping */
    REAL(0.0)   /* time */
};

/* The coordinate beside velocity i: quaternions stand behind the masses and do not move. */
static robot_real_t robot_deflection(const robot_real_t *q, int i)
{
    return (i < 2) ? q[i] : REAL(0.0);
}

int robot_forward_dynamics(
    const robot_params_t *p, const robot_real_t *q, const robot_real_t *qd, const robot_real_t *F, robot_real_t *qdd)
{
    const int regular = p->mass > REAL(0.0);
    for (int i = 0; i < ROBOT_NV; ++i) {
        const robot_real_t force = F[i] - (p->stiffness * robot_deflection(q, i)) - (p->damping * qd[i]);
        qdd[i] = regular ? (force / p->mass) : REAL(0.0);
    }
    return regular ? 0 : ROBOT_ERROR_NOT_POSITIVE_DEFINITE;
}

void robot_inverse_dynamics(
    const robot_params_t *p, const robot_real_t *q, const robot_real_t *qd, const robot_real_t *qdd, robot_real_t *F)
{
    for (int i = 0; i < ROBOT_NV; ++i) {
        F[i] = (p->mass * qdd[i]) + (p->damping * qd[i]) + (p->stiffness * robot_deflection(q, i));
    }
}

/* The second mass has no drive: F_2 = 0 gives its acceleration. */
void robot_elastic_inverse_dynamics(const robot_params_t *p, const robot_real_t *q, const robot_real_t *qd,
    const robot_real_t *qdd, robot_real_t *F, robot_real_t *accelerations)
{
    for (int i = 0; i < ROBOT_NV; ++i) {
        const robot_real_t force = (p->damping * qd[i]) + (p->stiffness * robot_deflection(q, i));
        accelerations[i] = (i == 1) ? (-force / p->mass) : qdd[i];
        F[i] = (p->mass * accelerations[i]) + force;
    }
}

void robot_inverse_dynamics_derivatives(const robot_params_t *p, const robot_real_t *q, const robot_real_t *qd,
    const robot_real_t *qdd, robot_real_t *dF_dq, robot_real_t *dF_dqd, robot_real_t *M)
{
    (void)qd;
    (void)qdd;
    robot_mass_matrix(p, q, M);
    for (int i = 0; i < ROBOT_NV; ++i) {
        for (int j = 0; j < ROBOT_NV; ++j) {
            dF_dq[(i * ROBOT_NV) + j] = ((i == j) && (i < 2)) ? p->stiffness : REAL(0.0);
            dF_dqd[(i * ROBOT_NV) + j] = (i == j) ? p->damping : REAL(0.0);
        }
    }
}

void robot_mass_matrix(const robot_params_t *p, const robot_real_t *q, robot_real_t *M)
{
    (void)q;
    for (int i = 0; i < (ROBOT_NV * ROBOT_NV); ++i) {
        M[i] = ((i % (ROBOT_NV + 1)) == 0) ? p->mass : REAL(0.0);
    }
}

void robot_gravity_vector(const robot_params_t *p, const robot_real_t *q, robot_real_t *G)
{
    (void)p;
    (void)q;
    for (int i = 0; i < ROBOT_NV; ++i) {
        G[i] = REAL(0.0);
    }
}

void robot_friction_forces(const robot_params_t *p, const robot_real_t *q, const robot_real_t *qd, robot_real_t *R)
{
    (void)q;
    for (int i = 0; i < ROBOT_NV; ++i) {
        R[i] = p->damping * qd[i];
    }
}

void robot_load_friction_forces(const robot_params_t *p, const robot_real_t *qd, const robot_real_t *F, robot_real_t *R)
{
    (void)p;
    for (int i = 0; i < ROBOT_NV; ++i) {
        R[i] = REAL(0.1) * ROBOT_FABS(F[i]) * ((qd[i] > REAL(0.0)) ? REAL(1.0) : REAL(-1.0));
    }
}

void robot_kinetic_energy(const robot_params_t *p, const robot_real_t *q, const robot_real_t *qd, robot_real_t *T)
{
    (void)q;
    *T = REAL(0.0);
    for (int i = 0; i < ROBOT_NV; ++i) {
        *T += REAL(0.5) * p->mass * qd[i] * qd[i];
    }
}

void robot_potential_energy(const robot_params_t *p, const robot_real_t *q, robot_real_t *V)
{
    *V = REAL(0.5) * p->stiffness * ((q[0] * q[0]) + (q[1] * q[1]));
}

void robot_configuration_rate(const robot_params_t *p, const robot_real_t *q, const robot_real_t *v, robot_real_t *dq)
{
    (void)p;
    (void)q;
    for (int i = 0; i < ROBOT_NQ; ++i) {
        dq[i] = (i < 2) ? v[i] : REAL(0.0);
    }
}

void robot_integrate(const robot_params_t *p, const robot_real_t *q, const robot_real_t *v, robot_real_t *moved)
{
    (void)p;
    for (int i = 0; i < ROBOT_NQ; ++i) {
        moved[i] = (i < 2) ? (q[i] + v[i]) : q[i];
    }
}

/* The sample's coordinates are a vector space but for quaternions, which do not move: a path is q0 + x. */
void robot_motion_on_path(const robot_params_t *p, const robot_real_t *q0, const robot_real_t *x,
    const robot_real_t *dx, const robot_real_t *ddx, const robot_real_t *dddx, const robot_real_t *ddddx,
    robot_real_t *q, robot_real_t *v, robot_real_t *dv, robot_real_t *ddv, robot_real_t *dddv)
{
    robot_integrate(p, q0, x, q);
    robot_start_of_path(p, dx, ddx, dddx, ddddx, v, dv, ddv, dddv);
}

void robot_start_of_path(const robot_params_t *p, const robot_real_t *v, const robot_real_t *dv,
    const robot_real_t *ddv, const robot_real_t *dddv, robot_real_t *dx, robot_real_t *ddx, robot_real_t *dddx,
    robot_real_t *ddddx)
{
    (void)p;
    for (int i = 0; i < ROBOT_NV; ++i) {
        dx[i] = v[i];
        ddx[i] = dv[i];
        dddx[i] = ddv[i];
        ddddx[i] = dddv[i];
    }
}

void robot_difference(const robot_params_t *p, const robot_real_t *q0, const robot_real_t *q1, robot_real_t *v)
{
    (void)p;
    for (int i = 0; i < ROBOT_NV; ++i) {
        v[i] = robot_deflection(q1, i) - robot_deflection(q0, i);
    }
}

/* The tool is where the first mass is along x, rotated about z by the second one's deflection. */
static void robot_tool(const robot_real_t *q, robot_real_t *r, robot_real_t *R, robot_real_t *J)
{
    const robot_real_t c = ROBOT_COS(q[1]);
    const robot_real_t s = ROBOT_SIN(q[1]);
    for (int i = 0; i < 9; ++i) {
        R[i] = REAL(0.0);
    }
    for (int i = 0; i < (6 * ROBOT_NV); ++i) {
        J[i] = REAL(0.0);
    }
    r[0] = q[0];
    r[1] = REAL(0.0);
    r[2] = REAL(0.0);
    R[0] = c;
    R[1] = -s;
    R[3] = s;
    R[4] = c;
    R[8] = REAL(1.0);
    J[0] = REAL(1.0);
    J[(5 * ROBOT_NV) + 1] = REAL(1.0);
}

#if ROBOT_IK_CAN_FAIL
int robot_frame_pose_and_jacobian(
    const robot_params_t *p, const robot_real_t *q, robot_real_t *r, robot_real_t *R, robot_real_t *J)
{
    (void)p;
    robot_tool(q, r, R, J);
    return (q[0] < REAL(0.0)) ? ROBOT_ERROR_OUT_OF_RANGE : 0;
}
#else
void robot_frame_pose_and_jacobian(
    const robot_params_t *p, const robot_real_t *q, robot_real_t *r, robot_real_t *R, robot_real_t *J)
{
    (void)p;
    robot_tool(q, r, R, J);
}
#endif

#if ROBOT_GROUND
/* The first mass is above 0, or is not. */
void robot_ground_motion(
    const robot_params_t *p, const robot_real_t *q, const robot_real_t *qd, robot_real_t *gaps, robot_real_t *rates)
{
    (void)p;
    for (int i = 0; i < ROBOT_GROUND; ++i) {
        gaps[i] = q[0];
        rates[i] = qd[0];
    }
}
#endif

#if ROBOT_LOOPS
/* Both masses start from the same state and move in the same way. */
void robot_loop_residual(const robot_params_t *p, const robot_real_t *q, robot_real_t *e)
{
    (void)p;
    e[0] = q[0] - q[1];
}

void robot_closed_configuration(const robot_params_t *p, const robot_real_t *q, robot_real_t *closed)
{
    (void)p;
    for (int i = 0; i < ROBOT_NQ; ++i) {
        closed[i] = (i == 1) ? q[0] : q[i];
    }
}

void robot_loop_jacobian(const robot_params_t *p, const robot_real_t *q, robot_real_t *J)
{
    (void)p;
    (void)q;
    for (int i = 0; i < ROBOT_NV; ++i) {
        J[i] = (i == 0) ? REAL(1.0) : ((i == 1) ? REAL(-1.0) : REAL(0.0));
    }
}
#endif

int robot_forward_dynamics_derivatives(const robot_params_t *p, const robot_real_t *q, const robot_real_t *qd,
    const robot_real_t *F, robot_real_t *dqdd_dq, robot_real_t *dqdd_dqd, robot_real_t *dqdd_dF)
{
    (void)q;
    (void)qd;
    (void)F;
    for (int i = 0; i < (ROBOT_NV * ROBOT_NV); ++i) {
        const int diagonal = (i % (ROBOT_NV + 1)) == 0;
        dqdd_dq[i] = (diagonal && (i < (2 * ROBOT_NV))) ? (-p->stiffness / p->mass) : REAL(0.0);
        dqdd_dqd[i] = diagonal ? (-p->damping / p->mass) : REAL(0.0);
        dqdd_dF[i] = diagonal ? (REAL(1.0) / p->mass) : REAL(0.0);
    }
    return (p->mass > REAL(0.0)) ? 0 : ROBOT_ERROR_NOT_POSITIVE_DEFINITE;
}

/* An encoder of the first mass, and a sensor that sees the product of the second one's deflection and velocity. */
void robot_measurement(const robot_params_t *p, const robot_real_t *q, const robot_real_t *qd, robot_real_t *y)
{
    (void)p;
    y[0] = q[0];
    y[1] = q[1] * qd[1];
}

void robot_measurement_derivatives(
    const robot_params_t *p, const robot_real_t *q, const robot_real_t *qd, robot_real_t *dy_dq, robot_real_t *dy_dqd)
{
    (void)p;
    for (int i = 0; i < (2 * ROBOT_NV); ++i) {
        dy_dq[i] = (i == 0) ? REAL(1.0) : REAL(0.0);
        dy_dqd[i] = REAL(0.0);
    }
    dy_dq[ROBOT_NV + 1] = qd[1];
    dy_dqd[ROBOT_NV + 1] = q[1];
}
