"""When the cycles of a loop run: deadlines, overruns, start and stop. Latencies are never asserted."""

from __future__ import annotations

import resource
import shutil
import subprocess
import sys
import time
import warnings

import numpy as np
import pytest
from loop_setup import STATUS, finish, run_checks, run_free

import elastogen
from elastogen.runtime.loop.controllers import (
    UserController,
)
from elastogen.runtime.loop.loop import Loop, LoopWarning, SafeCommand
from elastogen.runtime.loop.plants import Simulated
from elastogen.runtime.loop.telemetry import bucket_edges

SKIP, CATCH_UP, STOP = 0, 1, 2


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
    assert [tick for tick, _ in begun] == [0, 1, 2, 3, 4]  # the controller is not asked any more
    assert numbers["status"] == STATUS["STATUS_OVERRUN"]
    assert numbers["overruns"] >= 1


def test_a_cycle_that_ends_at_the_deadline_is_no_overrun(checks) -> None:
    assert schedule(checks, STOP, work=1000)[2]["overruns"] == 0
    assert schedule(checks, SKIP, work=1001)[2]["overruns"] == 1


def test_stop_is_heard_within_one_cycle(checks) -> None:
    _, begun, numbers = schedule(checks, SKIP, cycles=0, slow=999_999, stop=17)
    assert [tick for tick, _ in begun] == list(range(18))
    assert (numbers["cycles"], numbers["status"]) == (18, 0)


def test_a_robot_that_was_not_seen_at_rest_is_watched_before_the_end(checks) -> None:
    _, begun, numbers = schedule(checks, SKIP, cycles=0, slow=999_999, stop=7)
    assert [tick for tick, _ in begun] == list(range(8))
    assert (numbers["cycles"], numbers["status"]) == (10, 0)


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
    records = loop.read()
    running = records[records["phase"] == 0]
    assert running["tick"][-1] < 300
    assert len(running) == statistics.cycles - statistics.safe
    missing = int(records["tick"][-1]) + 1 - len(records)  # ticks without a record
    assert 0 <= statistics.skipped - missing <= statistics.longest_row  # those that the last cycle overran have none either
    assert (records["deadline_ns"] == records["tick"].astype(np.int64) * 1_000_000).all()


def test_injected_delays_are_overruns_of_catch_up_and_stop(library) -> None:
    loop = Loop(library, rate=1000, controller=UserController(values=[0, 0, 0.0035]), on_overrun="catch_up")
    assert len(finish(loop, 200)) == 200
    assert loop.statistics().overruns >= 2
    assert loop.statistics().skipped == 0
    loop = Loop(library, rate=1000, controller=UserController(values=[0, 0, 0.0035]), on_overrun="stop")
    finish(loop, 200)
    assert loop.status.name == "STATUS_OVERRUN"
    statistics = loop.statistics()
    assert statistics.cycles - statistics.safe <= 51


def test_stop_and_start_again(library) -> None:
    plant = Simulated([0.1, 0.2])
    loop = Loop(library, plant=plant, rate=1000)
    with loop:
        while loop.running and not loop.statistics().cycles:
            time.sleep(0.001)
        assert loop.running
        with pytest.raises(elastogen.ModelError, match="runs already"):
            loop.start()
    assert not loop.running
    assert loop.status
    cycles = loop.statistics().cycles
    assert cycles > 0
    loop.start(cycles=15)
    loop.wait(timeout=30)
    assert loop.statistics().cycles == 15
    assert loop.set_reference([0.5, 0.5]) == 1  # for the next run
    loop.start(cycles=5)
    loop.wait(timeout=30)
    records = loop.read()
    assert records["q_ref"][records["phase"] == 0].tolist() == [[0.5, 0.5]] * 5


def test_stop_leaves_the_safe_command(library) -> None:
    plant = Simulated([0.1, 0.2])
    loop = Loop(library, plant=plant, rate=1000, safe=SafeCommand(force=[1.5, -0.5]))
    loop.start()
    assert loop.stop()
    assert list(plant._plant.F) == [1.5, -0.5]
    assert not loop.running


def test_a_loop_that_nobody_holds_ends(library) -> None:
    loop = Loop(library, rate=1000).start()
    thread, lib = loop._thread, library.lib
    del loop
    assert lib.eg_loop_thread_state(thread) == library.constants["THREAD_ENDED"]


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
from elastogen.runtime.loop.loop import Loop
from elastogen.runtime.loop.library import load_loop
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
