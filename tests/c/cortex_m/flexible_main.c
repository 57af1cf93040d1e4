/* A flexible arm with feedforward in the timer interrupt; the main program sends it back when it has arrived. */
#include "board.h"

#include "settings.h" /* COMPLIANCE */

static bender_loop_t loop;
static bender_loop_slot_t slots[64];

void SysTick_Handler(void)
{
    (void)bender_loop_step(&loop);
}

int main(void)
{
    static const float compliance[2][2] = COMPLIANCE;
    static bender_loop_tuning_t tuning;
    bender_loop_reference_t reference = { 0 };
    bender_loop_init(&loop, 1e-3f);
    loop.read = board_read;
    loop.write = board_write;
    loop.controller = bender_loop_feedforward;
    loop.context = &loop.elastic;
    loop.slots = slots;
    loop.capacity = 64u;
    tuning = loop.tuning[0];
    tuning.kp[0] = 1000.0f;
    tuning.kd[0] = 40.0f;
    for (int i = 0; i < 2; ++i) {
        for (int j = 0; j < 2; ++j) {
            tuning.compliance[i][j] = compliance[i][j];
        }
    }
    bender_loop_set_tuning(&loop, &tuning);
    reference.kind = BENDER_LOOP_MOVE;
    reference.number = 1u;
    reference.q[0] = 0.4f;
    reference.duration = 0.6f;
    bender_loop_set_reference(&loop, &reference);
    board_start_timer();
    for (;;) {
        bender_loop_record_t record;
        uint32_t lost = 0;
        while (bender_loop_take_records(&loop, &record, 1u, &lost) > 0u) {
            if (record.cycle == 650u) {
                reference.number = 2u;
                reference.q[0] = 0.0f;
                bender_loop_set_reference(&loop, &reference);
            }
            board_log(&record, lost);
        }
        board_wait();
    }
}
