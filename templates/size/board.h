/* The board of the emulator: start, text on the host's terminal, a timer. */
extern uint32_t data_begin[], data_end[], data_image[], bss_begin[], bss_end[], stack_top[]; /* board.ld */
void reset(void);

#define REGISTER(address) (*(volatile uint32_t *)(address))
#define APART __attribute__((noinline, noclone, noipa)) /* called with all its arguments */

__attribute__((section(".vectors"), used)) static const void *const vectors[2] = { stack_top, (const void *)reset };

static void semihosting(uint32_t operation, const void *argument)
{
    register uint32_t r0 __asm("r0") = operation;
    register const void *r1 __asm("r1") = argument;
    __asm volatile("bkpt 0xAB" : "+r"(r0) : "r"(r1) : "memory");
}

static void print(uint32_t number)
{
    static char text[10];
    for (int digit = 0; digit < 8; ++digit) {
        text[digit] = "0123456789abcdef"[(number >> (28 - (4 * digit))) & 15u];
    }
    text[8] = '\n';
    semihosting(4u, text);
}

static APART uint32_t ticks(void (*call)(void))
{
    const uint32_t before = REGISTER(0xE000E018u);
    call();
    return (before - REGISTER(0xE000E018u)) & 0xFFFFFFu; /* it counts down in 24 bits */
}
