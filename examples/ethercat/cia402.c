#include "cia402.h"

#include <math.h>

#define TURN 6.283185307179586 /* [rad] */

cia402_state_t cia402_state(uint16_t status)
{
    cia402_state_t state = CIA402_NOT_READY;
    switch (status & 0x6Fu) { /* bits 0-3, 5, 6 */
    case 0x21u: state = CIA402_READY; break;
    case 0x23u: state = CIA402_SWITCHED_ON; break;
    case 0x27u: state = CIA402_ENABLED; break;
    case 0x07u: state = CIA402_QUICK_STOP; break;
    default:
        switch (status & 0x4Fu) { /* bit 5, quick stop, does not matter */
        case 0x40u: state = CIA402_SWITCH_ON_DISABLED; break;
        case 0x0Fu: state = CIA402_FAULT_REACTION; break;
        case 0x08u: state = CIA402_FAULT; break;
        default: break;
        }
        break;
    }
    return state;
}

uint16_t cia402_towards_enabled(cia402_state_t state, int reset_faults)
{
    uint16_t control = 0x00u; /* disable voltage */
    switch (state) {
    case CIA402_SWITCH_ON_DISABLED: control = 0x06u; break; /* shutdown */
    case CIA402_READY: control = 0x07u; break;              /* switch on */
    case CIA402_SWITCHED_ON:
    case CIA402_ENABLED: control = 0x0Fu; break;            /* enable operation */
    case CIA402_FAULT: control = reset_faults ? 0x80u : 0x00u; break;
    case CIA402_NOT_READY:
    case CIA402_QUICK_STOP:
    case CIA402_FAULT_REACTION:
    default: break;
    }
    return control;
}

void cia402_measure(cia402_axis_t *axis, const cia402_inputs_t *inputs, double *q, double *qd)
{
    const double scale = TURN / (axis->counts_per_turn * axis->ratio);
    if (!axis->started) {
        axis->started = 1;
        axis->counts = inputs->position;
    } else {
        axis->counts += (int32_t)((uint32_t)inputs->position - (uint32_t)axis->last); /* right across a wrap of 32 bits */
    }
    axis->last = inputs->position;
    *q = axis->offset + (scale * (double)axis->counts);
    *qd = scale * (double)inputs->velocity;
}

int16_t cia402_torque(const cia402_axis_t *axis, double joint_torque)
{
    const double wanted = 1000.0 * joint_torque / (axis->ratio * axis->rated_torque);
    const double cut = (wanted > axis->torque_max) ? axis->torque_max : ((wanted < -axis->torque_max) ? -axis->torque_max : wanted);
    return (int16_t)lround(cut);
}
