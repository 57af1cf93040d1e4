"""Inputs of a simulation: forces over time, controllers with their references, functions in Python and in C."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from typing import Any

import numpy as np
import pytest
from scipy.interpolate import CubicSpline
from simulated_robots import FREE, START

from elastogen import PD, BangBang, CFunction, ComputedTorque, Model, ModelError, SimulationError, Table, Waypoints
from elastogen.runtime.motion.spline import cubic_spline
from elastogen.runtime.motion.trajectory import four_three_four


def test_bang_bang_brings_a_mass_to_rest(pendulum: Model) -> None:
    inertia = float(pendulum.parameters["Izz"] + pendulum.parameters["m"] * 0.4**2)
    for method in ("tsit5", "rk4"):
        t = np.linspace(0, 2, 201)
        s = pendulum.simulate([0.0], t=t, F=BangBang([2.0], 1.3, start=0.25), parameters=FREE, method=method)
        assert s.q[-1, 0] == pytest.approx(2.0 * 1.3**2 / 4 / inertia, rel=1e-12)
        assert abs(s.qd[-1, 0]) < 1e-12
        expected = np.select([t < 0.25, t < 0.9, t < 1.55], [0.0, 2.0, -2.0], 0.0)
        np.testing.assert_array_equal(s.F[:, 0], expected)


def test_tables_hold_or_interpolate(pendulum: Model) -> None:
    times, values = np.array([0.0, 0.3, 0.7, 1.0]), np.array([[0.0], [2.0], [-1.0], [0.5]])
    t = np.linspace(-0.2, 1.4, 161)
    held = pendulum.simulate([0.0], t=t, F=Table(times, values)).F[:, 0]
    np.testing.assert_array_equal(held, values[np.clip(np.searchsorted(times, t, side="right") - 1, 0, 3), 0])
    drawn = pendulum.simulate([0.0], t=t, F=Table(times, values, "linear")).F[:, 0]
    np.testing.assert_allclose(drawn, np.interp(t, times, values[:, 0]), atol=1e-14)


def test_splines_of_references() -> None:
    t, x = np.array([0.0, 0.2, 0.5, 1.1]), np.random.default_rng(3).normal(size=(4, 2))
    spline = CubicSpline(t, x, bc_type="clamped")
    for order, mine in enumerate(cubic_spline(t, x), start=1):
        np.testing.assert_allclose(mine, spline(t, order), atol=1e-12)
    assert not np.any(cubic_spline(t[:1], x[:1]))


def quintic(start: np.ndarray, end: np.ndarray, duration: float) -> Waypoints:
    zero = np.zeros((2, len(start)))
    return Waypoints([0.0, duration], [start, end], zero, zero)


@pytest.mark.parametrize("method", ["tsit5", "rk4", "generalized_alpha"])
def test_computed_torque_tracks_a_rigid_arm(arm: Model, method: Any) -> None:
    """From the reference's start the error stays at rounding; the implicit method has its own error, of order 2."""
    start, end = np.array([0.2, -0.4]), np.array([1.2, 0.9])
    t = np.linspace(0, 1.5, 151)
    fine = {"rtol": 1e-13, "atol": 1e-14} if method == "tsit5" else {"step": 1e-4}
    s = arm.simulate(start, t=t, F=ComputedTorque(quintic(start, end, 1.0), 400.0, 40.0), method=method, **fine)
    x = np.clip(t, 0, 1)[:, None]
    reference = start + (end - start) * x**3 * (10 - 15 * x + 6 * x**2)
    assert np.abs(s.q - reference).max() < (1e-7 if method == "generalized_alpha" else 1e-13)


def test_a_controller_follows_a_trajectory(arm: Model) -> None:
    """A 4-3-4 trajectory as reference; computed torque from an exact start keeps to it."""
    motion = four_three_four([[0.0, 0.0], [0.3, 0.2], [0.6, -0.1], [0.5, -0.4]], [0.0, 0.3, 0.6, 1.0])
    times = np.linspace(0.0, 1.0, 41)
    result = arm.simulate([0.0, 0.0], t=times, F=ComputedTorque(motion, 100.0, 20.0), rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(result.q, motion.at(times).q, atol=1e-6)


def test_errors_under_computed_torque_decay_as_designed(arm: Model) -> None:
    t, kp, kd = np.linspace(0, 1, 51), 25.0, 10.0  # critically damped: e = (1 + 5 t) exp(-5 t) e0
    s = arm.simulate(START, t=t, F=ComputedTorque(np.zeros(2), kp, kd), rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(s.q, np.outer((1 + 5 * t) * np.exp(-5 * t), START), atol=1e-10)


def test_pd_control_settles_where_it_should(arm: Model, oscillator: Model) -> None:
    s = arm.simulate([0.0, 0.0], t=6.0, F=PD([0.7, -0.4], 60.0, 25.0))
    np.testing.assert_allclose(s.q[-1], [0.7, -0.4], atol=1e-5)
    s = oscillator.simulate([0.0, 0.0], t=20.0, F=PD([0.5, 0.0], 10.0, 6.0), method="generalized_alpha")
    assert s.F[:, 1].max() == s.F[:, 1].min() == 0.0  # no drive on the elastic coordinate
    np.testing.assert_allclose(s.q[-1], [0.5, 0.0], atol=1e-4)


@pytest.mark.parametrize("law", [PD, ComputedTorque])
def test_controllers_act_where_there_are_drives(arm: Model, law: Any) -> None:
    goal, actuated = np.array([0.1, 0.2]), [True, False]
    s = arm.simulate(START, t=0.1, F=law(goal, 9.0, 1.0, actuated=actuated), samples=3)
    command = 9.0 * (goal - s.q) - s.qd
    expected = arm.gravity_vector(s.q) + command if law is PD else arm.inverse_dynamics(s.q, s.qd, command)
    np.testing.assert_allclose(s.F, np.where(actuated, expected, 0.0), rtol=1e-12, atol=1e-12)


def test_python_functions_and_their_exceptions(arm: Model) -> None:
    t = np.linspace(0, 1, 11)
    s = arm.simulate(START, t=t, F=lambda t, q, qd: np.array([1.0, -2.0]))
    np.testing.assert_array_equal(s.q, arm.simulate(START, t=t, F=[1.0, -2.0]).q)

    def stumbles(t: float, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        raise ZeroDivisionError("stumbled")

    with pytest.raises(ZeroDivisionError, match="stumbled"):
        arm.simulate(START, t=1.0, F=stumbles)
    with pytest.raises(ModelError, match=r"returned shape \(3,\), expected \(2,\)"):
        arm.simulate(START, t=1.0, F=lambda t, q, qd: np.zeros(3))


@pytest.fixture(scope="module")
def user_library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    folder = tmp_path_factory.mktemp("user")
    (folder / "user.c").write_text(
        "int spring(void *context, double t, const double *q, const double *qd, double *F) {\n"
        "    const double k = *(const double *)context;\n"
        "    F[0] = -k * q[0] - qd[0]; F[1] = -k * q[1] - qd[1];\n"
        "    return t > 0.8 ? 7 : 0;\n}\n"
    )
    compiler = shutil.which("gcc") or shutil.which("cc") or "cc"
    subprocess.run([compiler, "-O2", "-shared", "-fPIC", "user.c", "-o", "user.so"], cwd=folder, check=True)
    return ctypes.CDLL(str(folder / "user.so"))


def test_compiled_functions_of_the_user(arm: Model, user_library: ctypes.CDLL) -> None:
    stiffness = ctypes.c_double(30.0)
    t = np.linspace(0, 0.75, 16)
    F = CFunction(user_library.spring, ctypes.addressof(stiffness), keep=stiffness)
    s = arm.simulate(START, t=t, F=F, max_step=0.05)
    same = arm.simulate(START, t=t, F=lambda t, q, qd: -30.0 * q - qd, max_step=0.05)
    np.testing.assert_allclose(s.q, same.q, rtol=1e-12)
    with pytest.raises(SimulationError, match="function given by F= returned a failure") as caught:
        arm.simulate(START, t=1.0, F=F, method="rk4")
    assert caught.value.simulation.t[-1] == pytest.approx(0.799, abs=2e-3)
    with pytest.raises(ModelError, match="expected an integer address"):
        arm.simulate(START, t=1.0, F=CFunction("spring"))
    for nothing in (0, -8, True, ctypes.c_void_p()):  # a call of it would end the process
        with pytest.raises(ModelError, match="expected that of a function in memory"):
            arm.simulate(START, t=1.0, F=CFunction(nothing))
    with pytest.raises(ModelError, match=r"returned \['a', 'b'\], expected 2 real numbers"):
        arm.simulate(START, t=1.0, F=lambda t, q, qd: ["a", "b"])


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ([1.0], "expected 2 numbers"), ([1.0, np.nan], "finite"), ("fast", "real numbers"),
        (Table([0, 1], [[1, 2]]), r"shape \(2, 2\)"), (Table([1, 0], np.zeros((2, 2))), "increasing"),
        (Table([0], [[1, 2]], "cubic"), "'hold' or 'linear'"), (BangBang([1, 1], 0), "positive"),
        (Waypoints([0], [[0, 0]]), "a controller"), (PD([0, 0], [1, 2, 3], 1), "a number or 2"),
    ],
)  # fmt: skip
def test_wrong_inputs_are_named(arm: Model, wrong: Any, message: str) -> None:
    with pytest.raises(ModelError, match=f"two_link.simulate: F= got .*{message}"):
        arm.simulate(START, t=1.0, F=wrong)
