/*
 * Embed the C output in a controller: computed torque at 1 kHz on a simulated arm. From this folder:
 *
 *     elastogen generate ../arm.yaml generated --outputs inverse_dynamics,forward_dynamics
 *     cc -O2 -std=c99 -Igenerated controller.c generated/arm.c -lm -o controller && ./controller
 *
 * The controller believes in the nominal payload; the simulated arm carries a little more.
 */
#include <stdio.h>

#include "arm.h"

static const arm_real_t STEP = (arm_real_t)1e-3;         /* [s] */
static const arm_real_t STIFFNESS = (arm_real_t)100.0;   /* [1/s^2] */
static const arm_real_t DAMPING = (arm_real_t)20.0;      /* [1/s] */

/* One period of the controller: no heap, no locks, the same time every time. */
static void control(const arm_params_t *p, const arm_real_t target[ARM_NQ], const arm_real_t q[ARM_NQ],
                    const arm_real_t qd[ARM_NQ], arm_real_t force[ARM_NQ])
{
    arm_real_t wanted[ARM_NQ];
    for (int i = 0; i < ARM_NQ; ++i) {
        wanted[i] = STIFFNESS * (target[i] - q[i]) - DAMPING * qd[i];
    }
    arm_inverse_dynamics(p, q, qd, wanted, force);
}

int main(void)
{
    const arm_params_t believed = arm_params_nominal;
    arm_params_t real = arm_params_nominal;
    const arm_real_t target[ARM_NQ] = {(arm_real_t)0.5, (arm_real_t)-0.3, (arm_real_t)0.1};
    arm_real_t q[ARM_NQ] = {0}, qd[ARM_NQ] = {0}, qdd[ARM_NQ], force[ARM_NQ];

    real.payload_mass += (arm_real_t)0.05;
    for (int k = 0; k <= 2000; ++k) {
        if (k % 500 == 0) {
            printf("t = %.1f s   q = %7.4f %7.4f %7.4f\n", (double)k * 1e-3, (double)q[0], (double)q[1], (double)q[2]);
        }
        control(&believed, target, q, qd, force);
        if (arm_forward_dynamics(&real, q, qd, force, qdd) != 0) {
            return 1;
        }
        for (int i = 0; i < ARM_NQ; ++i) { /* the simulated arm: semi-implicit Euler */
            qd[i] += STEP * qdd[i];
            q[i] += STEP * qd[i];
        }
    }
    return 0;
}
