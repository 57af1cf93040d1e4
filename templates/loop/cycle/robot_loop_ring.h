/* Part of robot_loop.c: telemetry, a ring with one writer and one reader. */
#ifndef ROBOT_LOOP_RING_H
#define ROBOT_LOOP_RING_H

#include "robot_loop_base.h"

/* Telemetry ring: the sequence number of a slot tells the reader whether what it copied is one whole record */

typedef union {
    robot_loop_record_t record;
    uintptr_t words[ROBOT_LOOP_RECORD_WORDS];
} robot_loop_image_t;

static uint32_t robot_loop_sum(const uintptr_t *words)
{
    uint64_t sum = 0u;
    for (uint32_t k = 0; k < ROBOT_LOOP_RECORD_WORDS; ++k) {
        sum = ((sum << 5) | (sum >> 59)) ^ (uint64_t)words[k];
    }
    return (uint32_t)(sum ^ (sum >> 32));
}

uint32_t robot_loop_checksum(const robot_loop_record_t *record)
{
    robot_loop_image_t image;
    image.record = *record;
    image.record.checksum = 0u;
    return robot_loop_sum(image.words);
}

static void robot_loop_record(robot_loop_t *loop)
{
    const robot_loop_view_t *const view = &loop->view;
    const uint32_t head = loop->head;
    robot_loop_image_t image;
    if (loop->slots == NULL) {
        return;
    }
    if ((loop->keep == ROBOT_LOOP_KEEP_OLDEST) && ((head - ROBOT_LOOP_LOAD(&loop->tail)) >= loop->capacity)) {
        ROBOT_LOOP_STORE(&loop->dropped, loop->dropped + 1u);
        return;
    }
    for (uint32_t k = 0; k < ROBOT_LOOP_RECORD_WORDS; ++k) {
        image.words[k] = 0u; /* padding, too */
    }
    image.record.cycle = loop->cycle;
    image.record.tick = view->tick;
    image.record.deadline_ns = loop->deadline_ns;
    image.record.lateness_ns = loop->lateness_ns;
    image.record.execution_ns = loop->execution_ns;
    image.record.status = loop->status;
    image.record.saturated = loop->saturated;
    image.record.phase = loop->phase;
    image.record.bridged = loop->bridged;
    image.record.blind = loop->blind;
    image.record.reference = loop->reference[loop->reference_exchange.reader].number;
    for (int i = 0; i < ROBOT_NQ; ++i) {
        image.record.q[i] = view->q[i];
        image.record.q_ref[i] = view->q_ref[i];
    }
    for (int i = 0; i < ROBOT_NV; ++i) {
        image.record.qd[i] = view->qd[i];
        image.record.qd_ref[i] = view->qd_ref[i];
        image.record.F[i] = loop->F[i];
    }
    image.record.checksum = robot_loop_sum(image.words);

    robot_loop_slot_t *const slot = &loop->slots[head & (loop->capacity - 1u)];
    ROBOT_LOOP_STORE(&slot->sequence, (2u * head) + 1u);
    for (uint32_t k = 0; k < ROBOT_LOOP_RECORD_WORDS; ++k) {
        ROBOT_LOOP_STORE(&slot->words[k], image.words[k]); /* release: not before the odd sequence number */
    }
    ROBOT_LOOP_STORE(&slot->sequence, (2u * head) + 2u);
    ROBOT_LOOP_STORE(&loop->head, head + 1u);
}

#endif /* ROBOT_LOOP_RING_H */
