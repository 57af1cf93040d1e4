/* Runs a kernel many times and prints the CPU time of one evaluation. */
#define _POSIX_C_SOURCE 199309L
#include <stddef.h>
#include <time.h>

typedef void kernel_t(void *context, size_t n, const double *const *in, double *const *out, size_t keep);

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double seconds_per_call(
    kernel_t *kernel, void *context, size_t n, const double *const *in, double *const *out, size_t repeats)
{
    const double start = now();
    for (size_t k = 0; k < repeats; ++k) kernel(context, n, in, out, 0);
    return (now() - start) / (double)(n * repeats);
}
