/* Part of robot_simulate.c: the generalized-alpha method, implicit, of order 2, in the form of Arnold and Bruls 2007.
 */
#ifndef ROBOT_SIM_GENERALIZED_ALPHA_H
#define ROBOT_SIM_GENERALIZED_ALPHA_H

#include "robot_lu.h"
#include "robot_sim_slope.h"

/* Coefficients of the generalized-alpha method for a step of length h. */
typedef struct {
    robot_scalar_t alpha_m, alpha_f, beta, gamma; /* Chung and Hulbert 1993 */
    robot_scalar_t dq, dqd, dqdd; /* derivatives of q, qd, qdd at the step's end by the unknown a there */
} robot_sim_alpha_t;

static robot_sim_alpha_t robot_sim_alpha_coefficients(robot_scalar_t rho, robot_scalar_t h)
{
    robot_sim_alpha_t c;
    c.alpha_m = ((REAL(2.0) * rho) - REAL(1.0)) / (rho + REAL(1.0));
    c.alpha_f = rho / (rho + REAL(1.0));
    c.gamma = REAL(0.5) - c.alpha_m + c.alpha_f;
    c.beta = REAL(0.25) * (c.gamma + REAL(0.5)) * (c.gamma + REAL(0.5));
    c.dq = c.beta * h * h;
    c.dqd = c.gamma * h;
    c.dqdd = (REAL(1.0) - c.alpha_m) / (REAL(1.0) - c.alpha_f);
    return c;
}

/* The state at the step's end that belongs to the unknown w->a_next: w->trial, w->qdd_next. */
static void robot_sim_alpha_state(robot_sim_motion_t *w, const robot_sim_alpha_t *c, robot_scalar_t h)
{
    const robot_scalar_t rest = REAL(0.5) - c->beta;
#if ROBOT_QUATERNIONS
    robot_sim_state_t moved[ROBOT_NV];
#endif
    for (int i = 0; i < ROBOT_NV; ++i) {
        const robot_sim_state_t a = w->a[i];
        const robot_sim_state_t next = w->a_next[i];
        const robot_sim_state_t qd = w->y[i + ROBOT_NQ];
        const robot_sim_state_t mean = ((REAL(1.0) - c->alpha_m) * next) + (c->alpha_m * a);
#if ROBOT_QUATERNIONS
        moved[i] = (h * qd) + (h * h * ((rest * a) + (c->beta * next)));
#else
        w->trial[i] = w->y[i] + (h * qd) + (h * h * ((rest * a) + (c->beta * next)));
#endif
        w->trial[i + ROBOT_NQ] = qd + (h * (((REAL(1.0) - c->gamma) * a) + (c->gamma * next)));
        w->qdd_next[i] = (mean - (c->alpha_f * w->qdd[i])) / (REAL(1.0) - c->alpha_f);
    }
#if ROBOT_QUATERNIONS
    (void)robot_sim_call_integrate(w, w->y, moved, w->trial);
#endif
}

#if ROBOT_LOOPS
/* Newton's matrix of qdd = f(q, qd, F), the accelerations of the closed mechanism: E - df/dqd dqd/da - df/dq dq/da.
 * That forces depend on the state costs iterations only. */
static unsigned robot_sim_alpha_derivatives(
    robot_sim_motion_t *w, const robot_sim_alpha_t *c, const robot_sim_state_t *qd, robot_sim_state_t *M)
{
    const unsigned good = robot_sim_call_forward_dynamics_derivatives(w, w->trial, qd, w->F, w->dF_dq, w->dF_dqd, M);
    for (int k = 0; k < (ROBOT_NV * ROBOT_NV); ++k) {
        M[k] = ((k % (ROBOT_NV + 1)) == 0) ? c->dqdd : REAL(0.0);
        M[k] -= (c->dqd * w->dF_dqd[k]) + (c->dq * w->dF_dq[k]);
    }
    return good;
}

/* What is left of the equations of motion: qdd less the accelerations that the forces give. */
static unsigned robot_sim_alpha_residual(robot_sim_motion_t *w, const robot_sim_state_t *qd)
{
    const unsigned good = robot_sim_call_forward_dynamics(w, w->trial, qd, w->F, w->residual);
    for (int i = 0; i < ROBOT_NV; ++i) {
        w->residual[i] = w->qdd_next[i] - w->residual[i];
    }
    return good;
}
#else
/* Row i of Newton's matrix, in place of row i of M. A controller's gains count; other forces do not, which costs
 * iterations only. */
static void robot_sim_alpha_row(robot_sim_motion_t *w, const robot_sim_alpha_t *c, robot_sim_state_t *M, int i)
{
    const robot_sim_input_t *const in = w->input;
    const int computed = in->kind == ROBOT_SIM_INPUT_COMPUTED_TORQUE;
    const int controlled = (in->kind == ROBOT_SIM_INPUT_PD) || computed;
    const int driven = controlled && (in->rows > 0u) && ((in->actuated == NULL) || (in->actuated[i] != 0));
    for (int j = 0; j < ROBOT_NV; ++j) {
        const int k = (i * ROBOT_NV) + j;
        robot_scalar_t gains = REAL(0.0);
        if (driven != 0) {
            gains = (c->dq * in->position_gain[j]) + (c->dqd * in->velocity_gain[j]);
        }
        if (driven && computed) {
            M[k] *= c->dqdd + gains; /* the forces cancel all but M */
        } else {
            M[k] = (c->dqdd * M[k]) + (c->dqd * w->dF_dqd[k]) + (c->dq * w->dF_dq[k]);
            M[k] += (i == j) ? gains : REAL(0.0);
        }
    }
}

/* Newton's matrix of the forces that the motion needs, less F. */
static unsigned robot_sim_alpha_derivatives(
    robot_sim_motion_t *w, const robot_sim_alpha_t *c, const robot_sim_state_t *qd, robot_sim_state_t *M)
{
    const unsigned good =
        robot_sim_call_inverse_dynamics_derivatives(w, w->trial, qd, w->qdd_next, w->dF_dq, w->dF_dqd, M);
    for (int i = 0; i < ROBOT_NV; ++i) {
        robot_sim_alpha_row(w, c, M, i);
    }
    return good;
}

/* What is left of the equations of motion: the forces that the motion needs, less F. */
static unsigned robot_sim_alpha_residual(robot_sim_motion_t *w, const robot_sim_state_t *qd)
{
    const unsigned good = robot_sim_call_inverse_dynamics(w, w->trial, qd, w->qdd_next, w->residual);
    for (int i = 0; i < ROBOT_NV; ++i) {
        w->residual[i] -= w->F[i];
    }
    return good;
}
#endif

/* Newton's matrix at the present iterate, factorized, for a set of motions; returns those in which it is regular. */
static unsigned robot_sim_alpha_matrix(robot_sim_motion_t *w, const robot_sim_alpha_t *c, unsigned wanted)
{
    robot_sim_state_t *const M = robot_sim_fresh(w);
    unsigned good = robot_sim_alpha_derivatives(w, c, &w->trial[ROBOT_NQ], M);
    good &= robot_lu_factorize(M, robot_sim_fresh_pivots(w));
    robot_sim_take_fresh(w, wanted);
    return good | ~wanted;
}

/* Correct the unknown once, in the motions that are open; returns how large the corrections are over the tolerances. */
static robot_sim_state_t robot_sim_alpha_correct(
    robot_sim_motion_t *w, const robot_sim_alpha_t *c, robot_sim_choice_t open)
{
    const robot_scalar_t atol = w->options->atol;
    const robot_scalar_t rtol = w->options->rtol;
    robot_sim_state_t largest = robot_sim_all(REAL(0.0));
    robot_lu_solve(w->M, w->pivots, w->residual);
    for (int i = 0; i < ROBOT_NV; ++i) {
        const robot_sim_state_t size = atol + (rtol * robot_sim_size(w->trial[i]));
        const robot_sim_state_t speed = atol + (rtol * robot_sim_size(w->trial[i + ROBOT_NQ]));
        const robot_sim_state_t ratio = robot_sim_size(w->residual[i]) * ((c->dq / size) + (c->dqd / speed));
        w->a_next[i] = robot_sim_choose(open, w->a_next[i] - w->residual[i], w->a_next[i]);
        largest = robot_sim_choose(ratio <= largest, largest, ratio); /* a NaN stays */
    }
    return largest;
}

/* Newton's method for the equation of motion at the step's end; returns the motions in which it converges. */
static unsigned robot_sim_alpha_solve(
    robot_sim_motion_t *w, const robot_sim_alpha_t *c, robot_scalar_t h, robot_scalar_t after, unsigned open)
{
    robot_sim_state_t before = robot_sim_all(ROBOT_HUGE);
    unsigned refresh = ROBOT_SIM_EVERY;
    unsigned done = 0u;
    robot_sim_fail(w, open, ROBOT_SIM_STATUS_NEWTON); /* unless something else is found below */
    for (int round = 0; (round < 25) && (open != 0u); ++round) {
        const robot_sim_state_t *const qd = &w->trial[ROBOT_NQ];
        const robot_sim_choice_t choice = robot_sim_choice(open);
        robot_sim_state_t F[ROBOT_NV];
        robot_sim_state_t size = robot_sim_all(ROBOT_HUGE);
        robot_sim_alpha_state(w, c, h);
        const unsigned forced = robot_sim_force(w, after, w->trial, qd, F);
        for (int i = 0; i < ROBOT_NV; ++i) {
            w->F[i] = robot_sim_choose(choice, F[i], w->F[i]);
        }
        const unsigned anew = refresh & open;
        const unsigned regular = (anew != 0u) ? robot_sim_alpha_matrix(w, c, anew) : ROBOT_SIM_EVERY;
        const unsigned inside = robot_sim_alpha_residual(w, qd);
        robot_sim_count_evaluation(w, open);
        if ((regular & open) != 0u) {
            size = robot_sim_alpha_correct(w, c, choice);
        }
        open &= forced;
#if ROBOT_LOOPS /* accelerations of closed mechanisms are solved for, no joint slides along a beam */
        robot_sim_fail(w, open & ~inside, ROBOT_SIM_STATUS_SINGULAR);
#else
        robot_sim_fail(w, open & ~inside, ROBOT_SIM_STATUS_OUT_OF_RANGE);
#endif
        open &= inside;
        const unsigned finite = regular & robot_sim_set(size <= ROBOT_LARGEST);
        if (round == 0) { /* later, it is a failure of the iteration */
            robot_sim_fail(w, open & ~finite, ROBOT_SIM_STATUS_NOT_FINITE);
            robot_sim_fail(w, open & ~regular, ROBOT_SIM_STATUS_SINGULAR);
        }
        open &= finite;
        done |= open & robot_sim_set(size <= REAL(1.0));
        open &= ~done;
        refresh = robot_sim_set(size > REAL(0.1) * before);
        before = size;
    }
    return done;
}

/* Accelerations at the present state: at the start, and after a break of the forces. */
static unsigned robot_sim_generalized_alpha_begin(robot_sim_motion_t *w)
{
    unsigned good = ROBOT_SIM_EVERY;
    if (w->ready == 0) {
        good = robot_sim_slope(w, w->t, w->y, w->slopes[0]);
        for (int i = 0; i < ROBOT_NV; ++i) {
            w->qdd[i] = w->slopes[0][i + ROBOT_NQ];
            w->a[i] = w->qdd[i];
        }
        robot_sim_powers(w, w->y, w->F, w->power);
    }
    return good;
}

/* One step of length h into w->trial, work and loss by the trapezoidal rule; returns the motions in which it succeeds.
 */
static unsigned robot_sim_generalized_alpha(
    robot_sim_motion_t *w, robot_scalar_t h, robot_scalar_t after, unsigned open)
{
    const robot_sim_alpha_t c = robot_sim_alpha_coefficients(w->options->rho_inf, h);
    for (int i = 0; i < ROBOT_NV; ++i) { /* a first guess: qdd as it is */
        w->a_next[i] = (w->qdd[i] - (c.alpha_m * w->a[i])) / (REAL(1.0) - c.alpha_m);
    }
    const unsigned good = robot_sim_alpha_solve(w, &c, h, after, open);
    if (good != 0u) {
        robot_sim_alpha_state(w, &c, h);
        robot_sim_powers(w, w->trial, w->F, w->power_next);
        for (int k = 0; k < 2; ++k) {
            const robot_sim_state_t sum = w->power[k] + w->power_next[k];
            w->trial[ROBOT_SIM_NX + k] = w->y[ROBOT_SIM_NX + k] + (REAL(0.5) * h * sum);
        }
    }
    return good;
}

/* The step was accepted: what the next one starts from. */
static void robot_sim_generalized_alpha_took(robot_sim_motion_t *w)
{
#if ROBOT_SLIDING || ROBOT_GROUND
    for (int i = 0; i < ROBOT_NV; ++i) {
        w->qdd_before[i] = w->qdd[i];
        w->a_before[i] = w->a[i];
    }
    w->power_before[0] = w->power[0];
    w->power_before[1] = w->power[1];
#endif
    for (int i = 0; i < ROBOT_NV; ++i) {
        w->qdd[i] = w->qdd_next[i];
        w->a[i] = w->a_next[i];
    }
    w->power[0] = w->power_next[0];
    w->power[1] = w->power_next[1];
    w->ready = 1;
}

#if ROBOT_SLIDING || ROBOT_GROUND
/* The last step is taken again: back to where it started from. */
static void robot_sim_generalized_alpha_back(robot_sim_motion_t *w)
{
    for (int i = 0; i < ROBOT_NV; ++i) {
        w->qdd[i] = w->qdd_before[i];
        w->a[i] = w->a_before[i];
    }
    w->power[0] = w->power_before[0];
    w->power[1] = w->power_before[1];
}
#endif

#endif /* ROBOT_SIM_GENERALIZED_ALPHA_H */
