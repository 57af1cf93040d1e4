/* Part of robot_loop.c: the reader's side of the telemetry ring. */
#ifndef ROBOT_LOOP_RING_READER_H
#define ROBOT_LOOP_RING_READER_H

#include "robot_loop_ring.h"

/* Copies record `number` out of its slot; 0 if it is or was being overwritten. */
static int robot_loop_copy_slot(robot_loop_slot_t *slot, uint32_t number, robot_loop_record_t *record)
{
    const uint32_t complete = (2u * number) + 2u;
    robot_loop_image_t image;
    if (ROBOT_LOOP_LOAD(&slot->sequence) != complete) {
        return 0;
    }
    for (uint32_t k = 0; k < ROBOT_LOOP_RECORD_WORDS; ++k) {
        image.words[k] = ROBOT_LOOP_LOAD(&slot->words[k]); /* acquire: not after the second look */
    }
    *record = image.record;
    return ROBOT_LOOP_LOAD(&slot->sequence) == complete;
}

uint32_t robot_loop_take_records(robot_loop_t *loop, robot_loop_record_t *records, uint32_t most, uint32_t *lost)
{
    const uint32_t head = ROBOT_LOOP_LOAD(&loop->head);
    uint32_t tail = loop->tail;
    uint32_t count = 0;
    if ((loop->slots == NULL) || (most == 0u)) {
        return 0u;
    }
    if ((head - tail) > loop->capacity) {
        *lost += (head - tail) - loop->capacity;
        tail = head - loop->capacity;
    }
    for (; (tail != head) && (count < most); ++tail) {
        if (robot_loop_copy_slot(&loop->slots[tail & (loop->capacity - 1u)], tail, &records[count]) != 0) {
            ++count;
        } else {
            ++*lost;
        }
    }
    ROBOT_LOOP_STORE(&loop->tail, tail);
    return count;
}

uint32_t robot_loop_dropped(robot_loop_t *loop)
{
    return ROBOT_LOOP_LOAD(&loop->dropped);
}

#endif /* ROBOT_LOOP_RING_READER_H */
