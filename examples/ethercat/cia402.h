/*
 * CiA 402 (IEC 61800-7-201) as a control loop needs it: the state machine of a drive, its process data in cyclic synchronous
 * torque mode, and the units between drive and joint. No bus in it: an EtherCAT master (SOEM, IgH) exchanges the two structs.
 */
#ifndef CIA402_H
#define CIA402_H

#include <stdint.h>

enum { CIA402_MODE_CST = 10 }; /* 0x6060: cyclic synchronous torque */

typedef enum {
    CIA402_NOT_READY,
    CIA402_SWITCH_ON_DISABLED,
    CIA402_READY,
    CIA402_SWITCHED_ON,
    CIA402_ENABLED, /* operation enabled: the only state in which torque acts */
    CIA402_QUICK_STOP,
    CIA402_FAULT_REACTION,
    CIA402_FAULT
} cia402_state_t;

typedef struct { /* to the drive */
    uint16_t control; /* 0x6040 */
    int16_t torque;   /* 0x6071 [0.001 of the rated torque] */
    int8_t mode;      /* 0x6060 */
} cia402_outputs_t;

typedef struct { /* from the drive */
    uint16_t status;  /* 0x6041 */
    int32_t position; /* 0x6064 [counts]; wraps */
    int32_t velocity; /* 0x606C [counts/s] */
    uint16_t error;   /* 0x603F */
} cia402_inputs_t;

typedef struct { /* one axis: constants of the drive and the gear, and the counter without its wraps */
    double counts_per_turn; /* of the motor */
    double ratio;           /* motor turns per joint turn, with the sign of the direction */
    double rated_torque;    /* 0x6076, of the motor [N m] */
    double torque_max;      /* 0x6072 [0.001 of the rated torque] */
    double offset;          /* joint position at zero counts [rad] */
    int64_t counts;         /* position, unwrapped */
    int32_t last;
    int started;
} cia402_axis_t;

cia402_state_t cia402_state(uint16_t status);

/* The control word that leads one state nearer to operation enabled, and resets a fault where that is wanted. */
uint16_t cia402_towards_enabled(cia402_state_t state, int reset_faults);

/* Position [rad] and velocity [rad/s] of the joint. */
void cia402_measure(cia402_axis_t *axis, const cia402_inputs_t *inputs, double *q, double *qd);

/* Target torque of a joint torque [N m], within torque_max. */
int16_t cia402_torque(const cia402_axis_t *axis, double joint_torque);

#endif
