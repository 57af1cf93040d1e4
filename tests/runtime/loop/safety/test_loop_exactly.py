"""What the watchdog does with the very number of a limit, and with answers and states that are rare."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest
from loop_setup import STATUS
from loops.faulty_robot import SLIDE, FaultyRobot, faulty_source
from loops.shown import Shown, down, up

import elastogen
from elastogen.runtime.loop.controllers import ComputedTorqueLaw, PDGravity
from elastogen.runtime.loop.loop import Limits, Loop
from elastogen.runtime.loop.plants import Callbacks

REAL = ctypes.POINTER(ctypes.c_double)
READ = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_uint64, REAL, REAL)
WRITE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_uint64, REAL)


class Answering:
    """A loop whose read function shows a state and answers what a test wants."""

    def __init__(self, library, **options: Any) -> None:
        self.q, self.qd, self.answer = [0.0, 0.0], [0.0, 0.0], 0
        self._functions = READ(self._read), WRITE(lambda *_: 0)
        self.loop = Loop(library, plant=Callbacks(*self._functions), controller=PDGravity(0.0, 0.0), **options)

    def _read(self, _: Any, __: int, q: Any, qd: Any) -> int:
        for i in range(2):
            q[i], qd[i] = self.q[i], self.qd[i]
        return self.answer

    def step(self) -> tuple[str, str]:
        status = self.loop.step()
        return status.name, status.coordinate


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_position_may_change_by_jump(faulty, sign: float) -> None:
    for way, name in ((0.1, "STATUS_OK"), (up(0.1), "STATUS_JUMP")):
        shown = Shown(faulty)
        assert shown.show([0, 0])
        assert shown.show([0, sign * way]).name == name


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_velocity_beyond_its_limit_may_be_belied_by_jump(faulty, sign: float) -> None:
    """100 rad/s in 1 ms are 0.1 rad, exactly jump: the velocity is believed."""
    assert 1e-3 * 100.0 == 0.1
    for speed, name in ((100.0, "STATUS_VELOCITY"), (up(100.0), "STATUS_JUMP")):
        shown = Shown(faulty, limits=Limits(velocity=50.0))
        assert shown.show([0, 0])
        assert shown.show([0, 0], [0.0, sign * speed]).name == name


def test_a_velocity_at_its_limit_is_not_doubted(faulty) -> None:
    shown = Shown(faulty, limits=Limits(velocity=200.0))
    assert shown.show([0, 0])
    assert shown.show([0, 0], [0.0, 200.0])
    assert shown.show([0, 0], [0.0, up(200.0)]).name == "STATUS_JUMP"


def test_the_way_in_a_period_may_be_the_farthest(faulty) -> None:
    """1e6 rad in a period of 1 ms."""
    speed = 1e9
    assert 1e-3 * speed == 1e6
    assert Shown(faulty, limits=Limits(jump=np.inf, velocity=np.inf)).show([0, 0], [speed, 0.0])
    assert Shown(faulty, limits=Limits(jump=np.inf)).show([0, 0], [2.0 * speed, 0.0]).name == "STATUS_IMPLAUSIBLE"


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("joint", [0, 1])
def test_references_may_be_beyond_a_limit_by_the_rounding(faulty, joint: int, sign: float) -> None:
    for limit, name in ((sign * 0.5 - sign * 1e-6, "STATUS_OK"), (0.0, "STATUS_REFERENCE")):
        shown = Shown(faulty)
        shown.show([0, 0])
        reference = np.zeros(2)
        reference[joint] = sign * 0.5
        shown.loop.set_reference(reference)
        edge = limit or (down(0.5 - 1e-6) if sign > 0 else up(-0.5 + 1e-6))
        bounds = [-1.0, 1.0]
        bounds[int(sign > 0)] = [edge if k == joint else sign for k in range(2)]
        shown.loop.set_limits(Limits(position=tuple(bounds)))
        assert shown.show([0, 0]).name == name
        shown = Shown(faulty)
        shown.show([0, 0])
        shown.loop.set_reference([0.0, 0.0], qd=reference)
        shown.loop.set_limits(Limits(velocity=abs(edge)))
        assert shown.show([0, 0]).name == name


def test_answers_of_a_read_function(faulty) -> None:
    """OUTSIDE + k names coordinate k; what is beyond the coordinates is the reader's own failure."""
    outside, stale = faulty.constants["OUTSIDE"], faulty.constants["STALE"]
    for answer, expected in (
        (outside - 1, ("STATUS_READ", "")),
        (outside, ("STATUS_OUTSIDE", "shoulder")),
        (outside + 1, ("STATUS_OUTSIDE", "elbow")),
        (outside + 2, ("STATUS_READ", "")),
        (-1, ("STATUS_READ", "")),
        (stale, ("STATUS_STALE_STATE", "")),
    ):
        robot = Answering(faulty)
        assert robot.step() == ("STATUS_OK", "")
        robot.answer = answer
        assert robot.step() == expected, answer
        assert (robot.loop._loop.fault_index == -1) == (not expected[1])


@pytest.mark.parametrize(
    ("F", "qd", "joint"),
    [
        ((0.5, 0.1), (0.9, 1.0), "shoulder"),  # power decides, however small
        ((0.5, 0.1), (-0.9, 1.0), "shoulder"),
        ((-0.5, 0.1), (0.9, -1.0), "shoulder"),
        ((0.1, 0.5), (1.0, -0.9), "elbow"),
        ((0.5, 0.5), (0.9, 1.0), "elbow"),
        ((0.4, 0.4), (1.0, 1.0), "shoulder"),  # the first of equals
        ((0.0, 0.0), (0.9, -1.0), "elbow"),  # without forces the fastest
        ((0.0, 0.0), (-1.0, 0.9), "shoulder"),
        ((0.0, 0.0), (0.7, 0.7), "shoulder"),
        ((3.0, 9.0), (0.0, 0.0), "shoulder"),  # nothing moves
    ],
)
def test_what_made_a_motion_diverge(faulty, F, qd, joint: str) -> None:
    robot = Answering(faulty)
    robot.qd = list(qd)
    assert robot.step()[0] == "STATUS_OK"
    robot.answer = faulty.constants["DIVERGED"]
    robot.loop._loop.F[0], robot.loop._loop.F[1] = F
    assert robot.step() == ("STATUS_DIVERGED", joint)


def test_the_count_of_cycles_at_rest_does_not_run_over(faulty) -> None:
    """At 10 kHz it would after five days, and a robot at rest would seem to move."""
    shown = Shown(faulty)
    shown.show([0, 0], cycles=9)
    assert shown.loop._loop.rest_cycles == 9
    shown.show([0, 0], cycles=5)
    assert shown.loop._loop.rest_cycles == 10


def test_forces_of_a_reference_are_forgotten_by_a_reset(faulty) -> None:
    """What holds the arm afterwards are its weights alone."""
    loop = Loop(faulty, plant=FaultyRobot([0.3, -0.2]), controller=PDGravity(0.0, 0.0), telemetry=1 << 12)
    loop.set_reference([0.3, -0.2], F=[0.5, 0.25])
    loop.step(3)
    faulty.lib.eg_loop_trip(loop._loop, STATUS["STATUS_TRIPPED"])
    loop.step(1500)
    assert loop.phase == "holding"
    loop.set_parameters(seconds=0.0)
    loop.reset()
    loop.step(60)  # what held it has faded
    loop.read()
    loop.step()
    record = loop.read()[-1]
    np.testing.assert_allclose(record["F"], faulty.model.gravity_vector(record["q"]), rtol=1e-12)


def test_bridged_cycles_of_a_sliding_robot_are_those_of_the_robot(cache_dir) -> None:
    """The model begins in the element in which the robot is, and passes borders as it does."""
    probe = elastogen.build_model(SLIDE)
    library = elastogen.build_loop(SLIDE, plant_source=faulty_source("slide", probe.nq))
    d = library.model.metadata.sliding[0].coordinate
    q, qd = np.zeros(library.model.nq), np.zeros(library.model.nq)
    q[d], qd[d] = 0.5, 1.5  # in the third of four elements
    plant = FaultyRobot(q, qd)
    with pytest.warns(elastogen.runtime.loop.status.LoopWarning, match="needs .* to come to rest"):
        loop = Loop(library, plant=plant, controller=PDGravity(0.0, 0.0), limits=Limits(bridge=20), telemetry=1 << 10)
    loop.step(5)
    loop.read()
    plant.fail("nan", 5, 1, index=d)
    loop.step()
    bridged = loop.read()[-1]
    assert (loop.status.name, bridged["bridged"]) == ("STATUS_OK", 1)
    np.testing.assert_allclose(bridged["q"], plant.q, rtol=0, atol=1e-9)
    np.testing.assert_allclose(bridged["qd"], plant.qd, rtol=0, atol=1e-6)


def test_law_of_a_number_that_there_is_not(faulty) -> None:
    loop = Loop(faulty, controllers=[ComputedTorqueLaw(400, 40), PDGravity(50, 10)], plant=FaultyRobot([0.3, -0.2]))
    loop.step(3)
    loop.tuning._block.law = 2
    loop.tuning.publish(loop._loop)
    assert loop.step().name == "STATUS_CONTROLLER"
