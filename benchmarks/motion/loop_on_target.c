/* Ticks of SysTick around cycles of a loop, for an emulated Cortex-M4F: -DROBOT=<name> -DROBOT_HEADER="<name>_loop.h" -DNV=... */
#include ROBOT_HEADER
#include DETECTOR_HEADER

#define JOIN(a, b) a##b
#define PASTE(a, b) JOIN(a, b)
#define LOOP(name) PASTE(ROBOT, _loop_##name)
enum { BEFORE = 20, MEASURED = 20, KNOTS = 5 };
typedef PASTE(ROBOT, _real_t) real;

#include "board.h"

static int read_state(void *io, uint64_t tick, real *q, real *qd)
{
    (void)io;
    for (int i = 0; i < NV; ++i) {
        q[i] = (real)(tick % 100u) * 1e-4f;
        qd[i] = 0.1f;
    }
    return 0;
}

static int write_command(void *io, uint64_t tick, const real *F)
{
    (void)io;
    (void)tick;
    (void)F;
    return 0;
}

static int nothing(void *context, const LOOP(view_t) *view, real *F)
{
    (void)context;
    for (int i = 0; i < NV; ++i) {
        F[i] = view->F_ref[i];
    }
    return 0;
}

static LOOP(t) loop;
static LOOP(slot_t) slots[4];
static LOOP(tuning_t) tuning;
static LOOP(reference_t) reference;
static LOOP(schedule_t) schedule;
static real knots[KNOTS], gains[KNOTS * KNOTS * 2 * NV * NV];
#ifdef READINGS
static LOOP(observer_t) observer;
#endif

static void begin(LOOP(controller_t) law, void *context)
{
    LOOP(init)(&loop, 1e-3f);
    loop.read = read_state;
    loop.write = write_command;
    loop.controller = law;
    loop.context = context;
    loop.slots = slots;
    loop.capacity = 4u;
    tuning = loop.tuning[0];
    tuning.feedforward = 1;
    for (int i = 0; i < NV; ++i) {
        tuning.kp[i] = 1.0f;
        tuning.kd[i] = 1.0f;
        tuning.safe_damping[i] = 1.0f;
        for (int j = 0; j < (2 * NV); ++j) {
            tuning.K[i][j] = 0.1f;
        }
        reference.q[i] = 0.1f;
    }
#ifdef ELASTIC
    for (int i = 0; i < ELASTIC; ++i) {
        tuning.compliance[i][i] = 1e-3f;
    }
#endif
    LOOP(set_tuning)(&loop, &tuning);
    reference.kind = LOOP_MOVE;
    reference.duration = 1.0f;
    LOOP(set_reference)(&loop, &reference);
}

/* The longest of some cycles. */
static void measure(void)
{
    uint32_t most = 0u;
    for (int k = 0; k < (BEFORE + MEASURED); ++k) {
        const uint32_t before = REGISTER(0xE000E018u);
        (void)LOOP(step)(&loop);
        const uint32_t ticks = (before - REGISTER(0xE000E018u)) & 0xFFFFFFu; /* it counts down in 24 bits */
        most = ((k >= BEFORE) && (ticks > most)) ? ticks : most;
    }
    print(most);
}

static void run(LOOP(controller_t) law, void *context)
{
    begin(law, context);
    measure();
}

static PASTE(ROBOT, _momentum_observer_t) momentum;
static PASTE(ROBOT, _collision_detector_t) detector;
static PASTE(ROBOT, _collision_options_t) options;
static LOOP(discrete_t) discrete;
static real q[NV], qd[NV], F[NV], A[2 * NV][2 * NV], B[2 * NV][NV];
static int detected; /* negative: it failed */

static void observe_momentum(void)
{
    detected = PASTE(ROBOT, _momentum_observer_update)(&momentum, &PASTE(ROBOT, _params_nominal), options.gain, 1e-3f, q, qd, F);
}

static void detect(void)
{
    detected = PASTE(ROBOT, _collision_detector_update)(&detector, &options, &PASTE(ROBOT, _params_nominal), 1e-3f, q, qd, F);
}

static void discretize(void)
{
    detected = -LOOP(discretize)(&discrete, (const real(*)[2 * NV])A, (const real(*)[NV])B, 1e-3f);
}

/* The longest of some calls beside the loop; one that failed counts as 0. */
static void measure_beside(void (*call)(void))
{
    uint32_t most = 0u;
    for (int k = 0; k < (BEFORE + MEASURED); ++k) {
        (void)read_state(0, (uint64_t)k, q, qd);
        const uint32_t passed = ticks(call);
        most = ((k >= BEFORE) && (passed > most)) ? passed : most;
        if (detected < 0) {
            print(0u);
            return;
        }
    }
    print(most);
}

void reset(void)
{
    REGISTER(0xE000ED88u) |= 0xFu << 20; /* floating-point unit */
    __asm volatile("dsb\n\tisb" ::: "memory");
    for (uint32_t *word = data_begin, *image = data_image; word < data_end; ++word, ++image) {
        *word = *image;
    }
    for (uint32_t *word = bss_begin; word < bss_end; ++word) {
        *word = 0u;
    }
    REGISTER(0xE000E014u) = 0xFFFFFFu;
    REGISTER(0xE000E018u) = 0u;
    REGISTER(0xE000E010u) = 5u; /* processor clock, no interrupt, on */
    schedule.axes = 2u;
    for (uint32_t axis = 0u; axis < 2u; ++axis) {
        schedule.coordinate[axis] = axis;
        schedule.count[axis] = KNOTS;
        schedule.knots[axis] = knots;
    }
    schedule.K = gains;
    for (int k = 0; k < KNOTS; ++k) {
        knots[k] = (0.5f * (real)k) - 1.01f;
    }
    run(nothing, 0);
    run(LOOP(pd_gravity), 0);
    run(LOOP(gravity_friction), 0);
    run(LOOP(computed_torque), 0);
    run(LOOP(state_feedback), &loop.elastic);
    run(LOOP(scheduled_feedback), &schedule);
    run(LOOP(feedforward), &loop.elastic);
    begin(nothing, 0);
    LOOP(trip)(&loop, LOOP_TRIPPED);
    measure();
    for (int i = 0; i < NV; ++i) {
        options.gain[i] = 50.0f;
        options.floor[i] = 1.0f;
    }
    options.margin = 1.2f;
    options.uncertain.payload_mass = 0.1f;
    measure_beside(observe_momentum);
    measure_beside(detect);
    for (int i = 0; i < NV; ++i) { /* vibrations of 5 Hz */
        A[i][NV + i] = 1.0f;
        A[NV + i][i] = -1000.0f;
        B[NV + i][i] = 1.0f;
    }
    measure_beside(discretize);
#ifdef READINGS
    begin(nothing, 0);
    for (int i = 0; i < NV; ++i) {
        observer.position_error[i] = observer.velocity_error[i] = 0.1f;
        observer.force[i] = 0.1f;
    }
    for (int r = 0; r < READINGS; ++r) {
        observer.noise[r] = 1e-3f;
    }
    observer.distance_max = 1e20f;
    observer.missing_max = observer.patience = 1u << 30;
    loop.observer = &observer;
    measure();
    print((uint32_t)loop.status);
#endif
    static const uint32_t end[2] = { 0x20026u, 0u };
    semihosting(0x20u, end);
}
