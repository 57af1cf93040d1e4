"""Simulation: order of convergence, energy, agreement with SciPy, inputs, batches, failures, interruption."""

from __future__ import annotations

import _thread
import ctypes
import shutil
import subprocess
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.interpolate import CubicSpline
from scipy.linalg import expm

import elastogen
from elastogen import PD, BangBang, CFunction, ComputedTorque, Model, ModelError, SimulationError, Table, Waypoints
from elastogen.runtime.spline import cubic_spline
from elastogen.runtime.trajectory import four_three_four

SPRING: dict[str, Any] = {
    "elastogen": 1,
    "name": "oscillator",
    "gravity": [0, 0, 0],
    "links": [{"name": "base"}, {"name": "arm", "mass": 1, "com": [0.5, 0, 0], "inertia": [0, 0.1, 0.1]}],
    "joints": [
        {
            "name": "j", "type": "revolute", "child": "arm", "axis": [0, 0, 1],
            "motor": {"inertia": 0.002, "gear_ratio": 10},
            "elasticity": {"stiffness": 50, "damping": 0.2},
        }
    ],
}  # fmt: skip
PENDULUM: dict[str, Any] = {
    "elastogen": 1,
    "name": "pendulum",
    "gravity": [0, -9.81, 0],
    "parameters": {"m": {"value": 1.5}, "Izz": {"value": 0.2}, "d": {"value": 0.3}, "c": {"value": 0.4}},
    "live": ["gravity", "m", "Izz", "d", "c"],
    "links": [{"name": "base"}, {"name": "rod", "mass": "m", "com": [0.4, 0, 0], "inertia": [0, "Izz", "Izz"]}],
    "joints": [
        {
            "name": "pivot", "type": "revolute", "child": "rod", "axis": [0, 0, 1],
            "friction": {"viscous": "d", "coulomb": "c", "coulomb_velocity": 0.1},
        }
    ],
}  # fmt: skip
FREE = {"d": 0.0, "c": 0.0, "gravity_y": 0.0}  # the pendulum as a mass on an axis
START = np.array([0.5, 0.3])


@pytest.fixture(scope="module")
def arm() -> Model:
    return elastogen.build_model("two_link", outputs="simulation")


@pytest.fixture(scope="module")
def oscillator() -> Model:
    return elastogen.build_model(SPRING, outputs=["simulation", "mass_matrix", "stiffness_matrix", "damping_matrix"])


@pytest.fixture(scope="module")
def pendulum() -> Model:
    return elastogen.build_model(PENDULUM, outputs="simulation")


def exact_oscillation(model: Model, x0: np.ndarray, times: np.ndarray) -> np.ndarray:
    """States of the linear oscillator, by the matrix exponential."""
    M, K, D = model.mass_matrix(np.zeros(2)), model.stiffness_matrix(), model.damping_matrix()
    A = np.block([[np.zeros((2, 2)), np.eye(2)], [-np.linalg.solve(M, K), -np.linalg.solve(M, D)]])
    return np.array([expm(A * t) @ x0 for t in times])


# ---- methods


@pytest.mark.parametrize(
    ("method", "order", "steps"),
    [("rk4", 4, (0.01, 0.005)), ("tsit5", 5, (0.005, 0.0025)), ("generalized_alpha", 2, (0.002, 0.001))],
)
def test_order_of_convergence(oscillator: Model, method: Any, order: int, steps: tuple[float, float]) -> None:
    """Against the closed form of a linear oscillator; at the steps' ends, and of dense output between them."""
    x0 = np.array([0.0, 0.3, 0.5, -0.2])
    exact = exact_oscillation(oscillator, x0, [1.0])[-1]
    errors = []
    for step in steps:
        loose = {"max_step": step, "rtol": 1e6} if method == "tsit5" else {}
        s = oscillator.simulate(x0[:2], x0[2:], t=[0.0, 1.0], method=method, step=step, **loose)
        assert s.steps == pytest.approx(1 / step, abs=2)
        errors.append(np.abs(np.concatenate([s.q[-1], s.qd[-1]]) - exact).max())
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.25)


def test_order_of_dense_output(oscillator: Model) -> None:
    x0, times = np.array([0.0, 0.3, 0.5, -0.2]), np.linspace(0, 1, 42)
    exact = exact_oscillation(oscillator, x0, times)
    errors = []
    for step in (0.04, 0.02):
        s = oscillator.simulate(x0[:2], x0[2:], t=times, step=step, max_step=step, rtol=1e6)
        errors.append(np.abs(np.hstack([s.q, s.qd]) - exact).max())
    assert np.log2(errors[0] / errors[1]) > 3.7


@pytest.mark.parametrize("rho", [0.0, 0.5, 1.0])
def test_generalized_alpha_damps_what_it_does_not_resolve(oscillator: Model, rho: float) -> None:
    """With steps far longer than the period: rho_inf = 0 ends the vibration in a step or two, 1 keeps it."""
    stiff = elastogen.build_model(
        {**SPRING, "joints": [{**SPRING["joints"][0], "elasticity": {"stiffness": 5e9}}]},
        outputs=["simulation", "mass_matrix"],
    )
    s = stiff.simulate([0.0, 1e-3], t=np.linspace(0, 0.4, 41), method="generalized_alpha", step=0.01, rho_inf=rho)
    left = np.abs(s.q[20:, 1]).max() / 1e-3
    assert (left < 1e-3) if rho < 1 else (left == pytest.approx(1, rel=0.1))


def test_energy_of_a_free_swing(arm: Model) -> None:
    s = arm.simulate(START, t=10.0, rtol=1e-12, atol=1e-12)
    assert s.ok
    assert np.abs(s.energy - s.energy[0]).max() < 1e-9 * s.kinetic.max()
    assert np.abs(s.balance).max() < 1e-9 * s.kinetic.max()
    assert not s.work.any()
    assert not s.dissipated.any()
    np.testing.assert_allclose(s.kinetic, arm.kinetic_energy(s.q, s.qd), rtol=1e-15)
    np.testing.assert_allclose(s.potential, arm.potential_energy(s.q), rtol=1e-15)


@pytest.mark.parametrize("method", ["tsit5", "rk4", "generalized_alpha"])
def test_agreement_with_scipy(arm: Model, method: Any) -> None:
    t = np.linspace(0, 2, 41)
    options, tolerance = {
        "tsit5": ({"rtol": 1e-12, "atol": 1e-12}, 1e-9),
        "rk4": ({"step": 5e-4}, 1e-8),
        "generalized_alpha": ({"step": 5e-4, "rho_inf": 0.8}, 5e-4),
    }[method]
    reference = solve_ivp(
        arm.rhs, (0, 2), [*START, 0, 0], t_eval=t, method="DOP853", rtol=1e-12, atol=1e-13, args=([1.0, -2.0],)
    )
    s = arm.simulate(START, t=t, F=[1.0, -2.0], method=method, **options)
    np.testing.assert_allclose(np.hstack([s.q, s.qd]), reference.y.T, atol=tolerance)


def test_rhs_takes_many_states_at_once(arm: Model, rng: np.random.Generator) -> None:
    y = rng.normal(size=(4, 3))
    controller = PD([0.1, 0.2], 10.0, 1.0)
    for F in (None, [1.0, 2.0], controller, lambda t, q, qd: -q):
        together = arm.rhs(0.5, y, F)
        np.testing.assert_array_equal(together, np.stack([arm.rhs(0.5, column, F) for column in y.T]).T)
    with pytest.raises(ModelError, match=r"rhs: y has shape \(3,\)"):
        arm.rhs(0.0, np.zeros(3))


def test_methods_agree_on_a_flexible_link() -> None:
    """A link of two beam elements with structural damping under a torque that rises and falls."""
    beam = {"type": "elements", "length": 0.8, "mass_per_length": 0.9, "EI": 18, "elements": 2, "damping": {"ratio": 0.02}}
    data = {**SPRING, "name": "beam", "links": [{"name": "base"}, {"name": "arm", "flexible": beam}]}
    data["joints"] = [{"name": "j", "type": "revolute", "child": "arm", "axis": [0, 0, 1], "motor": {"inertia": 0.05}}]
    model = elastogen.build_model(data, outputs="simulation")
    zero = np.zeros((4, model.nq))
    torque = Table([0.0, 0.3, 0.7, 1.0], zero + np.eye(1, model.nq) * [[0.0], [1.0], [-1.0], [0.0]], "linear")
    fine = model.simulate(np.zeros(model.nq), t=1.0, samples=51, F=torque, rtol=1e-10, atol=1e-12)
    assert np.abs(fine.balance).max() < 1e-7 * fine.work.max()
    assert fine.dissipated[-1] > 0
    for options, tolerance in (({"method": "rk4", "step": 1e-4}, 1e-6), ({"method": "generalized_alpha"}, 2e-4)):
        s = model.simulate(np.zeros(model.nq), t=1.0, samples=51, F=torque, **options)
        np.testing.assert_allclose(s.q, fine.q, atol=tolerance * np.abs(fine.q).max())
    force = ComputedTorque(Waypoints([0.0, 0.5], np.array([[0.0], [1.0]]) * np.eye(1, model.nq)), 100.0, 20.0)
    held = model.simulate(np.zeros(model.nq), t=3.0, F=force, method="generalized_alpha", step=2e-3)
    assert held.q[-1, 0] == pytest.approx(1.0, abs=1e-3)


# ---- energy balance


@pytest.mark.parametrize("method", ["tsit5", "rk4", "generalized_alpha"])
def test_work_and_friction_balance(pendulum: Model, method: Any) -> None:
    s = pendulum.simulate([0.2], t=3.0, F=Table([0.0, 1.0, 2.0], [[2.0], [-5.0], [1.0]]), method=method, rtol=1e-10)
    scale = s.kinetic.max() + np.abs(s.work).max() + s.dissipated.max()
    assert s.dissipated[-1] > 0.1
    assert (np.diff(s.dissipated) >= 0).all()
    assert np.abs(s.balance).max() < {"tsit5": 1e-9, "rk4": 1e-8, "generalized_alpha": 1e-4}[method] * scale


def test_friction_forces_are_what_inverse_dynamics_adds(pendulum: Model, rng: np.random.Generator) -> None:
    q, qd = rng.normal(size=(2, 5, 1))
    both = [pendulum.inverse_dynamics(q, sign * qd, np.zeros_like(q)) for sign in (1, -1)]
    np.testing.assert_allclose(pendulum.friction_forces(q, qd), (both[0] - both[1]) / 2, rtol=1e-13)


# ---- inputs


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


# ---- batches and precision


def test_batches_are_single_runs(arm: Model, rng: np.random.Generator) -> None:
    q0, loads = rng.normal(size=(5, 1, 2)), np.array([0.0, 0.5, 1.5])
    options: Any = {"t": np.linspace(0, 0.5, 6), "F": [0.5, 0.1], "method": "rk4"}
    s = arm.simulate(q0, parameters={"payload_mass": loads}, **options)
    assert s.q.shape == (5, 3, 6, 2)
    assert s.kinetic.shape == (5, 3, 6)
    assert s.status.shape == s.steps.shape == (5, 3)
    for i in range(5):
        for j in range(3):
            one = arm.simulate(q0[i, 0], parameters={"payload_mass": loads[j]}, **options)
            np.testing.assert_array_equal(s.q[i, j], one.q)
            np.testing.assert_array_equal(s.work[i, j], one.work)
    with pytest.raises(ModelError, match="do not broadcast"):
        arm.simulate(np.zeros((2, 2)), np.zeros((3, 2)), t=1.0)


def test_single_precision(arm: Model) -> None:
    single = elastogen.build_model("two_link", outputs="simulation", precision="float")
    t = np.linspace(0, 1, 11)
    exact = arm.simulate(START, t=t, rtol=1e-11)
    for method in ("tsit5", "rk4", "generalized_alpha"):
        s = single.simulate(START, t=t, method=method)
        assert s.ok
        assert s.q.dtype == np.float64
        np.testing.assert_allclose(s.q, exact.q, atol=2e-4)


# ---- failures and interruption


def test_a_singular_mass_matrix_is_reported(pendulum: Model) -> None:
    for method in ("tsit5", "rk4", "generalized_alpha"):
        with pytest.raises(SimulationError, match=r"failed at t = 0 s: the mass matrix") as caught:
            pendulum.simulate([0.0], t=1.0, parameters={"m": 0.0, "Izz": 0.0}, method=method)
        assert caught.value.simulation.status == "SINGULAR"
        assert len(caught.value.simulation.t) == 1


@pytest.mark.parametrize(
    ("method", "status", "F"),
    [
        ("rk4", "NOT_FINITE", lambda t, q, qd: np.array([np.nan if t > 0.5 else 1.0])),
        ("tsit5", "NOT_FINITE", lambda t, q, qd: np.array([np.nan if t > 0.5 else 1.0])),
        ("tsit5", "STEP_TOO_SMALL", lambda t, q, qd: np.array([abs(0.5 - t) ** -1.5])),
        ("generalized_alpha", "NEWTON", lambda t, q, qd: -1e16 * (q if t > 0.5 else 0 * q)),
    ],
)  # fmt: skip
def test_failures_keep_what_was_done(pendulum: Model, method: Any, status: str, F: Any) -> None:
    t = np.linspace(0, 1, 101)
    s = pendulum.simulate([0.1], t=t, F=F, method=method, on_failure="keep")
    assert s.status == status
    assert not s.ok
    assert s.time_reached == pytest.approx(0.5, abs=5e-3)
    assert 45 <= len(s.t) <= 51
    for array in (s.q, s.qd, s.F, s.kinetic, s.work):
        assert len(array) == len(s.t)
        assert np.isfinite(array).all()


def test_failures_in_a_batch_leave_the_others(pendulum: Model) -> None:
    options: Any = {"t": np.linspace(0, 1, 11), "parameters": {"Izz": [0.2, 0.0], "m": [1.0, 0.0]}}
    s = pendulum.simulate([0.1], on_failure="keep", **options)
    assert s.status.tolist() == ["OK", "SINGULAR"]
    assert np.isfinite(s.q[0]).all()
    assert np.isfinite(s.q[1, 0]).all()
    assert np.isnan(s.q[1, 1:]).all()
    with pytest.raises(SimulationError, match=r"motion 1 \(the first of 1 of 2\)"):
        pendulum.simulate([0.1], **options)


@pytest.mark.skipif(threading.current_thread() is not threading.main_thread(), reason="Ctrl-C goes to the main thread")
@pytest.mark.parametrize("batch", [False, True])
def test_ctrl_c_keeps_what_is_done(arm: Model, batch: bool, capsys: pytest.CaptureFixture[str]) -> None:
    timer = threading.Timer(1.3, _thread.interrupt_main)
    timer.start()
    begin = time.monotonic()
    q0 = np.stack([START, -START, 2 * START]) if batch else START
    s = arm.simulate(q0, t=np.linspace(0, 1e6, 100_001), method="rk4", step=1e-3, energy=False, progress=True)
    timer.join()
    assert time.monotonic() - begin < 10
    assert s.interrupted
    assert not s.ok
    assert "simulating [" in capsys.readouterr().err
    if not batch:
        assert 10 < len(s.t) < 100_000
        assert np.isfinite(s.q).all()
        assert s.time_reached >= s.t[-1]


# ---- functions, files, plots


def test_missing_functions_are_named() -> None:
    bare = elastogen.build_model(PENDULUM, outputs="mass_matrix")
    with pytest.raises(ModelError, match=r"built without forward_dynamics. Fix: .*outputs="):
        bare.simulate([0.0], t=1.0)
    plain = elastogen.build_model(PENDULUM, outputs="forward_dynamics")
    with pytest.raises(ModelError, match="built without inverse_dynamics, inverse_dynamics_derivatives"):
        plain.simulate([0.0], t=1.0, method="generalized_alpha")
    with pytest.raises(ModelError, match="built without gravity_vector"):
        plain.simulate([0.0], t=1.0, F=PD([0.0], 1, 1))
    s = plain.simulate([0.1], t=1.0)
    assert s.kinetic is None
    assert "energy" not in s.report()
    with pytest.raises(ModelError, match="no kinetic"):
        _ = s.balance


def test_a_default_model_builds_what_a_method_needs(pendulum: Model) -> None:
    model = elastogen.build_model(PENDULUM)
    model.parameters["m"] = 2.0
    s = model.simulate([0.1], t=0.5, method="generalized_alpha")
    same = pendulum.simulate([0.1], t=0.5, method="generalized_alpha", parameters={"m": 2.0})
    np.testing.assert_array_equal(s.q, same.q)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"t": [0, 0]}, "increasing times"), ({"t": -1.0}, "positive number"), ({"t": "now"}, "expected a number"),
        ({"method": "euler"}, "expected one of rk4"), ({"step": 0}, "step=0, expected a positive"),
        ({"rho_inf": 2}, "rho_inf=2"), ({"on_failure": "nan"}, "'raise' or 'keep'"),
        ({"qd0": [1]}, r"qd0 has shape \(1,\)"), ({"q0": "home"}, "q0='home'"), ({"q0": np.zeros((0, 2))}, "empty"),
    ],
)  # fmt: skip
def test_wrong_options_are_named(arm: Model, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ModelError, match=f"two_link.simulate: .*{message}"):
        arm.simulate(**{"q0": START, "t": 1.0, **options})


def test_files(arm: Model, tmp_path: Path) -> None:
    s = arm.simulate(START, t=1.0, samples=21)
    rows = np.genfromtxt(s.save(tmp_path / "s.csv"), delimiter=",", names=True)
    np.testing.assert_array_equal(rows["q_elbow_rad"], s.q[:, 1])
    np.testing.assert_array_equal(rows["kinetic_J"], s.kinetic)
    stored = np.load(s.save(tmp_path / "s.npz"))
    np.testing.assert_array_equal(stored["qd"], s.qd)
    assert str(stored["status"]) == "OK"
    with pytest.raises(ModelError, match=r"expected '.csv' or '.npz'"):
        s.save(tmp_path / "s.txt")
    with pytest.raises(ModelError, match="one motion"):
        arm.simulate([START, START], t=1.0).save(tmp_path / "s.csv")


def test_plots(arm: Model, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    arm.simulate(START, t=1.0).plot(tmp_path / "s.png")
    assert (tmp_path / "s.png").stat().st_size > 10_000


# ---- Dask, the command line, and C alone


def last_angle(simulation: elastogen.Simulation) -> float:
    return float(simulation.q[-1, 0])


def test_a_study_on_a_cluster() -> None:
    distributed = pytest.importorskip("distributed")
    recipe = elastogen.Recipe(PENDULUM, {"outputs": "simulation"})
    cases = [{"q0": [0.1 * k], "t": 0.5, "samples": 2} for k in range(7)]
    local = elastogen.run_study(recipe, cases, reduce=last_angle)
    cluster = distributed.LocalCluster(n_workers=1, threads_per_worker=1, processes=True, dashboard_address=None)
    with cluster, distributed.Client(cluster) as client:
        assert elastogen.run_study(recipe, cases, reduce=last_angle, client=client, chunk=3) == local


def test_a_study_in_this_process() -> None:
    recipe = elastogen.Recipe(PENDULUM, {"outputs": "simulation"})
    assert recipe.model() is elastogen.Recipe(PENDULUM, {"outputs": "simulation"}).model()
    failing = {"q0": [0.0], "t": 1.0, "parameters": {"m": 0.0, "Izz": 0.0}}
    results = elastogen.run_study(recipe, [{"q0": [0.3], "t": 1.0}, failing])
    assert [result.status for result in results] == ["OK", "SINGULAR"]


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from elastogen.command_line import main

    table = tmp_path / "forces.csv"
    table.write_text("# t, F\n0,1,0\n0.5,-1,0\n")
    common = ["simulate", "two_link", "--outputs", "simulation", "--seconds", "0.5"]
    for kind in ("zero", "constant:1,2", "bangbang:1,2:0.4", f"table:{table}", f"linear:{table}", "hold:50:10"):
        target = tmp_path / "out.csv"
        assert main([*common, "--input", kind, "--q0", "0.1,0.2", "--csv", str(target), "--samples", "11"]) == 0
        assert len(target.read_text().splitlines()) == 12
        assert "energy balance" in capsys.readouterr().out
    assert main([*common, "--input", "constant:1"]) == 2
    assert "expected 2 numbers" in capsys.readouterr().err
    assert main([*common, "--input", "sine:1"]) == 2
    assert "bangbang:A,B" in capsys.readouterr().err


MAIN = """
#include "two_link_simulate.h"
#include <math.h>
#include <stdio.h>

static int flips; /* how often the event has changed the state */

static int bounce(void *context, double t, double *q, double *qd)
{
    (void)context;
    int changed = 0;
    if ((q[0] < 0.0) && (qd[0] < 0.0)) {
        qd[0] = -qd[0];
        changed = 1;
        ++flips;
    }
    return (t > 1.5) ? -1 : changed;
}

int main(void)
{
    static two_link_sim_workspace_t workspace;
    const int methods[3] = {TWO_LINK_SIM_METHOD_RK4, TWO_LINK_SIM_METHOD_TSIT5, TWO_LINK_SIM_METHOD_GENERALIZED_ALPHA};
    const double q0[2] = {0.5, 0.3};
    const double qd0[2] = {0.0, 0.0};
    const double times[3] = {0.0, 0.5, 2.0};
    const double switches[2] = {0.0, 0.25};
    const double forces[4] = {1.0, 0.0, -1.0, 0.5};
    double q[6], qd[6], F[6], T[3], V[3], work[3], loss[3];
    const two_link_sim_record_t record = {q, qd, F, T, V, work, loss};
    int bad = 0;
    for (int k = 0; k < 3; ++k) {
        two_link_sim_input_t input = {0};
        two_link_sim_options_t options = {0};
        two_link_sim_control_t control = {0};
        input.rows = 2;
        input.times = switches;
        input.values = forces;
        options.method = methods[k];
        options.step = 1e-3;
        options.rtol = (sizeof(two_link_real_t) == 8u) ? 1e-9 : 1e-5;
        options.atol = options.rtol;
        options.rho_inf = 0.9;
        const int status = two_link_simulate(&two_link_params_nominal, &input, &options, q0, qd0, 3, times, &record,
            &workspace, &control);
        bad += (status != TWO_LINK_SIM_STATUS_OK) || (control.samples != 3u);
        bad += !(fabs(T[1] + V[1] - T[0] - V[0] - work[1] + loss[1]) < 1e-4);
        if (printf("%.6f %.6f\\n", q[2], q[3]) < 0) {
            bad += 1;
        }
        options.event = bounce;
        flips = 0;
        bad += two_link_simulate(&two_link_params_nominal, &input, &options, q0, qd0, 3, times, &record, &workspace,
                   &control) != TWO_LINK_SIM_STATUS_EVENT;
        bad += (control.samples != 2u) || (flips == 0) || !(control.time > 1.5);
        options.method = 99;
        bad += two_link_simulate(&two_link_params_nominal, &input, &options, q0, qd0, 3, times, &record, &workspace,
                   &control) != TWO_LINK_SIM_STATUS_ARGUMENT;
    }
    return bad;
}
"""
WARNINGS = [
    "-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wdouble-promotion", "-Wfloat-equal", "-Wshadow",
    "-Wundef", "-Wcast-qual", "-Wstrict-prototypes", "-Wmissing-prototypes", "-Werror",
]  # fmt: skip


@pytest.mark.parametrize("precision", ["double", "float"])
def test_the_integrators_in_a_program_of_the_user(precision: str, tmp_path: Path) -> None:
    """Strict compilers, sanitizers, events; the three methods agree."""
    elastogen.generate("two_link", tmp_path, outputs="simulation", precision=precision)
    (tmp_path / "main.c").write_text(MAIN)
    for compiler in ("gcc", "clang"):
        if shutil.which(compiler):
            command = [compiler, *WARNINGS, "-O2" if compiler == "gcc" else "-O1", "-c", "two_link_simulate.c"]
            done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr
    flags = ["-std=c99", "-O0", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    subprocess.run(
        ["gcc", *flags, "two_link.c", "two_link_simulate.c", "main.c", "-lm", "-o", "main"], cwd=tmp_path, check=True
    )
    done = subprocess.run([tmp_path / "main"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = np.array([[float(word) for word in line.split()] for line in done.stdout.splitlines()])
    assert np.ptp(lines, axis=0).max() < (2e-5 if precision == "double" else 2e-4)


@pytest.mark.parametrize("outputs", [["forward_dynamics"], ["forward_dynamics", "gravity_vector", "kinetic_energy"]])
def test_every_set_of_functions_compiles(outputs: list[str], tmp_path: Path) -> None:
    elastogen.generate("two_link", tmp_path, outputs=outputs)
    command = ["gcc", *WARNINGS, "-O1", "-c", "two_link_simulate.c"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    symbols = subprocess.run(["nm", "two_link_simulate.o"], cwd=tmp_path, capture_output=True, text=True, check=True)
    exported = {line.split()[-1] for line in symbols.stdout.splitlines() if line.split()[-2] == "T"}
    assert exported == {"two_link_simulate", "two_link_simulate_input"}


def test_a_controller_follows_a_trajectory(two_link: Model) -> None:
    """A 4-3-4 trajectory as reference; computed torque from an exact start keeps to it."""
    motion = four_three_four([[0.0, 0.0], [0.3, 0.2], [0.6, -0.1], [0.5, -0.4]], [0.0, 0.3, 0.6, 1.0])
    times = np.linspace(0.0, 1.0, 41)
    result = two_link.simulate([0.0, 0.0], t=times, F=ComputedTorque(motion, 100.0, 20.0), rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(result.q, motion.at(times).q, atol=1e-6)
