"""CasADi: values, Jacobians and Hessians against CasADi's own expressions of the same robot, sparsity, and an optimal swing."""

from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path

import numpy as np
import pytest
from simulated_robots import BENDING, FLOATING

import elastogen

ca = pytest.importorskip("casadi", reason="CasADi is not installed: make bridges")
PENDULUM = {
    "elastogen": 1,
    "name": "pendulum",
    "gravity": [0, -9.81, 0],
    "live": ["payload"],
    "links": [{"name": "base"}, {"name": "bar", "mass": 1.5, "com": [0.4, 0, 0], "inertia": [0.01, 0.08, 0.08]}],
    "joints": [{"name": "hinge", "type": "revolute", "child": "bar", "axis": [0, 0, 1], "friction": {"viscous": 0.1}}],
    "tip": {"link": "bar", "xyz": [0.8, 0, 0]},
    "payload": {"mass": 0.2},
}


def acceleration(q, qd, F, load):
    """The pendulum's by hand, in CasADi's symbols."""
    inertia = 0.08 + 1.5 * 0.4**2 + load * 0.8**2
    return (F - 0.1 * qd - 9.81 * (1.5 * 0.4 + load * 0.8) * ca.cos(q)) / inertia


@pytest.fixture(scope="module")
def model() -> elastogen.Model:
    return elastogen.build_model(PENDULUM)


@pytest.fixture(scope="module")
def two_link() -> elastogen.Model:
    return elastogen.build_model("two_link")


def test_derivatives_are_those_of_casadi(model: elastogen.Model) -> None:
    q, qd, F, load = (ca.MX.sym(name) for name in ("q", "qd", "F", "load"))
    live = [load if name == "payload_mass" else float(model.parameters[name]) for name in model.parameters]
    ours = model.to_casadi("forward_dynamics", parameters=True)(q, qd, F, ca.vertcat(*live))
    state = ca.vertcat(q, qd, F, load)
    for expression in (ours**2, ours):
        exact = acceleration(q, qd, F, load)
        exact = exact**2 if expression is not ours else exact
        found, expected = (
            ca.Function("f", [q, qd, F, load], [e, ca.jacobian(e, state), ca.hessian(e, state)[0]]) for e in (expression, exact)
        )
        for point in np.random.default_rng(2).uniform(0.1, 1.5, (5, 4)):
            for a, b in zip(found(*point), expected(*point), strict=True):
                assert np.abs(np.array(a) - np.array(b)).max() <= 1e-11 * max(1.0, np.abs(np.array(b)).max())


def test_matrices_are_column_by_column_and_zeros_are_left_out(two_link: elastogen.Model) -> None:
    q = np.array([0.3, -0.7])
    poses = two_link.to_casadi("forward_kinematics")
    assert np.array_equal(np.array(poses(q)).reshape(-1, 4, 4), two_link.forward_kinematics(q))
    M = two_link.to_casadi("mass_matrix")
    x = ca.MX.sym("q", 2)
    jacobian = ca.jacobian(M(x), x)
    assert jacobian.sparsity().nnz() < 8  # nothing depends on the first joint, and one entry is constant
    found = np.array(ca.Function("J", [x], [jacobian])(q)).reshape(2, 2, 2, order="F")
    step = 1e-6
    differences = np.stack(
        [(two_link.mass_matrix(q + step * e) - two_link.mass_matrix(q - step * e)) / (2 * step) for e in np.eye(2)], axis=-1
    )
    assert np.abs(found - differences).max() < 1e-8


def test_live_parameters_keep_their_values(two_link: elastogen.Model) -> None:
    q = np.array([0.3, -0.7])
    two_link.parameters["payload_mass"] = 2.5
    gravity = two_link.to_casadi("gravity_vector")
    heavy = two_link.gravity_vector(q)
    two_link.parameters.reset()
    assert np.array_equal(np.array(gravity(q)).ravel(), heavy)
    assert not np.array_equal(two_link.gravity_vector(q), heavy)


def test_ipopt_swings_a_pendulum_up_with_exact_hessians(model: elastogen.Model) -> None:
    """Multiple shooting of 20 Runge-Kutta steps; the motion is checked by the model's own simulation."""
    forward, steps, h = model.to_casadi("forward_dynamics"), 20, 0.1
    state, force = ca.MX.sym("x", 2), ca.MX.sym("F")

    def rate(x):
        return ca.vertcat(x[1], forward(x[0], x[1], force))

    k1 = rate(state)
    k2 = rate(state + h / 2 * k1)
    k3 = rate(state + h / 2 * k2)
    k4 = rate(state + h * k3)
    step = ca.Function("step", [state, force], [state + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)])
    problem = ca.Opti()
    x, F = problem.variable(2, steps + 1), problem.variable(1, steps)
    problem.minimize(ca.sumsqr(F) * h)
    for k in range(steps):
        problem.subject_to(x[:, k + 1] == step(x[:, k], F[k]))
    problem.subject_to(x[:, 0] == ca.DM([-np.pi / 2, 0]))
    problem.subject_to(x[:, steps] == ca.DM([np.pi / 2, 0]))
    problem.set_initial(x, np.linspace([-np.pi / 2, 1.5], [np.pi / 2, 1.5], steps + 1).T)
    problem.solver("ipopt", {"print_time": False}, {"print_level": 0, "hessian_approximation": "exact"})
    solution = problem.solve()
    assert solution.stats()["success"]
    forces = np.atleast_2d(solution.value(F)).reshape(-1, 1)
    times = h * np.arange(steps)
    motion = model.simulate([-np.pi / 2], [0.0], t=[0.0, steps * h], F=elastogen.Table(times, forces), method="rk4", step=h)
    assert motion.q[-1, 0] == pytest.approx(np.pi / 2, abs=1e-6)  # the same steps


@pytest.mark.parametrize(
    ("robot", "method", "tolerance"),
    [
        ("two_link", "rk4", 1e-12),
        (BENDING, "rk4", 1e-12),
        ("two_link", "generalized_alpha", 1e-9),
        (BENDING, "generalized_alpha", 1e-9),
    ],
    ids=["two_link", "flexible", "two_link-implicit", "flexible-implicit"],
)
def test_a_step_is_that_of_the_simulation_and_maps(robot, method: str, tolerance: float) -> None:
    model, dt = elastogen.build_model(robot), 0.01
    step, n = model.to_casadi_step(dt=dt, method=method), model.nv
    q, qd, F = np.random.default_rng(4).uniform(-0.2, 0.2, (3, n, 5))
    options = {"method": method, "step": dt, **({} if method == "rk4" else {"rtol": 1e-12, "atol": 1e-12})}
    expected = [model.simulate(q[:, k], qd[:, k], t=[0, dt], F=F[:, k], **options) for k in range(5)]
    for mapped in (step.map(5), step.map(5, "thread", 2)):
        for found, name in zip(mapped(q, qd, F), ("q", "qd"), strict=True):
            assert np.allclose(
                np.array(found).T, [getattr(each, name)[-1] for each in expected], rtol=tolerance, atol=tolerance / 10
            )
    state = ca.MX.sym("x", 3 * n)
    moved = ca.vertcat(*step(state[:n], state[n : 2 * n], state[2 * n :]))
    jacobian, point = ca.Function("J", [state], [moved, ca.jacobian(moved, state)]), np.concatenate([q, qd, F])[:, 0]
    h = 1e-3  # differences of sixth order
    weights = {1: 3 / 4, 2: -3 / 20, 3: 1 / 60}
    for column, e in enumerate(np.eye(3 * n)):
        difference = sum(
            w * np.array(jacobian(point + k * h * e)[0] - jacobian(point - k * h * e)[0]) / h for k, w in weights.items()
        )
        assert np.abs(np.array(jacobian(point)[1])[:, [column]] - difference).max() < 1e-8 * max(1.0, np.abs(difference).max())


def test_ipopt_turns_a_flexible_arm_to_rest() -> None:
    """The hub turns by 0.4 rad in 30 steps, and the beam is still at the end; the simulation repeats the motion."""
    model, steps, h = elastogen.build_model(BENDING), 30, 0.02
    step, problem, (hub,) = model.to_casadi_step(dt=h), ca.Opti(), model.driven
    q, qd, u = problem.variable(2, steps + 1), problem.variable(2, steps + 1), problem.variable(steps)
    problem.minimize(ca.sumsqr(u))
    for k in range(steps):
        push = ca.vertcat(*(u[k] if each == hub else 0 for each in range(2)))
        after = step(q[:, k], qd[:, k], push)
        problem.subject_to(q[:, k + 1] == after[0])
        problem.subject_to(qd[:, k + 1] == after[1])
    goal = 0.4 * np.eye(2)[hub]
    for given, at, value in ((q, 0, 0), (qd, 0, 0), (q, steps, goal), (qd, steps, 0)):
        problem.subject_to(given[:, at] == value)
    problem.solver("ipopt", {"print_time": False}, {"print_level": 0, "hessian_approximation": "exact"})
    solution = problem.solve()
    assert solution.stats()["success"]
    forces = np.zeros((steps, 2))
    forces[:, hub] = solution.value(u)
    motion = model.simulate(
        [0, 0], [0, 0], t=[0, steps * h], F=elastogen.Table(h * np.arange(steps), forces), method="rk4", step=h
    )
    assert np.abs(motion.q[-1] - goal).max() < 1e-6
    assert np.abs(motion.qd[-1]).max() < 1e-5


def test_the_c_of_a_problem_is_one_library(model: elastogen.Model, tmp_path: Path) -> None:
    """What acados and controllers take: functions and exact derivatives of a problem, with the robot's C in the same file."""
    step, steps = model.to_casadi_step(dt=0.05), 8
    x, F = ca.MX.sym("x", 2, steps + 1), ca.MX.sym("F", steps)
    ends = [ca.vertcat(*step(x[0, k], x[1, k], F[k])) - x[:, k + 1] for k in range(steps)]
    g = ca.vertcat(*ends, x[:, 0] - ca.DM([0, 0]), x[0, steps] - 0.3)
    unknowns = ca.vertcat(ca.vec(x), F)
    options = {"print_time": False, "ipopt": {"print_level": 0}}
    solver = ca.nlpsol("solver", "ipopt", {"x": unknowns, "f": ca.sumsqr(F), "g": g}, options)
    expected = solver(x0=0.1, lbg=0, ubg=0)
    elastogen.export(PENDULUM, tmp_path, format="casadi")
    solver.generate_dependencies("nlp.c", {"with_header": False})
    Path("nlp.c").replace(tmp_path / "nlp.c")
    sources = sorted(path.name for path in tmp_path.glob("*.c"))
    assert sources == ["nlp.c", "pendulum.c", "pendulum_forward_dynamics_casadi.c"]
    command = ["cc", "-O0", "-std=c99", "-fPIC", "-shared", *sources, "-lm", "-o", "nlp.so"]
    subprocess.run(command, cwd=tmp_path, check=True)
    undefined = subprocess.run(["nm", "-D", "-u", "nlp.so"], cwd=tmp_path, check=True, capture_output=True, text=True).stdout
    assert "pendulum" not in undefined
    compiled = ca.nlpsol("solver", "ipopt", str(tmp_path / "nlp.so"), options)
    found = compiled(x0=0.1, lbg=0, ubg=0)
    assert compiled.stats()["success"]
    assert np.allclose(np.array(found["x"]), np.array(expected["x"]), rtol=1e-9, atol=1e-9)
    assert compiled.stats()["iter_count"] == solver.stats()["iter_count"]


def test_in_single_precision_one_option_compiles_both(tmp_path: Path) -> None:
    """What a controller without doubles takes: CasADi's C and the robot's with its types of numbers."""
    names, point = ("q", "qd", "F"), (0.3, -0.2, 0.5)
    forward = elastogen.build_model(PENDULUM).to_casadi("forward_dynamics")
    given = [ca.MX.sym(name) for name in names]
    slopes = ca.Function("slopes", given, [ca.gradient(forward(*given) ** 2, ca.vertcat(*given))])
    elastogen.export(PENDULUM, tmp_path, format="casadi", precision="float")
    slopes.generate("slopes.c")
    Path("slopes.c").replace(tmp_path / "slopes.c")
    sources = sorted(path.name for path in tmp_path.glob("*.c"))
    command = ["cc", "-O0", "-std=c99", "-fPIC", "-shared", "-Dcasadi_real=float", "-Dcasadi_int=int", *sources, "-lm"]
    subprocess.run([*command, "-o", "slopes.so"], cwd=tmp_path, check=True)
    library = ctypes.CDLL(str(tmp_path / "slopes.so"))
    count = [ctypes.c_int() for _ in range(4)]
    assert library.slopes_work(*map(ctypes.byref, count)) == 0
    arg, res, iw, w = (kind * (1 + size.value) for kind, size in zip(
        (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int, ctypes.c_float), count, strict=True))  # fmt: skip
    numbers, found = [(ctypes.c_float * 1)(x) for x in point], (ctypes.c_float * 3)()
    work = arg(*map(ctypes.addressof, numbers)), res(ctypes.addressof(found)), iw(), w()
    assert library.slopes(*work, 0) == 0
    expected = np.array(slopes(*point)).ravel()
    assert np.abs(np.array(found) - expected).max() < 1e-5 * np.abs(expected).max()
    assert np.abs(np.array(found) - expected).max() > 0


def test_second_derivatives_of_every_kind_are_right_or_refused(two_link: elastogen.Model) -> None:
    """None is silently zero: in reverse first or forward twice, as Hessians of the model; third ones are an error of CasADi."""
    state, function = {"q": [0.1, 0.2], "qd": [0.3, -0.4], "F": [1.0, 0.5]}, two_link.to_casadi("forward_dynamics")
    given = [ca.MX.sym(name, 2) for name in state]
    x, found = ca.vertcat(*given), function(*given)
    hessians = [two_link.evaluate("forward_dynamics_hessian", **state, output_weights=np.eye(2)[k]) for k in range(2)]
    assert min(np.abs(each[:4, :4]).max() for each in hessians) > 1.0
    rows = ca.jacobian(ca.vec(ca.jacobian(found, x)), x)
    got = np.array(ca.Function("f", given, [rows])(*state.values())).reshape(6, 2, 6).swapaxes(0, 1)
    assert np.allclose(got, hessians, rtol=1e-13, atol=1e-12)
    along, weights = ca.DM([0.3, -0.2]), np.array([1.0, 2.0])
    pulled = ca.jtimes(ca.jtimes(found, given[0], ca.DM(weights), True), given[1], along)
    blocks = np.tensordot(weights, hessians, 1)
    got = np.array(ca.Function("f", given, [pulled])(*state.values())).ravel()
    assert np.allclose(got, blocks[:2, 2:4] @ np.array(along).ravel(), rtol=1e-13, atol=1e-12)
    twice = ca.jtimes(ca.jtimes(found, given[0], along), given[1], along)
    got = np.array(ca.Function("f", given, [twice])(*state.values())).ravel()
    assert np.allclose(got, [float(along.T @ ca.DM(each[:2, 2:4]) @ along) for each in hessians], rtol=1e-13, atol=1e-12)
    whole = function.jacobian().jacobian()  # rows: those of d qdd/dq, column by column
    got = np.array(whole(*state.values(), 0, 0, 0, 0)[0]).reshape(2, 2, 2, order="F")
    assert np.allclose(got, [each[:2, :2] for each in hessians], rtol=1e-13, atol=1e-12)
    for refused in (lambda: whole.jacobian(), lambda: ca.jacobian(ca.vec(ca.hessian(found[0], x)[0]), x)):
        with pytest.raises(RuntimeError, match="Derivatives cannot be calculated for jac_"):
            refused()


def test_going_forward_twice_takes_matrices_and_parameters(model: elastogen.Model, two_link: elastogen.Model) -> None:
    """Differences of the first derivative along a direction."""
    rng, h = np.random.default_rng(5), 1e-5
    for of, name, live in (
        (two_link, "forward_kinematics", False),
        (two_link, "mass_matrix", True),
        (model, "forward_dynamics", True),
    ):
        function = of.to_casadi(name, parameters=live)
        sizes = np.cumsum([0, *(function.numel_in(k) for k in range(function.n_in()))])
        x, along, across = ca.MX.sym("x", int(sizes[-1])), *(ca.DM(each) for each in rng.uniform(-1, 1, (2, sizes[-1])))
        y = ca.vec(function(*ca.vertsplit(x, [int(each) for each in sizes])))
        first = ca.jtimes(y, x, along)
        once, twice = ca.Function("once", [x], [first]), ca.Function("twice", [x], [ca.jtimes(first, x, across)])
        at = ca.DM(rng.uniform(0.5, 1.5, sizes[-1]))
        differences = np.array(once(at + h * across) - once(at - h * across)) / (2 * h)
        assert np.abs(differences).max() > 0.01
        assert np.abs(np.array(twice(at)) - differences).max() < 1e-8 * max(1.0, np.abs(differences).max())


def test_a_hessian_computes_nothing_beside_it(two_link: elastogen.Model) -> None:
    """Neither the function nor its Jacobian again: CasADi knows that their values are not read."""
    function, x = two_link.to_casadi("forward_dynamics"), [ca.MX.sym(name, 2) for name in ("q", "qd", "F")]
    hessian = ca.Function("hessian", x, [ca.hessian(ca.dot(function(*x), ca.DM([1.0, 2.0])), ca.vertcat(*x))[0]])
    called = {each.name() for each in hessian.find_functions()}
    assert {name for name in called if function.name() in name} == {f"jac_adj1_{function.name()}"}


def test_steps_that_cannot_be_are_named(two_link: elastogen.Model) -> None:
    with pytest.raises(elastogen.ModelError, match="to_casadi_step: dt=-1, expected a positive number"):
        two_link.to_casadi_step(dt=-1)
    with pytest.raises(elastogen.ModelError, match="the robot has loops"):
        elastogen.build_model("four_bar").to_casadi_step(dt=0.01)
    with pytest.raises(elastogen.ModelError, match="method='euler', expected 'rk4' or 'generalized_alpha'"):
        two_link.to_casadi_step(dt=0.01, method="euler")
    with pytest.raises(elastogen.ModelError, match="rho_inf=2, expected a number from 0 to 1"):
        two_link.to_casadi_step(dt=0.01, method="generalized_alpha", rho_inf=2)


@pytest.mark.parametrize("method", ["rk4", "generalized_alpha"])
def test_a_step_of_a_free_base_is_that_of_the_simulation(method: str) -> None:
    """Along tangents: derivatives are compared where the quaternion moves on its sphere."""
    model, dt = elastogen.build_model(FLOATING), 0.01
    step, rng = model.to_casadi_step(dt=dt, method=method), np.random.default_rng(4)
    q, (qd, F) = model.random_configuration(rng), rng.uniform(-1, 1, (2, model.nv))
    options = {"method": method, "step": dt, **({} if method == "rk4" else {"rtol": 1e-12, "atol": 1e-12})}
    motion = model.simulate(q, qd, t=[0, dt], F=F, **options)
    for found, name in zip(step(q, qd, F), ("q", "qd"), strict=True):
        assert np.allclose(np.array(found).ravel(), getattr(motion, name)[-1], rtol=1e-9, atol=1e-10)
    v, x, y, z = (ca.MX.sym(name, size) for name, size in (("v", model.nv), ("q", model.nq), ("qd", model.nv), ("F", model.nv)))
    moved = ca.vertcat(*step(model.to_casadi("integrate")(x, v), y, z))
    by_v = ca.Function("J", [v, x, y, z], [moved, ca.jacobian(moved, v), ca.jacobian(ca.gradient(ca.sumsqr(moved), v), v)])
    _, jacobian, hessian = (np.array(each) for each in by_v(0, q, qd, F))
    h, weights = 0.02, {1: 4 / 5, 2: -1 / 5, 3: 4 / 105, 4: -1 / 280}
    for column, e in enumerate(np.eye(model.nv)):
        ends = {k: [by_v(s * k * h * e, q, qd, F)[0] for s in (1, -1)] for k in weights}
        difference = sum(w * np.array(ends[k][0] - ends[k][1]) / h for k, w in weights.items())
        assert np.abs(jacobian[:, [column]] - difference).max() < 1e-8
    assert np.allclose(hessian, hessian.T, rtol=1e-9, atol=1e-9)


def test_what_cannot_be_is_named(model: elastogen.Model, two_link: elastogen.Model) -> None:
    with pytest.raises(elastogen.ElastogenError, match="mass_matix"):
        model.to_casadi("mass_matix")
    with pytest.raises(elastogen.ModelError, match="has no inputs"):
        two_link.to_casadi("stiffness_matrix")
    single = elastogen.build_model("two_link", precision="float")
    for make in (lambda: single.to_casadi("mass_matrix"), lambda: single.to_casadi_step(dt=0.01)):
        with pytest.raises(elastogen.ModelError, match=r"the model is in float32, expected float64.*precision='double'"):
            make()
    loaded = elastogen.load_model(two_link.extension)
    with pytest.raises(elastogen.ModelError, match="was loaded, not built"):
        loaded.to_casadi("mass_matrix")
