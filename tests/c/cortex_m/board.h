/* What a program in the timer interrupt needs of its board; here the board is an emulated one, or the host. */
#ifndef BOARD_H
#define BOARD_H

#include ROBOT_HEADER /* <name>_loop.h */

#define BOARD_JOIN(a, b) a##b
#define BOARD_NAME(a, b) BOARD_JOIN(a, b)
#define LOOP(name) BOARD_NAME(ROBOT, _loop_##name)
typedef BOARD_NAME(ROBOT, _real_t) board_real_t;

/* Sensors and drives: a simulated robot. Reading fails where it is not done in the interrupt. */
int board_read(void *io, uint64_t tick, board_real_t *q, board_real_t *qd);
int board_write(void *io, uint64_t tick, const board_real_t *F);

/* Prints a record as bit patterns; ends the program after the last one. */
void board_log(const LOOP(record_t) *record, uint32_t lost);

/* Of the target or the host. */
void board_start_timer(void);  /* one interrupt, SysTick_Handler, each millisecond */
void board_wait(void);         /* for an interrupt */
int board_in_interrupt(void);
void board_print(const char *text);
void board_exit(int code);
void SysTick_Handler(void);

#endif /* BOARD_H */
