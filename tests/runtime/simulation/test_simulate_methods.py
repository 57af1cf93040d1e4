"""Methods of simulation: order of convergence, energy, agreement with SciPy and with each other, batches, precision."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.linalg import expm
from simulated_robots import SPRING, START

import elastogen
from elastogen import PD, ComputedTorque, Model, ModelError, Table, Waypoints


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
def test_generalized_alpha_damps_what_it_does_not_resolve(rho: float) -> None:
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


def test_steps_are_chosen_so_that_few_are_rejected(arm: Model) -> None:
    s = arm.simulate(START, t=5.0, rtol=1e-8, atol=1e-10, samples=11)
    assert 0 < s.steps < 2000
    assert s.rejections < 0.15 * s.steps


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


def test_newtons_method_begins_near_its_solution(two_link) -> None:
    slow = two_link.simulate([0.3, -0.2], t=0.5, method="generalized_alpha", step=1e-3)
    assert slow.evaluations <= 2.1 * slow.steps  # one correction, and a look at what is left
