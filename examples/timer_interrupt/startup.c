/* From reset to main on a Cortex-M4F: floating-point unit, memory, vectors. */
#include <stdint.h>

extern uint32_t data_begin[], data_end[], data_image[], bss_begin[], bss_end[], stack_top[]; /* link.ld */
extern int main(void);
extern void SysTick_Handler(void);
extern void board_exit(int code);
void Reset_Handler(void);
void Fault_Handler(void);

#define CPACR (*(volatile uint32_t *)0xE000ED88u) /* coprocessor access */

void Reset_Handler(void)
{
    CPACR |= 0xFu << 20;
    __asm volatile("dsb\n\tisb" ::: "memory");
    for (uint32_t *word = data_begin, *image = data_image; word < data_end; ++word, ++image) {
        *word = *image;
    }
    for (uint32_t *word = bss_begin; word < bss_end; ++word) {
        *word = 0u;
    }
    (void)main();
    board_exit(3);
}

void Fault_Handler(void)
{
    board_exit(4);
}

typedef void (*vector_t)(void);

__attribute__((section(".vectors"), used)) static const vector_t vectors[16] = {
    (vector_t)stack_top, Reset_Handler, Fault_Handler, Fault_Handler, Fault_Handler, Fault_Handler, Fault_Handler, 0, 0, 0, 0,
    Fault_Handler, Fault_Handler, 0, Fault_Handler, SysTick_Handler,
};
