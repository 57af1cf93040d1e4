/* Sensors and drives: a simulated arm in their place. The log: one line for each tenth of a second, the end after half a second. */
#include "board.h"

enum { EACH = 100, LAST = 500 /* cycles */ };

static two_link_loop_plant_t arm;

int board_read(void *io, uint64_t tick, two_link_real_t *q, two_link_real_t *qd)
{
    (void)io;
    if (arm.substeps == 0u) { /* the first time */
        arm.p = two_link_params_nominal;
        arm.substeps = 1u;
        arm.period = 1e-3f;
        arm.measured = TWO_LINK_NQ;
        for (uint32_t k = 0; k < TWO_LINK_NQ; ++k) {
            arm.map[k] = k;
        }
    }
    return two_link_loop_plant_read(&arm, tick, q, qd) || !board_in_interrupt();
}

int board_write(void *io, uint64_t tick, const two_link_real_t *F)
{
    (void)io;
    return two_link_loop_plant_write(&arm, tick, F);
}

/* A number in thousandths, right-aligned in 8 places. */
static void print(float value)
{
    char text[9] = "        ";
    const int below = value < 0.0f;
    int32_t left = (int32_t)((1000.0f * (below ? -value : value)) + 0.5f), place = 7;
    do {
        text[place--] = (char)('0' + (left % 10));
        left /= 10;
    } while ((left > 0) && (place > 0));
    text[place] = below ? '-' : ' ';
    board_print(text);
}

void board_log(const two_link_loop_record_t *record, uint32_t lost)
{
    if (record->cycle == 0u) {
        board_print("   cycle  q_1     q_2 [mrad] F_1     F_2 [mN m]  status\n");
    }
    if (((record->cycle % EACH) == 0u) || (lost > 0u) || (record->status != 0)) {
        print(1e-3f * (float)record->cycle);
        for (int i = 0; i < TWO_LINK_NQ; ++i) {
            print(record->q[i]);
        }
        for (int i = 0; i < TWO_LINK_NQ; ++i) {
            print(record->F[i]);
        }
        print(1e-3f * (float)record->status);
        board_print("\n");
    }
    if (record->cycle >= LAST) {
        board_exit((lost > 0u) ? 1 : 0);
    }
}
