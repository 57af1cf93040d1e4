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
ROBOTS = {
    "two_link": "two_link", "flexible": BENDING, "floating": FLOATING, "spherical": SPHERICAL, "loops": "four_bar",
}  # fmt: skip
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


@pytest.fixture(scope="module")
def glider(tmp_path_factory: pytest.TempPathFactory) -> elastogen.Model:
    """A free hull with an arm, whose end may be held."""
    path = tmp_path_factory.mktemp("glider") / "glider.urdf"
    path.write_text(URDF, encoding="utf-8")
    contacts = [{"frame": "arm", "rows": 3}, {"frame": "hull", "rows": 6}]
    return elastogen.build_model(elastogen.load(path, base="floating"), contacts=contacts)


def with_costs(crocoddyl, differential, goal, weight: float = 1.0) -> None:
    """Squares of the state's distance to a goal, and of the controls."""
    state, nu = differential.state, differential.nu
    for name, residual, factor in (
        ("state", crocoddyl.ResidualModelState(state, goal, nu), weight),
        ("controls", crocoddyl.ResidualModelControl(state, nu), 1e-3),
    ):
        differential.costs.addCost(name, crocoddyl.CostModelResidual(state, residual), factor)


def point(model: elastogen.Model, nu: int, seed: int = 3):
    """A state near the neutral one, or the linkage of four bars with its loop closed, and controls."""
    rng = np.random.default_rng(seed)
    away = rng.uniform(-0.4, 0.4, model.nv)
    q = model.integrate(model.neutral(), away)
    if model.metadata.loops is not None:
        q = model.close_loops([0.6, -2.5, -3.3])
    return np.concatenate([q, rng.uniform(-0.5, 0.5, model.nv)]), rng.uniform(-1, 1, nu)


def slopes(of, at, count: int, h: float = 2e-3) -> np.ndarray:
    """Columns d of(at(t e_k)) / dt, by differences of eighth order."""
    weights = ((1, 4 / 5), (2, -1 / 5), (3, 4 / 105), (4, -1 / 280))
    return np.transpose([
        sum(w * (of(at(n * h * e)) - of(at(-n * h * e))) for n, w in weights) / h for e in np.eye(count)
    ])  # fmt: skip


def accelerations_of(differential, x, u) -> np.ndarray:
    data = differential.createData()
    differential.calc(data, x, u)
    return np.array(data.xout)


def check_derivatives(differential, x, u, tolerance: float = 1e-8) -> None:
    """Fx and Fu against differences of the accelerations, along the state's own manifold."""
    data = differential.createData()
    differential.calc(data, x, u)
    differential.calcDiff(data, x, u)
    by_x = slopes(lambda x: accelerations_of(differential, x, u), lambda dx: differential.state.integrate(x, dx), len(data.Lx))
    by_u = slopes(lambda u: accelerations_of(differential, x, u), lambda du: u + du, len(u))
    for found, expected in ((data.Fx, by_x), (np.reshape(data.Fu, by_u.shape), by_u)):
        assert np.abs(found - expected).max() < tolerance * max(1.0, np.abs(expected).max())


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


def test_derivatives_are_those_of_differences_of_high_order(crocoddyl, model: elastogen.Model) -> None:
    differential = model.to_crocoddyl(dt=None)
    check_derivatives(differential, *point(model, differential.nu))


@pytest.mark.parametrize("integrator", ["euler", "rk2", "rk3", "rk4"])
def test_derivatives_of_long_steps_are_exact(crocoddyl, model: elastogen.Model, integrator: str) -> None:
    """Steps of 0.05 s: Crocoddyl's own Runge-Kutta ones are off by 1e-5 along quaternions, that of order 3 everywhere."""
    action = model.to_crocoddyl(dt=0.05, integrator=integrator)
    with_costs(crocoddyl, action.differential, action.state.zero())
    state, (x, u), data = action.state, point(model, action.nu), action.createData()
    action.calc(data, x, u)
    action.calcDiff(data, x, u)
    first = data.xnext.copy()

    def after(x, u) -> np.ndarray:
        """How the next state moves, and the cost."""
        moved = action.createData()
        action.calc(moved, x, u)
        return np.append(state.diff(first, moved.xnext), moved.cost)

    by_x = slopes(lambda x: after(x, u), lambda dx: state.integrate(x, dx), state.ndx)
    by_u = slopes(lambda u: after(x, u), lambda du: u + du, action.nu)
    for found, expected in (
        (np.vstack([data.Fx, data.Lx]), by_x),
        (np.vstack([np.reshape(data.Fu, by_u[1:].shape), data.Lu]), by_u),
    ):
        assert np.abs(found - expected).max() < 1e-8 * max(1.0, np.abs(expected).max())


@pytest.mark.parametrize(("integrator", "kind"), [("rk2", "two"), ("rk4", "four")])
def test_steps_without_quaternions_are_those_of_crocoddyl(crocoddyl, integrator: str, kind: str) -> None:
    """With second derivatives of the costs; its step of order 3 has wrong derivatives here, too."""
    ours = elastogen.build_model("two_link").to_crocoddyl(dt=0.05, integrator=integrator)
    with_costs(crocoddyl, ours.differential, np.array([0.5, -0.3, 0.2, 0.1]))
    theirs = crocoddyl.IntegratedActionModelRK(ours.differential, getattr(crocoddyl.RKType, kind), 0.05)
    x, u, (found, expected) = (
        *np.split(np.random.default_rng(2).uniform(-1, 1, 6), [4]),
        (ours.createData(), theirs.createData()),
    )
    for each, data in ((ours, found), (theirs, expected)):
        each.calc(data, x, u)
        each.calcDiff(data, x, u)
    for name in ("xnext", "cost", "Fx", "Fu", "Lx", "Lu", "Lxx", "Lxu", "Luu"):
        assert np.allclose(getattr(found, name), getattr(expected, name), rtol=1e-12, atol=1e-12), name
    with pytest.raises(ValueError, match="not of the action model's own createData"):
        ours.calcDiff(crocoddyl.ActionModelLQR(4, 2).createData(), x, u)


@pytest.mark.parametrize("holding", [("arm",), ("arm", "hull")])
def test_contacts_hold(crocoddyl, glider: elastogen.Model, holding: tuple[str, ...]) -> None:
    differential = glider.to_crocoddyl(dt=None, contacts=holding)
    x, u = point(glider, 1)
    q, qd, F = x[: glider.nq], x[glider.nq :], np.append(np.zeros(6), u)
    qdd, _ = glider.contact_dynamics(q, qd, F, active=[name in holding for name in glider.contacts])
    assert np.array_equal(accelerations_of(differential, x, u), qdd)
    assert not np.allclose(qdd, glider.forward_dynamics(q, qd, F), atol=1.0)
    check_derivatives(differential, x, u)


def test_a_swing_on_a_held_foot(crocoddyl, glider: elastogen.Model) -> None:
    """The arm's end stays where it is while the solver brings the hull to rest."""
    running, last = (glider.to_crocoddyl(dt=0.02, integrator="rk4", contacts=["arm"]) for _ in range(2))
    start = np.concatenate([glider.neutral(), np.zeros(7)])
    goal = running.state.integrate(start, np.append(np.zeros(6), [0.05, *np.zeros(7)]))
    for action, weight in ((running, 1e-2), (last, 1e3)):
        with_costs(crocoddyl, action.differential, goal, weight)
    problem, still = crocoddyl.ShootingProblem(start, [running] * 15, last), [np.zeros(1)] * 15
    solver, falling = crocoddyl.SolverFDDP(problem), problem.rollout(still)
    before = problem.calc(falling, still)
    solver.solve(falling, still, 100, True)
    assert solver.cost < 0.9 * before
    feet = [glider.frame_pose("arm", x[:8])[0] for x in solver.xs]
    assert np.ptp(feet, axis=0).max() < 1e-7


def test_a_linkage_moves_with_its_loop_closed(crocoddyl) -> None:
    """FDDP brings a four-bar linkage to another closed configuration; Runge-Kutta steps keep it closed to 1e-6 m."""
    model, steps = elastogen.build_model("four_bar"), 40
    first, moved = (model.close_loops([drive, -2.5, -3.3]) for drive in (0.6, 0.9))
    goal, start = (np.append(q, np.zeros(model.nv)) for q in (moved, first))
    running, last = (model.to_crocoddyl(dt=0.01, integrator="rk4") for _ in range(2))
    with_costs(crocoddyl, running.differential, goal, 1e-2)
    with_costs(crocoddyl, last.differential, goal, 1e5)
    problem = crocoddyl.ShootingProblem(start, [running] * steps, last)
    hold = [model.inverse_dynamics(first, np.zeros(3), np.zeros(3))[:1]] * steps
    solver = crocoddyl.SolverFDDP(problem)
    assert solver.solve(problem.rollout(hold), hold, 100, True)
    assert np.abs(solver.xs[-1] - goal).max() < 1e-5
    assert max(np.abs(model.loop_residual(x[: model.nq])).max() for x in solver.xs) < 1e-6


def test_threads_give_the_same_numbers(crocoddyl) -> None:
    model = elastogen.build_model("two_link")
    action = model.to_crocoddyl(dt=0.02)
    with_costs(crocoddyl, action.differential, np.ones(4))
    rng = np.random.default_rng(0)
    xs, us = list(rng.uniform(-1, 1, (21, 4))), list(rng.uniform(-1, 1, (20, 2)))
    found = []
    for threads in (1, 2):
        problem = crocoddyl.ShootingProblem(xs[0], [action] * 20, action)
        problem.nthreads = threads
        problem.calc(xs, us)
        problem.calcDiff(xs, us)
        found.append([data.Fx.copy() for data in problem.runningDatas])
    assert np.array_equal(*found)
    assert np.ptp(found[0], axis=0).max() > 1e-3


def test_live_parameters_are_those_of_its_making(crocoddyl) -> None:
    model = elastogen.build_model(elastogen.load("two_link", live=["links.lower.mass"]))
    x, u = point(model, 2)
    q, qd = x[:2], x[2:]
    model.parameters["m2"] = 3.0
    action = model.to_crocoddyl(dt=None)
    model.parameters["m2"] = 0.5
    heavy = model.forward_dynamics(q, qd, u, parameters={"m2": 3.0})
    assert np.array_equal(accelerations_of(action, x, u), heavy)


def test_a_beam_that_slides_beyond_its_end_gives_nan(crocoddyl) -> None:
    """Inside of its joint it has derivatives, where accelerations of 1e3 m/s^2 leave fewer digits to differences."""
    action = elastogen.build_model("rpb_table3").to_crocoddyl(dt=None)
    x, u = np.zeros(action.state.nx), np.ones(action.nu)
    x[1] = 0.3
    check_derivatives(action, x, u, 1e-6)
    data = action.createData()
    x[1] = 100.0
    action.calc(data, x, u)
    action.calcDiff(data, x, u)
    assert all(np.isnan(found).all() for found in (data.xout, data.Fx, data.Fu))


def test_what_is_not_its_own_is_refused_in_words(crocoddyl) -> None:
    action, other = (elastogen.build_model("two_link").to_crocoddyl(dt=None) for _ in range(2))
    lqr = crocoddyl.DifferentialActionModelLQR(2, 2)
    with pytest.raises(ValueError, match="got 3 numbers of the state and 2 controls, expected 4 and 2"):
        action.calc(action.createData(), np.zeros(3), np.zeros(2))
    with pytest.raises(ValueError, match="not of the action model's own createData"):
        action.calc(lqr.createData(), np.zeros(4), np.zeros(2))
    action.calc(other.createData(), np.zeros(4), np.zeros(2))


def test_accelerations_are_those_of_the_model(crocoddyl, model: elastogen.Model) -> None:
    differential = model.to_crocoddyl(dt=None)
    x, u = point(model, differential.nu)
    data = differential.createData()
    differential.calc(data, x, u)
    F = np.zeros(model.nv)
    F[list(model.driven)] = u
    assert np.array_equal(np.reshape(data.xout, model.nv), model.forward_dynamics(x[: model.nq], x[model.nq :], F))
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
        ({"dt": 0.01, "contacts": ["tip"]}, r"contacts=\['tip'\], expected names among none.*build_model\(robot, contacts="),
        ({"dt": 0.01, "contacts": 7}, "contacts=7, expected names"),
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


def test_an_old_crocoddyl_is_named(crocoddyl, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crocoddyl, "__version__", "2.0.1")
    with pytest.raises(elastogen.ModelError, match=r"crocoddyl 2.0.1 is installed, expected 3.1 or newer"):
        elastogen.build_model("two_link").to_crocoddyl(dt=0.01)


def test_a_model_that_was_loaded_is_refused(crocoddyl, tmp_path) -> None:
    model = elastogen.build_model("two_link")
    model._maker = None
    with pytest.raises(elastogen.ModelError, match="was loaded, not built"):
        model.to_crocoddyl(dt=0.01)


def test_what_the_compiler_needs_is_named(crocoddyl, monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    from elastogen.build.bridges import crocoddyl as building
    from elastogen.runtime.bridges import to_crocoddyl as bridge

    model = elastogen.build_model("two_link")
    monkeypatch.setattr(bridge, "_LOADED", [])
    monkeypatch.setattr(building, "COMPILERS", ())
    monkeypatch.delenv("CXX", raising=False)
    with pytest.raises(elastogen.BuildError, match=r"no C\+\+ compiler found.*apt-get install g\+\+"):
        model.to_crocoddyl(dt=0.01)
    monkeypatch.setattr(building, "COMPILERS", ("c++",))
    monkeypatch.setattr(building, "EIGEN", "absent.h")
    with pytest.raises(elastogen.BuildError, match=r"headers of Eigen are missing.*pip install cmeel-eigen"):
        model.to_crocoddyl(dt=0.01)
    monkeypatch.setattr(crocoddyl, "__file__", str(tmp_path / "crocoddyl" / "__init__.py"))
    with pytest.raises(elastogen.ModelError, match=r"C\+\+ headers are missing"):
        model.to_crocoddyl(dt=0.01)
