"""Crocoddyl: derivatives against its own differences and against Pinocchio, on all kinds of bases, and an optimal motion."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from simulated_robots import BENDING, FLOATING

import elastogen

SPHERICAL = {
    "elastogen": 1,
    "name": "ball",
    "links": [{"name": "base"}, {"name": "bar", "mass": 1.5, "com": [0.3, 0, 0.1], "inertia": [0.02, 0.08, 0.07]}],
    "joints": [{"name": "socket", "type": "spherical", "child": "bar"}],
}
ROBOTS = {"two_link": "two_link", "flexible": BENDING, "floating": FLOATING, "spherical": SPHERICAL}
URDF = """<robot name="glider">
  <link name="hull"><inertial><origin xyz="0.1 0 0.05"/><mass value="2"/>
    <inertia ixx="0.3" iyy="0.2" izz="0.25" ixy="0.01" ixz="0" iyz="-0.02"/></inertial></link>
  <link name="arm"><inertial><origin xyz="0.2 0.1 0"/><mass value="1"/>
    <inertia ixx="0.03" iyy="0.02" izz="0.025" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="hinge" type="revolute"><parent link="hull"/><child link="arm"/><origin xyz="0.3 0 0.1" rpy="0.2 0 0.4"/>
    <axis xyz="0 1 0"/><limit lower="-3" upper="3" effort="20" velocity="9"/></joint>
</robot>"""


@pytest.fixture(scope="module")
def crocoddyl():
    return pytest.importorskip("crocoddyl", reason="Crocoddyl is not installed: make bridges", exc_type=ImportError)


@pytest.fixture(scope="module", params=ROBOTS)
def model(request: pytest.FixtureRequest) -> elastogen.Model:
    return elastogen.build_model(ROBOTS[request.param])


def with_costs(crocoddyl, differential, goal, weight: float = 1.0) -> None:
    """Squares of the state's distance to a goal, and of the controls."""
    state, nu = differential.state, differential.nu
    for name, residual, factor in (
        ("state", crocoddyl.ResidualModelState(state, goal, nu), weight),
        ("controls", crocoddyl.ResidualModelControl(state, nu), 1e-3),
    ):
        differential.costs.addCost(name, crocoddyl.CostModelResidual(state, residual), factor)


def point(model: elastogen.Model, nu: int, seed: int = 3):
    rng = np.random.default_rng(seed)
    q = model.integrate(model.neutral(), rng.uniform(-0.4, 0.4, model.nv))
    return np.concatenate([q, rng.uniform(-0.5, 0.5, model.nv)]), rng.uniform(-1, 1, nu)


@pytest.mark.parametrize("integrator", ["euler", "rk4"])
def test_derivatives_are_those_of_differences(crocoddyl, model: elastogen.Model, integrator: str) -> None:
    action = model.to_crocoddyl(dt=0.01, integrator=integrator)
    with_costs(crocoddyl, action.differential, action.state.zero())
    x, u = point(model, action.nu)
    differences = crocoddyl.ActionModelNumDiff(action, True)
    ours, theirs = action.createData(), differences.createData()
    for each, data in ((action, ours), (differences, theirs)):
        each.calc(data, x, u)
        each.calcDiff(data, x, u)
    assert ours.Fx.shape == (2 * model.nv, 2 * model.nv)
    for name in ("Fx", "Fu", "Lx", "Lu"):
        found, expected = getattr(ours, name), getattr(theirs, name)
        assert np.abs(found - expected).max() < 2e-6 * max(1.0, np.abs(expected).max()), name


def test_accelerations_are_those_of_the_model(crocoddyl, model: elastogen.Model) -> None:
    differential = model.to_crocoddyl(dt=None)
    x, u = point(model, differential.nu)
    data = differential.createData()
    differential.calc(data, x, u)
    F = np.zeros(model.nv)
    F[list(model.driven)] = u
    assert np.array_equal(data.xout, model.forward_dynamics(x[: model.nq], x[model.nq :], F))
    v = np.linspace(-1, 1, 2 * model.nv)
    moved = np.concatenate([model.integrate(x[: model.nq], v[: model.nv]), x[model.nq :] + v[model.nv :]])
    assert np.allclose(differential.state.integrate(x, v), moved, rtol=0, atol=1e-14)


def test_a_floating_base_is_that_of_pinocchio(crocoddyl, tmp_path) -> None:
    """The same URDF in Pinocchio, and in Crocoddyl's own free forward dynamics.

    That one with an armature of zero, by the mass matrix: without it Crocoddyl 3.2.1 beside Pinocchio 4.1 leaves out gravity in
    the base's linear acceleration, which Pinocchio's own ``aba`` of the same model has.
    """
    pinocchio = pytest.importorskip("pinocchio", reason="Pinocchio is not installed: make bridges")
    path = tmp_path / "glider.urdf"
    path.write_text(URDF, encoding="utf-8")
    model = elastogen.build_model(elastogen.load(path, base="floating"))
    ours = model.to_crocoddyl(dt=None)
    peer = pinocchio.buildModelFromXML(URDF, pinocchio.JointModelFreeFlyer())
    state, scratch = crocoddyl.StateMultibody(peer), peer.createData()
    actuation = crocoddyl.ActuationModelFloatingBase(state)
    theirs = crocoddyl.DifferentialActionModelFreeFwdDynamics(state, actuation, crocoddyl.CostModelSum(state, actuation.nu))
    theirs.armature = np.zeros(7)
    assert (ours.nu, ours.state.nx, ours.u_ub[0]) == (1, 15, 20.0)
    for seed in range(3):
        x, u = point(model, 1, seed)
        found, expected = ours.createData(), theirs.createData()
        for each, data in ((ours, found), (theirs, expected)):
            each.calc(data, x, u)
            each.calcDiff(data, x, u)
        tau = np.concatenate([np.zeros(6), u])
        assert np.allclose(found.xout, pinocchio.aba(peer, scratch, x[:8], x[8:], tau), rtol=0, atol=1e-12)
        by_q, by_qd, _ = pinocchio.computeABADerivatives(peer, scratch, x[:8], x[8:], tau)
        assert np.allclose(found.Fx, np.hstack([by_q, by_qd]), rtol=0, atol=1e-11)
        for name in ("xout", "Fx", "Fu"):
            a, b = getattr(found, name), getattr(expected, name)
            assert np.abs(a - np.reshape(b, a.shape)).max() < 1e-10 * max(1.0, np.abs(b).max()), name


def test_fddp_finds_a_motion_that_the_simulation_repeats(crocoddyl) -> None:
    """A two-link arm is brought to rest at a goal in 40 Runge-Kutta steps."""
    model, dt, steps = elastogen.build_model("two_link"), 0.02, 40
    goal, start = np.array([0.5, -0.3, 0.0, 0.0]), np.zeros(4)
    running, last = (model.to_crocoddyl(dt=dt, integrator="rk4") for _ in range(2))
    with_costs(crocoddyl, running.differential, goal, 1e-1)
    with_costs(crocoddyl, last.differential, goal, 1e6)
    solver = crocoddyl.SolverFDDP(crocoddyl.ShootingProblem(start, [running] * steps, last))
    hold = model.gravity_vector(start[:2])
    assert solver.solve([start] * (steps + 1), [hold] * steps, 100, False)
    assert np.abs(solver.xs[-1] - goal).max() < 2e-2
    forces = elastogen.Table(dt * np.arange(steps), np.array(list(solver.us)))
    motion = model.simulate(start[:2], start[2:], t=[0.0, steps * dt], F=forces, method="rk4", step=dt)
    assert np.allclose(np.concatenate([motion.q[-1], motion.qd[-1]]), solver.xs[-1], rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dt": 0}, "dt=0, expected a positive number of seconds"),
        ({"dt": "x"}, "dt: got 'x'"),
        ({"dt": 0.01, "integrator": "rk5"}, "integrator='rk5', expected one of euler, rk2, rk3, rk4"),
    ],
)
def test_wrong_arguments_are_named(crocoddyl, options: dict, message: str) -> None:
    with pytest.raises(elastogen.ModelError, match=message):
        elastogen.build_model("two_link").to_crocoddyl(**options)


def test_robots_that_it_cannot_take_are_named(crocoddyl) -> None:
    with pytest.raises(elastogen.ModelError, match="the model is in float32, expected float64"):
        elastogen.build_model("two_link", precision="float").to_crocoddyl(dt=0.01)
    undriven = {**FLOATING, "name": "adrift", "joints": [{**FLOATING["joints"][0], "driven": False}]}
    with pytest.raises(elastogen.ModelError, match="no joint has a drive"):
        elastogen.build_model(undriven).to_crocoddyl(dt=0.01)


def test_without_crocoddyl(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "crocoddyl", None)
    with pytest.raises(elastogen.ModelError, match=r"crocoddyl is needed.*pip install 'elastogen\[crocoddyl\]'"):
        elastogen.build_model("two_link").to_crocoddyl(dt=0.01)
