"""What several Python threads may do with a loop, and what outlives it."""

from __future__ import annotations

import gc
import sys
import threading
from collections.abc import Iterator

import numpy as np
import pytest
from loop_setup import run_free

import elastogen
import elastogen.runtime.loop.plants
from elastogen.runtime.loop.loop import Loop


@pytest.fixture
def hurried() -> Iterator[None]:
    """Threads of Python change places as often as they can."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(usual)


def together(number: int, work) -> None:
    barrier = threading.Barrier(number)

    def one(k: int) -> None:
        barrier.wait()
        work(k)

    threads = [threading.Thread(target=one, args=(k,)) for k in range(number)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_four_threads_start_one_loop(library, hurried) -> None:
    for _ in range(25):
        loop = Loop(library, free_running=True, telemetry=0)
        started: list[int] = []

        def start(k: int, loop: Loop = loop, started: list[int] = started) -> None:
            try:
                loop.start()
                started.append(k)
            except elastogen.ModelError as error:
                assert "another thread" in str(error) or "runs already" in str(error)  # noqa: PT017

        together(4, start)
        loop.stop()
        assert len(started) == 1


def test_steps_of_several_threads_do_not_meet(library, hurried) -> None:
    loop, _ = run_free(library, 0)
    done = [0, 0, 0]

    def step(k: int) -> None:
        for _ in range(50):
            try:
                assert loop.step(20)
                done[k] += 20
            except elastogen.ModelError:
                pass

    together(3, step)
    assert loop.read()["cycle"].tolist() == list(range(sum(done)))


def test_the_plants_arrays_outlive_the_loop(library) -> None:
    loop, _ = run_free(library, 0, plant=elastogen.runtime.loop.plants.Simulated([0.25, -0.5]))
    q, gains = loop.plant.q, loop.tuning.array("kp")
    kept = gains.copy()
    del loop
    gc.collect()
    filler = [bytearray(b"\xff" * n) for n in range(64, 4096, 8)]  # what would take the place of freed memory
    np.testing.assert_array_equal(q, [0.25, -0.5])
    np.testing.assert_array_equal(gains, kept)
    del filler


def test_tables_are_let_go_and_never_too_early(library) -> None:
    """The loop holds three tables at most; each record still shows the table of its reference."""
    loop = Loop(library, rate=5000, telemetry=1 << 15)
    numbers = {}
    with loop:
        for k in range(400):
            table = np.full((50, 2), float(k))
            numbers[loop.follow(table, 0 * table, 0 * table)] = k
            del table
            assert len(loop._tables) <= 3
    records = loop.read()
    for record in records[records["phase"] == 0]:
        if record["reference"]:
            assert record["q_ref"].tolist() == [numbers[int(record["reference"])]] * 2


def test_a_table_that_was_given_before_the_start_is_kept(library) -> None:
    loop = Loop(library, free_running=True, telemetry=4096)
    loop.start(cycles=2)
    loop.wait(timeout=30)
    table = np.full((5, 2), 0.125)
    loop.follow(table, 0 * table, 0 * table)
    del table
    gc.collect()
    loop.read()
    loop.start(cycles=3)
    loop.wait(timeout=30)
    records = loop.read()
    np.testing.assert_array_equal(records["q_ref"][records["phase"] == 0], 0.125)


def test_references_are_counted_beyond_two_to_the_32(library) -> None:
    loop, _ = run_free(library, 0)
    loop._number = 2**32 - 2
    for expected in range(2**32 - 1, 2**32 + 3):
        assert loop.set_reference([0.0, 0.0]) == expected
        loop.step()
        assert loop.read()["reference"][-1] == expected


def test_no_update_of_a_parameter_is_lost(library, hurried) -> None:
    parameters = elastogen.runtime.Parameters("robot", library.model.metadata.parameters, np.dtype(float))
    names = list(parameters)[:2]
    assert len(names) == 2
    lost = [0, 0]

    def change(k: int) -> None:
        for value in range(3000):
            parameters[names[k]] = value
            lost[k] += parameters[names[k]] != value

    together(2, change)
    assert lost == [0, 0]
