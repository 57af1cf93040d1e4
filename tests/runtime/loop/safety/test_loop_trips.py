"""An emergency stop in every phase of a loop: it is a fault, and only a reset that was asked for later clears it."""

from __future__ import annotations

import numpy as np
import pytest
from loop_setup import STATUS
from loops.faulty_robot import FaultyRobot

import elastogen
from elastogen.runtime.loop.controllers import ComputedTorqueLaw, PDGravity
from elastogen.runtime.loop.loop import Loop

TRIPPED = STATUS["STATUS_TRIPPED"]


def running(faulty, **options):
    """The arm hangs, so that it stays where it is without forces."""
    loop = Loop(faulty, plant=FaultyRobot([-0.5 * np.pi, 0.0]), controller=PDGravity(100.0, 20.0), telemetry=1 << 13, **options)
    loop.step(20)
    return loop


def ended(faulty, **options):
    """A loop that was asked to end, and has."""
    loop = running(faulty, **options)
    faulty.lib.eg_loop_stop(loop._loop)
    loop.step(3)
    assert (loop.phase, loop.status.name) == ("ended", "STATUS_OK")
    return loop


def trip(loop, status: int = TRIPPED) -> None:
    loop._lib.eg_loop_trip(loop._loop, status)


def known(loop) -> tuple[str, str, int]:
    return loop.status.name, loop.phase, int(loop._loop.fault_index)


def test_a_trip_between_the_end_and_the_next_steps(faulty) -> None:
    """Who pressed the button while nothing ran does not expect the arm to move."""
    loop = ended(faulty)
    loop._loop.fault_index = 7  # must be named anew
    trip(loop)
    loop.set_reference([1.0, 1.0])
    loop.step()
    assert known(loop) == ("STATUS_TRIPPED", "ended", -1)
    loop.read()
    loop.step(100)
    assert not loop.read()["F"].any()
    loop.reset()
    loop.step(5)
    assert known(loop) == ("STATUS_OK", "running", -1)


def test_a_trip_between_the_end_and_the_next_start(faulty) -> None:
    loop = ended(faulty)
    trip(loop)
    with pytest.raises(elastogen.ModelError, match=r"start\(\) after a fault"):
        loop.start(cycles=10)
    assert known(loop) == ("STATUS_TRIPPED", "ended", -1)
    loop.reset()
    loop.start(cycles=10)
    assert loop.wait(60)


def test_a_trip_while_a_loop_is_put_at_its_beginning(faulty) -> None:
    """Between the question whether there is a fault and the first cycle."""
    loop = ended(faulty)
    trip(loop)
    loop._prepare()
    assert loop.phase == "running"
    loop.step()
    assert (loop.status.name, loop.phase) == ("STATUS_TRIPPED", "stopping")


def test_a_trip_before_the_first_cycle(faulty) -> None:
    loop = Loop(faulty, plant=FaultyRobot([0.3, -0.2]), controller=PDGravity(100.0, 20.0))
    trip(loop)
    loop.start(cycles=3000)
    loop.wait(60)
    assert loop.status.name == "STATUS_TRIPPED"
    loop.stop()


def test_memory_of_a_new_loop_may_hold_anything(faulty) -> None:
    loop = faulty.ffi.new("eg_loop_t *")
    faulty.ffi.buffer(loop)[:] = b"\xff" * faulty.ffi.sizeof("eg_loop_t")
    faulty.lib.eg_loop_init(loop, 1e-3)
    assert (loop.tripped, loop.status, loop.phase, loop.end_wanted, loop.reset_asked) == (0, 0, 0, 0, 0)


def test_nothing_but_a_trip_outlives_a_new_beginning(faulty) -> None:
    loop, clean = faulty.ffi.new("eg_loop_t *"), faulty.ffi.new("eg_loop_t *")
    faulty.lib.eg_loop_init(clean, 1e-3)
    faulty.ffi.buffer(loop)[:] = b"\xff" * faulty.ffi.sizeof("eg_loop_t")
    loop.tripped = TRIPPED
    faulty.lib.eg_loop_init_again(loop, 1e-3)
    assert (loop.tripped, loop.seen, loop.suspicious, loop.rest_cycles, loop.end_wanted) == (TRIPPED, 0, 0, 0, 0)
    loop.tripped = 0
    for field in ("tick", "cycle", "status", "phase", "blind", "lost", "head", "tail", "dropped", "reset_asked", "bridged"):
        assert getattr(loop, field) == getattr(clean, field), field


def test_a_trip_during_a_stop_without_a_fault(faulty) -> None:
    loop = Loop(faulty, plant=FaultyRobot([0.3, -0.2], [1.0, 1.0]), controller=ComputedTorqueLaw(0.0, 0.0))
    loop.step(5)
    faulty.lib.eg_loop_stop(loop._loop)
    loop.step(5)
    assert known(loop) == ("STATUS_OK", "stopping", -1)
    trip(loop)
    loop.step()
    assert known(loop) == ("STATUS_TRIPPED", "stopping", -1)
    loop.step(1500)
    assert known(loop) == ("STATUS_TRIPPED", "ended", -1)


def test_the_first_fault_stays(faulty) -> None:
    loop = running(faulty)
    trip(loop, STATUS["STATUS_BLOCKED"])
    loop.step(5)
    trip(loop)
    loop.step(50)
    assert known(loop) == ("STATUS_BLOCKED", "holding", -1)
    loop.reset()
    loop.step(5)
    assert known(loop) == ("STATUS_OK", "running", -1)


def test_a_trip_in_the_last_cycle_is_a_fault(faulty) -> None:
    """A loop at rest is ended without another step."""
    loop = running(faulty)
    trip(loop)
    assert faulty.lib.eg_loop_finish(loop._loop) == 3
    assert known(loop) == ("STATUS_TRIPPED", "ended", -1)


def test_a_reset_that_was_asked_for_before_does_not_clear_a_trip(faulty) -> None:
    loop = running(faulty)
    trip(loop)
    loop.step(50)
    assert loop.phase == "holding"
    faulty.lib.eg_loop_ask_reset(loop._loop)
    trip(loop)  # after the wish, before the cycle that fulfils it
    loop.step()
    assert (loop.phase, int(loop._loop.reset_answer), int(loop._loop.reset_index)) == ("holding", TRIPPED, -1)
    faulty.lib.eg_loop_ask_reset(loop._loop)
    loop.step()
    assert (loop.phase, int(loop._loop.reset_answer)) == ("running", 0)
    loop.step(20)
    assert loop.status


def test_a_wish_for_a_reset_does_not_clear_a_trip_that_nobody_saw(faulty) -> None:
    loop = running(faulty)
    trip(loop)
    faulty.lib.eg_loop_ask_reset(loop._loop)
    loop.step()
    assert known(loop) == ("STATUS_TRIPPED", "stopping", -1)
    moving = Loop(faulty, plant=FaultyRobot([0.3, -0.2], [1.0, 1.0]), controller=ComputedTorqueLaw(0.0, 0.0))
    moving.step(5)
    faulty.lib.eg_loop_stop(moving._loop)
    moving.step(5)
    trip(moving)
    faulty.lib.eg_loop_reset(moving._loop)  # too early
    moving.step()
    assert known(moving) == ("STATUS_TRIPPED", "stopping", -1)
