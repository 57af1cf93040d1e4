"""Laws of elastogen.laws: against their equations in NumPy, SciPy's filter, and in the loop."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy import signal

import elastogen
from elastogen import laws
from elastogen.runtime.loop.plants import Simulated


@pytest.fixture(scope="module")
def model(cache_dir: Path) -> elastogen.Model:
    robot = elastogen.load("two_link")
    robot = laws.cartesian_impedance(robot, 400.0, 30.0, axes="x", posture_stiffness=[5.0, 7.0], posture_damping=2.0)
    robot = laws.pi_law(robot, [80.0, 60.0], 40.0, 15.0, leak=0.1, output="F_raw")
    return elastogen.build_model(laws.notch(robot, 35.0, 1000.0, width=0.4))


def test_impedance_is_its_equation_and_the_posture_leaves_the_tip_alone(model: elastogen.Model) -> None:
    rng = np.random.default_rng(4)
    q, qd, q_ref = rng.uniform(-1, 1, (3, 2))
    M, J = model.mass_matrix(q), model.jacobian(q)[:1]
    x, goal = (model.forward_kinematics(place)[-1, :1, 3] for place in (q, q_ref))
    L = np.linalg.inv(J @ np.linalg.solve(M, J.T) + 1e-6 * np.eye(1))
    N = np.eye(2) - J.T @ L @ J @ np.linalg.inv(M)
    posture = N @ (np.diag([5.0, 7.0]) @ (q_ref - q) - 2.0 * qd)
    expected = model.gravity_vector(q) + J.T @ (400.0 * (goal - x) - 30.0 * (J @ qd)) + posture
    found = model.evaluate("cartesian_impedance", q=q, qd=qd, q_ref=q_ref)
    assert found == pytest.approx(expected, rel=1e-10)
    assert J @ np.linalg.solve(M, posture) == pytest.approx([0.0], abs=1e-5)
    assert np.abs(posture).max() > 0.1


def test_pi_and_notch_are_those_of_the_textbook_and_of_scipy(model: elastogen.Model) -> None:
    q, qd, q_ref, qd_ref, z = np.random.default_rng(5).uniform(-1, 1, (5, 2))
    F, rate = model.evaluate("pi_law", q=q, qd=qd, q_ref=q_ref, qd_ref=qd_ref, z=z)
    assert pytest.approx(model.gravity_vector(q) + [80, 60] * (q_ref - q) + 40 * z + 15 * (qd_ref - qd)) == F
    assert rate == pytest.approx(q_ref - q - 0.1 * z)
    u = np.random.default_rng(6).standard_normal((300, 2))
    w = 2 * 1000.0 * np.tan(np.pi * 35.0 / 1000.0)  # the frequency that the bilinear transformation puts on 35 Hz
    b, a = signal.bilinear([1.0, 0.0, w * w], [1.0, 0.4 * w, w * w], fs=1000.0)
    z1, z2, found = np.zeros(2), np.zeros(2), []
    for row in u:
        y, z1, z2 = model.evaluate("notch", F_raw=row, z1=z1, z2=z2)
        found.append(y)
    assert np.array(found) == pytest.approx(signal.lfilter(b, a, u, axis=0), abs=1e-12)
    assert np.abs(signal.freqz(b, a, [35.0], fs=1000.0)[1][0]) < 1e-12


def test_a_chain_of_them_brings_the_arm_to_its_goal(model: elastogen.Model) -> None:
    loop = model.loop(controller=["pi_law", "notch"], rate=1000.0, plant=Simulated([0.1, 0.1]))
    assert isinstance(loop.plant, Simulated)
    loop.move_to([0.3, -0.2], seconds=0.5)
    loop.step(600)
    loop.plant.disturbance[:] = [3.0, -2.0]  # a weight that the model does not know
    loop.step(12000)
    assert loop.status
    assert loop.read()["q"][-1] == pytest.approx([0.3, -0.2], abs=0.02)  # the integral carries it, but for the leak


def test_wrong_laws_are_named() -> None:
    robot = elastogen.load("two_link")
    with pytest.raises(elastogen.ModelError, match="axes"):
        laws.cartesian_impedance(robot, 1.0, 1.0, axes="xw")
    with pytest.raises(elastogen.ModelError, match="stiffness"):
        laws.cartesian_impedance(robot, [1.0, 2.0], 1.0, axes="x")
    with pytest.raises(elastogen.ModelError, match="leak"):
        laws.pi_law(robot, 1.0, 1.0, leak=-1.0)
    with pytest.raises(elastogen.ModelError, match="hertz"):
        laws.notch(robot, 600.0, 1000.0)
