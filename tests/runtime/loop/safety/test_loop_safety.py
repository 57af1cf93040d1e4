"""After a fault: the loop goes on sensing, brings the robot to rest, holds it, and comes back only by a reset."""

from __future__ import annotations

import time

import numpy as np
import pytest
from loop_setup import STATUS
from loops.faulty_robot import FaultyRobot

import elastogen
from elastogen.runtime.loop.controllers import ComputedTorqueLaw, PDGravity
from elastogen.runtime.loop.loop import Limits, Loop, SafeCommand
from elastogen.runtime.loop.plants import Simulated
from elastogen.runtime.loop.status import LoopWarning

RUNNING, STOPPING, HOLDING, ENDED = range(4)


@pytest.fixture(scope="module")
def library(faulty):
    return faulty


def moving(library, *, plant=None, **options):
    """A loop in the middle of a move."""
    plant = plant or FaultyRobot([0.3, -0.2])
    loop = Loop(library, plant=plant, telemetry=1 << 13, **{"controller": ComputedTorqueLaw(400, 40), **options})
    loop.move_to([1.3, -1.2], 1.0)
    loop.step(500)
    loop.read()
    return loop, plant


def kinetic(model, plant) -> float:
    qd = np.array(plant.qd)
    forces = model.inverse_dynamics(plant.q, np.zeros(2), qd) - model.inverse_dynamics(plant.q, np.zeros(2), np.zeros(2))
    return float(0.5 * qd @ forces)


@pytest.mark.parametrize("stop", ["damped", "ramp", "hold"])
def test_a_robot_that_is_too_fast_comes_to_rest_and_is_held(library, stop: str) -> None:
    """The issue that was: one frozen force made the elbow 57 rad/s fast within a second."""
    plant = Simulated([0.3, -0.2])
    loop = Loop(library, plant=plant, limits=Limits(velocity=2), safe=SafeCommand(stop=stop))
    loop.step(100)
    plant.qd[:] = [0.0, -2.5]
    status = loop.step()
    assert (status.name, status.coordinate, status.phase) == ("STATUS_VELOCITY", "elbow", "stopping")
    energy = [kinetic(library.model, plant)]
    for _ in range(1000):
        loop.step()
        energy.append(kinetic(library.model, plant))
    assert max(energy) <= energy[0] * (1 + 1e-5)
    if stop == "damped":
        assert np.diff(energy).max() < 1e-6 * energy[0]
    assert loop.phase == "holding"
    assert np.abs(plant.qd).max() < 0.02
    place = plant.q.copy()
    loop.step(3000)
    assert np.abs(plant.q - place).max() < 0.01
    assert np.abs(plant.qd).max() < 1e-3
    assert loop.status.coordinate == "elbow"
    if stop == "hold":
        np.testing.assert_allclose(plant.q, loop.read()["q_ref"][-1], atol=1e-3)


def test_the_damped_law_is_what_it_says(library) -> None:
    """Of each cycle, from what was measured in it: F = force + G(q) - damping qd; after its share it is caught."""
    safe = SafeCommand(damping=[30.0, 5.0], force=[0.5, -0.25], seconds=2.0, rest=1e-6)
    plant = Simulated([0.3, -0.2], [1.0, -1.5])
    with pytest.warns(LoopWarning, match="after a fault elbow needs about 4 s"):
        loop = Loop(library, plant=plant, limits=Limits(velocity=1.2), safe=safe)
    loop.step(2500)
    records = loop.read()
    assert (records["status"] == STATUS["STATUS_VELOCITY"]).all()
    damped = records[:1200]  # 0.6 of 2000 cycles
    weights = np.array([library.model.gravity_vector(q) for q in records["q"]])
    expected = np.array([0.5, -0.25]) + weights[:1200] - np.array([30.0, 5.0]) * damped["qd"]
    np.testing.assert_allclose(damped["F"], expected, rtol=0, atol=1e-12)
    caught = records[1200:1900]
    found = loop.tuning.braking
    expected = (
        np.array([0.5, -0.25]) + weights[1200:1900] + found.kp * (records["q"][1199] - caught["q"]) - found.kd * caught["qd"]
    )
    np.testing.assert_allclose(caught["F"], expected, rtol=0, atol=1e-10)


def test_the_ramp_is_what_it_says(library) -> None:
    """kd (v_0 (1 - 3 s^2 + 2 s^3) - qd) over 0.6 of the time where that brakes, never a drive; then the robot is caught."""
    plant = Simulated([0.3, -0.2], [1.0, -1.5])
    loop = Loop(library, plant=plant, limits=Limits(velocity=1.2), safe=SafeCommand(stop="ramp", rest=1e-9))
    loop.step(1000)
    records = loop.read()
    s = np.minimum(np.arange(1000) / 600.0, 1.0)[:, None]
    ramp = np.array([1.0, -1.5]) * (1 - 3 * s**2 + 2 * s**3)
    np.testing.assert_allclose(records["qd_ref"], ramp, atol=1e-12)
    np.testing.assert_array_equal(records["q_ref"][:600], records["q"][:600])
    np.testing.assert_array_equal(records["q_ref"][600:], [records["q"][599]] * 400)
    found = loop.tuning.braking
    weights = np.array([library.model.gravity_vector(q) for q in records["q"]])
    slower = records["qd_ref"] - records["qd"]
    brake = np.where(slower * records["qd"] < 0, found.kd * slower, 0.0)
    brake[600:] = (found.kp * (records["q_ref"] - records["q"]) + found.kd * slower)[600:]
    np.testing.assert_allclose(records["F"], weights + brake, rtol=0, atol=1e-10)
    assert (np.abs(records["qd"]) - np.abs(ramp)).max() < 0.1, "not faster than the ramp"
    assert (brake == 0.0).any(), "nor driven where it is slower"


def test_off_takes_the_forces_away_and_ends(library) -> None:
    plant = Simulated([0.3, -0.2], [1.0, -1.5])
    loop = Loop(library, plant=plant, limits=Limits(velocity=1.2), safe=SafeCommand(stop="off", fade=0.02))
    loop._loop.F[0:2] = [10.0, -4.0]  # as if written before
    loop.step(60)
    records = loop.read()
    expected = np.array([10.0, -4.0]) * (1 - np.minimum(np.arange(60) / 20, 1.0))[:, None]
    np.testing.assert_allclose(records["F"], expected, atol=1e-14)
    assert records["phase"].tolist() == [STOPPING] * 20 + [ENDED] * 40
    assert loop.statistics().unfinished == 1


@pytest.mark.parametrize("gravity", [True, False])
def test_weights_that_the_model_does_not_know_are_caught(library, gravity: bool) -> None:
    """A payload of 2 kg that nobody reported the loop of: damping alone would let it sink for ever."""
    plant = Simulated([0.3, -0.2], parameters={"payload_mass": 2.0})
    loop = Loop(library, plant=plant, safe=SafeCommand(gravity=gravity), limits=Limits(velocity=3))
    loop.step(50)
    plant.qd[:] = [1.0, 3.5]
    loop.step(1100 if gravity else 3000)  # without gravity compensation it sags for a while
    assert loop.phase == "holding"
    assert np.abs(plant.qd).max() < 0.03


def test_end_after_a_fault_writes_nothing_more(library) -> None:
    plant = Simulated([0.3, -0.2])
    loop = Loop(library, plant=plant, safe=SafeCommand(after="end"), limits=Limits(velocity=2))
    loop.step(50)
    plant.qd[1] = -2.5
    loop.step(1000)
    assert loop.phase == "ended"
    assert list(plant._plant.F) == [0.0, 0.0]
    assert loop.status.name == "STATUS_VELOCITY"


@pytest.mark.parametrize(
    ("kind", "value", "name"),
    [
        ("nan", 0.0, "STATUS_STATE_NOT_FINITE"),
        ("infinite", 0.0, "STATUS_STATE_NOT_FINITE"),
        ("nan_velocity", 0.0, "STATUS_STATE_NOT_FINITE"),
        ("read", 0.0, "STATUS_READ"),
        ("stale", 0.0, "STATUS_STALE_STATE"),
        ("diverged", 0.0, "STATUS_DIVERGED"),
        ("jump", 2 * np.pi, "STATUS_JUMP"),
        ("jump", -0.2, "STATUS_JUMP"),
        ("far", 1e9, "STATUS_IMPLAUSIBLE"),
        ("far", -1e9, "STATUS_IMPLAUSIBLE"),
    ],
)
def test_a_sensor_that_fails_is_not_believed(faulty, kind: str, value: float, name: str) -> None:
    """The force goes to that of the weights at the last sound position; with predict, the model stops the robot."""
    loop, plant = moving(faulty)
    plant.fail(kind, 500, index=1, value=value)
    sound = plant.q.copy()
    assert loop.step().name == name
    assert loop.status.coordinate == "elbow" or kind in ("read", "stale", "diverged")
    assert loop.blind
    loop.step(100)
    records = loop.read()
    np.testing.assert_allclose(records["F"][-1], faulty.model.gravity_vector(sound), atol=0.1)
    loop.step(901)
    assert loop.phase == "ended"
    np.testing.assert_array_equal(loop.read()["F"][-1], 0.0)

    loop, plant = moving(faulty, safe=SafeCommand(predict=True))
    plant.fail(kind, 500, index=1, value=value)
    loop.step(1000)
    assert (loop.phase, loop.status.name) == ("stopping", name)
    assert np.abs(plant.qd).max() < 0.02
    assert np.abs(plant.q - sound).max() < 0.5
    loop.step(5)
    assert (loop.phase, loop.statistics().unfinished) == ("ended", 0)


@pytest.mark.parametrize(("kind", "joint"), [("frozen", 0), ("frozen", 1), ("all_frozen", 0)])
def test_a_sensor_that_is_frozen(faulty, kind: str, joint: int) -> None:
    loop, plant = moving(faulty, safe=SafeCommand(predict=True), limits=Limits(frozen=0.05))
    plant.fail(kind, 500, index=joint)
    loop.step(1040)
    records = loop.read()
    first = int(np.flatnonzero(records["status"])[0])
    assert first == 49  # the 50th cycle with the same value
    assert loop.status.name == "STATUS_FROZEN"
    assert loop.status.coordinate == ("shoulder", "elbow")[joint]
    assert np.abs(plant.qd).max() < 0.02
    loop.step(10)
    assert loop.phase == "ended"
    plant.qd[:] = 0.0  # its brakes hold it
    with pytest.raises(elastogen.ModelError, match="the cause persists: a measured position stays the same"):
        loop.reset()
    plant.heal()
    loop.reset()
    assert loop.step(100)


def test_what_stays_the_same_at_rest_is_not_frozen(faulty) -> None:
    plant = FaultyRobot([0.3, -0.2])
    loop = Loop(faulty, plant=plant)
    plant.fail("all_frozen", 20)
    assert loop.step(2000)
    loop, plant = moving(faulty, limits=Limits(frozen=0.0))
    plant.fail("frozen", 500)
    assert loop.step(150), "not watched"


def test_a_glitch_is_bridged_by_the_model(faulty) -> None:
    loop, plant = moving(faulty, limits=Limits(bridge=5))
    plant.fail("nan", 500, 5, index=0)
    assert loop.step(20)
    records = loop.read()
    assert records["bridged"].tolist() == [1, 2, 3, 4, 5] + [0] * 15
    assert loop.statistics().bridged == 5
    assert np.abs(records["q"] - records["q_ref"]).max() < 1e-3
    straight, other = moving(faulty)
    straight.step(20)
    np.testing.assert_allclose(plant.q, other.q, atol=1e-12)  # the model is the robot: as if nothing had been
    plant.fail("nan", 530, 6, index=0)
    loop.step(15)
    assert loop.step().name == "STATUS_STATE_NOT_FINITE"


def test_a_fault_while_stopping_and_holding(faulty) -> None:
    """The first fault keeps its name; without sensors forces fade."""
    loop, plant = moving(faulty, limits=Limits(velocity=2.2))
    plant.qd[1] = -3.0
    assert loop.step(10).name == "STATUS_VELOCITY"
    plant.fail("nan", 515)
    loop.step(10)
    assert (loop.status.name, loop.status.coordinate, loop.blind) == ("STATUS_VELOCITY", "elbow", True)
    loop.step(1000)
    assert loop.phase == "ended"

    loop, plant = moving(faulty, limits=Limits(velocity=2.2))
    plant.qd[1] = -3.0
    loop.step(1200)
    assert loop.phase == "holding"
    tick = int(loop._loop.tick)
    plant.fail("nan", tick)
    loop.step(500)
    assert loop.phase == "stopping"
    loop.step(600)
    assert loop.phase == "ended"


def test_a_command_that_cannot_be_written(faulty) -> None:
    loop, plant = moving(faulty)
    plant.fail("write", 500, 50)
    assert loop.step().name == "STATUS_WRITE"
    loop.step(1000)
    assert (loop.phase, loop.status.name) == ("holding", "STATUS_WRITE")
    plant.fail("write", 500)
    with pytest.raises(elastogen.ModelError, match="cause persists: the command could not be written"):
        loop.reset()
    plant.heal()
    loop.reset()
    assert loop.step(10)


def test_a_reset_refuses_while_the_cause_persists(faulty) -> None:
    loop, plant = moving(faulty, limits=Limits(position=(-2.0, [2.0, 0.5])))
    plant.q[1] = 0.45
    loop.set_limits(Limits(position=(-2.0, [2.0, 0.4])))
    loop._loop.seen = 0  # the robot was moved by hand
    assert loop.step().name == "STATUS_POSITION"
    with pytest.raises(elastogen.ModelError, match="not at rest yet"):
        loop.reset()
    loop.step(1200)
    with pytest.raises(elastogen.ModelError, match=r"the cause persists: a position left its limits \(elbow\).*set_limits"):
        loop.reset()
    with pytest.raises(elastogen.ModelError, match=r"start\(\) after a fault: a position left .* then reset\(\)"):
        loop.start()
    assert loop.status.name == "STATUS_POSITION"
    assert loop.phase == "holding"
    loop.set_limits(Limits(position=(-2.0, [2.0, 1.0])))
    loop.reset()
    assert (loop.status.name, loop.phase) == ("STATUS_OK", "running")
    loop.read()
    assert loop.step(1000)
    records = loop.read()
    np.testing.assert_array_equal(records["q_ref"], [records["q_ref"][0]] * 1000)  # it holds, the move is forgotten
    assert np.abs(records["q"] - records["q_ref"]).max() < 5e-3
    step = np.abs(np.diff(records["F"], axis=0)).max()
    assert step < 0.5, "from the force that held it without a jump"
    loop.move_to([0.0, 0.0], 0.5)
    assert loop.step(800)
    np.testing.assert_allclose(plant.q, 0.0, atol=1e-3)


def test_a_start_after_a_reset_holds_where_the_robot_is(faulty) -> None:
    loop, plant = moving(faulty, limits=Limits(velocity=1.5), free_running=True)
    plant.qd[1] = -2.0
    loop.step(1500)
    loop.set_reference([0.0, 0.0])  # before the reset: void
    loop.reset()
    place = plant.q.copy()
    loop.start(cycles=300)
    assert loop.wait(timeout=60)
    records = loop.read()
    np.testing.assert_array_equal(records["q_ref"][records["tick"] < 300], [place] * 300)
    np.testing.assert_allclose(plant.q, place, atol=1e-3)
    loop.set_reference([0.2, 0.2])  # after it: followed
    loop.start(cycles=10)
    loop.wait(timeout=60)
    assert loop.read()["q_ref"][0].tolist() == [0.2, 0.2]


def test_a_thread_holds_after_a_fault_and_is_reset_while_it_runs(faulty) -> None:
    plant = FaultyRobot([0.3, -0.2])
    loop = Loop(faulty, plant=plant, rate=2000, limits=Limits(velocity=2), safe=SafeCommand(seconds=0.3))
    with loop:
        plant.qd[1] = -3.0
        status = loop.wait(timeout=30)
        assert (status.name, loop.phase) == ("STATUS_VELOCITY", "holding")
        assert loop.running
        with pytest.raises(elastogen.ModelError, match="runs already"):
            loop.start()
        loop.reset()
        assert loop.status
        assert loop.phase == "running"
        loop.move_to(plant.q + 0.1, 0.4)
        until = time.monotonic() + 30
        while loop.statistics().cycles < 5 or np.abs(plant.qd).max() > 0.01:
            assert time.monotonic() < until
            time.sleep(0.01)
    assert loop.status
    assert loop.phase == "ended"


def test_stop_brings_a_moving_robot_to_rest(library) -> None:
    """Without a fault; the last forces are zero. No period is skipped, however busy the machine is."""
    plant, law = Simulated([0.3, -0.2]), ComputedTorqueLaw(400, 40)
    loop = Loop(library, plant=plant, rate=2000, telemetry=1 << 14, controller=law, on_overrun="catch_up")
    loop.start()
    loop.move_to([1.3, -1.2], 0.5)
    while float(np.abs(plant.qd).max()) < 0.5:
        time.sleep(0.001)
    assert loop.stop()
    assert np.abs(plant.qd).max() < 0.03
    assert list(plant._plant.F) == [0.0, 0.0]
    assert loop.statistics().unfinished == 0


def test_a_stop_that_takes_too_long_is_counted(library) -> None:
    with pytest.warns(LoopWarning, match="after a fault .* needs .* to come to rest"):
        loop = Loop(library, plant=Simulated([0.3, -0.2], [3.0, 1.0]), safe=SafeCommand(seconds=0.05, after="end"))
    loop._lib.eg_loop_trip(loop._loop, STATUS["STATUS_TRIPPED"])
    loop.step(52)
    assert (loop.phase, loop.status.name) == ("ended", "STATUS_TRIPPED")
    assert loop.statistics().unfinished == 1


def test_dampings_that_a_rate_cannot_hold_are_refused(library) -> None:
    """M of the elbow alone is 1/3 kg m^2: a damping of twice that over the period is the limit of a sampled brake."""
    with pytest.raises(elastogen.ModelError, match=r"damping=400.0 is unstable at 1000 Hz"):
        Loop(library, safe=SafeCommand(damping=400.0))
    Loop(library, rate=10000, safe=SafeCommand(damping=400.0))
    with pytest.raises(elastogen.ModelError, match=r"kp=1000000000.0 and kd=1.0 are unstable"):
        Loop(library, safe=SafeCommand(kp=1e9, kd=1.0))


def test_forces_do_not_jump_beyond_their_rate(library) -> None:
    plant = Simulated([0.3, -0.2])
    loop = Loop(library, plant=plant, limits=Limits(force_rate=[2000, 1000], velocity=2), controller=PDGravity(100, 20))
    loop.set_reference([0.5, 0.0])
    loop.step(300)
    plant.qd[1] = -2.5
    loop.step(1000)
    records = loop.read()
    steps = np.abs(np.diff(records["F"], axis=0)).max(axis=0)
    assert (steps <= np.array([2.0, 1.0]) * (1 + 1e-9)).all()
    assert steps[1] > 0.99
    assert loop.phase == "holding"


def test_an_emergency_stop_of_the_callers(library) -> None:
    loop, _ = moving(library, plant=Simulated([0.3, -0.2]))
    library.lib.eg_loop_trip(loop._loop, STATUS["STATUS_TRIPPED"])
    assert loop.step().name == "STATUS_TRIPPED"
    loop.step(1000)
    assert loop.phase == "holding"
    loop.reset()
    assert loop.step(10)
