/* The host in the place of the board: waiting is the interrupt. */
#include "board.h"

#include <stdio.h>
#include <stdlib.h>

static int is_interrupt;

void board_start_timer(void)
{
}

void board_wait(void)
{
    is_interrupt = 1;
    SysTick_Handler();
    is_interrupt = 0;
}

int board_in_interrupt(void)
{
    return is_interrupt;
}

void board_print(const char *text)
{
    (void)fputs(text, stdout);
}

void board_exit(int code)
{
    exit(code);
}
