// The robot's side of shared memory, in C++: here two joints that are integrators with friction, in place of real drives.
//
//     python -c "import elastogen; elastogen.generate_loop('two_link', 'generated')"
//     cc -std=c99 -O2 -c generated/two_link_shared.c
//     c++ -O2 -Igenerated driver.cpp two_link_shared.o -o driver && ./driver /arm 10
//
// and, in Python, the loop; these joints have no weights to hold:
//
//     model = elastogen.build_model("two_link")
//     model.parameters["gravity_y"] = 0.0
//     loop = model.loop(plant=SharedMemory("arm", timeout=10))
//
// Either may be started first, killed and started again.
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "two_link_shared.h"

namespace {

constexpr int joints = 2;
constexpr double period = 1e-3;    // [s]
constexpr double inertia = 1.0;    // [kg m^2]
constexpr double friction = 2.0;   // [N m s/rad]
constexpr int patience = 100;      // periods without a new command, after which the drives are switched off

volatile std::sig_atomic_t is_over = 0;

void on_signal(int) { is_over = 1; }

}  // namespace

int main(int count, char **arguments)
{
    const char *const name = (count > 1) ? arguments[1] : "/arm";
    const double seconds = (count > 2) ? std::atof(arguments[2]) : 10.0;
    std::signal(SIGTERM, on_signal);
    std::signal(SIGINT, on_signal);

    two_link_shared_t robot;
    int status = two_link_shared_open(&robot, name, TWO_LINK_SHARED_ROBOT);
    while ((status == TWO_LINK_SHARED_ERROR_ABSENT) && !is_over) {  // the loop has not been started yet
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
        status = two_link_shared_open(&robot, name, TWO_LINK_SHARED_ROBOT);
    }
    if (status != TWO_LINK_SHARED_OK) {
        std::fprintf(stderr, "%s: cannot be opened (%d)\n", name, status);
        return 1;
    }

    double q[joints] = {0.0, 0.0}, qd[joints] = {0.0, 0.0}, F[joints] = {0.0, 0.0};
    int silence = patience;
    auto next = std::chrono::steady_clock::now();
    for (long k = 0; (static_cast<double>(k) * period < seconds) && !is_over; ++k) {
        two_link_shared_put(&robot, q, qd);  // what the sensors say
        silence = (two_link_shared_get(&robot, F) == TWO_LINK_SHARED_OK) ? 0 : silence + 1;
        for (int i = 0; i < joints; ++i) {   // what the drives do
            const double force = (silence < patience) ? F[i] : 0.0;
            qd[i] += period * (force - friction * qd[i]) / inertia;
            q[i] += period * qd[i];
        }
        next += std::chrono::milliseconds(1);
        std::this_thread::sleep_until(next);
    }
    std::printf("q = %.3f %.3f\n", q[0], q[1]);
    two_link_shared_close(&robot);
    return 0;
}
