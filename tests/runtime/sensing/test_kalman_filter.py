"""The extended Kalman filter in C: against one written down with NumPy and SciPy, and by its own statistics."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gauged_arms import two_flexible_links
from scipy import linalg, stats
from test_sensor_readings import FREE

import elastogen

SENSORS = ["encoders", "gauge1"]
NOISE = {"rad": 1e-4, "gauge1": 2e-6}
FORCE = np.array([0.05, 0.0, 0.02, 0.0])  # [N m], of the drives


@pytest.fixture(scope="module")
def arm(cache_dir: Path) -> elastogen.Model:
    return elastogen.build_model(two_flexible_links(), cflags="-O2")


@pytest.fixture(scope="module")
def arm_float(cache_dir: Path) -> elastogen.Model:
    return elastogen.build_model(two_flexible_links(), precision="float", cflags="-O2")


class Reference:
    """The same filter, as it stands in textbooks."""

    def __init__(self, model: Any, q: Any, qd: Any, P: Any, force: Any, noise: Any, sensors: Any) -> None:
        self.model, self.q, self.qd, self.P, self.sensors = model, q, qd, P, sensors
        self.force, self.R = np.diag(np.square(force)), np.diag(np.square(noise))

    def step(self, F: Any, y: Any, dt: float) -> None:
        model, n = self.model, self.model.nv
        A = model.linearize(self.q, self.qd, F).A
        M = model.evaluate("mass_matrix", q=self.q)
        f = np.concatenate([self.qd, model.forward_dynamics(self.q, self.qd, F)])
        whole = np.zeros((3 * n + 1, 3 * n + 1))
        whole[: 2 * n, : 2 * n] = A
        whole[n : 2 * n, 2 * n : 3 * n] = np.linalg.inv(M)
        whole[: 2 * n, -1] = f
        E = linalg.expm(whole * dt)
        Ad, Bd, dx = E[: 2 * n, : 2 * n], E[: 2 * n, 2 * n : 3 * n], E[: 2 * n, -1]
        self.move(dx)
        P = Ad @ self.P @ Ad.T + Bd @ self.force @ Bd.T
        expected, H = model.measurement(self.q, self.qd, F, sensors=self.sensors)
        K = P @ H.T @ np.linalg.inv(H @ P @ H.T + self.R)
        self.move(K @ (y - expected))
        keep = np.eye(2 * n) - K @ H
        self.P = keep @ P @ keep.T + K @ self.R @ K.T

    def move(self, dx: Any) -> None:
        n = self.model.nv
        self.q, self.qd = self.model.integrate(self.q, dx[:n]), self.qd + dx[n:]


@pytest.mark.parametrize("precision", ["double", "float"])
def test_steps_are_those_of_the_textbook(precision: str, arm: elastogen.Model, arm_float: elastogen.Model) -> None:
    model = arm if precision == "double" else arm_float
    rng = np.random.default_rng(5)
    sensors = [*SENSORS, "imu"]
    q, qd = np.array([0.3, 0.01, -0.4, 0.005]), np.array([0.5, 0.1, -1.0, 0.05])
    noise = np.array([1e-4, 1e-4, 2e-6, *[5e-3] * 3, *[0.05] * 3])
    ekf = model.ekf(q, qd, force=FORCE, noise=noise, position_error=1e-2, velocity_error=0.1, sensors=sensors)
    P = np.diag([1e-4] * 4 + [1e-2] * 4)
    expected = Reference(arm, q, qd, P, FORCE, noise, sensors)
    for _ in range(20):
        F = np.array([rng.standard_normal(), 0.0, rng.standard_normal(), 0.0])
        y = arm.measurement(expected.q, expected.qd, F, sensors=sensors).y + noise * rng.standard_normal(9)
        ekf.step(F, y, 2e-3)
        expected.step(F, y, 2e-3)
    spread = np.sqrt(np.diag(expected.P))
    close = 1e-9 if precision == "double" else 2e-2
    assert np.abs(np.concatenate([ekf.q - expected.q, ekf.qd - expected.qd]) / spread).max() < close
    assert np.abs((ekf.covariance - expected.P) / np.outer(spread, spread)).max() < close
    assert ekf.used == 9
    assert np.linalg.eigvalsh(ekf.covariance.astype(float)).min() > -1e-12


@pytest.mark.parametrize("precision", ["double", "float"])
def test_what_is_certain_stays_certain(precision: str, arm: elastogen.Model, arm_float: elastogen.Model) -> None:
    """Without any error there is nothing to correct: the covariance stays 0, whatever is read."""
    model = arm if precision == "double" else arm_float
    q, noise = np.array([0.3, 0.01, -0.4, 0.005]), np.array([1e-4, 1e-4, 2e-6])
    ekf = model.ekf(q, np.zeros(4), force=np.zeros(4), noise=noise, position_error=0.0, velocity_error=0.0, sensors=SENSORS)
    for _ in range(3):
        ekf.step(np.zeros(4), np.array([1.0, 1.0, 1e-3]), 1e-3)
    assert not ekf.covariance.any()
    moved = arm.simulate(q, t=[0.0, 3e-3], rtol=1e-10, atol=1e-12)
    assert ekf.q == pytest.approx(moved.q[-1], abs=1e-6)


def test_a_free_base_is_filtered_on_its_manifold() -> None:
    model = elastogen.build_model(FREE)
    rng = np.random.default_rng(2)
    q = model.integrate(model.neutral(), 0.3 * rng.standard_normal(7))
    qd = rng.standard_normal(7)
    sensors = ["encoders", "imu", "tip"]
    ekf = model.ekf(q, qd, force=np.full(7, 0.1), position_error=0.1, velocity_error=0.2, sensors=sensors)
    noise = [1e-4, *[5e-3] * 3, *[0.05] * 3, *[1e-4] * 3]  # the defaults of the units
    expected = Reference(model, q, qd, np.diag([1e-2] * 7 + [4e-2] * 7), np.full(7, 0.1), noise, sensors)
    F = np.zeros(7)
    for _ in range(10):
        y = model.measurement(expected.q, expected.qd, F, sensors=sensors).y + noise * rng.standard_normal(10)
        ekf.step(F, y, 5e-3)
        expected.step(F, y, 5e-3)
    assert ekf.q == pytest.approx(expected.q, abs=1e-10)
    assert ekf.qd == pytest.approx(expected.qd, abs=1e-9)
    assert ekf.covariance == pytest.approx(expected.P, rel=1e-6, abs=1e-12)
    assert np.linalg.norm(ekf.q[3:7]) == pytest.approx(1.0, abs=1e-12)


def test_missing_readings_are_left_out(arm: elastogen.Model) -> None:
    start = np.zeros(4)
    both, gone = (arm.ekf(start, start, force=FORCE, noise=NOISE, sensors=SENSORS) for _ in range(2))
    both.predict(start, 1e-3)
    gone.step(start, [np.nan] * 3, 1e-3)
    assert np.array_equal(both.covariance, gone.covariance)
    assert gone.used == 0
    gone.step(start, [1e-4, np.nan, 1e-6], 1e-3)
    assert gone.used == 2
    assert gone.innovation[1] == 0.0


def test_wrong_arguments_are_named(arm: elastogen.Model) -> None:
    start = np.zeros(4)

    def make(**changed: Any) -> Any:
        return arm.ekf(**{"q": start, "qd": start, "force": 0.1, "sensors": SENSORS, **changed})

    for changed, message in [
        ({"noise": {"gauge2": 1e-6}}, "gauge2"),
        ({"noise": {"rad": -1.0}}, "above 0"),
        ({"noise": [1.0, 2.0]}, "one or 3 numbers"),
        ({"force": [1.0, 2.0, 3.0]}, r"2 \(drives\) or 4"),
        ({"force": -1.0}, "from 0"),
        ({"q": [0.0, 1.0]}, r"expected \(4,\)"),
        ({"position_error": np.nan}, "position_error"),
        ({"sensors": []}, "at least one sensor"),
    ]:
        with pytest.raises(elastogen.ModelError, match=message):
            make(**changed)
    ekf = make()
    with pytest.raises(elastogen.ModelError, match="dt"):
        ekf.step(start, np.zeros(3), 0.0)
    with pytest.raises(elastogen.ModelError, match="infinity"):
        ekf.step(start, [0.0, np.inf, 0.0], 1e-3)
    with pytest.raises(elastogen.ModelError, match="3 numbers"):
        ekf.step(start, np.zeros(4), 1e-3)
    with pytest.raises(elastogen.ModelError, match="no finite result"):
        ekf.step(np.full(4, 1e308), np.zeros(3), 1e-3)


RUNS, STEPS, DT = 100, 400, 2e-3


@pytest.fixture(scope="module")
def truth(arm: elastogen.Model) -> tuple[Any, ...]:
    """A hundred arms that unknown forces push, and what their sensors read."""
    rng = np.random.default_rng(26)
    n = arm.nv
    position, velocity = np.array([2e-3, 1e-3, 2e-3, 1e-3]), np.array([2e-2, 2e-2, 2e-2, 2e-2])
    q = position * rng.standard_normal((RUNS, n))
    qd = velocity * rng.standard_normal((RUNS, n))
    noise = np.array([1e-4, 1e-4, 2e-6])
    forces, readings, states = [], [], []
    for k in range(STEPS):
        F = np.array([1.5 * np.sin(0.02 * k), 0.0, -0.5 * np.sin(0.03 * k), 0.0])
        acting = F + FORCE * rng.standard_normal((RUNS, n))
        h = DT / 4
        for _ in range(4):
            k1 = arm.forward_dynamics(q, qd, acting)
            k2 = arm.forward_dynamics(q + h / 2 * qd, qd + h / 2 * k1, acting)
            k3 = arm.forward_dynamics(q + h / 2 * qd + h * h / 4 * k1, qd + h / 2 * k2, acting)
            k4 = arm.forward_dynamics(q + h * qd + h * h / 2 * k2, qd + h * k3, acting)
            q, qd = q + h * qd + h * h / 6 * (k1 + k2 + k3), qd + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        forces.append(F)
        states.append(np.concatenate([q, qd], axis=1))
        readings.append(arm.measurement(q, qd, F, sensors=SENSORS).y + noise * rng.standard_normal((RUNS, 3)))
    return position, velocity, np.array(forces), np.array(readings), np.array(states)


@pytest.mark.parametrize("precision", ["double", "float"])
def test_errors_are_as_large_as_the_filter_says(
    precision: str, truth: tuple[Any, ...], arm: elastogen.Model, arm_float: elastogen.Model
) -> None:
    """Encoders and one gauge on two flexible links: averages over 100 runs within the 95 % bounds of chi square."""
    model = arm if precision == "double" else arm_float
    position, velocity, forces, readings, states = truth
    places = np.arange(40, STEPS + 1, 40)
    squares = np.zeros((len(places), RUNS))
    distances = np.zeros(RUNS)
    for run in range(RUNS):
        ekf = model.ekf(
            np.zeros(4),
            np.zeros(4),
            force=FORCE,
            noise=NOISE,
            position_error=position,
            velocity_error=velocity,
            sensors=SENSORS,
        )
        for k, place in enumerate(places):
            rows = slice(place - 40, place)
            found = ekf.run(forces[rows], readings[rows, run], DT)
            error = np.concatenate([ekf.q, ekf.qd]) - states[place - 1, run]
            squares[k, run] = error @ np.linalg.solve(ekf.covariance.astype(float), error)
            distances[run] += found.distance.sum()
    low, high = stats.chi2.ppf([0.025, 0.975], RUNS * 8) / RUNS
    means = squares.mean(axis=1)
    assert ((low <= means) & (means <= high)).sum() >= 9, means  # of 10: each leaves the bounds once in 20
    bounds = stats.chi2.ppf([0.025, 0.975], RUNS * STEPS * 3)
    assert bounds[0] <= distances.sum() <= bounds[1]
