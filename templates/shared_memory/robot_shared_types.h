/* Part of robot_shared.h: the shared block and one end of it. */
#ifndef ROBOT_SHARED_TYPES_H
#define ROBOT_SHARED_TYPES_H

#include "robot_shared_meaning.h"

#include <stdint.h>

/**
 * The shared block. All words are little or big endian as the machine is; `bytes` = sizeof, no padding but at the end.
 * Values lie in 4 places: number n of a side is in place n % 4, and is valid until number n + 3 is out. A side
 * writes the next place first and its number last, so that a process that dies while it writes leaves the last
 * values whole.
 */
typedef struct {
    uint32_t magic;          /* MAGIC, written last by the maker; anything else: not (yet) a block of elastogen */
    uint32_t version;        /* VERSION of this layout */
    uint32_t bytes;          /* of the whole block */
    uint32_t nq;             /* coordinates */
    uint32_t real_bytes;     /* of one number: 8 or 4 */
    uint32_t places;         /* 4 */
    uint32_t meaning[2];     /* hash of robot, coordinates, units and precision: what the numbers mean */
    uint32_t loop_process;   /* owner of the loop's side, 0: nobody; the locks decide, this is for messages */
    uint32_t robot_process;  /* owner of the robot's side */
    uint32_t command_given;  /* the loop's: non-zero once it has written a command since it came */
    uint32_t command_number; /* the loop's: of the last command; goes on for ever, modulo 2^32 */
    uint32_t state_given;    /* the robot's: non-zero once it has put a state since it came */
    uint32_t state_number;   /* the robot's: of the last state */
    uint32_t reserved[2];    /* 0 */
    robot_scalar_t state[ROBOT_SHARED_PLACES]
                        [ROBOT_SHARED_NQ + ROBOT_SHARED_NV];      /* the robot's: q [rad, m], then qd [rad/s, m/s] */
    robot_scalar_t command[ROBOT_SHARED_PLACES][ROBOT_SHARED_NV]; /* the loop's: F [N m, N] */
} robot_shared_block_t;

/** One end of a block: the loop's or the robot's. Its memory belongs to one process and is used by one thread at a
 * time. */
typedef struct {
    robot_shared_block_t *block; /* null: not open */
    int32_t side;                /* LOOP or ROBOT */
    int32_t file;                /* of the operating system; -1: none */
    int32_t error;               /* errno of the last ERROR_SYSTEM */
    uint32_t other;              /* ERROR_BUSY: the process that has this side; 0: unknown */
    uint32_t last;               /* number of the last values that were taken */
    uint32_t started;            /* loop: whether a state was taken since it came */
    uint32_t stale;              /* loop: cycles since the last new state */
    uint32_t stale_limit;        /* loop: so many of them are STALE; 0: never */
    char name[64];               /* of the block */
} robot_shared_t;

#endif /* ROBOT_SHARED_TYPES_H */
