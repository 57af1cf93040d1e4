/* Sensors and drives of the board: a simulated robot; and its log. */
#include "board.h"

#include "settings.h" /* COORDINATES, SUBSTEPS, CYCLES, INITIAL */

static LOOP(plant_t) plant;

static void begin(void)
{
    static const board_real_t initial[COORDINATES] = INITIAL;
    plant.p = BOARD_NAME(ROBOT, _params_nominal);
    plant.substeps = SUBSTEPS;
    plant.period = 1e-3f;
    plant.measured = COORDINATES;
    for (uint32_t k = 0; k < COORDINATES; ++k) {
        plant.map[k] = k;
        plant.q[k] = initial[k];
    }
}

int board_read(void *io, uint64_t tick, board_real_t *q, board_real_t *qd)
{
    (void)io;
    if (plant.substeps == 0u) {
        begin();
    }
    return LOOP(plant_read)(&plant, tick, q, qd) || !board_in_interrupt();
}

int board_write(void *io, uint64_t tick, const board_real_t *F)
{
    (void)io;
    return LOOP(plant_write)(&plant, tick, F);
}

static char *hexadecimal(char *place, uint32_t word)
{
    for (int shift = 28; shift >= 0; shift -= 4) {
        *place++ = "0123456789abcdef"[(word >> shift) & 15u];
    }
    *place++ = ' ';
    return place;
}

static char *patterns(char *place, const board_real_t *values)
{
    for (int i = 0; i < COORDINATES; ++i) {
        union { board_real_t value; uint32_t word; } both;
        both.value = values[i];
        place = hexadecimal(place, both.word);
    }
    return place;
}

void board_log(const LOOP(record_t) *record, uint32_t lost)
{
    static char line[9 * (6 + 5 * COORDINATES) + 2];
    char *place = hexadecimal(line, (uint32_t)record->cycle);
    place = hexadecimal(place, (uint32_t)record->status);
    place = hexadecimal(place, record->reference);
    place = hexadecimal(place, record->saturated);
    place = hexadecimal(place, lost);
    place = hexadecimal(place, (uint32_t)(LOOP(checksum)(record) != record->checksum));
    place = patterns(place, record->q);
    place = patterns(place, record->qd);
    place = patterns(place, record->q_ref);
    place = patterns(place, record->qd_ref);
    place = patterns(place, record->F);
    *place++ = '\n';
    *place = '\0';
    board_print(line);
    if ((record->cycle + 1u) >= CYCLES) {
        board_exit(0);
    }
}
