/* The passage between two elements of the sample robot: the second one is four times as heavy, so that at the same
 * energy the slider goes on at half its speed; the other mass keeps its own. */
#include "robot_switch.h"

#include <math.h>
#include <stdio.h>

int main(void)
{
    robot_switch_work_t work;
    robot_switch_t report;
    double q[ROBOT_NQ] = {0.5 + 1e-14, 0.2};
    double qd[ROBOT_NV] = {1.6, -0.0};
    int k[ROBOT_SLIDING] = {0};
    int failures = 0;
    failures += robot_switch_elements((const double[ROBOT_NQ]){0.4, 0.0}, k) != 0;
    failures += k[0] != 1;
    failures += !(fabs(robot_switch_margin(k, (const double[ROBOT_NQ]){0.4, 0.0}) - 0.1) < 1e-15);
    failures += robot_switch(&robot_params_nominal, k, q, qd, &report, &work) != 1;
    failures += (k[0] != 2) || (report.before != 1) || (report.after != 2) || (report.joint != 0);
    failures += !(fabs(qd[0] - 0.8) < 1e-15);
    failures += !(fabs(report.energy_after - report.energy_before) < 1e-14 * report.energy_before);
    failures += robot_switch(&robot_params_nominal, k, q, qd, &report, &work) != 0;
    q[0] = 1.1;
    failures += robot_switch(&robot_params_nominal, k, q, qd, &report, &work) != ROBOT_ERROR_OUT_OF_RANGE;
    failures += (robot_switch_elements(q, k) != ROBOT_ERROR_OUT_OF_RANGE) || (k[0] != -1);
    if (failures != 0) {
        (void)printf("wrong: %d; speed %.17g\n", failures, qd[0]);
    }
    return failures;
}
