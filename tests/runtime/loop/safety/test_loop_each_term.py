"""Each term of the safety code in the cycle in which it acts: laws of a stop, the last sound state, the way back."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest
from loop_setup import STATUS, USER_CODE
from loops.faulty_robot import FaultyRobot, faulty_source
from loops.shown import Shown

import elastogen
from elastogen.runtime.loop.controllers import ComputedTorqueLaw, PDGravity, StateFeedback, UserController
from elastogen.runtime.loop.loop import Limits, Loop, SafeCommand
from elastogen.runtime.loop.plants import Simulated

NOTHING = StateFeedback(K=np.zeros((2, 4)), feedforward=False)  # a law that needs no parameters
CONTROLLER = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)


@pytest.fixture(scope="module")
def faulty(cache_dir):
    """As the tests of boundaries have it."""
    return elastogen.build_loop("two_link", controller_source=USER_CODE, plant_source=faulty_source("two_link", 2))


def stopped(library, stop: str, **options: Any) -> tuple[Any, Loop]:
    """A moving arm is tripped in cycle 500; the records from there on."""
    plant = FaultyRobot([0.3, -0.2])
    safe = SafeCommand(stop=stop, seconds=0.5, **options)
    loop = Loop(library, plant=plant, controller=ComputedTorqueLaw(400.0, 40.0), safe=safe, telemetry=1 << 12)
    loop.move_to([1.3, 0.4], 1.0)
    loop.step(500)
    library.lib.eg_loop_trip(loop._loop, STATUS["STATUS_TRIPPED"])
    loop.step(700)
    return loop.read()[500:], loop


@pytest.mark.parametrize("stop", ["damped", "ramp"])
def test_a_stop_brakes_for_its_share_and_then_catches(faulty, stop: str) -> None:
    """The equations of the documentation, cycle by cycle, on the recorded state."""
    records, loop = stopped(faulty, stop)
    tuning, T = loop.tuning, 0.6 * 500
    kp, kd, damping = (tuning.array(f"safe_{name}").copy() for name in ("kp", "kd", "damping"))
    weights = faulty.model.gravity_vector(records["q"])
    v0, caught = records["qd"][0], None
    assert np.abs(v0).max() > 0.5
    for k, record in enumerate(records):
        q, qd = record["q"], record["qd"]
        if k < T and record["phase"] == 1:
            s = k / T
            slower = v0 * (1 - 3 * s**2 + 2 * s**3) - qd
            brake = -damping * qd if stop == "damped" else np.where(slower * qd < 0.0, kd * slower, 0.0)
            caught = q
        else:
            brake = kp * (caught - q) - kd * qd
        np.testing.assert_allclose(record["F"], weights[k] + brake, rtol=1e-9, atol=1e-9)
    assert records["phase"][int(0.5 * T)] == 1


def test_hold_goes_back_to_the_place_of_the_fault(faulty) -> None:
    records, loop = stopped(faulty, "hold")
    kp, kd = (loop.tuning.array(f"safe_{name}").copy() for name in ("kp", "kd"))
    weights = faulty.model.gravity_vector(records["q"])
    expected = weights + kp * (records["q"][0] - records["q"]) - kd * records["qd"]
    moving = records["phase"] == 1
    np.testing.assert_allclose(records["F"][moving], expected[moving], rtol=1e-9, atol=1e-9)


def test_off_fades_from_the_last_force(faulty) -> None:
    records, _ = stopped(faulty, "off", fade=0.05)
    first = records["F"][0]
    np.testing.assert_allclose(records["F"][:50], first * (1 - np.arange(50) / 50)[:, None], rtol=1e-9, atol=1e-12)
    assert records["phase"].tolist() == [1] * 50 + [3] * 650


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_ramp_does_not_drive_a_joint_that_stands(faulty, sign: float) -> None:
    """The speed that it asks for is greater than that of the joint, which is zero."""
    shown = Shown(faulty, safe=SafeCommand(stop="ramp", gravity=False))
    shown.show([0.0, 0.0])
    faulty.lib.eg_loop_trip(shown.loop._loop, STATUS["STATUS_TRIPPED"])
    shown.show([sign * 1e-3, 0.0], [sign, 0.0])
    shown.show([sign * 1e-3, 0.0], [0.0, 0.0], cycles=5)
    records = shown.loop.read()
    assert (np.sign(records["qd_ref"][2:, 0]) == sign).all()
    np.testing.assert_array_equal(records["F"][1:], 0.0)


def test_without_a_fade_forces_are_the_weights_at_once(faulty) -> None:
    plant = FaultyRobot([0.3, -0.2])
    loop = Loop(faulty, plant=plant, controller=ComputedTorqueLaw(400, 40), safe=SafeCommand(fade=0.0), telemetry=1 << 12)
    loop.set_reference([0.5, -0.2])
    loop.step(20)
    plant.fail("nan", 20)
    loop.step(1010)
    records = loop.read()
    weights = faulty.model.gravity_vector(records["q"][19])
    np.testing.assert_allclose(records["F"][20:1020], np.tile(weights, (1000, 1)), rtol=1e-12)
    np.testing.assert_array_equal(records["F"][1020:], 0.0)


def test_forces_of_a_stop_that_are_no_numbers_are_none(faulty) -> None:
    loop = Loop(faulty, plant=FaultyRobot([0.3, -0.2]), controller=NOTHING, telemetry=1 << 12)
    loop.step(5)
    faulty.ffi.cast("double *", faulty.ffi.addressof(loop.tuning._block.p))[0] = np.nan  # the first parameter of the model
    loop.tuning.publish(loop._loop)
    faulty.lib.eg_loop_trip(loop._loop, STATUS["STATUS_TRIPPED"])
    loop.step(3)
    np.testing.assert_array_equal(loop.read()["F"][5:], 0.0)


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


# The model in place of the sensors.


@pytest.mark.parametrize(("given", "substeps"), [(0, 1), (1, 1), (3, 3)])
def test_a_bridged_state_is_that_of_the_robot_to_the_last_bit(faulty, given: int, substeps: int) -> None:
    """0 substeps in C, where nothing was chosen, are one."""
    plant = FaultyRobot([0.3, -0.2], [2.0, -3.0], substeps=substeps)
    loop = Loop(faulty, plant=plant, controller=NOTHING, limits=Limits(bridge=3), telemetry=1 << 12)
    loop.tuning._block.substeps = given
    loop.tuning.publish(loop._loop)
    loop.step(5)
    plant.fail("nan", 5, 3)
    for _ in range(3):
        loop.step()
        assert list(loop._loop.sound_q) == plant.q.tolist()
        assert list(loop._loop.sound_qd) == plant.qd.tolist()
    assert int(loop._loop.bridged) == 3


def test_a_sensor_that_freezes_in_the_second_cycle_of_a_motion(faulty) -> None:
    """The model goes on from the last position that was measured, not from that of a cycle later."""
    plant = FaultyRobot([0.3, -0.2], [0.5, 0.0])
    safe = SafeCommand(predict=True)
    loop = Loop(faulty, plant=plant, controller=NOTHING, safe=safe, limits=Limits(frozen=0.03), telemetry=1 << 12)
    loop.step(10)
    loop.set_reference([0.3, -0.2], qd=[0.5, 0.0])
    plant.fail("frozen", 11)
    loop.step(60)
    assert loop.status.name == "STATUS_FROZEN"
    np.testing.assert_allclose(list(loop._loop.sound_q), plant.q, rtol=0, atol=1e-9)


def test_without_prediction_a_frozen_position_stays_the_last(faulty) -> None:
    plant = FaultyRobot([0.3, -0.2], [0.5, 0.0])
    loop = Loop(faulty, plant=plant, controller=NOTHING, limits=Limits(frozen=0.03), telemetry=1 << 12)
    loop.set_reference([0.3, -0.2], qd=[0.5, 0.0])
    loop.step(10)
    before = plant.q[0]
    plant.fail("frozen", 10)
    loop.step(60)
    assert loop.status.name == "STATUS_FROZEN"
    assert loop._loop.sound_q[0] == before


def test_a_model_that_fails_is_not_believed(faulty) -> None:
    """Its parameters are no numbers; the frozen position is better."""
    plant = FaultyRobot([0.3, -0.2], [0.5, 0.0])
    safe = SafeCommand(predict=True)
    loop = Loop(faulty, plant=plant, controller=NOTHING, safe=safe, limits=Limits(frozen=0.03), telemetry=1 << 12)
    loop.set_reference([0.3, -0.2], qd=[0.5, 0.0])
    loop.step(10)
    before = plant.q[0]
    faulty.ffi.cast("double *", faulty.ffi.addressof(loop.tuning._block.p))[0] = np.nan
    loop.tuning.publish(loop._loop)
    plant.fail("frozen", 10)
    loop.step(60)
    assert loop.status.name == "STATUS_FROZEN"
    assert loop._loop.sound_q[0] == before
    assert np.isfinite(loop.read()["F"]).all()


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


def test_each_number_of_a_state_with_quaternions_is_watched(cache_dir) -> None:
    robot = {
        "elastogen": 1, "name": "floater", "base": "floating", "gravity": [0, 0, 0],
        "links": [{"name": name, "mass": mass, "inertia": [0.2, 0.3, 0.4]} for name, mass in (("hub", 4), ("rod", 1))],
        "joints": [{"name": "hinge", "type": "revolute"}],
    }  # fmt: skip
    library = elastogen.build_loop(robot)
    model = library.model
    for k, name in enumerate([*model.coordinate_names, *model.velocity_names]):
        plant = Simulated(model.neutral())
        loop = Loop(library, plant=plant, controller=PDGravity(1.0, 1.0), safe=SafeCommand(stop="off"))
        loop.step()
        (plant.q if k < model.nq else plant.qd)[k if k < model.nq else k - model.nq] = np.nan
        plant._plant.tick = loop._loop.tick  # shown as it is
        loop.step()
        assert (loop.status.name, loop.status.coordinate) == ("STATUS_STATE_NOT_FINITE", name)
