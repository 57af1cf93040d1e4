/* Part of eg_lanes.c: states from the arrays of a batch to vectors and back, number by number. */
#ifndef ROBOT_LANES_MEMORY_H
#define ROBOT_LANES_MEMORY_H

#include "robot_lanes_model.h"
#include "robot_features.h"

/* The numbers i of several rows: a vector of them, without a detour over memory. */
#if EG_LANES == 2
#define EG_LANES_COLUMN(r, i) r[0][i], r[1][i]
#elif EG_LANES == 4
#define EG_LANES_COLUMN(r, i) r[0][i], r[1][i], r[2][i], r[3][i]
#elif EG_LANES == 8
#define EG_LANES_COLUMN(r, i) r[0][i], r[1][i], r[2][i], r[3][i], r[4][i], r[5][i], r[6][i], r[7][i]
#else
#define EG_LANES_COLUMN(r, i)                                                                                          \
    r[0][i], r[1][i], r[2][i], r[3][i], r[4][i], r[5][i], r[6][i], r[7][i], r[8][i], r[9][i], r[10][i], r[11][i],      \
        r[12][i], r[13][i], r[14][i], r[15][i]
#endif

#if !ROBOT_SINGLE
#if defined(__AVX__) && (EG_LANES == 4)
#include <immintrin.h>
#define EG_LANES_TURN 4

/* Four numbers of four states, from rows to columns or back. */
static inline void eg_lanes_turn(const double *const from[4], double *const to[4])
{
    const __m256d a = _mm256_loadu_pd(from[0]);
    const __m256d b = _mm256_loadu_pd(from[1]);
    const __m256d c = _mm256_loadu_pd(from[2]);
    const __m256d d = _mm256_loadu_pd(from[3]);
    const __m256d ab = _mm256_unpacklo_pd(a, b);
    const __m256d ba = _mm256_unpackhi_pd(a, b);
    const __m256d cd = _mm256_unpacklo_pd(c, d);
    const __m256d dc = _mm256_unpackhi_pd(c, d);
    _mm256_storeu_pd(to[0], _mm256_permute2f128_pd(ab, cd, 0x20));
    _mm256_storeu_pd(to[1], _mm256_permute2f128_pd(ba, dc, 0x20));
    _mm256_storeu_pd(to[2], _mm256_permute2f128_pd(ab, cd, 0x31));
    _mm256_storeu_pd(to[3], _mm256_permute2f128_pd(ba, dc, 0x31));
}
#endif
#endif

/* States k, k + 1, ... of a batch of n, number by number; beyond the last one it is repeated. */
static inline void eg_lanes_read(
    eg_lanes_real_t *to, const robot_real_t *from, size_t stride, size_t k, size_t n, int size)
{
    const robot_real_t *row[EG_LANES];
    for (int lane = 0; lane < EG_LANES; ++lane) {
        const size_t state = k + (size_t)lane;
        row[lane] = from + (((state < n) ? state : (n - 1u)) * stride);
    }
#if defined(EG_LANES_TURN)
    for (int i = 0; (size >= 4) && (i < size); i += 4) {
        const int at = ((i + 4) <= size) ? i : (size - 4); /* the last four may have been there before */
        const double *const rows[4] = {row[0] + at, row[1] + at, row[2] + at, row[3] + at};
        double *const columns[4] = {
            (double *)(to + at), (double *)(to + at + 1), (double *)(to + at + 2), (double *)(to + at + 3)};
        eg_lanes_turn(rows, columns);
    }
    if (size >= 4) {
        return;
    }
#endif
    for (int i = 0; i < size; ++i) {
        const eg_lanes_real_t column = {EG_LANES_COLUMN(row, i)};
        to[i] = column;
    }
}

/* The same back; vectors beyond the last state are left out. */
static inline void eg_lanes_write(robot_real_t *to, const eg_lanes_real_t *from, size_t k, size_t n, int size)
{
    const size_t left = n - k;
    const int lanes = (left < EG_LANES) ? (int)left : EG_LANES;
#if defined(EG_LANES_TURN)
    if ((lanes == 4) && (size >= 4)) {
        double *const row = to + (k * (size_t)size);
        for (int i = 0; i < size; i += 4) {
            const int at = ((i + 4) <= size) ? i : (size - 4);
            const double *const columns[4] = {(const double *)(from + at), (const double *)(from + at + 1),
                (const double *)(from + at + 2), (const double *)(from + at + 3)};
            double *const rows[4] = {row + at, row + size + at, row + (2 * size) + at, row + (3 * size) + at};
            eg_lanes_turn(columns, rows);
        }
        return;
    }
#endif
    for (int lane = 0; lane < lanes; ++lane) {
        robot_real_t *const row = to + ((k + (size_t)lane) * (size_t)size);
        for (int i = 0; i < size; ++i) {
            row[i] = from[i][lane];
        }
    }
}

#endif /* ROBOT_LANES_MEMORY_H */
