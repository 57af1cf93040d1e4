"""Velocities that stay the same while the robot moves on: a stop that believed them would drive the robot."""

from __future__ import annotations

import pytest
from loop_setup import BENDING_ARM, STATUS
from loops.faulty_robot import FaultyRobot, faulty_source
from loops.shown import Shown

import elastogen
from elastogen.runtime.loop.controllers import ComputedTorqueLaw, PDGravity
from elastogen.runtime.loop.loop import Limits, Loop, SafeCommand

JUMP = 0.1  # [rad], of Limits


@pytest.fixture(scope="module")
def faulty(cache_dir):
    energies = {"outputs": ["kinetic_energy", "potential_energy"]}
    return elastogen.build_loop("two_link", plant_source=faulty_source("two_link", 2), **energies)


def moving(faulty, limits: Limits, **options) -> tuple[Loop, FaultyRobot]:
    """A loop in the middle of a fast move, at tick 400."""
    plant = FaultyRobot([0.3, -0.2])
    loop = Loop(faulty, plant=plant, controller=ComputedTorqueLaw(400, 40), limits=limits, telemetry=1 << 13, **options)
    loop.move_to([1.5, -1.0], 1.0)
    loop.step(400)
    loop.read()
    return loop, plant


def energy(model, plant: FaultyRobot) -> float:
    return float(model.kinetic_energy(plant.q, plant.qd))


@pytest.mark.parametrize("kind", ["all_frozen", "velocity"])
@pytest.mark.parametrize("stop", ["damped", "ramp", "hold"])
@pytest.mark.parametrize("cause", ["trip", "stop"])
def test_a_stop_does_not_drive_by_a_velocity_that_stays(faulty, kind: str, stop: str, cause: str) -> None:
    """An encoder loses its power together with the fault that stops the loop. Without this the elbow reached 280 rad/s."""
    loop, plant = moving(faulty, Limits(force=400.0), safe=SafeCommand(stop=stop))
    first = energy(faulty.model, plant)
    plant.fail(kind, 400, index=1, value=float(plant.qd[1]))
    if cause == "trip":
        faulty.lib.eg_loop_trip(loop._loop, STATUS["STATUS_TRIPPED"])
    else:
        faulty.lib.eg_loop_stop(loop._loop)
    most = 0.0
    for _ in range(900):
        loop.step()
        most = max(most, energy(faulty.model, plant))
        if loop.blind:
            break
    assert loop.blind
    assert loop.status.name == ("STATUS_TRIPPED" if cause == "trip" else "STATUS_FROZEN")
    assert most < 1.15 * first


@pytest.mark.parametrize("index", [0, 1])
def test_a_velocity_that_stays_is_found_where_the_position_belies_it(faulty, index: int) -> None:
    """Of a robot that runs, too, when they differ by more than jump; not before."""
    for jump, found in ((0.02, True), (10.0, False)):
        loop, plant = moving(faulty, Limits(force=400.0, jump=jump))
        speed = float(plant.qd[index])
        plant.fail("velocity", 400, index=index, value=speed)
        begin, off = float(plant.q[index]), []
        for k in range(600):
            loop.step()
            off.append(abs(float(plant.q[index]) - begin - speed * 1e-3 * (k + 1)))
            if not loop.status:
                break
        assert (loop.status.name == "STATUS_FROZEN") == found
        if found:
            assert loop.status.coordinate == faulty.model.velocity_names[index]
            assert off[-1] > jump - 2e-3
            assert max(off[:-3]) < jump


def test_frozen_sensors_are_not_looked_for_where_that_is_switched_off(faulty) -> None:
    loop, plant = moving(faulty, Limits(force=400.0, jump=0.02, frozen=0.0))
    plant.fail("velocity", 400, index=1, value=float(plant.qd[1]))
    loop.step(300)
    assert loop.status


def test_a_robot_without_tachometers_is_not_at_fault(faulty) -> None:
    """Who measures no velocities hands over zeros."""
    loop, plant = moving(faulty, Limits(force=400.0))
    plant.fail("velocity", 400, index=1, value=0.0)
    loop.step(200)
    assert loop.status


def test_a_constant_velocity_that_the_position_confirms_is_none(faulty) -> None:
    """Coarse tachometers say the same for a long time."""
    loop, plant = moving(faulty, Limits(force=400.0))
    loop._loop.stuck[1] = 0.0
    tuning = loop.tuning
    tuning.array("jump")[:] = 1e-3
    tuning.publish(loop._loop)
    plant.fail("velocity", 400, 2, index=1, value=float(plant.qd[1]))
    loop.step(2)
    assert 0.0 < abs(loop._loop.stuck[1]) < 1e-3
    loop.step()
    assert loop._loop.stuck[1] == 0.0
    assert loop.status


def test_a_drive_whose_velocity_is_doubted_brakes_less(faulty) -> None:
    """Linearly, to nothing at an eighth of jump; another drive brakes as it did."""
    model = faulty.model
    for off, part in ((0.0, 1.0), (0.25 * JUMP / 8, 0.75), (-0.5 * JUMP / 8, 0.5), (JUMP / 8, 0.0), (0.9 * JUMP, 0.0)):
        loop, plant = moving(faulty, Limits(), safe=SafeCommand(damping=[3.0, 5.0]))
        faulty.lib.eg_loop_trip(loop._loop, STATUS["STATUS_TRIPPED"])
        loop.step()
        qd = plant.qd.copy()
        plant.fail("velocity", 401, 1, index=1, value=float(loop._loop.sound_qd[1]))
        loop._loop.stuck[1] = off
        moved = float(plant.q[1]) - float(loop._loop.sound_q[1])
        loop.read()
        loop.step()
        record = loop.read()[0]
        assert loop.status.name == "STATUS_TRIPPED"
        brake = record["F"] - model.gravity_vector(record["q"])
        assert brake[0] == pytest.approx(-3.0 * record["qd"][0], rel=1e-9)
        drift = abs(moved) + 1e-3 * abs(qd[1])  # what this cycle adds
        assert brake[1] / (-5.0 * record["qd"][1]) == pytest.approx(part, abs=8.0 * 2 * drift / JUMP)


def test_a_bridged_measurement_is_no_proof_for_a_reset(faulty) -> None:
    """The model stands in for a sensor that still fails: the cause persists, and the robot is held on."""
    for kind, name in (("nan", "STATE_NOT_FINITE"), ("nan_velocity", "STATE_NOT_FINITE"), ("infinite", "STATE_NOT_FINITE")):
        plant = FaultyRobot([0.3, -0.2])
        loop = Loop(faulty, plant=plant, controller=PDGravity(100.0, 20.0), limits=Limits(bridge=3))
        loop.step(20)
        faulty.lib.eg_loop_trip(loop._loop, STATUS["STATUS_TRIPPED"])
        loop.step(100)
        assert loop.phase == "holding"
        plant.fail(kind, 120, 1, index=1)
        assert faulty.lib.eg_loop_reset(loop._loop) == STATUS[f"STATUS_{name}"]
        assert (loop.phase, loop.blind, int(loop._loop.bridged), int(loop._loop.bridges)) == ("holding", False, 0, 0)
        loop.step()  # the glitch itself is bridged
        assert (loop.phase, loop.blind, int(loop._loop.bridged)) == ("holding", False, 1)
        loop.step()
        assert (loop.phase, int(loop._loop.bridged)) == ("holding", 0)
        loop.reset()
        assert loop.phase == "running"


EXACT = 1.0 / 1024.0  # a period whose multiples are exact [s]


@pytest.mark.parametrize("speed", [0.5, -0.5])
@pytest.mark.parametrize("frozen", [0.1, EXACT])
@pytest.mark.parametrize("index", [0, 1])
def test_a_velocity_may_be_belied_by_jump_and_no_more(faulty, speed: float, frozen: float, index: int) -> None:
    """The position stays where it is: half a radian a second is a quarter after 512 periods, exactly jump."""
    qd = [0.0, 0.0]
    qd[index] = speed
    shown = Shown(faulty, rate=1024, limits=Limits(jump=0.25, frozen=frozen))
    assert shown.show([0, 0], qd, cycles=513)
    assert abs(shown.loop._loop.stuck[index]) == 0.25
    status = shown.show([0, 0], qd)
    assert (status.name, status.coordinate) == ("STATUS_FROZEN", faulty.model.velocity_names[index])


@pytest.mark.parametrize(
    ("jump", "frozen", "later", "part"),
    [(0.25, 0.1, 0.5, 63 / 64), (0.25, EXACT, 0.5, 63 / 64), (0.25, 0.0, 0.5, 1.0), (0.0, 0.1, 0.25, 0.5)],
)
def test_each_drive_brakes_by_what_is_believed_of_its_velocity(faulty, jump: float, frozen: float, later: float, part) -> None:
    """After one cycle with the same velocity; with another one, and where nothing is watched, each brakes fully."""
    brake = SafeCommand(damping=[3.0, 5.0], gravity=False)
    shown = Shown(faulty, rate=1024, limits=Limits(jump=jump, frozen=frozen, force=400.0), safe=brake)
    shown.show([0, 0], [0.5, 0.5])
    faulty.lib.eg_loop_trip(shown.loop._loop, STATUS["STATUS_TRIPPED"])
    assert shown.show([0, 0], [later, later]).name == "STATUS_TRIPPED"
    assert shown.loop.read()["F"][-1] == pytest.approx([-3.0 * 0.5 * part, -5.0 * 0.5 * part], rel=1e-14)


@pytest.mark.parametrize("speed", [0.5, -0.5])
@pytest.mark.parametrize(("error", "found"), [(0.015, False), (-0.015, False), (0.0, False), (0.0175, True), (-0.0175, True)])
def test_a_coarse_tachometer_that_is_wrong_by_a_hundredth_is_no_fault(faulty, speed: float, error: float, found: bool) -> None:
    """It says the same for four seconds, in which its error adds up to three times jump. More than a 64th is a fault."""
    shown = Shown(faulty, rate=1024, limits=Limits(jump=0.01))
    q = 0.0
    for _ in range(4 * 1024):
        if not shown.show([q, 0], [speed, 0.0]):
            break
        q += (1.0 + error) * speed / 1024.0
    assert shown.loop.status.name == ("STATUS_FROZEN" if found else "STATUS_OK")
    if not found:  # and a velocity that is frozen then is found as soon as ever
        shown.show([q, 0], [speed, 0.0], cycles=1 + int(1024 * 0.011 / 0.5))
        assert shown.loop.status.name == "STATUS_FROZEN"


def test_a_way_is_confirmed_from_four_times_jump_and_to_a_64th(faulty) -> None:
    """Steps and jump are powers of two: the sums are exact, and equal numbers differ from smaller and larger ones."""
    for position, cycles, kept in ((63 / 64, 129, False), (65 / 64, 129, False), (63 / 64, 128, True), (62.5 / 64, 129, True)):
        shown = Shown(faulty, rate=1024, limits=Limits(jump=32 / 1024))
        for k in range(cycles + 1):
            assert shown.show([position * k / 1024.0, 0], [1.0, 0.0])
        off = abs(1.0 - position) * cycles / 1024.0
        assert (abs(shown.loop._loop.stuck[0]), shown.loop._loop.said[0]) == ((off, cycles / 1024.0) if kept else (0.0, 0.0))


def test_velocities_of_bending_are_no_ground_to_stop(cache_dir) -> None:
    """Nothing brakes by them: without drives they may stay the same, as those of nobody's sensors do."""
    library = elastogen.build_loop(BENDING_ARM, plant_source=faulty_source("bending_arm", 6), cflags="-O1")
    plant = FaultyRobot()
    loop = Loop(library, plant=plant, controller=PDGravity())
    loop.tuning.array("jump")[:] = 0.1  # Limits are those of drives; in C they are what their owner writes
    loop.tuning.publish(loop._loop)
    plant.fail("velocity", 1, index=1, value=1.0)
    assert loop.step(300)
