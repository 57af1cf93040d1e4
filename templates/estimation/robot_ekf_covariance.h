/* Part of robot_ekf.c: the covariance, in single precision its square root. */
#ifndef ROBOT_EKF_COVARIANCE_H
#define ROBOT_EKF_COVARIANCE_H

#include "robot_ekf.h"

#define ROBOT_EKF_WIDE (ROBOT_EKF_NX + ROBOT_NV) /* columns of [A_d S, B_d force] */

#if ROBOT_SINGLE
/* What a standard deviation is stored as. */
static robot_real_t robot_ekf_stored(robot_real_t error)
{
    return error;
}

void robot_ekf_covariance(const robot_ekf_t *ekf, robot_real_t *P)
{
    for (int i = 0; i < ROBOT_EKF_NX; ++i) {
        for (int j = 0; j < ROBOT_EKF_NX; ++j) {
            robot_real_t sum = REAL(0.0);
            for (int k = 0; k < ROBOT_EKF_NX; ++k) {
                sum += ekf->P[(i * ROBOT_EKF_NX) + k] * ekf->P[(j * ROBOT_EKF_NX) + k];
            }
            P[(i * ROBOT_EKF_NX) + j] = sum;
        }
    }
}

/* Turn row i of [A_d S, B_d force] onto its diagonal by a reflection of the columns from i on, and the rows below with
 * it: the product of the matrix with its transpose stays (Golub, Van Loan, Matrix Computations, 5.1.3). */
static void robot_ekf_reflect(robot_real_t *W, int i)
{
    robot_real_t *const row = &W[i * ROBOT_EKF_COLUMNS];
    robot_real_t largest = REAL(0.0);
    for (int j = i; j < ROBOT_EKF_WIDE; ++j) {
        largest = ROBOT_FMAX(largest, ROBOT_FABS(row[j]));
    }
    if (largest > REAL(0.0)) {
        robot_real_t square = REAL(0.0);
        for (int j = i; j < ROBOT_EKF_WIDE; ++j) {
            const robot_real_t part = row[j] / largest; /* squares of small numbers do not vanish */
            square += part * part;
        }
        const robot_real_t length = largest * ROBOT_SQRT(square);
        const robot_real_t image = (row[i] > REAL(0.0)) ? -length : length;
        const robot_real_t first = row[i] - image;                /* of the normal; the others are the row's */
        const robot_real_t weight = -REAL(1.0) / (image * first); /* 2 over the normal's square */
        for (int r = i + 1; r < ROBOT_EKF_NX; ++r) {
            robot_real_t *const other = &W[r * ROBOT_EKF_COLUMNS];
            robot_real_t dot = first * other[i];
            for (int j = i + 1; j < ROBOT_EKF_WIDE; ++j) {
                dot += row[j] * other[j];
            }
            dot *= weight;
            other[i] -= dot * first;
            for (int j = i + 1; j < ROBOT_EKF_WIDE; ++j) {
                other[j] -= dot * row[j];
            }
        }
        row[i] = image;
    }
    for (int j = i + 1; j < ROBOT_EKF_WIDE; ++j) {
        row[j] = REAL(0.0);
    }
}

/* S from [A_d S, B_d force], made triangular. */
static void robot_ekf_propagate(robot_ekf_t *ekf)
{
    for (int i = 0; i < ROBOT_EKF_NX; ++i) {
        const robot_real_t *const step = &ekf->step[i * ROBOT_EKF_COLUMNS];
        robot_real_t *const row = &ekf->next[i * ROBOT_EKF_COLUMNS];
        for (int j = 0; j < ROBOT_EKF_NX; ++j) {
            row[j] = REAL(0.0);
            for (int k = 0; k < ROBOT_EKF_NX; ++k) {
                row[j] += step[k] * ekf->P[(k * ROBOT_EKF_NX) + j];
            }
        }
        for (int j = 0; j < ROBOT_NV; ++j) {
            row[ROBOT_EKF_NX + j] = step[ROBOT_EKF_NX + j] * ekf->force[j];
        }
    }
    for (int i = 0; i < ROBOT_EKF_NX; ++i) {
        robot_ekf_reflect(ekf->next, i);
    }
    for (int i = 0; i < ROBOT_EKF_NX; ++i) {
        for (int j = 0; j < ROBOT_EKF_NX; ++j) {
            ekf->P[(i * ROBOT_EKF_NX) + j] = ekf->next[(i * ROBOT_EKF_COLUMNS) + j];
        }
    }
}

/* One reading: dx and S after it. */
static void robot_ekf_correct_by(robot_ekf_t *ekf, int r)
{
    const robot_real_t *const h = &ekf->H[r * ROBOT_EKF_NX];
    robot_real_t rest = ekf->innovation[r];
    robot_real_t variance = ekf->noise[r] * ekf->noise[r];
    for (int i = 0; i < ROBOT_EKF_NX; ++i) {
        ekf->f[i] = REAL(0.0);
        for (int k = 0; k < ROBOT_EKF_NX; ++k) {
            ekf->f[i] += ekf->P[(k * ROBOT_EKF_NX) + i] * h[k];
        }
        variance += ekf->f[i] * ekf->f[i];
        rest -= h[i] * ekf->dx[i]; /* what the readings before have explained */
    }
    const robot_real_t part = REAL(1.0) / (variance * (REAL(1.0) + (ekf->noise[r] / ROBOT_SQRT(variance))));
    for (int i = 0; i < ROBOT_EKF_NX; ++i) {
        robot_real_t *const row = &ekf->P[i * ROBOT_EKF_NX];
        robot_real_t along = REAL(0.0);
        for (int k = 0; k < ROBOT_EKF_NX; ++k) {
            along += row[k] * ekf->f[k];
        }
        ekf->dx[i] += (along / variance) * rest;
        for (int k = 0; k < ROBOT_EKF_NX; ++k) {
            row[k] -= part * along * ekf->f[k];
        }
    }
    ekf->distance += (rest * rest) / variance;
    ekf->used += 1;
}
#else
/* What a standard deviation is stored as. */
static robot_real_t robot_ekf_stored(robot_real_t error)
{
    return error * error;
}

void robot_ekf_covariance(const robot_ekf_t *ekf, robot_real_t *P)
{
    for (int i = 0; i < (ROBOT_EKF_NX * ROBOT_EKF_NX); ++i) {
        P[i] = ekf->P[i];
    }
}

/* P = A_d P A_d^T + B_d diag(force^2) B_d^T, symmetric to the last bit. */
static void robot_ekf_propagate(robot_ekf_t *ekf)
{
    for (int i = 0; i < ROBOT_EKF_NX; ++i) {
        for (int j = 0; j < ROBOT_EKF_NX; ++j) {
            robot_real_t sum = REAL(0.0);
            for (int k = 0; k < ROBOT_EKF_NX; ++k) {
                sum += ekf->step[(i * ROBOT_EKF_COLUMNS) + k] * ekf->P[(k * ROBOT_EKF_NX) + j];
            }
            ekf->next[(i * ROBOT_EKF_COLUMNS) + j] = sum;
        }
        for (int j = 0; j < ROBOT_NV; ++j) {
            const robot_real_t each = ekf->step[(i * ROBOT_EKF_COLUMNS) + ROBOT_EKF_NX + j];
            ekf->next[(i * ROBOT_EKF_COLUMNS) + ROBOT_EKF_NX + j] = each * ekf->force[j];
        }
    }
    for (int i = 0; i < ROBOT_EKF_NX; ++i) {
        const robot_real_t *const a = &ekf->next[i * ROBOT_EKF_COLUMNS];
        for (int j = 0; j <= i; ++j) {
            const robot_real_t *const step = &ekf->step[j * ROBOT_EKF_COLUMNS];
            const robot_real_t *const b = &ekf->next[j * ROBOT_EKF_COLUMNS];
            robot_real_t sum = REAL(0.0);
            for (int k = 0; k < ROBOT_EKF_NX; ++k) {
                sum += a[k] * step[k];
            }
            for (int k = ROBOT_EKF_NX; k < ROBOT_EKF_WIDE; ++k) {
                sum += a[k] * b[k];
            }
            ekf->P[(i * ROBOT_EKF_NX) + j] = sum;
            ekf->P[(j * ROBOT_EKF_NX) + i] = sum;
        }
    }
}

/* One reading: dx and P after it, by Joseph's form. */
static void robot_ekf_correct_by(robot_ekf_t *ekf, int r)
{
    const robot_real_t *const h = &ekf->H[r * ROBOT_EKF_NX];
    const robot_real_t noise = ekf->noise[r] * ekf->noise[r];
    robot_real_t rest = ekf->innovation[r];
    robot_real_t variance = noise;
    for (int i = 0; i < ROBOT_EKF_NX; ++i) {
        ekf->g[i] = REAL(0.0); /* P h */
        for (int k = 0; k < ROBOT_EKF_NX; ++k) {
            ekf->g[i] += ekf->P[(i * ROBOT_EKF_NX) + k] * h[k];
        }
        variance += h[i] * ekf->g[i];
        rest -= h[i] * ekf->dx[i]; /* what the readings before have explained */
    }
    for (int i = 0; i < ROBOT_EKF_NX; ++i) {
        ekf->f[i] = ekf->g[i] / variance; /* K */
        ekf->dx[i] += ekf->f[i] * rest;
    }
    for (int i = 0; i < ROBOT_EKF_NX; ++i) { /* T = (1 - K h^T) P, and T h */
        ekf->h[i] = REAL(0.0);
        for (int j = 0; j < ROBOT_EKF_NX; ++j) {
            robot_real_t *const each = &ekf->P[(i * ROBOT_EKF_NX) + j];
            *each -= ekf->f[i] * ekf->g[j];
            ekf->h[i] += *each * h[j];
        }
    }
    for (int i = 0; i < ROBOT_EKF_NX; ++i) { /* T (1 - K h^T)^T + K noise^2 K^T */
        for (int j = 0; j <= i; ++j) {
            robot_real_t *const each = &ekf->P[(i * ROBOT_EKF_NX) + j];
            *each += ((ekf->f[i] * noise) - ekf->h[i]) * ekf->f[j];
            ekf->P[(j * ROBOT_EKF_NX) + i] = *each;
        }
    }
    ekf->distance += (rest * rest) / variance;
    ekf->used += 1;
}
#endif

#endif /* ROBOT_EKF_COVARIANCE_H */
