"""Faults at the worst moments: before the first measurement, during a reset, with a model that fails, with a wild velocity."""

from __future__ import annotations

import numpy as np
import pytest
from loop_setup import STATUS
from loops.faulty_robot import SLIDE, FaultyRobot, faulty_source

import elastogen
from elastogen.runtime.loop.controllers import ComputedTorqueLaw, PDGravity
from elastogen.runtime.loop.loop import Limits, Loop, SafeCommand
from elastogen.runtime.loop.status import PHASES


def holding(faulty, **options):
    """A loop that holds the arm after a fault."""
    plant = FaultyRobot([0.3, -0.2])
    loop = Loop(faulty, plant=plant, controller=PDGravity(100.0, 20.0), telemetry=1 << 13, **options)
    loop.step(20)
    faulty.lib.eg_loop_trip(loop._loop, STATUS["STATUS_TRIPPED"])
    loop.step(100)
    assert (loop.status.name, loop.phase) == ("STATUS_TRIPPED", "holding")
    loop.read()
    return loop, plant


def test_a_reset_of_a_running_loop_does_not_swallow_an_emergency_stop(faulty) -> None:
    loop = Loop(faulty, plant=FaultyRobot([0.3, -0.2]), controller=PDGravity(100.0, 20.0))
    loop.step(20)
    faulty.lib.eg_loop_trip(loop._loop, STATUS["STATUS_TRIPPED"])
    assert faulty.lib.eg_loop_reset(loop._loop) == 0
    loop.step()
    assert loop.status.name == "STATUS_TRIPPED"


def test_a_reset_of_a_running_loop_does_not_swallow_the_wish_to_end(faulty) -> None:
    loop = Loop(faulty, plant=FaultyRobot([0.3, -0.2]), controller=PDGravity(100.0, 20.0))
    loop.step(20)
    faulty.lib.eg_loop_stop(loop._loop)
    assert faulty.lib.eg_loop_reset(loop._loop) == 0
    loop.step(2)
    assert loop.phase == "ended"


@pytest.mark.parametrize("predict", [False, True])
def test_no_weights_of_a_position_that_was_never_measured(faulty, predict: bool) -> None:
    """The arm is not at q = 0, whose weights are 15 N m and more."""
    plant = FaultyRobot([0.5 * np.pi, 0.0])
    loop = Loop(faulty, plant=plant, safe=SafeCommand(predict=predict), telemetry=1 << 12)
    plant.fail("nan", 0)
    loop.step(1100)
    assert (loop.status.name, loop.blind, loop.phase) == ("STATUS_STATE_NOT_FINITE", True, "ended")
    assert not loop.read()["F"].any()


@pytest.mark.parametrize("limit", [3.0, np.inf])
@pytest.mark.parametrize("value", [1e30, -1.001e9])
def test_a_velocity_that_cannot_be_is_not_braked(faulty, value: float, limit: float) -> None:
    """Its damping would drive the arm with the greatest force."""
    plant = FaultyRobot([0.3, -0.2])
    limits = Limits(force=400.0, velocity=limit)
    loop = Loop(faulty, plant=plant, controller=ComputedTorqueLaw(400, 40), limits=limits, telemetry=1 << 13)
    loop.step(100)
    plant.fail("velocity", 100, index=1, value=value)
    loop.step(500)
    assert (loop.status.name, loop.status.coordinate, loop.blind) == ("STATUS_IMPLAUSIBLE", "elbow", True)
    assert np.abs(plant.qd).max() < 0.02  # by the weights of the last sound position


@pytest.mark.parametrize("value", [300.0, -300.0, 1e8])
def test_a_velocity_that_the_position_belies_is_not_braked(faulty, value: float) -> None:
    """300 rad/s for a period of 1 ms are 0.3 rad, more than jump = 0.1."""
    plant = FaultyRobot([0.3, -0.2])
    limits = Limits(force=400.0, velocity=3.0)
    loop = Loop(faulty, plant=plant, controller=ComputedTorqueLaw(400, 40), limits=limits, telemetry=1 << 13)
    loop.step(100)
    plant.fail("velocity", 100, index=1, value=value)
    loop.step(500)
    assert (loop.status.name, loop.status.coordinate, loop.blind) == ("STATUS_JUMP", "elbow", True)
    assert np.abs(plant.qd).max() < 0.02


def test_other_parameters_do_not_make_the_holding_force_jump(faulty) -> None:
    """The weights of the new parameters take over by 3 s^2 - 2 s^3."""
    loop, plant = holding(faulty)
    loop.step(200)
    loop.read()
    before = faulty.model.gravity_vector(plant.q)
    loop.set_parameters(gravity_y=-4.0, seconds=0.2)
    loop.step(300)
    records = loop.read()
    assert np.abs(np.diff(records["F"], axis=0)).max() < 0.02 * np.abs(before).max()
    assert np.abs(records["F"][0] - before).max() < 1e-2 * np.abs(before).max()


def test_a_refused_reset_does_not_believe_a_wrap(faulty) -> None:
    """While the loop holds, a position that jumps is a fault of the sensor, also in the cycle that a reset tries."""
    loop, plant = holding(faulty, limits=Limits(position=(-2.0, 2.0)))
    place = plant.q.copy()
    tick = int(loop._loop.tick)
    plant.fail("jump", tick, index=0, value=-2 * np.pi)
    assert faulty.lib.eg_loop_reset(loop._loop) == STATUS["STATUS_JUMP"]
    loop.step(50)
    assert loop.blind
    assert np.abs(plant.q - place).max() < 0.01


def test_a_trip_without_a_coordinate_can_be_reset(faulty) -> None:
    """The caller's own STATUS_FROZEN names none."""
    loop = Loop(faulty, plant=FaultyRobot([-0.5 * np.pi, 0.0]), controller=PDGravity(100.0, 20.0))  # hangs
    loop.step(20)
    faulty.lib.eg_loop_trip(loop._loop, STATUS["STATUS_FROZEN"])
    loop.step(1100)
    assert (loop.status.name, loop.status.coordinate, loop.phase) == ("STATUS_FROZEN", "", "ended")
    loop.reset()
    loop.step(10)
    assert loop.status


def test_a_model_that_fails_does_not_leave_its_last_force(cache_dir) -> None:
    """The predicted joint leaves its beam: from there on forces fade, as without a model."""
    probe = elastogen.build_model(SLIDE)
    library = elastogen.build_loop(SLIDE, plant_source=faulty_source("slide", probe.nq))
    d = library.model.metadata.sliding[0].coordinate
    q, qd = np.zeros(library.model.nq), np.zeros(library.model.nq)
    q[d], qd[d] = 0.78, 6.0
    plant = FaultyRobot(q, qd)
    safe = SafeCommand(predict=True, fade=0.05, gravity=False)
    loop = Loop(library, plant=plant, controller=PDGravity(0.0, 0.0), safe=safe, telemetry=1 << 13)
    plant.fail("nan", 2)
    loop.step(200)
    records = loop.read()
    assert loop.status.name == "STATUS_STATE_NOT_FINITE"
    braked = np.abs(records["F"][:, d])
    assert braked.max() > 1.0  # as long as the model knew
    assert braked[-1] == 0.0


@pytest.mark.parametrize("force", [-1.7e308, 1.7e308])
def test_a_prediction_that_is_no_number_bridges_nothing(cache_dir, force: float) -> None:
    """The mass matrix of one joint is a number: the model does not fail, though a force without limits gives a NaN."""
    links = [{"name": "base"}, {"name": "bar", "mass": 1, "com": [0.5, 0, 0], "inertia": [0.01, 0.01, 0.01]}]
    joint = {"name": "hinge", "type": "revolute", "child": "bar", "axis": [0, 0, 1]}
    robot = {"elastogen": 1, "name": "pendulum", "gravity": [0, -9.81, 0], "links": links, "joints": [joint]}
    library = elastogen.build_loop(robot, plant_source=faulty_source("pendulum", 1))
    plant = FaultyRobot([0.3])
    loop = Loop(library, plant=plant, controller=PDGravity(0.0, 0.0), limits=Limits(bridge=5))
    loop.step(3)
    loop._loop.F[0] = force
    plant.fail("nan", 3)
    status = loop.step()
    assert (status.name, status.coordinate) == ("STATUS_STATE_NOT_FINITE", "hinge")
    assert np.isfinite([loop._loop.sound_q[0], loop._loop.sound_qd[0]]).all()


def test_a_glitch_that_was_bridged_names_no_coordinate(faulty) -> None:
    plant = FaultyRobot([0.3, -0.2])
    loop = Loop(faulty, plant=plant, controller=PDGravity(100.0, 20.0), limits=Limits(bridge=3))
    plant.fail("nan", 10, 1, index=1)
    loop.step(20)
    assert (loop.status.name, int(loop._loop.bridges), int(loop._loop.fault_index)) == ("STATUS_OK", 1, -1)


def test_sensors_that_fail_during_a_stop_without_a_fault_are_a_fault(faulty) -> None:
    """A loop that was only asked to end must not run again on sensors that failed meanwhile."""
    plant = FaultyRobot([0.3, -0.2], [1.0, 1.0])
    loop = Loop(faulty, plant=plant, controller=ComputedTorqueLaw(0.0, 0.0), telemetry=1 << 12)
    loop.step(5)
    faulty.lib.eg_loop_stop(loop._loop)
    loop.step(5)
    assert (loop.status.name, loop.phase) == ("STATUS_OK", "stopping")
    plant.fail("nan", 10, index=1)
    loop.step(1500)
    assert (loop.status.name, loop.status.coordinate) == ("STATUS_STATE_NOT_FINITE", "elbow")
    assert (loop.phase, loop.blind) == ("ended", True)
    with pytest.raises(elastogen.ModelError, match=r"start\(\) after a fault"):
        loop.start()


def test_sensors_that_were_off_between_two_runs_are_believed_again(faulty) -> None:
    """What is read while nothing is commanded is no fault; the next run is stopped by its sensors."""
    plant = FaultyRobot([-0.5 * np.pi, 0.0])  # hangs
    loop = Loop(faulty, plant=plant, controller=PDGravity(100.0, 20.0), telemetry=1 << 12)
    loop.step(20)
    faulty.lib.eg_loop_stop(loop._loop)
    loop.step(3)
    plant.fail("read", 23)
    for _ in range(5):
        faulty.lib.eg_loop_step(loop._loop)
    assert (loop.status.name, loop.phase) == ("STATUS_OK", "ended")
    plant.heal()
    loop.step(20)
    assert (loop.status.name, loop.phase, loop.blind) == ("STATUS_OK", "running", False)
    assert int(loop._loop.lost) == 0


@pytest.mark.parametrize("fault", [False, True])
@pytest.mark.parametrize("more", [0.0, 3.0])
def test_the_last_forces_fall_to_nothing_at_their_rate(faulty, fault: bool, more: float) -> None:
    """The thread does not end before: a drive would keep the last command."""
    plant = FaultyRobot([0.3, -0.2])
    safe = SafeCommand(after="end", force=[more, 0.0])
    loop = Loop(
        faulty, plant=plant, controller=PDGravity(100.0, 20.0), limits=Limits(force_rate=2000.0), safe=safe,
        free_running=True, telemetry=1 << 13,
    )  # fmt: skip
    if fault:
        loop.start(cycles=200)
        faulty.lib.eg_loop_trip(loop._loop, STATUS["STATUS_TRIPPED"])
    else:
        loop.start(cycles=50)
    loop.wait(60.0)
    records = loop.read()
    assert loop.phase == "ended"
    assert records["F"][records["phase"] < 3][-1, 0] > 5.0  # it carries weights
    assert np.abs(np.diff(records["F"], axis=0)).max() <= 2.0 + 1e-9
    assert list(plant._plant.F[0:2]) == [more, 0.0]
    assert records["phase"][-4:].tolist() == [3] * 4


@pytest.mark.parametrize(
    ("F", "safe", "answer", "left"),
    [
        (2.0, 0.0, "ended", 0.0),  # in one cycle, by its step
        (np.nextafter(2.0, 3.0), 0.0, "running", 0.0),
        (50.0, 90.0, "ended", 50.0),  # the greatest force there may be
        (-50.0, -90.0, "ended", -50.0),
        (50.0, -90.0, "running", 0.0),
        (4.0, 3.0, "ended", 3.0),
    ],
)  # fmt: skip
@pytest.mark.parametrize("joint", [0, 1])
def test_a_robot_at_rest_ends_at_once_if_its_forces_may_fall_in_a_cycle(faulty, F, safe, answer, left, joint) -> None:
    loop = Loop(faulty, plant=FaultyRobot([-0.5 * np.pi, 0.0]), controller=PDGravity(100.0, 20.0))  # hangs
    tuning = loop.tuning
    loop.step(20)
    tuning.array("F_step")[:], tuning.array("F_max")[:], tuning.array("safe_F")[joint] = 2.0, 50.0, safe
    tuning.publish(loop._loop)
    loop._loop.F[joint] = F
    assert PHASES[faulty.lib.eg_loop_finish(loop._loop)] == answer == loop.phase
    assert loop._loop.F[joint] == (left if answer == "ended" else F)


def test_a_loop_that_has_ended_needs_steps_while_a_force_is_left(faulty) -> None:
    loop = Loop(faulty, plant=FaultyRobot([-0.5 * np.pi, 0.0]), controller=PDGravity(100.0, 20.0))
    loop.step(20)
    loop.set_limits(Limits(force_rate=500.0))
    assert PHASES[faulty.lib.eg_loop_finish(loop._loop)] == "ended"
    for force, answer in ((1.0, "stopping"), (1e-9, "stopping"), (0.0, "ended"), (-1e-9, "stopping")):
        loop._loop.F[1] = force
        assert PHASES[faulty.lib.eg_loop_finish(loop._loop)] == answer


def test_a_loop_that_never_ran_and_a_moving_one_end_as_they_may(faulty) -> None:
    moving = Loop(faulty, plant=FaultyRobot([0.3, -0.2], [1.0, 1.0]), controller=ComputedTorqueLaw(0.0, 0.0))
    assert PHASES[faulty.lib.eg_loop_finish(moving._loop)] == "ended"  # nothing was seen yet
    moving = Loop(faulty, plant=FaultyRobot([0.3, -0.2], [1.0, 1.0]), controller=ComputedTorqueLaw(0.0, 0.0))
    moving.step(20)
    assert PHASES[faulty.lib.eg_loop_finish(moving._loop)] == "running"


def test_forces_that_may_not_change_do_not_keep_a_loop_from_its_end(faulty) -> None:
    plant = FaultyRobot([-0.5 * np.pi, 0.0])
    loop = Loop(faulty, plant=plant, controller=PDGravity(100.0, 20.0), free_running=True)
    loop.step(20)
    loop.set_limits(Limits(force_rate=0.0))
    assert faulty.lib.eg_loop_finish(loop._loop) == 3
    assert loop.phase == "ended"
