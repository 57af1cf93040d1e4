/* Part of robot_simulate.c: the explicit pair of order 5(4) of Tsitouras, steps by error, dense output. */
#ifndef ROBOT_SIM_TSIT5_H
#define ROBOT_SIM_TSIT5_H

#include "robot_sim_accept.h"
#include "robot_sim_equal_step.h"

/* Coefficients: C. Tsitouras, Runge-Kutta pairs of order 5(4) satisfying only the first column simplifying assumption,
 * Computers and Mathematics with Applications 62 (2011). Row k: weights of the slopes before stage k + 1; the last row
 * is the solution of order 5, whose slope is the first one of the next step. */
static const robot_scalar_t robot_sim_tsit5_weights[6][6] = {
    {REAL(0.161), REAL(0.0), REAL(0.0), REAL(0.0), REAL(0.0), REAL(0.0)},
    {REAL(-0.008480655492356989), REAL(0.335480655492357), REAL(0.0), REAL(0.0), REAL(0.0), REAL(0.0)},
    {REAL(2.8971530571054935), REAL(-6.359448489975075), REAL(4.3622954328695815), REAL(0.0), REAL(0.0), REAL(0.0)},
    {REAL(5.325864828439257), REAL(-11.748883564062828), REAL(7.4955393428898365), REAL(-0.09249506636175525),
        REAL(0.0), REAL(0.0)},
    {REAL(5.86145544294642), REAL(-12.92096931784711), REAL(8.159367898576159), REAL(-0.071584973281401),
        REAL(-0.028269050394068383), REAL(0.0)},
    {REAL(0.09646076681806523), REAL(0.01), REAL(0.4798896504144996), REAL(1.379008574103742), REAL(-3.290069515436081),
        REAL(2.324710524099774)}};
static const robot_scalar_t robot_sim_tsit5_nodes[6] = {
    REAL(0.161), REAL(0.327), REAL(0.9), REAL(0.9800255409045097), REAL(1.0), REAL(1.0)};

/* Solution of order 5 less the one of order 4. */
static const robot_scalar_t robot_sim_tsit5_error_weights[7] = {REAL(-0.00178001105222577714),
    REAL(-0.0008164344596567469), REAL(0.007880878010261995), REAL(-0.1447110071732629), REAL(0.5823571654525552),
    REAL(-0.45808210592918697), REAL(0.015151515151515152)};

/* Interpolant of order 4: coefficients of s, s^2, s^3 and s^4 for each slope. */
static const robot_scalar_t robot_sim_tsit5_dense_weights[7][4] = {
    {REAL(1.0), REAL(-2.763706197274826), REAL(2.9132554618219126), REAL(-1.0530884977290216)},
    {REAL(0.0), REAL(0.13169999999999998), REAL(-0.2234), REAL(0.1017)},
    {REAL(0.0), REAL(3.9302962368947516), REAL(-5.941033872131505), REAL(2.490627285651253)},
    {REAL(0.0), REAL(-12.411077166933676), REAL(30.33818863028232), REAL(-16.548102889244902)},
    {REAL(0.0), REAL(37.50931341651104), REAL(-88.1789048947664), REAL(47.37952196281928)},
    {REAL(0.0), REAL(-27.896526289197286), REAL(65.09189467479366), REAL(-34.87065786149661)},
    {REAL(0.0), REAL(1.5), REAL(-4.0), REAL(2.5)}};

/* All stages of a step of length h; leaves the new state in w->trial and its slope in w->slopes[6]. */
static unsigned robot_sim_tsit5(robot_sim_motion_t *w, robot_scalar_t h, robot_scalar_t after, unsigned open)
{
    unsigned good = open;
    (void)after;
    for (int k = 0; (k < 6) && (good != 0u); ++k) {
        for (int i = 0; i < ROBOT_SIM_NY; ++i) {
            robot_scalar_t sum = REAL(0.0);
            for (int j = 0; j <= k; ++j) {
                sum += robot_sim_tsit5_weights[k][j] * w->slopes[j][i];
            }
            w->trial[i] = w->y[i] + (h * sum);
        }
        good &= robot_sim_slope(w, w->t + (robot_sim_tsit5_nodes[k] * h), w->trial, w->slopes[k + 1]);
    }
    return good;
}

/* The state at a time within the last step, into w->trial. */
static void robot_sim_tsit5_dense(robot_sim_motion_t *w, robot_scalar_t t)
{
    const robot_scalar_t h = w->t - w->t_before;
    const robot_scalar_t s = (t - w->t_before) / h;
    robot_scalar_t b[7];
    for (int k = 0; k < 7; ++k) {
        const robot_scalar_t *const r = robot_sim_tsit5_dense_weights[k];
        b[k] = h * s * (r[0] + (s * (r[1] + (s * (r[2] + (s * r[3]))))));
    }
    for (int i = 0; i < ROBOT_SIM_NY; ++i) {
        w->trial[i] = w->before[i];
        for (int k = 0; k < 7; ++k) {
            w->trial[i] += b[k] * w->slopes[k][i];
        }
    }
#if ROBOT_QUATERNIONS
    robot_sim_unit(w->trial);
#endif
#if ROBOT_LOOPS
    (void)robot_sim_keep_closed(w, w->trial, NULL); /* both ends of the step are closed, and so is all between */
#endif
}

/* Root mean square of x over the tolerances at the states y and z. */
static robot_scalar_t robot_sim_tsit5_norm(
    const robot_sim_motion_t *w, const robot_scalar_t *x, const robot_scalar_t *y, const robot_scalar_t *z)
{
    robot_scalar_t sum = REAL(0.0);
    for (int i = 0; i < ROBOT_SIM_NX; ++i) {
        const robot_scalar_t size = (ROBOT_FABS(y[i]) > ROBOT_FABS(z[i])) ? ROBOT_FABS(y[i]) : ROBOT_FABS(z[i]);
        const robot_scalar_t ratio = x[i] / (w->options->atol + (w->options->rtol * size));
        sum += ratio * ratio;
    }
    return ROBOT_SQRT(sum / (robot_scalar_t)ROBOT_SIM_NX);
}

/* A first step size, after Hairer, Norsett, Wanner, Solving Ordinary Differential Equations I, II.4. */
static robot_scalar_t robot_sim_tsit5_first_step(robot_sim_motion_t *w, robot_scalar_t span)
{
    const robot_scalar_t size = robot_sim_tsit5_norm(w, w->y, w->y, w->y);
    const robot_scalar_t speed = robot_sim_tsit5_norm(w, w->slopes[0], w->y, w->y);
    robot_scalar_t h = ((size < REAL(1e-5)) || (speed < REAL(1e-5))) ? REAL(1e-6) : (REAL(0.01) * (size / speed));
    h = (h < span) ? h : span;
    for (int i = 0; i < ROBOT_SIM_NY; ++i) {
        w->trial[i] = w->y[i] + (h * w->slopes[0][i]);
    }
    if (robot_sim_slope(w, w->t + h, w->trial, w->slopes[1]) != 0u) {
        robot_scalar_t change[ROBOT_SIM_NX];
        for (int i = 0; i < ROBOT_SIM_NX; ++i) {
            change[i] = (w->slopes[1][i] - w->slopes[0][i]) / h;
        }
        const robot_scalar_t bend = robot_sim_tsit5_norm(w, change, w->y, w->y);
        const robot_scalar_t most = (speed > bend) ? speed : bend;
        const robot_scalar_t second = (most > REAL(1e-15)) ? ROBOT_POW(REAL(0.01) / most, REAL(0.2)) : (REAL(1e3) * h);
        h = ((REAL(100.0) * h) < second) ? (REAL(100.0) * h) : second;
    }
    return (h > REAL(0.0)) ? h : w->h_least; /* tolerances so small that norms are infinite: no step of 0 forever */
}

/* Error of the step in w->trial over the tolerances; 1 is just allowed. */
static robot_scalar_t robot_sim_tsit5_error(const robot_sim_motion_t *w, robot_scalar_t h)
{
    robot_scalar_t difference[ROBOT_SIM_NX];
    for (int i = 0; i < ROBOT_SIM_NX; ++i) {
        difference[i] = REAL(0.0);
        for (int k = 0; k < 7; ++k) {
            difference[i] += h * robot_sim_tsit5_error_weights[k] * w->slopes[k][i];
        }
    }
    return robot_sim_tsit5_norm(w, difference, w->y, w->trial);
}

/* Slope at the present state into w->slopes[0], and a step size where there is none. */
static int robot_sim_tsit5_begin(robot_sim_motion_t *w, robot_scalar_t limit)
{
    unsigned good = ROBOT_SIM_EVERY;
    if (w->ready != 0) {
        for (int i = 0; i < ROBOT_SIM_NY; ++i) {
            w->slopes[0][i] = w->slopes[6][i];
        }
    } else {
        good = robot_sim_slope(w, w->t, w->y, w->slopes[0]);
    }
    if ((good != 0u) && !(w->h > REAL(0.0))) {
        w->h = (w->options->step > REAL(0.0)) ? w->options->step : robot_sim_tsit5_first_step(w, limit - w->t);
    }
    return (good != 0u) ? ROBOT_SIM_STATUS_OK : w->status;
}

/* One step that ends at the limit or before; its size follows the error (a PI controller, as in DOPRI5). */
static int robot_sim_tsit5_up_to(robot_sim_motion_t *w, robot_scalar_t limit)
{
    const robot_scalar_t left = limit - w->t;
    int status = robot_sim_tsit5_begin(w, limit);
    int failure = ROBOT_SIM_STATUS_STEP_TOO_SMALL;
    int done = status != ROBOT_SIM_STATUS_OK;
    int again = 0;
    while (!done) {
        const robot_scalar_t most = w->options->max_step;
        const robot_scalar_t wish = ((most > REAL(0.0)) && (w->h > most)) ? most : w->h;
        const int last = wish >= (left * (REAL(1.0) - ROBOT_SIM_ROUNDING));
        const robot_scalar_t h = (last != 0) ? left : (((REAL(2.0) * wish) > left) ? (REAL(0.5) * left) : wish);
        if (again && (h < w->h_least)) {
            status = failure;
            done = 1;
        } else {
            const unsigned good = robot_sim_tsit5(w, h, w->t + h, ROBOT_SIM_EVERY);
            const int tried = (good != 0u) ? ROBOT_SIM_STATUS_OK : w->status;
            const robot_scalar_t error = (tried == ROBOT_SIM_STATUS_OK) ? robot_sim_tsit5_error(w, h) : ROBOT_HUGE;
            if (error <= REAL(1.0)) {
                const robot_scalar_t bounded = (error > REAL(1e-4)) ? error : REAL(1e-4);
                robot_scalar_t grow = REAL(0.9) * ROBOT_POW(bounded, REAL(-0.17)) * ROBOT_POW(w->error, REAL(0.04));
                grow = (grow > REAL(5.0)) ? REAL(5.0) : ((grow < REAL(0.2)) ? REAL(0.2) : grow);
                grow = (again && (grow > REAL(1.0))) ? REAL(1.0) : grow;
                w->h =
                    (((h * grow) > w->h) || (h >= wish)) ? (h * grow) : w->h; /* a step cut by the limit says little */
                w->error = bounded;
                w->ready = 1;
                status = robot_sim_accept(w, (last != 0) ? limit : (w->t + h));
                done = 1;
            } else {
                robot_scalar_t shrink = (error <= ROBOT_LARGEST) ? REAL(0.9) * ROBOT_POW(error, REAL(-0.2))
                                                                 : REAL(0.1); /* NaN and failures: by 10 */
                shrink = (shrink < REAL(0.1)) ? REAL(0.1) : shrink;
                w->h = h * shrink;
                failure = (tried != ROBOT_SIM_STATUS_OK) ? tried
                                                         : ((error <= ROBOT_LARGEST) ? ROBOT_SIM_STATUS_STEP_TOO_SMALL
                                                                                     : ROBOT_SIM_STATUS_NOT_FINITE);
                again = 1;
                ++w->control->rejections;
                done = (tried == ROBOT_SIM_STATUS_FUNCTION) || (w->control->cancel != 0);
                status = (tried == ROBOT_SIM_STATUS_FUNCTION) ? tried : ROBOT_SIM_STATUS_CANCELLED;
            }
        }
    }
    return status;
}

#endif /* ROBOT_SIM_TSIT5_H */
