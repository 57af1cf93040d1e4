/* Shared part: dense LU factorization with row exchanges, for one system of equations or, in lanes, for several at
 * once. */
#ifndef ROBOT_LU_H
#define ROBOT_LU_H

#if ROBOT_LANES
#include "robot_lanes_motion.h"
#else
#include "robot_sim_numbers.h"

#include <float.h>
#include <math.h>

/* Where a comparison holds: a bit for each system, of which there is one. */
static unsigned robot_sim_set(robot_sim_choice_t choice)
{
    return (choice != 0) ? 1u : 0u;
}

static robot_sim_state_t robot_sim_choose(robot_sim_choice_t choice, robot_sim_state_t yes, robot_sim_state_t no)
{
    return (choice != 0) ? yes : no;
}

static robot_sim_place_t robot_sim_place_of(int row)
{
    return row;
}

static robot_sim_place_t robot_sim_choose_place(robot_sim_choice_t choice, int yes, robot_sim_place_t no)
{
    return (choice != 0) ? yes : no;
}

/* Without its sign. */
static robot_sim_state_t robot_sim_size(robot_sim_state_t x)
{
    return ROBOT_FABS(x);
}

/* Exchange number i for the one that the pivot names; numbers are stride apart. */
static void robot_sim_exchange(robot_sim_state_t *x, int i, robot_sim_place_t pivot, int stride)
{
    const robot_sim_state_t other = x[pivot * stride];
    x[pivot * stride] = x[i * stride];
    x[i * stride] = other;
}
#endif

/* Factorize A = P L U in place; returns a bit for each system whose matrix is regular and finite. */
static unsigned robot_lu_factorize(robot_sim_state_t *A, robot_sim_place_t *pivots)
{
    unsigned regular = ~0u;
    for (int k = 0; (k < ROBOT_NV) && (regular != 0u); ++k) {
        robot_sim_place_t best = robot_sim_place_of(k);
        robot_sim_state_t largest = robot_sim_size(A[(k * ROBOT_NV) + k]);
        for (int i = k + 1; i < ROBOT_NV; ++i) {
            const robot_sim_state_t size = robot_sim_size(A[(i * ROBOT_NV) + k]);
            best = robot_sim_choose_place(size > largest, i, best);
            largest = robot_sim_choose(size > largest, size, largest);
        }
        pivots[k] = best;
        regular &= robot_sim_set((largest > REAL(0.0)) & (largest <= ROBOT_LARGEST));
        for (int j = 0; (j < ROBOT_NV) && (robot_sim_set(best != k) != 0u) && (regular != 0u); ++j) {
            robot_sim_exchange(A + j, k, best, ROBOT_NV);
        }
        const robot_sim_state_t inverse = REAL(1.0) / A[(k * ROBOT_NV) + k];
        for (int i = k + 1; (i < ROBOT_NV) && (regular != 0u); ++i) {
            const robot_sim_state_t factor = A[(i * ROBOT_NV) + k] * inverse;
            A[(i * ROBOT_NV) + k] = factor;
            for (int j = k + 1; j < ROBOT_NV; ++j) {
                A[(i * ROBOT_NV) + j] -= factor * A[(k * ROBOT_NV) + j];
            }
        }
    }
    return regular;
}

/* Solve with the factors; the right side b becomes the solution. */
static void robot_lu_solve(const robot_sim_state_t *LU, const robot_sim_place_t *pivots, robot_sim_state_t *b)
{
    for (int k = 0; k < ROBOT_NV; ++k) {
        robot_sim_exchange(b, k, pivots[k], 1);
    }
    for (int i = 1; i < ROBOT_NV; ++i) {
        for (int j = 0; j < i; ++j) {
            b[i] -= LU[(i * ROBOT_NV) + j] * b[j];
        }
    }
    for (int i = ROBOT_NV - 1; i >= 0; --i) {
        for (int j = i + 1; j < ROBOT_NV; ++j) {
            b[i] -= LU[(i * ROBOT_NV) + j] * b[j];
        }
        b[i] /= LU[(i * ROBOT_NV) + i];
    }
}

#endif /* ROBOT_LU_H */
