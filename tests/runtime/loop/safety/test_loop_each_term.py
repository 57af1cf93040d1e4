"""Each term of the safety code in the cycle in which it acts: the watchdog, the way back, changes, commands."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
from loop_setup import STATUS
from loops.faulty_robot import FaultyRobot, faulty_source
from loops.shown import NOTHING, Shown

import elastogen
from elastogen.runtime.loop.controllers import PDGravity, StateFeedback, UserController
from elastogen.runtime.loop.loop import Limits, Loop, SafeCommand
from elastogen.runtime.loop.plants import Simulated

CONTROLLER = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)


# The watchdog.


@pytest.mark.parametrize(("q", "reference", "status"), [(1.0, 1.0, "STATUS_OK"), (0.3, -0.3, "STATUS_TRACKING")])
def test_an_error_is_a_difference(faulty, q: float, reference: float, status: str) -> None:
    shown = Shown(faulty, limits=Limits(error=0.5))
    shown.show([q, 0.0])
    shown.loop.set_reference([reference, 0.0])
    assert shown.show([q, 0.0]).name == status


def test_a_reference_may_be_one_period_old(faulty) -> None:
    shown = Shown(faulty, limits=Limits(reference_age=1e-3))
    assert shown.show([0.0, 0.0], cycles=2)
    assert shown.show([0.0, 0.0]).name == "STATUS_STALE_REFERENCE"


def test_a_velocity_beyond_its_limit_that_the_position_confirms(faulty) -> None:
    """300 rad/s for a period are 0.3 rad; of 0.25 rad and jump = 0.1 they are believed."""
    shown = Shown(faulty, limits=Limits(velocity=3.0))
    shown.show([0.0, 0.0])
    assert shown.show([0.25, 0.0], [300.0, 0.0]).name == "STATUS_VELOCITY"


def test_great_velocities_do_not_hide_the_drive_that_fed_them(faulty) -> None:
    shown = Shown(faulty, controller=NOTHING)
    shown.loop.set_reference([0.0, 0.0], F=[1.0, 2.0])
    shown.show([0.0, 0.0])
    shown.plant.fail("diverged", 1)
    status = shown.show([0.0, 0.0], [1e200, 1e200])
    assert (status.name, status.coordinate) == ("STATUS_DIVERGED", "elbow")


# The way back.


def test_a_reset_forgets_that_the_model_failed(faulty) -> None:
    plant = FaultyRobot([-0.5 * np.pi, 0.0])
    loop = Loop(faulty, plant=plant, controller=NOTHING, safe=SafeCommand(predict=True), limits=Limits(bridge=2))
    plant.fail("nan", 0)  # before the first measurement: nothing can be predicted
    loop.step(1100)
    assert int(loop._loop.lost) == 1
    plant.heal()
    loop.reset()
    assert (int(loop._loop.lost), int(loop._loop.blind), int(loop._loop.bridged)) == (0, 0, 0)
    plant.fail("nan", int(loop._loop.tick) + 3)
    loop.step(1100)
    assert (int(loop._loop.lost), int(loop._loop.bridged)) == (0, 2)
    plant.heal()
    loop.reset()
    assert int(loop._loop.bridged) == 0


def test_a_reset_names_a_velocity_only_while_it_moves(faulty) -> None:
    """The position is exactly that which a frozen sensor would have by default."""
    shown = Shown(faulty, limits=Limits(velocity=1.0))
    shown.show([0.0, 0.0])
    assert shown.show([0.0, 0.0], [2.0, 0.0]).name == "STATUS_VELOCITY"
    shown.show([0.0, 0.0], cycles=30)
    shown.loop.reset()
    assert shown.loop.phase == "running"


def test_the_command_goes_on_from_the_force_that_held(faulty) -> None:
    """The controller knows no weights: without the ramp its first command would be zero."""
    plant = FaultyRobot([0.3, -0.2])
    loop = Loop(faulty, plant=plant, controller=NOTHING, safe=SafeCommand(fade=0.05), telemetry=1 << 12)
    faulty.lib.eg_loop_trip(loop._loop, STATUS["STATUS_TRIPPED"])
    loop.step(200)
    held = loop.read()["F"][-1]
    assert np.abs(held).max() > 10.0
    loop.reset()
    loop.step(60)
    F = loop.read()["F"]
    s = np.minimum(np.arange(60) / 50, 1.0)[:, None]
    np.testing.assert_allclose(F, held * (1 - 3 * s**2 + 2 * s**3), rtol=1e-9, atol=1e-12)


def test_a_robot_that_was_moved_between_two_runs_did_not_jump(faulty) -> None:
    shown = Shown(faulty)
    shown.show([0.0, 0.0], cycles=20)
    faulty.lib.eg_loop_stop(shown.loop._loop)
    shown.show([0.0, 0.0], cycles=2)
    assert shown.loop.phase == "ended"
    assert shown.show([1.5, -1.0], cycles=3)
    assert shown.loop.phase == "running"


def test_cycles_of_a_frozen_position_are_counted_from_the_resume_on(faulty) -> None:
    shown = Shown(faulty, limits=Limits(frozen=5e-3))
    shown.show([0.0, 0.0], cycles=20)
    faulty.lib.eg_loop_stop(shown.loop._loop)
    shown.show([0.0, 0.0], cycles=2)
    assert shown.loop.phase == "ended"
    shown.loop.set_reference([0.0, 0.0], qd=[0.2, 0.0])
    assert shown.show([0.0, 0.0], cycles=4)
    assert shown.show([0.0, 0.0]).name == "STATUS_FROZEN"


# Changes while it runs.


@pytest.mark.parametrize("factor", [0.5, 2.0])
@pytest.mark.parametrize("name", ["kp", "kd"])
def test_one_gain_alone_goes_over_its_ramp(faulty, name: str, factor: float) -> None:
    """Also where the last joint keeps its gain."""
    gains = {"kp": np.array([100.0, 50.0]), "kd": np.array([20.0, 10.0])}
    loop = Loop(faulty, plant=FaultyRobot([0.3, -0.2]), controller=PDGravity(**gains))
    loop.step(5)
    changed = gains[name] * [factor, 1.0]
    loop.set_gains(**{name: changed}, seconds=0.1)
    loop.step(51)
    middle = np.array([getattr(loop._loop.view.tuning, name)[i] for i in range(2)])
    np.testing.assert_allclose(middle, 0.5 * (gains[name] + changed), rtol=1e-12)
    loop.step(60)
    assert [getattr(loop._loop.view.tuning, name)[i] for i in range(2)] == changed.tolist()


@pytest.mark.parametrize("change", [1.0, -1.0])
@pytest.mark.parametrize("place", [(0, 0), (1, 3)])
def test_one_number_of_K_goes_over_its_ramp(faulty, place: tuple[int, int], change: float) -> None:
    K = np.array([[60.0, 0.0, 12.0, 0.0], [0.0, 30.0, 0.0, 6.0]])
    loop = Loop(faulty, plant=FaultyRobot([0.3, -0.2]), controller=StateFeedback(K=K))
    loop.step(5)
    new = K.copy()
    new[place] += change
    loop.set_gains(K=new, seconds=0.1)
    loop.step(51)
    middle = np.array([list(loop._loop.view.tuning.K[i]) for i in range(2)])
    np.testing.assert_allclose(middle, 0.5 * (K + new), rtol=1e-12)


def test_a_ramp_of_one_cycle_delays_the_change_by_one(faulty) -> None:
    shown = Shown(faulty, controller=StateFeedback(K=np.zeros((2, 4)), feedforward=False))
    shown.loop.set_reference([0.0, 0.0], F=[3.0, 1.0])
    shown.show([0.1, 0.0], cycles=3)
    shown.loop.set_gains(K=[[10.0, 0, 0, 0], [0, 0, 0, 0]], seconds=1e-3)
    shown.show([0.1, 0.0])
    assert shown.loop._loop.view.tuning.K[0][0] == 0.0
    shown.show([0.1, 0.0])
    assert shown.loop._loop.view.tuning.K[0][0] == 10.0
    F = shown.loop.read()["F"]
    np.testing.assert_allclose(F[2:, 0], [3.0, 3.0, 2.0], rtol=1e-12)


def test_another_law_takes_over_in_one_cycle(faulty) -> None:
    shown = Shown(faulty, controller=NOTHING, controllers=[NOTHING, PDGravity(0.0, 0.0)])
    shown.show([0.1, 0.0], cycles=3)
    shown.loop.use("pd_gravity", seconds=1e-3)
    shown.show([0.1, 0.0], cycles=2)
    F = shown.loop.read()["F"]
    np.testing.assert_array_equal(F[:4], 0.0)
    np.testing.assert_allclose(F[4], faulty.model.gravity_vector([0.1, 0.0]), rtol=1e-12)


def test_weights_of_new_parameters_are_held_at_the_end_of_their_ramp(faulty) -> None:
    plant = FaultyRobot([0.3, -0.2])
    loop = Loop(faulty, plant=plant, controller=PDGravity(100.0, 20.0), safe=SafeCommand(), telemetry=1 << 12)
    loop.step(20)
    faulty.lib.eg_loop_trip(loop._loop, STATUS["STATUS_TRIPPED"])
    loop.step(100)
    loop.tuning.array("safe_kp")[:] = 0.0
    loop.set_parameters(gravity_y=-4.0, seconds=0.05)
    loop.step(1)
    before = faulty.model.gravity_vector(plant.q)
    loop.read()
    loop.tuning.array("safe_kd")[:] = 0.0
    loop.tuning.publish(loop._loop)
    loop.step(60)
    record = loop.read()[-1]
    faulty.model.parameters.update({"gravity_y": -4.0})
    expected = faulty.model.gravity_vector(record["q"])
    faulty.model.parameters.reset()
    np.testing.assert_allclose(record["F"], expected, rtol=1e-9)
    assert np.abs(before).max() > 2.0


# The command.


def test_the_last_of_the_other_laws_can_be_used(faulty) -> None:
    loop = Loop(faulty, plant=FaultyRobot([0.3, -0.2]), controller=NOTHING, telemetry=1 << 12)
    most = faulty.constants["OTHER_LAWS"]
    loop._loop.others[most - 1].controller = faulty.controller("pd_gravity")
    loop.tuning._block.law = most
    loop.tuning.publish(loop._loop)
    loop.step()
    assert loop.status
    assert np.abs(loop.read()["F"][0]).max() > 1.0


def test_a_controller_that_fails_names_no_coordinate(faulty) -> None:
    fails = CONTROLLER(lambda *_: 1)
    loop = Loop(faulty, plant=FaultyRobot([0.3, -0.2]), controller=UserController(function=fails))
    loop.step()
    assert (loop.status.name, loop.status.coordinate) == ("STATUS_CONTROLLER", "")


def test_a_controller_that_writes_nothing_commands_nothing(faulty) -> None:
    silent = CONTROLLER(lambda *_: 0)
    loop = Loop(faulty, plant=FaultyRobot([0.3, -0.2]), controller=UserController(function=silent), telemetry=1 << 12)
    loop.step(3)
    np.testing.assert_array_equal(loop.read()["F"], 0.0)


# Single precision and quaternions.


def test_limits_of_single_precision(cache_dir) -> None:
    library = elastogen.build_loop("two_link", plant_source=faulty_source("two_link", 2), precision="float")
    shown = Shown(library, limits=Limits(position=(-1.0, 1.0)))
    shown.show([0.0, 0.0])
    block = shown.loop._reference
    block.kind = library.constants["HOLD"]
    block.q[0] = 1.00015  # C may ask for what Python refuses
    library.lib.eg_loop_set_reference(shown.loop._loop, block)
    assert shown.show([0.0, 0.0]).name == "STATUS_REFERENCE"
    far = Shown(library, limits=Limits(position=(-1e9, 1e9), jump=np.inf))
    assert far.show([9.9e3, 0.0])
    assert far.show([1.1e4, 0.0]).name == "STATUS_IMPLAUSIBLE"


@pytest.fixture(scope="module")
def floater(cache_dir):
    """A free hub without drives, and a hinge."""
    robot = {
        "elastogen": 1, "name": "floater", "base": "floating", "gravity": [0, 0, 0],
        "links": [{"name": name, "mass": mass, "inertia": [0.2, 0.3, 0.4]} for name, mass in (("hub", 4), ("rod", 1))],
        "joints": [{"name": "hinge", "type": "revolute"}],
    }  # fmt: skip
    return elastogen.build_loop(robot)


def test_what_has_no_drive_gets_no_force_in_a_stop(floater) -> None:
    loop = Loop(floater, plant=Simulated(floater.model.neutral()), controller=PDGravity(1.0, 1.0), telemetry=1 << 12)
    loop.tuning.array("safe_F")[:] = 2.0
    loop.tuning.publish(loop._loop)
    loop.step(5)
    floater.lib.eg_loop_trip(loop._loop, STATUS["STATUS_TRIPPED"])
    loop.step(20)
    F = loop.read()["F"]
    np.testing.assert_array_equal(F[:, :6], 0.0)
    assert np.abs(F[5:, 6]).max() > 1.0


@pytest.mark.parametrize("place", range(4))
@pytest.mark.parametrize(("square", "sound"), [(1.1249, True), (1.1251, False), (0.8751, True), (0.8749, False), (0.0, False)])
def test_a_quaternion_has_length_1(floater, place: int, square: float, sound: bool) -> None:
    """Its square is 1 to an eighth: drives must not answer to what is no orientation."""
    model = floater.model
    first = model.coordinate_names.index("base.qx")
    q = np.array(model.neutral())
    q[first : first + 4] = 0.0
    q[first + place] = np.sqrt(square)
    plant = Simulated(model.neutral())
    loop = Loop(floater, plant=plant, controller=PDGravity(1.0, 1.0), safe=SafeCommand(stop="off"))
    loop.step()
    plant.q[:], plant._plant.tick = q, loop._loop.tick  # shown as it is
    loop.step()
    expected = ("STATUS_OK", "") if sound else ("STATUS_IMPLAUSIBLE", model.coordinate_names[first])
    assert (loop.status.name, loop.status.coordinate) == expected


def test_each_number_of_a_state_with_quaternions_is_watched(floater) -> None:
    library = floater
    model = library.model
    for k, name in enumerate([*model.coordinate_names, *model.velocity_names]):
        plant = Simulated(model.neutral())
        loop = Loop(library, plant=plant, controller=PDGravity(1.0, 1.0), safe=SafeCommand(stop="off"))
        loop.step()
        (plant.q if k < model.nq else plant.qd)[k if k < model.nq else k - model.nq] = np.nan
        plant._plant.tick = loop._loop.tick  # shown as it is
        loop.step()
        assert (loop.status.name, loop.status.coordinate) == ("STATUS_STATE_NOT_FINITE", name)


def test_a_quaternion_that_comes_first_is_watched(cache_dir) -> None:
    """A ball joint on the base: its first number is that of the state; 0.75 and 0.75 have the square 1.125 exactly."""
    robot = {
        "elastogen": 1, "name": "ball_arm", "gravity": [0, 0, 0],
        "links": [{"name": "base"}, {"name": "rod", "mass": 1, "inertia": [0.1, 0.1, 0.05]}],
        "joints": [{"name": "ball", "type": "spherical"}],
    }  # fmt: skip
    library = elastogen.build_loop(robot)
    for x, expected in (
        (0.75, ("STATUS_OK", "")),
        (0.7501, ("STATUS_IMPLAUSIBLE", library.model.coordinate_names[0])),
    ):
        plant = Simulated(library.model.neutral())
        loop = Loop(library, plant=plant, controller=PDGravity(1.0, 1.0), safe=SafeCommand(stop="off"))
        loop.step()
        plant.q[:], plant._plant.tick = [x, 0.75, 0.0, 0.0], loop._loop.tick  # shown as it is
        loop.step()
        assert (loop.status.name, loop.status.coordinate) == expected
