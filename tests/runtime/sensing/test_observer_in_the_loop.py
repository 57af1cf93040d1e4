"""The observer of a loop: its estimate against a textbook's filter, LQG with it, and its faults."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from c_compilers import COMPILERS, WARNINGS
from gauged_arms import two_flexible_links
from scipy import stats
from test_kalman_filter import Reference

import elastogen
from elastogen.observers.design import ObserverDesign, design_observer
from elastogen.runtime.loop.controllers import PDGravity, StateFeedback, lqr
from elastogen.runtime.loop.loop import Limits, Loop, SafeCommand
from elastogen.runtime.loop.observing.observer import Observer
from elastogen.runtime.loop.plants import Simulated

pytestmark = pytest.mark.filterwarnings("ignore::elastogen.runtime.loop.status.LoopWarning")  # the elbow stops slowly
START, GOAL = np.array([0.3, 0.0, 1.2, 0.0]), [0.45, 1.3]
DRIVES = [0, 2]
RATE = 500.0
READ = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_uint64, ctypes.POINTER(ctypes.c_double))
BRAKED = {"safe": SafeCommand(seconds=1.0)}


@pytest.fixture(scope="module")
def arm(cache_dir: Path) -> elastogen.Model:
    return elastogen.build_model(two_flexible_links())


@pytest.fixture(scope="module")
def design(arm: elastogen.Model) -> ObserverDesign:
    return design_observer(arm, ["encoders", "gauge1"], q=START, rate=RATE, noise={"rad": 1e-4, "gauge1": 2e-6})


def pd() -> PDGravity:
    return PDGravity(kp=[80.0, 20.0], kd=[8.0, 2.0])


def reading(change: Callable[[int, Any], int]) -> Any:
    """A C function that reads the gauge of an arm at rest: nothing, but for what ``change`` does to y at a tick."""

    def read(io: Any, tick: int, y: Any) -> int:
        y[2] = 0.0
        return change(tick, y)

    return READ(read)


def test_the_estimate_is_that_of_the_textbook(arm: elastogen.Model, design: ObserverDesign) -> None:
    """What the controller saw, cycle by cycle, beside the filter of NumPy and SciPy on the same readings and forces."""
    plant = Simulated(START, noise=True, seed=7)
    loop = arm.loop(observer=design.stage(), plant=plant, rate=RATE, controller=pd(), **BRAKED)
    loop.move_to(GOAL, seconds=0.3)
    other: Reference | None = None
    last = np.zeros(4)
    largest = 0.0
    for _ in range(60):
        assert loop.step(), loop.status
        record, y = loop.read()[-1], loop.observer.readings  # type: ignore[union-attr]
        if other is None:
            P = np.diag(np.square([1e-3] * 4 + [1e-2] * 4))
            other = Reference(arm, START.copy(), np.zeros(4), P, design.force, design.noise, design.asked)
            expected, H = arm.measurement(other.q, other.qd, last, sensors=design.asked)
            K = P @ H.T @ np.linalg.inv(H @ P @ H.T + other.R)
            other.move(K @ (y - expected))
            other.P = (np.eye(8) - K @ H) @ P
        else:
            other.step(last, y, 1.0 / RATE)
        assert np.allclose(record["q"], other.q, rtol=0.0, atol=1e-10)
        assert np.allclose(record["qd"], other.qd, rtol=0.0, atol=1e-7)
        last = record["F"].copy()
        largest = max(largest, float(np.abs(record["q"] - plant.q)[[1, 3]].max()))
    assert 1e-8 < largest < 1e-3  # noisy, and near the truth that no encoder sees
    assert np.abs(plant.q[[1, 3]]).max() > 3e-3


def _residual(loop: Loop, plant: Simulated, cycles: int) -> float:
    """Energy of the vibration that is left, as an amplitude, over the second half of what follows a move."""
    energies = []
    for k in range(cycles):
        assert loop.step(), loop.status
        if k > cycles // 2:
            error = plant.q - np.array([GOAL[0], 0.0, GOAL[1], 0.0])
            energies.append(float(np.abs(error[[1, 3]]).max()))
    return max(energies)


def test_lqg_leaves_a_twentieth_of_the_vibration_of_pd(arm: elastogen.Model) -> None:
    goal, zero = np.array([GOAL[0], 0.0, GOAL[1], 0.0]), np.zeros(4)
    period = 1.0 / float(arm.modes(goal).hertz[2])
    linear, M, K = arm.linearize(goal, zero, zero), np.asarray(arm.mass_matrix(goal)), np.asarray(arm.stiffness_matrix())
    joint = np.diag(M)[DRIVES] * (2 * np.pi / period) ** 2
    K[DRIVES, DRIVES] += 0.3 * joint
    weights = np.block([[K, np.zeros((4, 4))], [np.zeros((4, 4)), M]])
    gain = lqr(linear.A, linear.B, weights, 0.1 / joint)
    watched = design_observer(arm, ["encoders", "gauge1"], q=goal, rate=RATE, noise={"gauge1": 2e-6})
    laws = {
        "pd": (PDGravity(kp=np.diag(M)[DRIVES] * 400.0, kd=np.diag(M)[DRIVES] * 40.0), None),
        "lqg": (StateFeedback(K=gain), watched.stage()),
    }
    left = {}
    for name, (law, observer) in laws.items():
        plant = Simulated(START, noise=True)
        loop = arm.loop(controller=law, observer=observer, plant=plant, rate=RATE, **BRAKED)
        loop.move_to(GOAL, seconds=period)
        loop.step(round(period * RATE))
        left[name] = _residual(loop, plant, round(6 * period * RATE))
    assert left["pd"] > 2e-3
    assert left["lqg"] < 0.05 * left["pd"], left


def _errors(arm: elastogen.Model, runs: int, cycles: int) -> np.ndarray[Any, Any]:
    """Normalized squared errors of what the controller saw, over seeded runs that begin as uncertain as is said."""
    rng = np.random.default_rng(26)
    spread = np.array([0.0, 1e-3, 0.0, 1e-3])
    found = []
    observer = Observer(["encoders", "gauge1"], force=[0.05, 0.02], noise={"rad": 1e-4, "gauge1": 2e-6},
                        position_error=[1e-9, 1e-3, 1e-9, 1e-3], velocity_error=1e-9)  # fmt: skip
    for seed in range(1, runs + 1):
        plant = Simulated(START + spread * rng.standard_normal(4), noise=True, seed=seed)
        loop = arm.loop(controller=pd(), observer=observer, plant=plant, rate=RATE, **BRAKED)
        loop.move_to(GOAL, seconds=0.2)
        for _ in range(cycles):
            plant.disturbance[DRIVES] = np.array([0.05, 0.02]) * rng.standard_normal(2)
            assert loop.step(), loop.status
        record = loop.read()[-1]
        error = np.concatenate([record["q"] - plant.q, record["qd"] - plant.qd])
        found.append(error @ np.linalg.solve(loop.observer.covariance, error))  # type: ignore[union-attr]
    return np.array(found)


@pytest.mark.parametrize(("runs", "cycles"), [(12, 60), pytest.param(100, 200, marks=pytest.mark.nightly)])
def test_errors_in_the_loop_are_as_large_as_the_filter_says(arm: elastogen.Model, runs: int, cycles: int) -> None:
    low, high = stats.chi2.ppf([0.025, 0.975], runs * 8) / runs
    assert low <= _errors(arm, runs, cycles).mean() <= high


def test_what_a_driver_writes_for_the_links_is_not_used(arm: elastogen.Model, design: ObserverDesign) -> None:
    """Elastic coordinates of the read function, here exact ones, are not what the controller sees."""
    still = reading(lambda tick, y: 0)
    plant = Simulated(START + np.array([0.0, 0.02, 0.0, 0.0]))
    loop = arm.loop(observer=design.stage(read=still, distance=1e9), plant=plant, rate=RATE, controller=pd(), **BRAKED)
    loop.step()
    assert abs(loop.read()["q"][0, 1]) < 1e-6 < 0.02


@pytest.mark.parametrize(
    ("change", "after", "doubt"),
    [
        (lambda tick, y: int(tick >= 20), 20, ""),  # it says that it failed
        (lambda tick, y: _put(y, float("nan")) if tick >= 20 else 0, 30, "a reading is missing for 11 cycles"),
        (lambda tick, y: _put(y, 1e-2 * (-1) ** tick) if tick >= 20 else 0, 30, "most of all gauge1.strain"),
    ],
    ids=["failed", "missing", "contradiction"],
)
def test_faults(arm: elastogen.Model, design: ObserverDesign, change: Any, after: int, doubt: str) -> None:
    """The loop stops by the measured joints, refuses a reset while the cause lasts, and goes on after it."""
    broken = [True]
    read = reading(lambda tick, y: change(tick, y) if broken[0] else 0)
    plant = Simulated(START, [0.4, 0.0, -0.4, 0.0])
    loop = arm.loop(
        observer=design.stage(read=read, missing=10, patience=10), plant=plant, rate=RATE, controller=pd(), **BRAKED
    )
    loop.step(after)
    assert loop.status, loop.status
    loop.step()
    assert (loop.status.name, loop.status.coordinate, loop._loop.fault_index) == ("STATUS_OBSERVER", "", -1)
    assert doubt in loop.observer.doubt
    assert "loop.observer.doubt" in str(loop.status)
    assert not loop.blind
    loop.step(round(1.0 * RATE))
    assert loop.phase == "holding"
    assert np.abs(plant.qd[DRIVES]).max() < 0.02
    if not doubt:
        with pytest.raises(elastogen.ModelError, match="observer"):
            loop.reset()
    broken[0] = False
    loop.reset()
    assert loop.step(50)
    assert loop.phase == "running"


@pytest.mark.parametrize(("given", "which"), [(float("nan"), "missing"), (1e-3, "patience")])
def test_faults_are_counted_from_the_first_cycle_on(
    arm: elastogen.Model, design: ObserverDesign, given: float, which: str
) -> None:
    """Seven cycles are borne, whatever was counted before a reset; the eighth is a fault."""
    read = reading(lambda tick, y: _put(y, given * (-1) ** tick))
    loop = arm.loop(
        observer=design.stage(read=read, position_error=1e-9, velocity_error=1e-9, **{which: 7}),
        plant=Simulated(START),
        rate=RATE,
        controller=pd(),
        **BRAKED,
    )
    for _ in range(2):
        assert loop.step(7), loop.status
        assert loop.step().name == "STATUS_OBSERVER"
        loop.step(round(1.0 * RATE))
        loop.reset()


@pytest.mark.parametrize(("size", "borne"), [(2.4e-5, True), (4e-5, False)])
def test_the_distance_is_for_each_reading(arm: elastogen.Model, design: ObserverDesign, size: float, borne: bool) -> None:
    """Of an arm at rest without unknown forces, a gauge 12 or 20 times its noise: 144 and 400, of 100 for each of three."""
    read = reading(lambda tick, y: _put(y, size * (-1) ** tick))
    stage = design.stage(read=read, force=0.0, position_error=1e-12, velocity_error=1e-12, distance=100.0, patience=3)
    loop = arm.loop(observer=stage, plant=Simulated(START), rate=RATE, controller=pd(), **BRAKED)
    assert bool(loop.step(30)) == borne


def test_the_worst_reading_is_named(arm: elastogen.Model, design: ObserverDesign) -> None:
    def wrong(tick: int, y: Any) -> int:
        y[0] += 0.05 * (-1) ** tick
        return 0

    loop = arm.loop(observer=design.stage(read=reading(wrong)), plant=Simulated(START), rate=RATE, controller=pd(), **BRAKED)
    loop.step(40)
    assert loop.status.name == "STATUS_OBSERVER"
    assert "most of all shoulder" in loop.observer.doubt  # type: ignore[union-attr]


def test_tachometers_are_what_the_plant_reads(arm: elastogen.Model) -> None:
    nothing = READ(lambda io, tick, y: 0)
    observer = Observer(["encoders", "tachometers"], force=0.05, read=nothing, distance=1e9)
    loop = arm.loop(observer=observer, plant=Simulated(START, [0.1, 0.0, -0.2, 0.0]), rate=RATE, controller=pd(), **BRAKED)
    loop.step()
    assert loop.observer.readings == pytest.approx([0.3, 1.2, 0.1, -0.2], abs=1e-12)  # type: ignore[union-attr]


def test_a_link_is_watched_by_its_estimate(arm: elastogen.Model, design: ObserverDesign) -> None:
    """Limits of elastic coordinates hold for the estimate; before there is one, for where the observer begins."""
    limits = Limits(velocity=[np.inf, 0.5, np.inf, np.inf])
    plant = Simulated(START)
    begin = START + np.array([0.0, 2e-3, 0.0, -1e-3])
    loop = arm.loop(observer=design.stage(q=begin), plant=plant, rate=RATE, controller=pd(), limits=limits, **BRAKED)
    assert loop.step(20), loop.status
    assert loop.read()["q_ref"][0] == pytest.approx(begin, abs=1e-12)
    plant.qd[1] = 3.0  # somebody strikes the link
    loop.step(20)
    assert (loop.status.name, loop.status.coordinate) == ("STATUS_VELOCITY", arm.velocity_names[1])


def _put(y: Any, value: float) -> int:
    y[2] = value
    return 0


def test_a_glitch_of_an_encoder_is_bridged_and_is_no_reading(arm: elastogen.Model, design: ObserverDesign) -> None:
    plant = Simulated(START)
    loop = arm.loop(observer=design.stage(), plant=plant, rate=RATE, controller=pd(), limits=Limits(bridge=3), **BRAKED)
    loop.step(50)
    kept = float(plant.q[0])
    plant.q[0] = np.nan
    loop.step()
    plant.q[:], plant.qd[:] = [kept, *START[1:]], 0.0
    assert loop.step(), loop.status
    assert loop.statistics().bridged == 1
    assert loop.step(20)
    assert np.allclose(loop.read()["q"][-1], plant.q, atol=1e-4)


class JointsOnly(Simulated):
    """A robot that has no function for readings beyond those of its joints."""

    def readings(self, library: Any, noise: Any) -> tuple[int, int]:
        return 0, 0


def test_without_a_function_only_joints_are_read(arm: elastogen.Model) -> None:
    """A gauge is missing then; in a cycle that the model bridges all readings are, and none of them is doubtful."""
    observer = Observer(["encoders", "gauge1"], force=0.05, noise={"rad": 1e-4, "gauge1": 2e-6}, missing=100)
    plant = JointsOnly(START)
    loop = arm.loop(observer=observer, plant=plant, rate=RATE, controller=pd(), limits=Limits(bridge=3), **BRAKED)
    assert loop.step(5), loop.status
    stage = loop.observer
    assert stage is not None
    assert stage.readings[:2] == pytest.approx([0.3, 1.2], abs=1e-3)
    assert not np.isfinite(stage.readings[2])
    kept = float(plant.q[0])
    plant.q[0] = np.nan
    assert loop.step(), loop.status
    assert not np.isfinite(stage.readings).any()
    assert (int(stage._block.doubtful), int(stage._block.missing)) == (0, 6)
    plant.q[0] = kept


def test_an_estimate_that_cannot_be_is_a_fault_at_once(arm: elastogen.Model, design: ObserverDesign) -> None:
    """However patient: a gauge that says 1e15 moves the estimated deflection beyond 1e6."""
    wild = reading(lambda tick, y: _put(y, 1e15 if tick == 5 else 0.0))
    observer = design.stage(read=wild, distance=1e30, patience=1000)
    loop = arm.loop(observer=observer, plant=Simulated(START), rate=RATE, controller=pd(), **BRAKED)
    assert loop.step(5), loop.status
    assert loop.step().name == "STATUS_OBSERVER"


def test_single_precision(cache_dir: Path, design: ObserverDesign) -> None:
    model = elastogen.build_model(two_flexible_links(), precision="float")
    plant = Simulated(START, noise=True)
    loop = model.loop(observer=design.stage(), plant=plant, rate=RATE, controller=pd(), **BRAKED)
    loop.move_to(GOAL, seconds=0.3)
    assert loop.step(200), loop.status
    assert np.allclose(loop.read()["q"][-1], plant.q, atol=2e-4)


@pytest.mark.parametrize("precision", ["double", "float"])
def test_the_emitted_files_compile_without_a_warning(precision: str, tmp_path: Path) -> None:
    robot = elastogen.load(two_flexible_links()).with_sensors("encoders", "tachometers", "imu.gyroscope")
    elastogen.generate_loop(robot, tmp_path, precision=precision)
    names = {path.name for path in tmp_path.iterdir()}
    assert {"gauged_ekf.c", "gauged_ekf.h", "gauged_loop.c", "gauged_loop.h"} <= names
    for source in ("gauged_ekf.c", "gauged_loop.c"):
        subprocess.run([COMPILERS[0], *WARNINGS, "-O1", "-c", source, "-o", "out.o"], cwd=tmp_path, check=True)
    text = (tmp_path / "gauged_loop.c").read_text(encoding="ascii")
    assert "gauged_loop_encoder[7] = {0, 2, 4, 6, -1, -1, -1}" in text


def test_wrong_observers_are_named(arm: elastogen.Model, design: ObserverDesign) -> None:
    for changed, message in [
        ({"force": None}, "force is missing"),
        ({"force": [-1.0, 0.0]}, "force"),
        ({"noise": {"gauge9": 1.0}}, "gauge9"),
        ({"distance": 0.0}, "distance"),
        ({"patience": -1}, "patience"),
        ({"q": [1.0]}, "q="),
        ({"position_error": -1.0}, "position_error"),
        ({"read": 0}, "null pointer"),
    ]:
        with pytest.raises(elastogen.ModelError, match=message):
            arm.loop(observer=design.stage(**changed), rate=RATE)
    with pytest.raises(elastogen.RobotError, match="gauge7"):
        arm.loop(observer=Observer(["gauge7"], force=0.1), rate=RATE)
    with pytest.raises(elastogen.ModelError, match="expected None or an Observer"):
        arm.loop(observer="ekf", rate=RATE)
    with pytest.raises(elastogen.ModelError, match="has no sensors"):
        Loop(elastogen.build_loop("two_link"), observer=Observer(force=0.1))
