"""Every limit of the watchdog at its very value: what is allowed, and the next number beyond, which is not."""

from __future__ import annotations

import numpy as np
import pytest
from loop_setup import STATUS
from loops.shown import Shown, down, up

import elastogen
from elastogen.runtime.loop.controllers import UserController
from elastogen.runtime.loop.loop import Limits, SafeCommand

RUNNING, STOPPING, HOLDING, ENDED = range(4)


NONE = Limits(jump=np.inf, frozen=0.0)


@pytest.mark.parametrize("joint", [0, 1])
def test_positions(faulty, joint: int) -> None:
    limits = Limits(position=(-0.5, 0.75), jump=np.inf)
    for inside, outside in ((0.75, up(0.75)), (-0.5, down(-0.5))):
        shown, q = Shown(faulty, limits=limits), np.zeros(2)
        q[joint] = inside
        assert shown.show(q)
        q[joint] = outside
        status = shown.show(q)
        assert (status.name, status.coordinate) == ("STATUS_POSITION", ("shoulder", "elbow")[joint])


@pytest.mark.parametrize("joint", [0, 1])
def test_velocities(faulty, joint: int) -> None:
    for inside, outside in ((1.5, up(1.5)), (-1.5, down(-1.5))):
        shown, qd = Shown(faulty, limits=Limits(velocity=1.5)), np.zeros(2)
        qd[joint] = inside
        assert shown.show([0, 0], qd)
        qd[joint] = outside
        status = shown.show([0, 0], qd)
        assert (status.name, status.coordinate) == ("STATUS_VELOCITY", ("shoulder", "elbow")[joint])


@pytest.mark.parametrize("joint", [0, 1])
def test_errors(faulty, joint: int) -> None:
    for inside, outside in ((0.25, up(0.25)), (-0.25, down(-0.25))):
        shown, q = Shown(faulty, limits=Limits(error=0.25, jump=np.inf)), np.zeros(2)
        assert shown.show(q)
        q[joint] = inside
        assert shown.show(q)
        q[joint] = outside
        assert shown.show(q).name == "STATUS_TRACKING"


def test_references(faulty) -> None:
    """Rounding of 1e-6 is allowed; the robot itself is far from the limits."""
    for sign in (1.0, -1.0):
        for over, name in ((0.9e-6, "STATUS_OK"), (1.1e-6, "STATUS_REFERENCE")):
            shown = Shown(faulty)
            shown.show([0, 0])
            shown.loop.set_reference([0.0, sign * 0.5])
            edge = 0.5 - over
            shown.loop.set_limits(Limits(position=(-1.0, [1.0, edge]) if sign > 0 else ([-1.0, -edge], 1.0)))
            status = shown.show([0, 0])
            assert status.name == name
            assert status.coordinate == ("" if name == "STATUS_OK" else "elbow")
            shown = Shown(faulty)
            shown.show([0, 0])
            shown.loop.set_reference([0.0, 0.0], qd=[sign * 0.5, 0.0])
            shown.loop.set_limits(Limits(velocity=[0.5 - over, 9.0]))
            assert shown.show([0, 0]).name == name


def test_the_age_of_references(faulty) -> None:
    shown = Shown(faulty, limits=Limits(reference_age=0.01))
    assert shown.show([0, 0], cycles=11)
    assert shown.show([0, 0]).name == "STATUS_STALE_REFERENCE"
    assert shown.loop._loop.fault_index == -1
    assert Shown(faulty).show([0, 0], cycles=5000)


@pytest.mark.parametrize("joint", [0, 1])
def test_frozen_positions(faulty, joint: int) -> None:
    """Twenty cycles in a row with the same value, and twenty in a row with a reference faster than 0.1 rad/s."""
    limits, names = Limits(frozen=0.02, jump=np.inf), ("shoulder", "elbow")

    def reference(shown, speed: float) -> None:
        qd = np.zeros(2)
        qd[joint] = speed
        shown.loop.set_reference([0, 0], qd=qd)

    for speed in (up(0.1), -up(0.1)):
        shown = Shown(faulty, limits=limits)
        assert shown.show([0.1, 0.1], cycles=100)  # at rest: for ever
        reference(shown, speed)
        assert shown.show([0.1, 0.1], cycles=19)
        status = shown.show([0.1, 0.1])
        assert (status.name, status.coordinate) == ("STATUS_FROZEN", names[joint])
    shown = Shown(faulty, limits=limits)
    reference(shown, 0.1)
    assert shown.show([0.1, 0.1], cycles=100), "not faster than 0.1"
    for _ in range(3):  # never twenty in a row
        reference(shown, 0.5)
        assert shown.show([0.1, 0.1], cycles=19)
        reference(shown, 0.0)
        assert shown.show([0.1, 0.1])
    reference(shown, 0.5)
    for k in range(5):
        assert shown.show([0.1 + 1e-3 * k, 0.1 + 1e-3 * k], cycles=19)
    q = np.array([0.2, 0.2])
    assert shown.show(q)
    assert shown.show(q, cycles=19)
    assert shown.show(q).name == "STATUS_FROZEN"
    shown = Shown(faulty, limits=Limits(frozen=0.001, jump=np.inf))
    reference(shown, 0.5)
    assert shown.show([0.1, 0.1])
    assert shown.show([0.1, 0.1]).name == "STATUS_FROZEN", "one cycle is the least"
    shown = Shown(faulty, limits=Limits(frozen=0.0, jump=np.inf))
    reference(shown, 0.5)
    assert shown.show([0.1, 0.1], cycles=300), "not watched"


@pytest.mark.parametrize("joint", [0, 1])
@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize(("before", "now", "passed"), [(0.0, 0.0, 0), (2.0, 1.0, 0), (1.0, -2.0, 0), (2.0, 0.0, 3)])
def test_jumps(faulty, joint: int, sign: float, before: float, now: float, passed: int) -> None:
    """Beyond 0.1 rad and what the greater of the two speeds explains in the ticks between them."""
    explained = 0.1 + 1e-3 * (passed + 1) * max(abs(before), abs(now))
    for way, name in ((explained * (1 - 1e-12), "STATUS_OK"), (explained * (1 + 1e-12), "STATUS_JUMP")):
        shown, q, v, w = Shown(faulty), np.zeros(2), np.zeros(2), np.zeros(2)
        v[joint], w[joint] = before, now
        assert shown.show(q, v)
        q[joint] = sign * way
        status = shown.show(q, w, passed=passed)
        assert status.name == name
        assert status.coordinate == ("" if name == "STATUS_OK" else ("shoulder", "elbow")[joint])


@pytest.mark.parametrize("joint", [0, 1])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_positions_that_cannot_be(faulty, joint: int, sign: float) -> None:
    q = np.zeros(2)
    q[joint] = sign * 1e6
    assert Shown(faulty).show(q)
    q[joint] = sign * up(1e6)
    status = Shown(faulty).show(q)
    assert (status.name, status.coordinate) == ("STATUS_IMPLAUSIBLE", ("shoulder", "elbow")[joint])


@pytest.mark.parametrize("joint", [0, 1])
def test_rest(faulty, joint: int) -> None:
    """Ten cycles in a row, not faster than 0.02 rad/s, in both directions; then the loop holds."""
    for sign in (1.0, -1.0):
        slow, fast = np.zeros(2), np.zeros(2)
        slow[joint], fast[joint] = sign * 0.02, sign * up(0.02)
        shown = Shown(faulty, limits=NONE)
        shown.show([0, 0], fast, cycles=20)
        shown.loop._lib.eg_loop_trip(shown.loop._loop, STATUS["STATUS_TRIPPED"])
        shown.show([0, 0], fast, cycles=20)
        assert shown.loop.phase == "stopping"
        shown.show([0, 0], slow, cycles=9)
        assert shown.loop.phase == "stopping"
        shown.show([0, 0], fast)
        shown.show([0, 0], slow, cycles=9)
        assert shown.loop.phase == "stopping"
        shown.show([0, 0], slow)
        assert shown.loop.phase == "holding"


def test_a_robot_that_rested_before_the_fault_holds_in_the_next_cycle(faulty) -> None:
    for cycles, phase in ((8, "stopping"), (9, "holding"), (30, "holding")):
        shown = Shown(faulty, limits=NONE)
        shown.show([0, 0], cycles=cycles - 1)
        shown.loop._lib.eg_loop_trip(shown.loop._loop, STATUS["STATUS_TRIPPED"])
        shown.show([0, 0])
        assert shown.loop.phase == "stopping"
        shown.show([0, 0])
        assert shown.loop.phase == phase


@pytest.mark.parametrize("joint", [0, 1])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_forces(faulty, joint: int, sign: float) -> None:
    """F = user[0] (q_ref - q): exactly 10 at most; F_trip is exceeded by what is greater, F_max cuts it."""
    names = ("shoulder", "elbow")
    q = np.zeros(2)
    for trip, name in ((10.0, "STATUS_OK"), (down(10.0), "STATUS_FORCE")):
        limits = Limits(force_trip=[trip, trip], jump=np.inf)
        shown = Shown(faulty, limits=limits, controller=UserController(values=[1.0]))
        shown.show(q)
        reference = np.zeros(2)
        reference[joint] = sign * 10.0
        shown.loop.set_reference(reference)
        status = shown.show(q)
        assert (status.name, status.coordinate) == (name, "" if name == "STATUS_OK" else names[joint])
    for most, cut in ((10.0, 0), (9.0, 1)):
        shown = Shown(faulty, limits=NONE, controller=UserController(values=[1.0]))
        shown.show(q)
        shown.loop.set_reference(reference)
        shown.loop.set_limits(Limits(force=most, jump=np.inf))  # after the reference: a force beyond it would be refused
        shown.show(q)
        record = shown.loop.read()[-1]
        assert record["F"][joint] == sign * min(most, 10.0)
        assert record["saturated"] == cut
    shown = Shown(faulty, limits=Limits(force_rate=4000.0, jump=np.inf), controller=UserController(values=[1.0]))
    shown.loop.set_reference(reference)
    shown.show(q, cycles=5)
    records = shown.loop.read()
    np.testing.assert_allclose(records["F"][:, joint], sign * np.array([4.0, 8.0, 10.0, 10.0, 10.0]), rtol=1e-15)
    assert records["saturated"].tolist() == [1, 1, 0, 0, 0]
    shown.loop.set_reference([0.0, 0.0])
    shown.show(q, cycles=4)
    np.testing.assert_allclose(shown.loop.read()["F"][:, joint], sign * np.array([6.0, 2.0, 0.0, 0.0]), atol=1e-14)


def test_commands_that_are_no_numbers(faulty) -> None:
    for joint, name in enumerate(("shoulder", "elbow")):
        shown = Shown(faulty, controller=UserController(values=[1e305]), limits=NONE)
        shown.show([0, 0])
        reference = np.zeros(2)
        reference[joint] = 1e5
        shown.loop.set_reference(reference)
        status = shown.show([0, 0])
        assert (status.name, status.coordinate) == ("STATUS_COMMAND_NOT_FINITE", name)


def test_a_stop_that_takes_longer_goes_on_and_is_counted(faulty) -> None:
    shown = Shown(faulty, limits=NONE, safe=SafeCommand(seconds=0.5))
    shown.loop._lib.eg_loop_trip(shown.loop._loop, STATUS["STATUS_TRIPPED"])
    shown.show([0, 0], [1.0, 0.0], cycles=601)
    assert shown.loop.phase == "stopping"
    assert shown.loop.statistics().overtime == 101
    assert shown.loop.statistics().unfinished == 0


@pytest.mark.parametrize(("after", "asked"), [("end", False), ("hold", True)])
def test_a_stop_that_must_end_ends_in_time(faulty, after: str, asked: bool) -> None:
    shown = Shown(faulty, limits=NONE, safe=SafeCommand(seconds=0.5, after=after))
    shown.show([0, 0], [1.0, 0.0], cycles=5)
    if asked:
        shown.loop._lib.eg_loop_stop(shown.loop._loop)
    else:
        shown.loop._lib.eg_loop_trip(shown.loop._loop, STATUS["STATUS_TRIPPED"])
    shown.show([0, 0], [1.0, 0.0], cycles=500)
    assert shown.loop.phase == "stopping"
    shown.show([0, 0], [1.0, 0.0])
    assert shown.loop.phase == "ended"
    assert shown.loop.statistics().unfinished == 1
    assert bool(shown.loop.status) is asked


def test_phases_are_reported_by_the_records(faulty) -> None:
    shown = Shown(faulty, limits=NONE)
    shown.show([0, 0], [1.0, 0.0], cycles=3)
    shown.loop._lib.eg_loop_trip(shown.loop._loop, STATUS["STATUS_TRIPPED"])
    shown.show([0, 0], [1.0, 0.0], cycles=2)
    shown.show([0, 0], cycles=12)
    shown.loop._lib.eg_loop_stop(shown.loop._loop)
    shown.show([0, 0], cycles=2)
    assert shown.loop.read()["phase"].tolist() == [RUNNING] * 3 + [STOPPING] * 11 + [HOLDING] * 3 + [ENDED] * 2


def test_a_reset_wants_rest(faulty) -> None:
    for joint in (0, 1):
        for sign in (1.0, -1.0):
            shown, fast, slow = Shown(faulty, limits=NONE), np.zeros(2), np.zeros(2)
            fast[joint], slow[joint] = sign * up(0.02), sign * 0.02
            shown.show([0, 0], cycles=20)
            shown.loop._lib.eg_loop_trip(shown.loop._loop, STATUS["STATUS_TRIPPED"])
            shown.show([0, 0], cycles=3)
            assert shown.loop.phase == "holding"
            shown.plant._plant.tick = shown.loop._loop.tick  # nothing moves until the reset reads
            shown.plant.qd[:] = fast
            with pytest.raises(elastogen.ModelError, match="cause persists: a velocity .*" + ("shoulder", "elbow")[joint]):
                shown.loop.reset()
            shown.plant.qd[:] = slow
            shown.loop.reset()
            assert shown.show([0, 0])


def test_a_change_of_limits_does_not_end_a_ramp(faulty) -> None:
    shown = Shown(faulty, limits=NONE, controller=UserController(values=[1.0]))
    shown.loop.set_reference([1.0, 0.0])
    shown.show([0, 0], cycles=5)
    shown.loop.set_gains(values=[3.0], seconds=0.1)
    shown.show([0, 0], cycles=10)
    shown.loop.set_limits(NONE)
    shown.show([0, 0], cycles=10)
    s = np.arange(20) / 100
    expected = 3.0 - 2.0 * (1 - 3 * s**2 + 2 * s**3)
    np.testing.assert_allclose(shown.loop.read()["F"][5:, 0], expected, atol=1e-12)


def test_a_loop_that_ended_goes_on(faulty) -> None:
    """Without a fault: by the next step, where the robot is."""
    shown = Shown(faulty, limits=NONE)
    shown.loop.set_reference([0.5, 0.5])
    shown.show([0, 0], cycles=12)
    shown.loop._lib.eg_loop_finish(shown.loop._loop)
    assert shown.loop.phase == "ended"
    assert shown.show([0.2, 0.1], cycles=5)
    assert shown.loop.phase == "running"
    assert shown.loop.read()["q_ref"][-1].tolist() == [0.2, 0.1]


def test_of_two_faults_in_a_cycle_the_sensors_come_first(faulty) -> None:
    shown = Shown(faulty, limits=NONE)
    shown.show([0, 0], cycles=3)
    shown.loop._lib.eg_loop_trip(shown.loop._loop, STATUS["STATUS_TRIPPED"])
    status = shown.show([0, np.nan])
    assert (status.name, status.coordinate) == ("STATUS_STATE_NOT_FINITE", "elbow")
    assert shown.loop.blind


def test_a_command_that_is_not_written_has_no_coordinate(faulty) -> None:
    shown = Shown(faulty, limits=NONE)
    shown.plant.fail("write", 0)
    assert (shown.show([0, 0]).name, shown.loop.status.coordinate) == ("STATUS_WRITE", "")
    shown.show([0, 0], cycles=15)
    with pytest.raises(elastogen.ModelError, match=r"persists: the command could not be written$"):
        shown.loop.reset()


def test_a_model_that_fails_bridges_nothing(faulty) -> None:
    shown = Shown(faulty, limits=Limits(bridge=5))
    shown.show([0, 0], cycles=3)
    shown.loop.tuning._block.p.payload_mass = np.nan
    shown.loop.tuning.publish(shown.loop._loop)
    status = shown.show([np.nan, 0])
    assert (status.name, status.coordinate) == ("STATUS_STATE_NOT_FINITE", "shoulder")


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_position_that_changes_is_not_suspected(faulty, sign: float) -> None:
    shown = Shown(faulty, limits=Limits(jump=np.inf, frozen=0.05), safe=SafeCommand(predict=True))
    shown.loop.set_reference([0, 0], qd=[0.5, 0.5])
    for k in range(10):
        shown.show([sign * 1e-3 * k, sign * 1e-3 * k])
        assert shown.loop._loop.suspicious == 0
    shown.show([sign, 1e-3 * sign * 10])
    shown.show([sign, 1e-3 * sign * 11])
    assert shown.loop._loop.suspicious == 1
    shown.show([2 * sign, 1e-3 * sign * 12])
    assert shown.loop._loop.suspicious == 0
    for k in range(60):
        shown.show([2 * sign, 1e-3 * sign * (13 + k)])
    assert shown.loop.status.name == "STATUS_FROZEN"
    assert shown.loop._loop.suspicious == 0


def test_what_c_begins_with(faulty) -> None:
    """A loop that nobody tuned: no limits, a stop of a second."""
    loop = faulty.ffi.new("eg_loop_t *")
    faulty.lib.eg_loop_init(loop, 1e-3)
    for tuning in loop.tuning:
        assert (tuning.stop_ticks, tuning.fade_ticks, tuning.safe_gravity) == (1000, 50, 1)
        assert (tuning.stop, tuning.after) == (faulty.constants["STOP_DAMPED"], faulty.constants["AFTER_HOLD"])
        assert list(tuning.rest) == [0.02, 0.02]
        most = np.finfo(float).max
        for field in (tuning.F_step, tuning.jump, tuning.F_max, tuning.F_trip, tuning.qd_max, tuning.q_max, tuning.error_max):
            assert list(field) == [most, most]
        assert list(tuning.q_min) == [-most, -most]
    assert (loop.phase, loop.fault_index, loop.status) == (RUNNING, -1, 0)
