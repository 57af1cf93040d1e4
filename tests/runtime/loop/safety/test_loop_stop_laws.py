"""The laws of a stop, cycle by cycle, and the model in place of the sensors, to the last bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from loop_setup import STATUS
from loops.faulty_robot import FaultyRobot
from loops.shown import NOTHING, Shown

from elastogen.runtime.loop.controllers import ComputedTorqueLaw
from elastogen.runtime.loop.loop import Limits, Loop, SafeCommand


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
