"""What a loop and its other side share: no allocation, no system call, no torn record or update."""

from __future__ import annotations

import shutil
import subprocess
import time

import numpy as np
import pytest
from loop_setup import compile_checks, finish, run_checks, run_free

from elastogen.runtime.loop.controllers import (
    ComputedTorqueLaw,
    UserController,
)
from elastogen.runtime.loop.loop import Loop


def test_a_million_cycles_allocate_nothing(checks) -> None:
    _, numbers = run_checks(checks, "checks", "allocations")
    assert numbers == {"self_test": 1, "cycles": 1_000_000, "allocations": 0, "status": 0}


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


@pytest.mark.parametrize("keep", [0, 1])
def test_records_and_updates_are_whole_under_a_reader_that_stalls(checks, keep: int) -> None:
    _, numbers = run_checks(checks, "checks", "threads", keep, 200_000)
    assert (numbers["torn"], numbers["disordered"], numbers["status"]) == (0, 0, 0)
    assert numbers["taken"] + numbers["lost"] == numbers["cycles"] == 200_000
    assert numbers["taken"] > 0
    assert numbers["updates"] > 1


def test_shared_memory_is_never_seen_half_written(checks) -> None:
    _, numbers = run_checks(checks, "checks", "shared", 300_000)
    assert (numbers["cycles"], numbers["torn"], numbers["status"]) == (300_000, 0, 0)
    assert numbers["commands"] > 0


@pytest.fixture(scope="module")
def sanitized(checks):
    """The checks with the thread sanitizer, which ends a program that it complains about with an error."""
    (checks / "probe.c").write_text("int main(void) { return 0; }\n")
    probe = subprocess.run(["gcc", "-fsanitize=thread", "probe.c", "-o", "probe"], cwd=checks, capture_output=True, check=False)
    if probe.returncode or subprocess.run(["./probe"], cwd=checks, capture_output=True, check=False).returncode:
        pytest.skip("this machine has no thread sanitizer")
    return compile_checks(checks, "tsan", "-O1", "-g", "-fsanitize=thread")


@pytest.mark.parametrize("check", [("threads", 0), ("threads", 1), ("shared",)], ids=["oldest", "newest", "shared"])
def test_thread_sanitizer_finds_nothing(sanitized, check) -> None:
    _, numbers = run_checks(sanitized, "tsan", *check, 20_000)
    assert (numbers["torn"], numbers["status"]) == (0, 0)


def test_a_full_ring_loses_by_policy(library) -> None:
    for keep, expected in (("oldest", range(16)), ("newest", range(84, 100))):
        loop = Loop(library, free_running=True, telemetry=16, keep=keep)
        records = finish(loop, 100)
        assert records["cycle"].tolist() == list(expected)
        assert loop.statistics().lost == 84


def test_gains_change_while_the_loop_runs(library) -> None:
    loop, _ = run_free(library, 0, controller=UserController(values=[1.0, 0.0]))
    loop.set_reference([1.0, 1.0])
    loop.step(10)
    loop.set_gains(values=[5.0, 0.0], seconds=0)
    loop.step(1)
    records = loop.read()
    np.testing.assert_allclose(records["F"][-1], 5.0 * (1.0 - records["q"][-1]))
    loop.set_parameters(payload_mass=3.0)
    assert library.model.parameters["payload_mass"] == 3.0
    library.model.parameters.reset()


def test_updates_from_a_thread_never_stop_the_loop(library) -> None:
    loop = Loop(library, rate=5000, telemetry=1 << 15, controller=ComputedTorqueLaw(100, 20))
    with loop:
        numbers = [loop.set_reference([0.001 * k, -0.001 * k]) for k in range(300)]
        for k in range(50):
            loop.set_gains(kp=100 + k, kd=20)
        last = loop.statistics().cycles + 2  # one may be under way with the reference before
        while loop.running and loop.statistics().cycles < last:
            time.sleep(0.001)
    records = loop.read()
    records = records[records["phase"] == 0]
    assert numbers == list(range(1, 301))
    for record in records:  # each record holds one whole reference
        assert record["q_ref"][0] == -record["q_ref"][1]
        if record["reference"]:
            assert record["q_ref"][0] == pytest.approx(0.001 * (int(record["reference"]) - 1), abs=0)
    assert records["reference"][-1] == 300


def test_a_reader_that_stalls_loses_nothing_that_the_ring_can_hold(library) -> None:
    loop = Loop(library, rate=5000, on_overrun="catch_up", telemetry=1 << 16, keep="oldest")
    loop.start(cycles=4000)
    blocks = []
    while loop.running:
        time.sleep(0.15)
        blocks.append(loop.read())
    loop.wait(timeout=60)
    records = np.concatenate([*blocks, loop.read()])
    assert records["cycle"].tolist() == records["tick"].tolist() == list(range(4000))
    assert loop.statistics().lost == 0
    assert all(loop.telemetry.checksum(record) == record["checksum"] for record in records[::50])
