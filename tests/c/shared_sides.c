/* One side of shared memory, until SIGTERM: "sides loop /name" or "sides robot /name". Ends with 9 at a wrong number. */
#define _POSIX_C_SOURCE 200809L
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "two_link_loop.h"
#include "two_link_shared.h"

static volatile sig_atomic_t is_over = 0;

static void on_signal(int number)
{
    (void)number;
    is_over = 1;
}

static int differ(const double *values, int count)
{
    int differences = 0;
    for (int i = 1; i < count; ++i) {
        differences += (values[i] > values[0]) || (values[i] < values[0]);
    }
    return differences;
}

static void pause_shortly(void)
{
    const struct timespec t = { 0, 20000 };
    (void)nanosleep(&t, 0);
}

/* The command repeats the state, all numbers of which are equal. */
static int echo(void *context, const two_link_loop_view_t *view, double *F)
{
    (void)context;
    F[0] = F[1] = view->q[0];
    return differ(view->q, 2) + differ(view->qd, 2) + ((view->q[0] > view->qd[0]) || (view->q[0] < view->qd[0])) + (view->q[0] < 1.0);
}

static int run_loop(two_link_shared_t *end)
{
    static two_link_loop_t loop;
    two_link_loop_init(&loop, 1e-3);
    loop.read = two_link_shared_read;
    loop.write = two_link_shared_write;
    loop.io = end;
    loop.controller = echo;
    while (!is_over && !two_link_shared_ready(end)) {
        pause_shortly();
    }
    for (unsigned k = 0; !is_over; ++k) {
        if (two_link_loop_step(&loop) != TWO_LINK_LOOP_STATUS_OK) {
            return 9;
        }
        if (k % 4000u == 0u) {
            pause_shortly();
        }
    }
    return 0;
}

static int run_robot(two_link_shared_t *end)
{
    double state[2], F[2] = { 0.0, 0.0 }, most = 0.0;
    for (double k = 1.0; !is_over; k = (k < 1e5) ? (k + 1.0) : 1.0) { /* a position beyond 1e6 rad is a fault */
        state[0] = state[1] = k;
        two_link_shared_put(end, state, state);
        const int got = two_link_shared_get(end, F);
        if ((got != TWO_LINK_SHARED_OK) && (got != TWO_LINK_SHARED_OLD) && (got != TWO_LINK_SHARED_NONE)) {
            return 8;
        }
        if (differ(F, 2) != 0) {
            return 9;
        }
        most = (F[0] > most) ? F[0] : most;
        if ((unsigned long)k % 4000u == 0u) {
            pause_shortly();
        }
    }
    return 0;
}

int main(int count, char **arguments)
{
    if (count != 3) {
        return 2;
    }
    const int is_loop = strcmp(arguments[1], "loop") == 0;
    two_link_shared_t end;
    struct sigaction action;
    memset(&action, 0, sizeof(action));
    action.sa_handler = on_signal;
    (void)sigaction(SIGTERM, &action, 0);
    int status = TWO_LINK_SHARED_ERROR_ABSENT;
    for (int k = 0; (k < 100000) && !is_over && ((status == TWO_LINK_SHARED_ERROR_ABSENT) || (status == TWO_LINK_SHARED_ERROR_BUSY)); ++k) {
        status = two_link_shared_open(&end, arguments[2], is_loop ? TWO_LINK_SHARED_LOOP : TWO_LINK_SHARED_ROBOT);
        if (status != TWO_LINK_SHARED_OK) {
            pause_shortly();
        }
    }
    if (status != TWO_LINK_SHARED_OK) {
        (void)fprintf(stderr, "open: %d\n", status);
        return is_over ? 0 : 7;
    }
    const int result = is_loop ? run_loop(&end) : run_robot(&end);
    two_link_shared_close(&end);
    return result;
}
