"""The real-time loop: its logic, on any machine. Latencies are never asserted."""

from __future__ import annotations

import json
import resource
import shutil
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pytest

import elastogen
from elastogen.build.loop import CONSTANTS, build_loop
from elastogen.runtime import shaping
from elastogen.runtime.controllers import (
    ComputedTorque,
    Feedforward,
    PDGravity,
    StateFeedback,
    UserController,
    closed_loop,
    lqr,
    vibrations,
)
from elastogen.runtime.loop import Limits, Loop, LoopWarning, SafeCommand
from elastogen.runtime.loop_plants import Callbacks, SharedMemory, SharedRobot, Simulated
from elastogen.runtime.telemetry import bucket_edges

WARNINGS = [
    "-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wdouble-promotion", "-Wfloat-equal", "-Wshadow", "-Wundef",
    "-Wcast-qual", "-Wstrict-prototypes", "-Wmissing-prototypes", "-Werror",
]  # fmt: skip
COMPILERS = [compiler for compiler in ("gcc", "clang") if shutil.which(compiler)]
SKIP, CATCH_UP, STOP = 0, 1, 2
STATUS = {constant.name: int(constant.value) for constant in CONSTANTS if constant.name.startswith("STATUS_")}
BENDER = {
    "elastogen": 1,
    "name": "bender",
    "gravity": [0, -9.81, 0],
    "live": ["gravity"],
    "links": [
        {"name": "base"},
        {
            "name": "beam",
            "flexible": {
                "type": "modes", "length": 1.0, "mass_per_length": 0.5, "EI": 60.0, "tip": {"mass": 0.3},
                "damping": {"ratio": 0.01},
                "modes": [{"direction": "y", "eigenfunction": 1}, {"direction": "y", "eigenfunction": 2}],
            },
        },
    ],
    "joints": [{"name": "hub", "type": "revolute", "child": "beam", "axis": [0, 0, 1], "motor": {"inertia": 0.1}}],
}  # fmt: skip
USER_CODE = """
/* A controller: PD with gains from view->tuning->user; counts its calls in *context and spins where it is told to. */
#include <time.h>
int user_controller(void *context, const two_link_loop_view_t *view, two_link_real_t *F)
{
    const double *const user = view->tuning->user;
    if (context != 0) {
        ++*(long *)context;
    }
    for (int i = 0; i < 2; ++i) {
        F[i] = user[0] * (view->q_ref[i] - view->q[i]) - user[1] * view->qd[i];
    }
    if (user[2] > 0.0 && view->tick % 100 == 50) {
        struct timespec t = { 0, (long)(1e9 * user[2]) };
        nanosleep(&t, 0);
    }
    return user[3] > 0.0 && view->tick >= (unsigned long)user[3];
}
"""
USER_PLANT = """
/* A plant: two integrators; io is its state q, qd. */
int user_read(void *io, uint64_t tick, two_link_real_t *q, two_link_real_t *qd)
{
    const double *const state = (const double *)io;
    for (int i = 0; i < 2; ++i) {
        q[i] = state[i];
        qd[i] = state[2 + i];
    }
    return tick >= 900;
}
int user_write(void *io, uint64_t tick, const two_link_real_t *F)
{
    double *const state = (double *)io;
    (void)tick;
    for (int i = 0; i < 2; ++i) {
        state[2 + i] += 0.001 * F[i];
        state[i] += 0.001 * state[2 + i];
    }
    return 0;
}
"""


@pytest.fixture(scope="module")
def library(cache_dir):
    return build_loop("two_link", controller_source=USER_CODE, plant_source=USER_PLANT)


@pytest.fixture(scope="module")
def bender(cache_dir):
    model = elastogen.build_model(BENDER)
    model.kernel("forward_dynamics_derivatives")
    return model


@pytest.fixture(scope="module")
def checks(tmp_path_factory):
    """The stand-alone program with the checks, and the folder with its sources."""
    folder = elastogen.generate_loop("two_link", tmp_path_factory.mktemp("loop")).directory
    shutil.copy(Path(__file__).parent / "loop_checks.c", folder)
    compile_checks(folder, "checks", "-O2", "-DCOUNT_ALLOCATIONS")
    return folder


def compile_checks(folder, name, *flags):
    sources = ["two_link.c", "two_link_loop.c", "two_link_loop_thread.c", "loop_checks.c"]
    command = ["gcc", "-std=c99", "-Wall", "-Wextra", *flags, *sources, "-pthread", "-lm", "-o", name]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


def run_checks(folder, name, *arguments):
    """The program's output, and the numbers in it by name."""
    command = [f"./{name}", *map(str, arguments)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    lines = [line.split() for line in done.stdout.splitlines()]
    return lines, {words[0]: int(words[1]) for words in lines}


# The schedule, with a clock that only moves when told to.


def schedule(folder, policy, *, period=(1000, 1), cycles=12, slow=4, work=3400, stop=999_999):
    lines, numbers = run_checks(folder, "checks", "policy", policy, *period, cycles, slow, work, stop)
    sleeps = [int(words[1]) for words in lines if words[0] == "sleep"]
    begun = [(int(words[1]), int(words[3])) for words in lines if words[0] == "cycle"]
    return sleeps, begun, numbers


def test_deadlines_are_multiples_of_the_period(checks) -> None:
    sleeps, begun, numbers = schedule(checks, SKIP, cycles=500, slow=999_999)
    assert sleeps == [1000 * k for k in range(500)]
    assert begun == [(k, 1000 * k) for k in range(500)]
    assert (numbers["cycles"], numbers["overruns"], numbers["status"]) == (500, 0, 0)


def test_a_period_that_is_no_whole_number_does_not_drift(checks) -> None:
    sleeps, _, _ = schedule(checks, SKIP, period=(1_000_000, 3), cycles=2000, slow=999_999)
    assert sleeps == [k * 1_000_000 // 3 for k in range(2000)]


def test_skip_leaves_out_what_is_over_and_stays_on_the_grid(checks) -> None:
    sleeps, begun, numbers = schedule(checks, SKIP)
    assert sleeps == [0, 1000, 2000, 3000, 4000, 8000, 9000, 10000, 11000, 12000, 13000, 14000]
    assert [tick for tick, _ in begun] == [0, 1, 2, 3, 4, 8, 9, 10, 11, 12, 13, 14]
    assert (numbers["cycles"], numbers["overruns"], numbers["skipped"]) == (12, 1, 3)


def test_catch_up_runs_every_cycle(checks) -> None:
    _, begun, numbers = schedule(checks, CATCH_UP)
    assert [tick for tick, _ in begun] == list(range(12))
    assert [time_ for _, time_ in begun[5:10]] == [7400, 7700, 8000, 8300, 9000]
    assert (numbers["cycles"], numbers["overruns"], numbers["skipped"]) == (12, 4, 0)


def test_stop_ends_the_loop_at_an_overrun(checks) -> None:
    _, begun, numbers = schedule(checks, STOP)
    assert [tick for tick, _ in begun] == [0, 1, 2, 3, 4]
    assert (numbers["overruns"], numbers["status"]) == (1, STATUS["STATUS_OVERRUN"])


def test_a_cycle_that_ends_at_the_deadline_is_no_overrun(checks) -> None:
    assert schedule(checks, STOP, work=1000)[2]["overruns"] == 0
    assert schedule(checks, SKIP, work=1001)[2]["overruns"] == 1


def test_stop_is_heard_within_one_cycle(checks) -> None:
    _, begun, numbers = schedule(checks, SKIP, cycles=0, slow=999_999, stop=7)
    assert [tick for tick, _ in begun] == list(range(8))
    assert (numbers["cycles"], numbers["status"]) == (8, 0)


# Memory and threads, in C.


def test_a_million_cycles_allocate_nothing(checks) -> None:
    _, numbers = run_checks(checks, "checks", "allocations")
    assert numbers == {"self_test": 1, "cycles": 1_000_000, "allocations": 0, "status": 0}


@pytest.mark.parametrize("keep", [0, 1])
def test_records_and_updates_are_whole_under_a_reader_that_stalls(checks, keep: int) -> None:
    _, numbers = run_checks(checks, "checks", "threads", keep, 200_000)
    assert (numbers["torn"], numbers["disordered"], numbers["status"]) == (0, 0, 0)
    assert numbers["taken"] + numbers["lost"] == numbers["cycles"] == 200_000
    assert numbers["taken"] > 0
    assert numbers["updates"] > 1


@pytest.mark.parametrize("keep", [0, 1])
def test_thread_sanitizer_finds_nothing(checks, keep: int) -> None:
    if not (checks / "tsan").exists():
        (checks / "probe.c").write_text("int main(void) { return 0; }\n")
        command = ["gcc", "-fsanitize=thread", "probe.c", "-o", "probe"]
        probe = subprocess.run(command, cwd=checks, capture_output=True, check=False)
        if probe.returncode or subprocess.run(["./probe"], cwd=checks, capture_output=True, check=False).returncode:
            pytest.skip("this machine has no thread sanitizer")
        compile_checks(checks, "tsan", "-O1", "-g", "-fsanitize=thread")
    _, numbers = run_checks(checks, "tsan", "threads", keep, 20_000)
    assert (numbers["torn"], numbers["status"]) == (0, 0)


def test_the_step_runs_in_a_timer_signal(checks) -> None:
    _, numbers = run_checks(checks, "checks", "interrupt")
    assert numbers == {"taken": 50, "status": 0}


@pytest.mark.parametrize("robot", ["two_link", BENDER], ids=["rigid", "flexible"])
@pytest.mark.parametrize("precision", ["double", "float"])
@pytest.mark.parametrize("compiler", COMPILERS)
def test_strict_compilers_accept_the_loop_without_an_operating_system(compiler, precision, robot, tmp_path: Path) -> None:
    files = elastogen.generate_loop(robot, tmp_path, precision=precision)
    name = files.source.stem
    for extra, source in ((["-ffreestanding", "-DNO_POSIX"], f"{name}_loop.c"), ([], f"{name}_loop_thread.c")):
        command = [compiler, *WARNINGS, *extra, "-O2", "-c", source, "-o", f"{source}.o"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    if shutil.which("g++"):
        (tmp_path / "user.cpp").write_text(f'#include "{name}_loop_thread.h"\n')
        command = ["g++", "-std=c++11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only", "user.cpp"]
        assert subprocess.run(command, cwd=tmp_path, check=False).returncode == 0
    lines = (tmp_path / f"{name}_loop.c").read_text().splitlines()
    included = {line.split()[1] for line in lines if line.startswith("#include")}
    assert included == {f'"{name}_loop.h"', "<float.h>"}
    listing = subprocess.run(["nm", f"{name}_loop.c.o"], cwd=tmp_path, capture_output=True, text=True, check=True)
    symbols = [line.split()[-2:] for line in listing.stdout.splitlines()]
    assert all(symbol.startswith(name) or symbol in ("memcpy", "memset") for kind, symbol in symbols if kind in "UT")
    assert not [symbol for kind, symbol in symbols if kind in "BbDdC"], "data that changes"


@pytest.mark.skipif(not shutil.which("arm-none-eabi-gcc"), reason="no compiler for Cortex-M")
def test_a_microcontroller_can_have_the_loop(tmp_path: Path) -> None:
    elastogen.generate_loop("two_link", tmp_path, precision="float")
    flags = ["-mcpu=cortex-m4", "-mthumb", "-mfpu=fpv4-sp-d16", "-mfloat-abi=hard", "-O2", "-ffreestanding", "-c"]
    command = ["arm-none-eabi-gcc", *WARNINGS, *flags, "two_link_loop.c", "-o", "loop.o"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    listing = subprocess.run(["arm-none-eabi-nm", "-u", "loop.o"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "__atomic" not in listing.stdout


# The loop from Python.


def run_free(library, cycles: int, **options):
    loop = Loop(library, free_running=True, telemetry=1 << 15, keep="oldest", **options)
    return loop, cycles


def finish(loop: Loop, cycles: int):
    loop.start(cycles=cycles)
    loop.wait(timeout=60)
    return loop.read()


def test_every_cycle_is_recorded_on_the_grid(library) -> None:
    loop = Loop(library, rate=2000, on_overrun="catch_up")
    records = finish(loop, 300)
    assert records["cycle"].tolist() == records["tick"].tolist() == list(range(300))
    assert records["deadline_ns"].tolist() == [500_000 * k for k in range(300)]
    assert (records["lateness_ns"] >= 0).all()
    statistics = loop.statistics()
    assert statistics.cycles == statistics.lateness.number == statistics.execution.number == 300
    assert all(loop.telemetry.checksum(record) == record["checksum"] for record in records)


def test_seconds_end_the_loop_on_time_even_if_periods_are_skipped(library) -> None:
    loop = Loop(library, rate=1000, controller=UserController(values=[0, 0, 0.0035]))
    loop.start(seconds=0.3)
    loop.wait(timeout=60)
    statistics = loop.statistics()
    assert statistics.overruns >= 3
    assert statistics.skipped >= 9
    assert statistics.cycles + statistics.skipped >= 300
    records = loop.read()
    assert (records["deadline_ns"] == records["tick"].astype(np.int64) * 1_000_000).all()


def test_injected_delays_are_overruns_of_catch_up_and_stop(library) -> None:
    loop = Loop(library, rate=1000, controller=UserController(values=[0, 0, 0.0035]), on_overrun="catch_up")
    assert len(finish(loop, 200)) == 200
    assert loop.statistics().overruns >= 2
    assert loop.statistics().skipped == 0
    loop = Loop(library, rate=1000, controller=UserController(values=[0, 0, 0.0035]), on_overrun="stop")
    finish(loop, 200)
    assert loop.status.name == "STATUS_OVERRUN"
    assert loop.statistics().cycles <= 51


def test_stop_and_start_again(library) -> None:
    plant = Simulated([0.1, 0.2], parameters={"gravity_y": 0.0})
    loop = Loop(library, plant=plant, rate=1000)
    with loop:
        time.sleep(0.02)
        assert loop.running
        with pytest.raises(elastogen.ModelError, match="runs already"):
            loop.start()
    assert not loop.running
    assert loop.status
    cycles = loop.statistics().cycles
    assert cycles > 0
    loop.start(cycles=5)
    loop.wait(timeout=30)
    assert loop.statistics().cycles == 5
    assert loop.set_reference([0.5, 0.5]) == 1  # for the next run
    loop.start(cycles=5)
    loop.wait(timeout=30)
    assert loop.read()["q_ref"].tolist() == [[0.5, 0.5]] * 5


def test_a_loop_that_nobody_holds_ends(library) -> None:
    loop = Loop(library, rate=1000).start()
    thread, lib = loop._thread, library.lib
    del loop
    assert lib.eg_loop_thread_state(thread) == library.constants["THREAD_ENDED"]


def test_a_full_ring_loses_by_policy(library) -> None:
    for keep, expected in (("oldest", range(16)), ("newest", range(84, 100))):
        loop = Loop(library, free_running=True, telemetry=16, keep=keep)
        records = finish(loop, 100)
        assert records["cycle"].tolist() == list(expected)
        assert loop.statistics().lost == 84


def test_without_a_reference_the_loop_holds_where_it_is(library) -> None:
    loop, cycles = run_free(library, 500, plant=Simulated([0.3, -0.4]))
    records = finish(loop, cycles)
    np.testing.assert_allclose(records["q"], [[0.3, -0.4]] * 500, atol=1e-4)
    np.testing.assert_array_equal(records["q_ref"], [[0.3, -0.4]] * 500)


def reference_of_euler(steps: int, period: float):
    """A motion that semi-implicit Euler steps reproduce exactly."""
    t = period * np.arange(steps)
    qdd = np.stack([2.0 * np.sin(5 * t), -3.0 * np.cos(3 * t)], axis=1)
    qd = np.vstack([np.zeros((1, 2)), period * np.cumsum(qdd, axis=0)])[:-1]
    q = np.array([0.2, -0.1]) + np.vstack([np.zeros((1, 2)), period * np.cumsum(qd[1:], axis=0)])
    return q, qd, qdd


def test_computed_torque_tracks_a_rigid_arm_to_rounding(library) -> None:
    q, qd, qdd = reference_of_euler(3000, 1e-3)
    loop, cycles = run_free(library, 3000, plant=Simulated(q[0], method="semi_implicit"))
    loop.follow(q, qd, qdd)
    records = finish(loop, cycles)
    np.testing.assert_array_equal(records["q_ref"], q)
    assert np.abs(records["q"] - q).max() < 1e-12
    assert np.abs(q - q[0]).max() > 0.5


def test_errors_by_held_commands_vanish_with_the_rate(library) -> None:
    errors = []
    for rate in (500, 1000, 2000):
        loop, cycles = run_free(library, rate, rate=rate, controller=ComputedTorque(100, 20))
        loop.move_to([1.0, -0.5], 0.8)
        records = finish(loop, cycles)
        errors.append(np.abs(records["q"] - records["q_ref"]).max())
        np.testing.assert_allclose(records["q_ref"][-1], [1.0, -0.5])
    assert errors[0] / errors[1] > 1.8
    assert errors[1] / errors[2] > 1.8


def test_pd_with_gravity_compensation_settles(library) -> None:
    loop, cycles = run_free(library, 3000, controller=PDGravity(kp=[100, 50], kd=[40, 15]))
    loop.set_reference([0.8, -0.5])
    records = finish(loop, cycles)
    np.testing.assert_allclose(records["q"][-1], [0.8, -0.5], atol=1e-3)
    assert records["reference"].tolist() == [1] * 3000


def test_moves_begin_where_the_reference_is(library) -> None:
    loop, _ = run_free(library, 0)
    loop.move_to([1.0, 1.0], 0.5)
    loop.step(200)
    loop.move_to([0.0, 0.5], 0.5)
    loop.step(600)
    records = loop.read()
    q, qd = records["q_ref"], records["qd_ref"]
    np.testing.assert_allclose(q[-1], [0.0, 0.5])
    assert np.abs(np.diff(qd, axis=0)).max() < 0.05  # velocity has no jump
    np.testing.assert_allclose(np.diff(q[300:500], axis=0), 0.5e-3 * (qd[300:499] + qd[301:500]), atol=1e-7, rtol=0)


def test_feedforward_of_a_rigid_arm_needs_no_feedback(library) -> None:
    loop, cycles = run_free(library, 1000, controller=Feedforward(kp=0, kd=0), rate=10000)
    loop.move_to([0.3, 0.2], 0.05)
    records = finish(loop, cycles)
    assert np.abs(records["q"] - records["q_ref"]).max() < 2e-3


# Faults.


def test_nan_in_the_plant_leads_to_the_safe_command(library) -> None:
    plant = Simulated([0.3, -0.2])
    loop, _ = run_free(library, 0, plant=plant, safe=SafeCommand(gravity=True, damping=2.0))
    loop.step(50)
    plant.disturbance[1] = np.nan
    status = loop.step(3)
    assert status.name == "STATUS_STATE_NOT_FINITE"
    assert not status
    records = loop.read()
    assert records["status"].tolist() == [0] * 50 + [STATUS["STATUS_STATE_NOT_FINITE"]] * 3
    assert np.isnan(records["q"][50]).any()
    sound = records[49]
    expected = library.model.gravity_vector(sound["q"]) - 2.0 * sound["qd"]
    np.testing.assert_allclose(records["F"][50:], [expected] * 3, rtol=1e-12)


def test_nan_stops_the_thread(library) -> None:
    plant = Simulated()
    loop, cycles = run_free(library, 1000, plant=plant)
    plant.disturbance[0] = np.nan
    records = finish(loop, cycles)
    assert loop.status.name == "STATUS_STATE_NOT_FINITE"
    assert loop.status.coordinate == "shoulder"
    assert loop.statistics().cycles == len(records) == 2
    np.testing.assert_array_equal(records["F"][-1], 0.0)


@pytest.mark.parametrize(
    ("limits", "name"),
    [
        (Limits(velocity=[10, 0.5]), "STATUS_VELOCITY"),
        (Limits(error=1e-3), "STATUS_TRACKING"),
        (Limits(position=(-1, [2, 0.4])), "STATUS_POSITION"),
        (Limits(force_trip=[1000, 20]), "STATUS_FORCE"),
    ],
)
def test_limits_stop_the_loop(library, limits: Limits, name: str) -> None:
    loop, cycles = run_free(library, 1000, limits=limits, controller=PDGravity([100, 100], [40, 15]))
    loop.move_to([0.0, 1.0], 0.2)
    records = finish(loop, cycles)
    assert loop.status.name == name
    assert loop.status.coordinate == "elbow" if name != "STATUS_TRACKING" else loop.status.coordinate
    assert records["status"][-1] == STATUS[name]
    assert (records["status"][:-1] == 0).all()
    np.testing.assert_array_equal(records["F"][-1], 0.0)


def test_forces_are_cut(library) -> None:
    loop, cycles = run_free(library, 500, limits=Limits(force=[20, 5]))
    loop.set_reference([2.0, 2.0])
    records = finish(loop, cycles)
    assert np.abs(records["F"]).max(axis=0).tolist() == [20.0, 5.0]
    assert loop.statistics().saturations == np.count_nonzero(records["saturated"]) > 0
    assert loop.status


def test_controllers_and_plants_may_refuse(library) -> None:
    loop, cycles = run_free(library, 100, controller=UserController(values=[1, 1, 0, 30]))
    assert len(finish(loop, cycles)) == 31
    assert loop.status.name == "STATUS_CONTROLLER"


# The user's own code, shared memory, updates.


def test_users_own_controller_and_plant(library) -> None:
    ffi = library.ffi
    calls, state = ffi.new("long *"), ffi.new("double[4]")
    controller = UserController(context=calls, values=[100.0, 20.0])
    loop, cycles = run_free(library, 2000, controller=controller, plant=Callbacks(io=state))
    loop.set_reference([0.5, 0.25])
    records = finish(loop, cycles)
    assert calls[0] == 900
    assert loop.status.name == "STATUS_READ"  # the plant refuses after 900 cycles
    np.testing.assert_allclose(records["q"][-2], [0.5, 0.25], atol=1e-3)
    np.testing.assert_allclose(records["F"][10], 100 * (np.array([0.5, 0.25]) - records["q"][10]) - 20 * records["qd"][10])


def test_a_function_at_an_address_can_control(library) -> None:
    address = int(library.ffi.cast("uintptr_t", library.controller("pd_gravity")))
    loop, cycles = run_free(library, 100, controller=UserController(50.0, 10.0, function=address))
    records = finish(loop, cycles)
    assert loop.status
    assert (np.abs(records["F"]).max(axis=0) > 1).all()


def test_shared_memory(library) -> None:
    plant = SharedMemory(stale_limit=4)
    loop = Loop(library, plant=plant, controller=PDGravity(10.0, 1.0), telemetry=64)
    robot = SharedRobot(library, plant.name)
    loop.set_reference([1.0, 0.0])
    for k in range(20):
        robot.put([0.01 * k, 0.0], [0.0, 0.0])
        assert loop.step()
        expected = library.model.gravity_vector([0.01 * k, 0.0]) + np.array([10.0 * (1.0 - 0.01 * k), 0.0])
        np.testing.assert_allclose(robot.get(), expected, rtol=1e-12)
    assert loop.step(3)
    assert loop.step().name == "STATUS_READ"  # nobody has put a state for four cycles
    robot.close()
    plant.close()


def test_gains_change_while_the_loop_runs(library) -> None:
    loop, _ = run_free(library, 0, controller=UserController(values=[1.0, 0.0]))
    loop.set_reference([1.0, 1.0])
    loop.step(10)
    loop.set_gains(values=[5.0, 0.0])
    loop.step(1)
    records = loop.read()
    np.testing.assert_allclose(records["F"][-1], 5.0 * (1.0 - records["q"][-1]))
    loop.set_parameters(payload_mass=3.0)
    assert library.model.parameters["payload_mass"] == 3.0
    library.model.parameters.reset()


def test_updates_from_a_thread_never_stop_the_loop(library) -> None:
    loop = Loop(library, rate=5000, telemetry=1 << 15, controller=ComputedTorque(100, 20))
    with loop:
        numbers = [loop.set_reference([0.001 * k, -0.001 * k]) for k in range(300)]
        for k in range(50):
            loop.set_gains(kp=100 + k, kd=20)
        time.sleep(0.01)
    records = loop.read()
    assert numbers == list(range(1, 301))
    for record in records:  # each record holds one whole reference
        assert record["q_ref"][0] == -record["q_ref"][1]
        if record["reference"]:
            assert record["q_ref"][0] == pytest.approx(0.001 * (int(record["reference"]) - 1), abs=0)
    assert records["reference"][-1] == 300


# Flexible arms.


def residual(model, controller, shaper, rate=2000):
    """Amplitude of the elastic coordinates after a fast move has ended."""
    loop = model.loop(controller=controller, rate=rate, free_running=True, shaper=shaper, telemetry=1 << 14, keep="oldest")
    loop.move_to([0.3], 0.25)
    loop.start(seconds=2.0)
    assert loop.wait(timeout=60)
    records = loop.read()
    end = int((0.25 + (shaper.duration if shaper else 0.0)) * rate) + 2
    return float(np.abs(records["q"][end : end + rate, 1:]).max())


def without_gravity(model):
    model.parameters.update(gravity_x=0.0, gravity_y=0.0, gravity_z=0.0)
    return model


@pytest.fixture
def weightless(bender):
    yield without_gravity(bender)
    bender.parameters.reset()


def test_input_shaping_takes_the_vibration_away(weightless) -> None:
    zero = np.zeros(3)
    model = weightless
    clamped = float(model.modes(zero, joints="locked").frequencies[0])
    lin = model.linearize(zero, zero, zero)
    kp, kd = 4000.0, 100.0
    pd = vibrations(closed_loop(lin.A, lin.B, [[kp, 0, 0, kd, 0, 0]]))[0]
    for controller, mode in ((ComputedTorque(10000, 200), (clamped, 0.01)), (PDGravity(kp, kd), pd)):
        plain = residual(model, controller, None)
        assert plain > 0.05
        assert residual(model, controller, shaping.zv(*mode)) < plain / 10
        assert residual(model, controller, shaping.zvd(*mode)) < plain / 10
    off = (1.15 * clamped, 0.01)  # ZVD forgives a wrong frequency
    controller = ComputedTorque(10000, 200)
    assert residual(model, controller, shaping.zvd(*off)) < 0.5 * residual(model, controller, shaping.zv(*off))


def test_shapers_by_their_equations() -> None:
    for design, count in ((shaping.zv, 2), (shaping.zvd, 3)):
        shaper = design(10.0, 0.05)
        assert len(shaper.times) == count
        assert shaper.gains.sum() == pytest.approx(1)
        assert shaper.residual(10.0, 0.05) < 1e-12
    both = shaping.zv(10.0) @ shaping.zvd(37.0, 0.1)
    assert both.residual(10.0) < 1e-12
    assert both.residual(37.0, 0.1) < 1e-12
    delays, gains = both.taps(1e-3)
    assert gains.sum() == pytest.approx(1)
    assert (gains * delays).sum() * 1e-3 == pytest.approx((both.gains * both.times).sum())
    with pytest.raises(elastogen.ModelError, match="frequency"):
        shaping.zv(0.0)


def test_feedforward_finds_the_elastic_equilibrium_and_its_velocity(bender) -> None:
    loop = bender.loop(controller=Feedforward(4000, 100), rate=1000, telemetry=4096, keep="oldest")
    loop.step(20)
    x = np.array(list(loop._loop.elastic.x))
    rest = np.concatenate([[0.0], x])
    forces = bender.inverse_dynamics(rest, np.zeros(3), np.zeros(3))
    assert np.abs(forces[1:]).max() < 1e-9
    assert x[0] < -1e-3
    last = loop.read()[-1]
    assert last["F"][0] + 4000 * last["q"][0] + 100 * last["qd"][0] == pytest.approx(forces[0], rel=1e-9)
    loop.move_to([1.0], 1.0)
    states, rates = [], []
    for _ in range(900):
        loop.step()
        states.append(list(loop._loop.elastic.x))
        rates.append(list(loop._loop.elastic.xd))
    states, rates = np.array(states), np.array(rates)
    slopes = (states[2:, 0] - states[:-2, 0]) / 2e-3
    assert np.abs(rates[1:-1, 0] - slopes)[50:].max() < 0.03 * np.abs(slopes).max()


def test_feedforward_leaves_little_to_the_feedback(bender) -> None:
    errors = {}
    for controller in (Feedforward(400, 40), PDGravity(400, 40)):
        loop = bender.loop(controller=controller, rate=1000, free_running=True, telemetry=1 << 13, keep="oldest")
        loop.start(seconds=3.0)  # the beam comes to rest under its weight
        assert loop.wait(timeout=30)
        loop.move_to([0.8], 0.8)
        loop.start(seconds=1.5)
        assert loop.wait(timeout=30)
        records = loop.read()
        errors[controller.name] = np.abs(records["q"] - records["q_ref"])[:, 0].max()
    assert errors["feedforward"] < 0.4 * errors["pd_gravity"]


def test_lqr_stabilizes_a_flexible_arm(weightless) -> None:
    model = weightless
    zero = np.zeros(3)
    lin = model.linearize(zero, zero, zero)
    Q, R = np.array([1000.0, 100.0, 100.0, 1.0, 1.0, 1.0]), np.array([1e-2])
    K = lqr(lin.A, lin.B, Q, R)
    poles = closed_loop(lin.A, lin.B, K)
    assert poles.real.max() < -0.5
    P_residual = riccati_residual(lin.A, lin.B, np.diag(Q), np.diag(R), K)
    assert P_residual < 1e-6
    loop = model.loop(
        controller=StateFeedback(K=K), rate=5000, free_running=True, telemetry=1 << 15, plant=Simulated([0.2, 0.05, 0.0])
    )
    loop.set_reference([0.0])
    loop.start(seconds=4.0)
    assert loop.wait(timeout=60)
    records = loop.read()
    assert np.abs(records["q"][-500:]).max() < 1e-3


def riccati_residual(A, B, Q, R, K):
    """How far the Lyapunov solution of the closed loop is from the Riccati equation, relative."""
    from scipy.linalg import solve_continuous_are

    expected = np.linalg.solve(R, B.T @ solve_continuous_are(A, B, Q, R))
    return float(np.abs(K - expected).max() / np.abs(expected).max())


def test_a_rigid_controller_meets_a_flexible_robot(library, bender) -> None:
    """The plant may be the loop of another robot: here joints that the controller does not know to be flexible."""
    rigid = {
        "elastogen": 1, "name": "stiff", "gravity": [0, -9.81, 0],
        "links": [{"name": "base"}, {"name": "bar", "mass": 0.8, "com": [0.6, 0, 0], "inertia": [0, 0.1, 0.1]}],
        "joints": [{"name": "hub", "type": "revolute", "child": "bar", "axis": [0, 0, 1], "motor": {"inertia": 0.1}}],
    }  # fmt: skip
    flexible = build_loop(BENDER)
    plant = Simulated(library=flexible, measured=[0])
    loop = Loop(build_loop(rigid), plant=plant, free_running=True, controller=PDGravity(400, 40))
    loop.move_to([0.5], 0.5)
    records = finish(loop, 3000)
    assert loop.status
    assert records["q"][-1, 0] == pytest.approx(0.5, abs=0.01)
    with pytest.raises(elastogen.ModelError, match="measured="):
        Loop(build_loop(rigid), plant=Simulated(library=flexible))


# Messages, statistics, the command.


def test_refusals_of_the_system_become_warnings(library) -> None:
    loop = Loop(library, rate=1000, cpu=1000)
    with pytest.warns(LoopWarning, match="processor was refused"):
        loop.start(cycles=2)
    loop.wait(timeout=30)
    assert loop.status
    loop = Loop(library, fifo=10, lock_memory=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LoopWarning)  # refused or not, it runs
        loop.start(cycles=20)
    loop.wait(timeout=30)
    assert loop.statistics().cycles == 20


WITHOUT_RIGHTS = """
import sys, warnings
from elastogen.runtime.loop import Loop
from elastogen.runtime.loop_library import load_loop
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    loop = Loop(load_loop(sys.argv[1]), fifo=True, rate=1000).start(cycles=20)
assert loop.wait(timeout=30) and loop.statistics().cycles == 20
print(*(str(warning.message) for warning in caught), sep="\\n")
"""


@pytest.mark.skipif(not shutil.which("setpriv"), reason="no setpriv")
def test_a_process_without_rights_runs_with_notices(library) -> None:
    drop = ["setpriv", "--inh-caps=-all", "--bounding-set=-all"]
    if subprocess.run([*drop, "true"], capture_output=True, check=False).returncode:
        drop = []  # there are no rights to drop
    command = [*drop, sys.executable, "-c", WITHOUT_RIGHTS, str(library.model.extension)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    if drop and resource.getrlimit(resource.RLIMIT_RTPRIO)[0] == 0:
        assert "SCHED_FIFO was refused" in done.stdout
    if drop and 0 <= resource.getrlimit(resource.RLIMIT_MEMLOCK)[0] <= 16 << 20:
        assert "memory could not be locked" in done.stdout


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rate": 0}, "rate=0"),
        ({"rate": 1e6}, "50000 Hz"),
        ({"controller": "pd_gravty"}, "Did you mean 'pd_gravity'"),
        ({"plant": "simulatd"}, "Did you mean 'simulated'"),
        ({"on_overrun": "panic"}, "catch_up"),
        ({"keep": "all"}, "'newest' or 'oldest'"),
        ({"spin": 1.0}, "less than the period"),
        ({"fifo": 100}, "1 to 99"),
        ({"controller": ComputedTorque(kp=[1, 2, 3])}, "kp has shape"),
        ({"controller": "state_feedback"}, "without K"),
        ({"limits": Limits(force=np.nan)}, "NaN"),
    ],
)
def test_mistakes_are_named(library, options, message) -> None:
    with pytest.raises(elastogen.ModelError, match=message):
        Loop(library, **options)


def test_mistakes_in_references_are_named(library) -> None:
    loop = Loop(library)
    for call in (
        lambda: loop.set_reference([1, 2, 3]),
        lambda: loop.set_reference([np.inf, 0]),
        lambda: loop.move_to([0, 0], -1),
        lambda: loop.follow(np.zeros((3, 2)), np.zeros((3, 2)), np.zeros((2, 2))),
        lambda: loop.set_shaper(shaping.zv(1.0)),
    ):
        with pytest.raises(elastogen.ModelError, match=r"expected|shaper_memory"):
            call()
    with pytest.raises(elastogen.BuildError, match="user_controller"):
        build_loop("two_link", controller_source="int f(void)\n{ return 0; }\n")


def test_a_loaded_model_says_how_to_get_a_loop(bender) -> None:
    with pytest.raises(elastogen.ModelError, match="build_loop"):
        elastogen.load_model(bender.extension).loop()


def test_histogram_buckets_fit_the_values(library) -> None:
    edges = bucket_edges(1056)
    assert (np.diff(edges) > 0).all()
    assert edges[:65].tolist() == list(range(65))
    assert (np.diff(edges[64:]) / edges[64:-1]).max() <= 1 / 32
    loop, cycles = run_free(library, 2000)
    finish(loop, cycles)
    execution = loop.statistics().execution
    assert execution.least <= execution.percentile(50) <= execution.percentile(99) <= execution.most
    assert execution.least <= execution.mean <= execution.most


def test_the_run_command(bender, capsys, tmp_path: Path) -> None:
    from elastogen.command_line import main

    robot, report = tmp_path / "bender.yaml", tmp_path / "report"
    robot.write_text(json.dumps(BENDER))
    motion = ["--seconds", "0.4", "--rate", "500", "--move-seconds", "0.1", "--shaper", "zv"]
    assert main(["run", str(robot), *motion, "--report", str(report)]) == 0
    printed = capsys.readouterr().out
    assert "lateness" in printed
    assert "status: no fault" in printed
    text = (report / "report.md").read_text()
    assert "| hub |" in text
    assert "worst" in text
    with np.load(report / "records.npz") as data:
        assert len(data["q"]) == len(data["tick"]) > 0


@pytest.mark.skipif(not shutil.which("strace"), reason="no strace")
def test_the_cycle_makes_no_system_call(checks) -> None:
    """A million free-running cycles make a few dozen calls in all: those of the program's start."""
    command = ["strace", "-f", "-c", "./checks", "allocations"]
    done = subprocess.run(command, cwd=checks, capture_output=True, text=True, check=False)
    totals = [line.split() for line in done.stderr.splitlines() if line.endswith(" total")]
    if done.returncode or not totals:
        pytest.skip("strace may not watch other programs here")
    calls = [int(word) for word in totals[0][:-1] if word.isdigit()]
    assert calls[-2 if len(calls) > 2 else -1] < 500
