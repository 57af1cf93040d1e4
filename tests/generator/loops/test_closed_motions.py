"""Simulated mechanisms: loops stay closed by every integrator, energy is kept, failures are named."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
from test_loop_descriptions import FOUR_BAR

import elastogen
from elastogen.runtime.interface.integrators import INTEGRATORS

STEPS: dict[str, dict[str, Any]] = {"rk4": {"step": 5e-4}, "generalized_alpha": {"step": 2e-3, "rho_inf": 1.0}, "tsit5": {}}


@pytest.fixture(scope="module")
def model() -> elastogen.Model:
    return elastogen.build_model(FOUR_BAR, outputs=["default", "simulation"], cflags="-O1")


@pytest.mark.parametrize("method", [entry.name for entry in INTEGRATORS])
def test_loops_stay_closed_and_energy_is_kept(model: elastogen.Model, method: str) -> None:
    q0 = model.close_loops([0.3, 0.5, 1.0])
    run = model.simulate(q0, model.driven_map(q0) @ [8.0], t=10.0, samples=301, method=method, **STEPS[method])  # type: ignore[arg-type]
    assert np.abs(model.loop_residual(run.q)).max() < 1e-10
    assert np.abs(np.einsum("tij,tj->ti", model.loop_jacobian(run.q), run.qd)).max() < 1e-10
    energy = run.kinetic + run.potential
    assert np.ptp(energy) < {"rk4": 1e-6, "tsit5": 1e-5, "generalized_alpha": 5e-2}[method] * run.kinetic.max()
    assert abs(run.q[-1, 0] - run.q[0, 0]) > 20  # it went round


def test_controllers_act_by_the_drives(model: elastogen.Model) -> None:
    q0 = model.close_loops([0.3, 0.5, 1.0])
    goal = model.close_loops([0.8, 0.5, 1.4])
    for kind in (elastogen.PD, elastogen.ComputedTorque):
        run = model.simulate(q0, t=4.0, F=kind(goal, 60.0, 12.0), samples=41)
        assert run.q[-1] == pytest.approx(goal, abs=2e-3), kind
        assert not run.F[:, 1:].any()  # passive joints have no drives


def test_starts_are_checked(model: elastogen.Model) -> None:
    q0 = model.close_loops([0.3, 0.5, 1.0])
    with pytest.raises(elastogen.ModelError, match=r"open by 0\.3 \(pin\.x\) at q0.*close_loops"):
        model.simulate([0, 0, 0], t=1.0)
    with pytest.raises(elastogen.ModelError, match="the velocities qd0 open the loops, pin"):
        model.simulate(q0, [1, 0, 0], t=1.0)
    lone = elastogen.build_model(FOUR_BAR, outputs=["forward_dynamics"])
    with pytest.raises(elastogen.ModelError, match="built without loop_residual, loop_jacobian"):
        lone.simulate(q0, t=1.0)


def test_single_precision(model: elastogen.Model) -> None:
    single = elastogen.build_model(FOUR_BAR, outputs=["default", "simulation"], precision="float")
    q0 = single.close_loops([0.3, 0.5, 1.0])
    assert q0.dtype == np.float32
    np.testing.assert_allclose(q0, model.close_loops([0.3, 0.5, 1.0]), atol=3e-6)
    qd, F = model.driven_map(q0) @ [3.0], [1.0, 0, 0]
    expected = model.forward_dynamics(q0, qd, F)
    np.testing.assert_allclose(single.forward_dynamics(q0, qd, F), expected, rtol=1e-4, atol=1e-4 * np.abs(expected).max())
    run = single.simulate(q0, t=2.0, samples=21)
    assert np.abs(model.loop_residual(run.q)).max() < 1e-5
    double = model.simulate(model.close_loops(q0), t=2.0, samples=21)
    np.testing.assert_allclose(run.q, double.q, atol=2e-2)


def test_a_flexible_coupler() -> None:
    file = copy.deepcopy(FOUR_BAR)
    beam = {"type": "elements", "length": 0.8, "mass_per_length": 1.5, "EI": 60, "elements": 2, "damping": {"ratio": 0.01}}
    file["links"][2] = {"name": "coupler", "flexible": beam}
    file["loops"][0]["a"] = {"link": "coupler"}
    model = elastogen.build_model(file, outputs=["default", "simulation"])
    q0 = model.close_loops(np.r_[0.3, 0.5, np.zeros(4), 1.0])
    for method, options in (("tsit5", {}), ("generalized_alpha", {"step": 1e-3})):
        run = model.simulate(q0, t=1.0, samples=51, method=method, **options)  # type: ignore[arg-type]
        assert np.abs(model.loop_residual(run.q)).max() < 1e-10
        balance = run.kinetic + run.potential + run.dissipated
        assert np.ptp(balance) < 2e-3 * np.abs(run.potential).max()


def test_a_floating_mechanism_keeps_its_momentum() -> None:
    file = {**copy.deepcopy(FOUR_BAR), "gravity": [0, 0, 0], "base": "floating"}
    file["links"][0] = {"name": "frame", "mass": 2.0, "inertia": [0.1, 0.1, 0.2]}
    model = elastogen.build_model(file, outputs=["simulation", "centroidal_momentum"])
    q0 = model.close_loops(np.r_[0, 0, 0, 0, 0, 0, 1.0, 0.3, 0.5, 1.0])
    J = model.loop_jacobian(q0)
    _, sizes, V = np.linalg.svd(J)
    qd0 = V[int((sizes > 1e-9).sum()) :].T @ np.random.default_rng(1).normal(size=7)
    run = model.simulate(q0, qd0, t=2.0, samples=21, rtol=1e-10, atol=1e-12)
    assert np.abs(model.loop_residual(run.q)).max() < 1e-10
    momentum = model.centroidal_momentum(run.q, run.qd)
    np.testing.assert_allclose(momentum, np.broadcast_to(momentum[0], momentum.shape), atol=1e-8 * np.abs(momentum).max())


def test_newtons_matrix_of_a_stiff_mechanism_is_exact() -> None:
    """One correction a step is enough; by a matrix that is not the derivative, it takes forty."""
    robot = copy.deepcopy(FOUR_BAR)
    robot["joints"][0] |= {"motor": {"inertia": 0.01}, "elasticity": {"stiffness": 1e6}}
    model = elastogen.build_model(robot, outputs="simulation")
    start = model.close_loops([0.3, 0.0, 0.5, 1.0])
    run = model.simulate(start, t=[0.0, 0.05], method="generalized_alpha", step=2e-4, rho_inf=0.8)
    assert run.status == "OK"
    assert run.evaluations <= 2.5 * run.steps


@pytest.mark.parametrize(
    ("q", "options"),
    [
        ([0.0, 0.0], {}),
        ([0.0, np.nan, 0.0], {}),
        ("abc", {}),
        ([0.3, 0.5, 1.0], {"held": ["crnk"]}),
        ([0.3, 0.5, 1.0], {"held": "crank"}),
        ([0.3, 0.5, 1.0], {"tolerance": 2.0}),
    ],
)
def test_wrong_arguments_of_close_loops_say_what_to_do(model: elastogen.Model, q: Any, options: dict[str, Any]) -> None:
    with pytest.raises(elastogen.ModelError, match=r"close_loops: .*, expected .*\. Fix: "):
        model.close_loops(q, **options)
