/* The Cortex-M4F: SysTick, and semihosting, by which the emulator prints and ends. */
#include "board.h"

#define SYST_CSR (*(volatile uint32_t *)0xE000E010u)
#define SYST_RVR (*(volatile uint32_t *)0xE000E014u)
#define SYST_CVR (*(volatile uint32_t *)0xE000E018u)

enum { CLOCK = 25000000, SYS_WRITE0 = 4, SYS_EXIT_EXTENDED = 0x20, APPLICATION_EXIT = 0x20026, SYSTICK = 15 };

static void semihosting(uint32_t operation, const void *argument)
{
    register uint32_t r0 __asm("r0") = operation;
    register const void *r1 __asm("r1") = argument;
    __asm volatile("bkpt 0xAB" : "+r"(r0) : "r"(r1) : "memory");
}

void board_start_timer(void)
{
    SYST_RVR = (CLOCK / 1000) - 1;
    SYST_CVR = 0;
    SYST_CSR = 7; /* processor clock, interrupt, on */
}

void board_wait(void)
{
    __asm volatile("wfi" ::: "memory");
}

int board_in_interrupt(void)
{
    uint32_t number;
    __asm volatile("mrs %0, ipsr" : "=r"(number));
    return number == SYSTICK;
}

void board_print(const char *text)
{
    semihosting(SYS_WRITE0, text);
}

void board_exit(int code)
{
    const uint32_t block[2] = { APPLICATION_EXIT, (uint32_t)code };
    semihosting(SYS_EXIT_EXTENDED, block);
    for (;;) {
    }
}
