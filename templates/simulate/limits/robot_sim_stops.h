/* Part of the extension module: limits of the joints, on its side of the simulation. */
#ifndef ROBOT_SIM_STOPS_H
#define ROBOT_SIM_STOPS_H

#include "robot_sim_stops_types.h"

#if ROBOT_QUATERNIONS
#include "robot_sim_rates.h"
#endif

/* The velocity beside coordinate i: its rate, where the coordinate may have limits. */
static int robot_sim_rate_of(int i)
{
#if ROBOT_QUATERNIONS
    return robot_sim_rates[i];
#else
    return i;
#endif
}

/* How far the cubic between two steps is beyond a limit at the part s of the step; side is 1 (upper) or -1 (lower). */
static robot_scalar_t robot_sim_beyond(const robot_sim_stops_t *stops, robot_scalar_t t, const robot_scalar_t *q,
    const robot_scalar_t *qd, robot_scalar_t s, robot_scalar_t side)
{
    const int i = stops->index;
    const int r = robot_sim_rate_of(i);
    const robot_scalar_t h = t - stops->before_t;
    const robot_scalar_t u = REAL(1.0) - s;
    const robot_scalar_t start = (REAL(1.0) + (REAL(2.0) * s)) * stops->before_q[i];
    const robot_scalar_t end = (REAL(1.0) + (REAL(2.0) * u)) * q[i];
    const robot_scalar_t from = u * u * (start + (s * h * stops->before_qd[r]));
    const robot_scalar_t to = s * s * (end - (u * h * qd[r]));
    return side * (from + to - ((side > REAL(0.0)) ? stops->upper[i] : stops->lower[i]));
}

/* After every step: the first coordinate beyond a limit, and when it passed it. */
static int robot_sim_watch(void *context, robot_scalar_t t, robot_scalar_t *q, robot_scalar_t *qd)
{
    robot_sim_stops_t *const stops = (robot_sim_stops_t *)context;
    for (int i = 0; (i < ROBOT_NQ) && (stops->index < 0); ++i) {
        if ((q[i] > stops->upper[i]) || (q[i] < stops->lower[i])) {
            const robot_scalar_t side = (q[i] > stops->upper[i]) ? REAL(1.0) : REAL(-1.0);
            robot_scalar_t least = REAL(0.0);
            robot_scalar_t most = REAL(1.0);
            stops->index = i;
            stops->side = (side > REAL(0.0)) ? 1 : -1;
            for (int halving = 0; halving < 40; ++halving) {
                const robot_scalar_t s = REAL(0.5) * (least + most);
                if (robot_sim_beyond(stops, t, q, qd, s, side) > REAL(0.0)) {
                    most = s;
                } else {
                    least = s;
                }
            }
            stops->time = stops->before_t + (most * (t - stops->before_t));
        }
    }
    stops->before_t = t;
    for (int i = 0; i < ROBOT_NQ; ++i) {
        stops->before_q[i] = q[i];
        stops->before_qd[robot_sim_rate_of(i)] = qd[robot_sim_rate_of(i)];
    }
    return ((stops->index >= 0) && (stops->ends != 0)) ? -1 : 0;
}

/* The driving forces, and beyond the limits those of springs and dampers, which only push back. */
static int robot_sim_stop_force(
    void *context, robot_scalar_t t, const robot_scalar_t *q, const robot_scalar_t *qd, robot_scalar_t *F)
{
    const robot_sim_stops_t *const stops = (const robot_sim_stops_t *)context;
    const robot_params_t *const p = (const robot_params_t *)(const void *)stops->params;
    const int status =
        robot_simulate_input((p != NULL) ? p : &robot_params_nominal, stops->input, t, q, qd, F, stops->workspace);
    for (int i = 0; i < ROBOT_NQ; ++i) {
        const int r = robot_sim_rate_of(i);
        const robot_scalar_t above = q[i] - stops->upper[i];
        const robot_scalar_t below = q[i] - stops->lower[i];
        if (above > REAL(0.0)) {
            const robot_scalar_t push = (stops->stiffness[i] * above) + (stops->damping[i] * qd[r]);
            F[r] -= (push > REAL(0.0)) ? push : REAL(0.0);
        } else if (below < REAL(0.0)) {
            const robot_scalar_t push = (stops->stiffness[i] * below) + (stops->damping[i] * qd[r]);
            F[r] -= (push < REAL(0.0)) ? push : REAL(0.0);
        } else {
            /* free */
        }
    }
    return status;
}

#endif /* ROBOT_SIM_STOPS_H */
