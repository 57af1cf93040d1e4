/* What the program needs of its board. */
#ifndef BOARD_H
#define BOARD_H

#include "two_link_loop.h"

int board_read(void *io, uint64_t tick, two_link_real_t *q, two_link_real_t *qd); /* sensors; not 0: they failed */
int board_write(void *io, uint64_t tick, const two_link_real_t *F);               /* drives; the same */
void board_log(const two_link_loop_record_t *record, uint32_t lost);

/* target.c */
void board_start_timer(void); /* SysTick_Handler each millisecond */
void board_wait(void);        /* for an interrupt */
int board_in_interrupt(void);
void board_print(const char *text);
void board_exit(int code);
void SysTick_Handler(void);

#endif /* BOARD_H */
