"""Admittance, disturbance observer and LQI in the loop, against simulations by SciPy of what their equations say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import integrate, linalg

import elastogen
from elastogen import laws
from elastogen.runtime.loop.controllers import lqr
from elastogen.runtime.loop.plants import Simulated

RATE = 1000.0
PLACE = np.array([0.4, 0.9])


@pytest.fixture(scope="module")
def model(cache_dir: Path) -> elastogen.Model:
    robot = elastogen.load("two_link")
    robot = laws.disturbance_observer(robot, 150.0, RATE, signal=None, name="pushed")
    robot = laws.admittance(
        robot, 4.0, 30.0, 200.0, RATE, axes="x", posture_stiffness=20.0, posture_damping=8.0
    )  # fmt: skip
    robot = laws.pi_law(robot, 120.0, 0.0, 25.0, output="F_raw")
    return elastogen.build_model(laws.disturbance_observer(robot, [40.0, 60.0], RATE))


def test_the_tip_gives_way_as_mass_damper_and_spring(model: elastogen.Model) -> None:
    """A push of 6 N along x; SciPy integrates the same with the lag of the observer."""
    plant = Simulated(PLACE)
    loop = model.loop(controller=["pushed", "admittance"], plant=plant, rate=RATE)
    loop.step(20)
    start = model.forward_kinematics(plant.q)[-1, 0, 3]
    moved = []
    for _ in range(600):
        plant.disturbance[:] = model.jacobian(plant.q)[0] * 6.0
        assert loop.step(), loop.status
        moved.append(model.forward_kinematics(plant.q)[-1, 0, 3] - start)
    t = np.arange(600) / RATE

    J = model.jacobian(PLACE)[:1]
    mobility = float(
        (J @ np.linalg.solve(model.mass_matrix(PLACE), J.T))[0, 0]
    )  # what is not estimated yet moves the arm itself

    def rates(_: float, state: Any) -> list[float]:
        d, v, f, x, speed = state
        a = (f - 30.0 * v - 200.0 * d) / 4.0
        return [v, a, 150.0 * (6.0 - f), speed, a + 120.0 * (v - speed) + 3600.0 * (d - x) + mobility * (6.0 - f)]

    expected = integrate.solve_ivp(rates, (0.0, t[-1]), np.zeros(5), t_eval=t, rtol=1e-9, atol=1e-12).y[3]
    assert np.abs(np.array(moved) - expected).max() < 0.01 * expected.max()
    assert expected.max() > 0.025


def test_unknown_forces_are_found_and_rejected(model: elastogen.Model) -> None:
    """The estimate follows a step with its bandwidth, sample by sample, and the joints come back."""
    plant = Simulated(PLACE)
    loop = model.loop(controller=["pi_law", "disturbance_observer"], plant=plant, rate=RATE)
    loop.step(20)
    plant.disturbance[:] = [3.0, -1.5]
    loop.step(1)  # until now the force did not act
    estimates = []
    for _ in range(150):
        loop.step()
        record = loop.read()[-1]
        free = model.gravity_vector(record["q"]) + 120.0 * (PLACE - record["q"]) - 25.0 * record["qd"]
        estimates.append(free - record["F"])
    k = np.arange(2, 152)[:, None]
    expected = np.array([3.0, -1.5]) * (1.0 - (1.0 - np.array([40.0, 60.0]) / RATE) ** k)
    assert np.abs(np.array(estimates) - expected).max() < 2e-3
    loop.step(3000)
    assert plant.q == pytest.approx(PLACE, abs=1e-6)


def test_lqi_is_its_linear_system_and_leaves_no_error(cache_dir: Path) -> None:
    """Small motions against scipy's exponential of the closed loop, under a constant force."""
    robot = elastogen.load("two_link")
    plain = elastogen.build_model(robot)
    place = np.array([0.0, 0.0])
    linear = plain.linearize(place, np.zeros(2), plain.gravity_vector(place))
    A, B = laws.with_integral(linear.A, linear.B, plain.driven)
    gain = lqr(A, B, np.diag([400.0, 400.0, 1.0, 1.0, 4000.0, 4000.0]), np.eye(2))
    model = elastogen.build_model(laws.lqi(robot, gain[:, :4], gain[:, 4:]))
    plant = Simulated(place)
    loop = model.loop(controller="lqi", plant=plant, rate=4000.0)
    push = np.array([0.02, -0.01])
    plant.disturbance[:] = push
    found = []
    for _ in range(2000):
        assert loop.step(), loop.status
        found.append(plant.q.copy())
    closed = np.zeros((7, 7))
    closed[:6, :6] = A - B @ gain
    closed[:6, 6] = B @ push
    t = np.arange(2000) / 4000.0
    x0 = np.array([0, 0, 0, 0, 0, 0, 1.0])
    expected = np.array([(linalg.expm(closed * time) @ x0)[:2] for time in t[::40]])
    assert np.abs(np.array(found)[::40] - expected).max() < 0.02 * np.abs(expected).max()
    loop.step(20000)
    assert np.abs(plant.q).max() < 1e-3 * np.abs(expected).max()


def test_wrong_laws_are_named() -> None:
    robot = elastogen.load("two_link")
    for make, message in [
        (lambda: laws.admittance(robot, 0.0, 1.0, 1.0, RATE), "mass"),
        (lambda: laws.admittance(robot, 1.0, 1.0, 1.0, -1.0), "rate"),
        (lambda: laws.admittance(robot, 1.0, 1.0, -1.0, RATE), "stiffness"),
        (lambda: laws.admittance(elastogen.load("flexible_one_link"), 1.0, 1.0, 1.0, RATE), "without drives"),
        (lambda: laws.disturbance_observer(robot, 2000.0, RATE), "bandwidth"),
        (lambda: laws.lqi(robot, np.zeros((2, 3)), np.eye(2)), "K has shape"),
        (lambda: laws.lqi(robot, np.zeros((2, 4)), np.eye(3)), "Ki has shape"),
        (lambda: laws.lqi(robot, np.zeros((2, 4)), np.eye(2), leak=-1.0), "leak"),
        (lambda: laws.with_integral(np.eye(4), np.ones((4, 2)), [5]), "driven"),
    ]:
        with pytest.raises(elastogen.ModelError, match=message):
            make()
