"""What stops a loop, and the command that it leaves: limits, NaN, refusals, states and references that grow old."""

from __future__ import annotations

import numpy as np
import pytest
from loop_setup import STATUS, finish, run_checks, run_free

import elastogen
from elastogen.runtime.loop.controllers import (
    PDGravity,
    UserController,
)
from elastogen.runtime.loop.loop import Limits, Loop, SafeCommand
from elastogen.runtime.loop.plants import SharedMemory, SharedRobot, Simulated
from elastogen.runtime.loop.status import MEANING, LoopWarning


def test_nan_in_the_plant_leads_to_the_safe_command(library) -> None:
    plant = Simulated([0.3, -0.2])
    loop, _ = run_free(library, 0, plant=plant, safe=SafeCommand(seconds=0.5, fade=0.02))
    loop.set_reference([0.3, -0.2], F=[3.0, 1.0])
    loop.step(50)
    plant.disturbance[1] = np.nan
    status = loop.step(550)
    assert status.name == "STATUS_STATE_NOT_FINITE"
    assert not status
    records = loop.read()
    assert records["status"].tolist() == [0] * 50 + [STATUS["STATUS_STATE_NOT_FINITE"]] * 550
    assert np.isnan(records["q"][50]).any()
    weights = library.model.gravity_vector(records["q"][49])
    rise = np.minimum(np.arange(501) / 20, 1.0)[:, None]  # from the last command, in 20 cycles
    fall = np.minimum((500 - np.arange(501)) / 20, 1.0)[:, None]  # to nothing, in the last 20
    goal = fall * weights
    expected = records["F"][49] + rise * (goal - records["F"][49])
    np.testing.assert_allclose(records["F"][50:551], expected, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(records["F"][551:], 0.0)
    assert records["phase"][50:550].tolist() == [1] * 500
    assert records["phase"][550:].tolist() == [3] * 50


@pytest.mark.parametrize("culprit", [0, 1])
def test_a_motion_that_diverges_names_the_coordinate_and_the_fix(library, culprit) -> None:
    """Gains that are far too high on one joint throw both about; that joint's drive is the one that feeds the motion."""
    kp, kd = np.array([10.0, 10.0]), np.array([1.0, 1.0])
    kp[culprit], kd[culprit] = 1e6, 1e4
    plant = Simulated([0.3, -0.2])
    name = library.model.coordinate_names[culprit]
    with pytest.warns(LoopWarning, match=f"unstable .* {name} grows .* smaller kp and kd for {name}"):
        loop, cycles = run_free(library, 1000, plant=plant, controller=PDGravity(kp, kd))
    loop.set_reference([0.31, -0.19])
    assert len(finish(loop, cycles)) < 1000
    assert loop.status.name == "STATUS_DIVERGED"
    assert loop.status.coordinate == name
    assert str(loop.status).startswith(
        f"the motion of the simulated robot diverged ({name}). Fix: smaller kp and kd for {name}"
    )


def test_a_motion_that_runs_away_without_drives_names_the_fastest_coordinate(library) -> None:
    plant = Simulated([0.3, -0.2])
    with pytest.warns(LoopWarning, match="more force"):
        loop, _ = run_free(library, 0, plant=plant, controller=PDGravity(0.0, 0.0), limits=Limits(force=0.0))
    plant.qd[:] = [0.0, -9e8]
    assert loop.step(3).coordinate == library.model.coordinate_names[1]
    assert loop.status.name == "STATUS_DIVERGED"


def test_nan_stops_the_thread(library) -> None:
    plant = Simulated()
    loop, cycles = run_free(library, 1000, plant=plant)
    plant.disturbance[0] = np.nan
    records = finish(loop, cycles)
    assert loop.status.name == "STATUS_STATE_NOT_FINITE"
    assert loop.status.coordinate == "shoulder"
    assert len(records) == 2
    statistics = loop.statistics()
    assert statistics.cycles - statistics.safe == 1
    assert loop.phase == "ended"


@pytest.mark.parametrize(
    ("limits", "name"),
    [
        (Limits(velocity=[10, 0.5]), "STATUS_VELOCITY"),
        (Limits(error=[1, 1e-2]), "STATUS_TRACKING"),
        (Limits(position=(-1, [2, 0.4])), "STATUS_POSITION"),
        (Limits(position=([-2, -0.4], 1)), "STATUS_POSITION"),
        (Limits(force_trip=[1000, 20]), "STATUS_FORCE"),
    ],
)
@pytest.mark.parametrize("push", [100.0, -100.0])
def test_limits_stop_the_loop(library, limits: Limits, name: str, push: float) -> None:
    plant = Simulated([0.0, 0.0])
    loop, _ = run_free(library, 0, limits=limits, plant=plant, controller=PDGravity([100, 100], [40, 15]))
    assert loop.step(10)
    plant.disturbance[1] = push  # on the elbow
    status = loop.step(2000)
    if name == "STATUS_POSITION" and np.ndim(limits.position[0]) == (push > 0):
        assert status  # pushed to the other side
        return
    assert (status.name, status.coordinate) == (name, "elbow")
    records = loop.read()
    faults = np.flatnonzero(records["status"])
    assert (records["status"][faults[0] :] == STATUS[name]).all()
    assert (records["phase"][: faults[0]] == 0).all()
    assert records["phase"][faults[0]] == 1


def test_forces_are_cut(library) -> None:
    with pytest.warns(LoopWarning, match="after a fault shoulder needs much longer .* more force"):
        loop, cycles = run_free(library, 500, limits=Limits(force=[20, 5]))
    loop.set_reference([2.0, 2.0])
    loop.start(cycles=cycles)
    loop.wait(timeout=60)
    records = loop.read()
    assert np.abs(records["F"]).max(axis=0).tolist() == [20.0, 5.0]
    assert loop.statistics().saturations == np.count_nonzero(records["saturated"]) > 0
    assert loop.status


def test_controllers_and_plants_may_refuse(library) -> None:
    loop, cycles = run_free(library, 100, controller=UserController(values=[1, 1, 0, 30]))
    assert len(finish(loop, cycles)) == 31
    assert loop.status.name == "STATUS_CONTROLLER"


def test_shared_memory(library) -> None:
    plant = SharedMemory(stale_limit=4)
    loop = Loop(library, plant=plant, controller=PDGravity(10.0, 1.0), telemetry=64)
    robot = SharedRobot(library, plant.name)
    loop.set_reference([1.0, 0.0])
    for k in range(20):
        robot.put([0.01 * k, 0.0], [0.0, 0.0])
        assert loop.step()
        expected = library.model.gravity_vector([0.01 * k, 0.0]) + np.array([10.0 * (1.0 - 0.01 * k), 0.0])
        np.testing.assert_allclose(robot.get(), expected, rtol=1e-12)
    assert loop.step(3)
    assert loop.step().name == "STATUS_STALE_STATE"  # nobody has put a state for four cycles
    robot.close()
    plant.close()


def test_shared_memory_may_be_stale_for_seconds(library) -> None:
    plant = SharedMemory(stale_seconds=0.003)
    loop = Loop(library, plant=plant, rate=2000, telemetry=0)
    robot = SharedRobot(library, plant.name)
    for _ in range(30):  # a new state just in time, again and again
        robot.put([0.1, 0.0], [0.0, 0.0])
        assert loop.step(6)
    assert str(loop.step()).startswith("no new state for too long. Fix: ")
    robot.close()
    plant.close()
    with pytest.raises(elastogen.ModelError, match="stale_seconds"):
        SharedMemory(stale_seconds=-1.0)


# References that grow old.


@pytest.mark.parametrize(
    ("age", "beat", "cycles", "expected"),
    [
        (0, 0, 3000, (3000, "STATUS_OK", 7)),  # not watched
        (100, 0, 3000, (103, "STATUS_STALE_REFERENCE", 7)),  # cycle 101 is the first that is more than 100 ticks away
        (100, 100, 3000, (3000, "STATUS_OK", 7)),  # each heartbeat is seen one cycle after it was sent
        (100, 102, 3000, (104, "STATUS_STALE_REFERENCE", 7)),
    ],
)
def test_the_age_of_references_in_c(checks, age, beat, cycles, expected) -> None:
    """Free-running; in the end safe_F is written, after a fault (one more cycle to see that it is at rest) or without."""
    _, numbers = run_checks(checks, "checks", "stale", age, beat, cycles)
    assert (numbers["cycles"], numbers["status"], numbers["force"]) == (expected[0], STATUS[expected[1]], expected[2])


def test_a_stale_reference_stops_the_loop_with_the_safe_command(library) -> None:
    safe = SafeCommand(force=[3.0, 0.0], gravity=True)
    loop, cycles = run_free(library, 1000, limits=Limits(reference_age=0.05), safe=safe)
    loop.set_reference([0.0, 0.0])
    records = finish(loop, cycles)
    assert loop.status.name == "STATUS_STALE_REFERENCE"
    assert loop.status.meaning == "no new reference or heartbeat for too long"
    assert records["status"].tolist() == [0] * 51 + [STATUS["STATUS_STALE_REFERENCE"]]
    damping = loop.tuning.braking.damping
    expected = library.model.gravity_vector(records["q"][-1]) + np.array([3.0, 0.0]) - damping * records["qd"][-1]
    np.testing.assert_allclose(records["F"][-1], expected, rtol=1e-12)


@pytest.mark.parametrize("sign", ["reference", "move", "heartbeat"])
def test_fresh_references_and_heartbeats_keep_the_loop_going(library, sign: str) -> None:
    loop, _ = run_free(library, 0, limits=Limits(reference_age=0.05))
    for k in range(20):
        if sign == "reference":
            loop.set_reference([0.01 * k, 0.0])
        elif sign == "move":
            loop.move_to([0.01 * k, 0.0], 0.2)
        else:
            loop.heartbeat()
        assert loop.step(51)
    assert loop.step().name == "STATUS_STALE_REFERENCE"


def test_the_age_limit_can_change_and_is_off_by_default(library) -> None:
    loop, _ = run_free(library, 0)
    assert loop.step(5000)
    loop.heartbeat()
    loop.set_limits(Limits(reference_age=0.01))
    assert loop.step(11)
    assert loop.step().name == "STATUS_STALE_REFERENCE"
    for wrong in (-1.0, np.nan):
        with pytest.raises(elastogen.ModelError, match="reference_age"):
            loop.set_limits(Limits(reference_age=wrong))


def test_every_status_has_words(library) -> None:
    assert {name for name in library.constants if name.startswith("STATUS_")} == set(MEANING)
