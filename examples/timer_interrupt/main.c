/*
 * The loop in the timer interrupt of a Cortex-M4F without an operating system; here QEMU's MPS2 board, with a simulated arm.
 *
 *     python -c "import elastogen; elastogen.generate_loop('two_link', 'generated', precision='float')"
 *     arm-none-eabi-gcc -std=c99 -O2 -mcpu=cortex-m4 -mthumb -mfpu=fpv4-sp-d16 -mfloat-abi=hard -Igenerated -I. \
 *         -nostartfiles -Wl,-T,link.ld -Wl,--gc-sections *.c generated/two_link.c generated/two_link_loop.c -lm -o arm.elf
 *     qemu-system-arm -machine mps2-an386 -icount shift=5,sleep=off -nographic -monitor none -serial none \
 *         -semihosting-config enable=on,target=native -kernel arm.elf
 *
 * On a board of yours, board.c reads its sensors and drives its motors; startup.c, link.ld and target.c are the maker's.
 */
#include "two_link_loop.h"
#include "board.h" /* board_read, board_write: sensors and drives; board_start_timer, board_wait, board_log */

static two_link_loop_t loop; /* all that the loop remembers */
static two_link_loop_slot_t slots[64];

void SysTick_Handler(void) /* the timer interrupt, each millisecond */
{
    (void)two_link_loop_step(&loop);
}

int main(void)
{
    two_link_loop_init(&loop, 1e-3f);
    loop.read = board_read;
    loop.write = board_write;
    loop.controller = two_link_loop_computed_torque;
    loop.slots = slots;
    loop.capacity = 64u;

    static two_link_loop_tuning_t tuning;
    tuning = loop.tuning[0]; /* nominal parameters, no limits */
    for (int i = 0; i < TWO_LINK_NQ; ++i) {
        tuning.kp[i] = 400.0f;
        tuning.kd[i] = 40.0f;
        tuning.F_max[i] = 80.0f;
        tuning.safe_damping[i] = 20.0f; /* with these a fault ends at rest: see "After a fault" */
        tuning.safe_kp[i] = 100.0f;
        tuning.safe_kd[i] = 20.0f;
    }
    two_link_loop_set_tuning(&loop, &tuning);

    two_link_loop_reference_t reference = { 0 };
    reference.kind = TWO_LINK_LOOP_MOVE;
    reference.q[0] = 0.5f;
    reference.q[1] = -0.3f;
    reference.duration = 0.3f;
    two_link_loop_set_reference(&loop, &reference);

    board_start_timer();
    for (;;) { /* beside the interrupt: take records, send references and gains */
        two_link_loop_record_t record;
        uint32_t lost = 0;
        while (two_link_loop_take_records(&loop, &record, 1u, &lost) > 0u) {
            board_log(&record, lost);
        }
        board_wait(); /* for example WFI */
    }
}
