/* LU factorization of systems of two equations, which have a closed form, with and without exchanged rows. */
#include "robot_lu.h"

#include <stdio.h>

int main(void)
{
    static const double cases[5][4] = {
        {2.0, 1.0, 1.0, 3.0}, {0.0, 1.0, 1.0, 0.0}, {1e-20, 1.0, 1.0, 1.0}, {1.0, 2.0, 2.0, 4.0}, {NAN, 1.0, 1.0, 1.0}};
    static const int regular[5] = {1, 1, 1, 0, 0};
    int failures = 0;
    for (int c = 0; c < 5; ++c) {
        const double *const a = cases[c];
        const double determinant = (a[0] * a[3]) - (a[1] * a[2]);
        double A[4] = {a[0], a[1], a[2], a[3]};
        double b[2] = {3.0, -5.0};
        int pivots[2] = {0, 0};
        const double x[2] = {((3.0 * a[3]) + (5.0 * a[1])) / determinant, ((-5.0 * a[0]) - (3.0 * a[2])) / determinant};
        const int found = (robot_lu_factorize(A, pivots) & 1u) != 0u;
        failures += found != regular[c];
        if (found && (regular[c] != 0)) {
            robot_lu_solve(A, pivots, b);
            failures += !(fabs(b[0] - x[0]) <= 1e-14 * (1.0 + fabs(x[0])));
            failures += !(fabs(b[1] - x[1]) <= 1e-14 * (1.0 + fabs(x[1])));
        }
        if (failures != 0) {
            (void)printf("wrong: case %d\n", c);
            return 1;
        }
    }
    return 0;
}
