"""Own terms in compiled models: float and double, simulation with time, energy, the implicit method, modes, refusals."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest
import sympy
from c_compilers import COMPILERS, WARNINGS
from own_terms_arm import arm as robot_with_terms
from own_terms_arm import by_hand
from scipy.integrate import solve_ivp

import elastogen

T_END = 0.5


@pytest.fixture(scope="module")
def shaken() -> elastogen.Model:
    return elastogen.build_model(robot_with_terms(), outputs=["simulation", "stiffness_matrix", "mass_matrix"])


@pytest.mark.parametrize("method", ["tsit5", "rk4", "generalized_alpha"])
def test_motion_is_that_of_the_equations_written_by_hand(method: str, shaken: elastogen.Model, arm: elastogen.Model) -> None:
    """The plain arm's functions and the hand-written terms, integrated by SciPy."""

    def slope(t: float, y: np.ndarray) -> np.ndarray:
        q, qd = y[:2], y[2:]
        _, spring, other = by_hand(q, qd, t)
        return np.concatenate([qd, arm.forward_dynamics(q, qd, -spring - other)])

    start = np.array([0.4, -1.1, 0.9, -0.3])
    expected = solve_ivp(slope, (0.0, T_END), start, rtol=1e-10, atol=1e-12, method="DOP853").y[:, -1]
    options = {} if method == "tsit5" else {"step": 1e-3 if method == "rk4" else 2e-4}
    if method == "tsit5":
        options = {"rtol": 1e-9, "atol": 1e-11}
    run = shaken.simulate(q0=start[:2], qd0=start[2:], t=T_END, method=method, **options)
    tolerance = 2e-6 if method == "generalized_alpha" else 1e-7
    np.testing.assert_allclose(np.concatenate([run.q[-1], run.qd[-1]]), expected, rtol=tolerance, atol=tolerance)


def test_parameters_of_terms_change_while_the_model_lives(shaken: elastogen.Model) -> None:
    q, zero = np.array([0.4, -1.1]), np.zeros(2)
    with_spring = shaken.inverse_dynamics(q, zero, zero)
    without = shaken.inverse_dynamics(q, zero, zero, parameters={"k": 0.0})
    _, spring, _ = by_hand(q, zero, 0.0)
    np.testing.assert_allclose(with_spring - without, spring, rtol=1e-12)
    assert shaken.stiffness_matrix(q)[0, 0] > 10.0
    batch = shaken.inverse_dynamics(np.stack([q, q]), np.zeros((2, 2)), np.zeros((2, 2)))
    np.testing.assert_array_equal(batch[0], with_spring)


def test_energy_of_a_conservative_term_is_kept() -> None:
    robot = elastogen.load("two_link")
    s = elastogen.symbols(robot)
    stop = sympy.Max(s.coordinate("elbow") - 1, 0)  # a soft stop of the elbow
    robot = robot.with_terms(name="stop", potential=500 * stop**3 + 20 * (s.position("tip").norm() - 1) ** 2)
    for precision, tolerance in (("double", 1e-8), ("float", 1e-3)):
        model = elastogen.build_model(robot, outputs="simulation", precision=precision)
        run = model.simulate(q0=[0.3, 0.2], qd0=[0.0, 3.0], t=0.4, rtol=1e-10, atol=1e-12)
        assert run.q[:, 1].max() > 1.01
        assert np.abs(run.balance).max() < tolerance * np.abs(run.energy).max()


@pytest.mark.parametrize("precision", ["double", "float"])
def test_the_emitted_c_is_clean(precision: str, tmp_path: Path) -> None:
    files = elastogen.generate(robot_with_terms(), tmp_path, outputs="simulation", precision=precision)
    text = files.source.read_text()
    assert ("expf(" if precision == "float" else "exp(") in text
    for compiler in COMPILERS:
        for source in tmp_path.glob("two_link*.c"):
            command = [compiler, *WARNINGS, "-fsyntax-only", str(source)]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr
