/* Emitted inverse kinematics called from C: on the target, out of reach, by nothing but its own memory. NAME is two_link. */
#include "two_link_ik.h"

#include <stdio.h>

static two_link_ik_workspace_t work;

int main(void)
{
    const two_link_real_t q0[TWO_LINK_NQ] = {(two_link_real_t)0.4, (two_link_real_t)0.9};
    const two_link_ik_options_t *usual = &two_link_ik_options_default;
    two_link_ik_target_t target[TWO_LINK_IK_FRAMES] = {
        {{(two_link_real_t)1.2, (two_link_real_t)0.7, 0}, {1, 0, 0, 0, 1, 0, 0, 0, 1}, 1, 0},
        {{0, 0, 0}, {1, 0, 0, 0, 1, 0, 0, 0, 1}, 0, 0}
    };
    two_link_ik_report_t report;
    two_link_real_t q[TWO_LINK_NQ];
    two_link_ik_options_t wrong = *usual;
    int status = two_link_inverse_kinematics(&two_link_params_nominal, usual, target, q0, NULL, q, &report, &work);

    printf("%d %.17g %.17g %.17g %d\n", status, (double)q[0], (double)q[1], (double)report.position_error, report.iterations);
    target[0].position[0] = 9;
    status = two_link_inverse_kinematics(&two_link_params_nominal, usual, target, q0, NULL, q, &report, &work);
    printf("%d %.17g %.17g %.17g %d\n", status, (double)q[0], (double)q[1], (double)report.position_error, report.iterations);
    wrong.iterations = 0;
    status = two_link_inverse_kinematics(&two_link_params_nominal, &wrong, target, q0, NULL, q, &report, &work);
    printf("%d %.17g %.17g %g %g %d\n", status, (double)q[0], (double)q[1], (double)report.position_error,
        (double)report.rotation_error, report.iterations);
    target[0].position[0] /= (two_link_real_t)0 * report.position_error; /* NaN or infinity */
    status = two_link_inverse_kinematics(&two_link_params_nominal, usual, target, q0, NULL, q, &report, &work);
    printf("%d %.17g %.17g %g %g %d\n", status, (double)q[0], (double)q[1], (double)report.position_error,
        (double)report.rotation_error, report.iterations);
    return 0;
}
