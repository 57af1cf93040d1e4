"""Own functions: the laws of docs/own/own-functions.md against numpy compositions of single functions, counts, C, the loop."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy
from loop_setup import finish
from plain_programs import PlainPrograms
from robots_for_tests import quietly_loaded

import elastogen
from elastogen.generator.functions.derivation import CATALOGUE, derive_model
from elastogen.generator.functions.function import Function
from elastogen.generator.robot.robot import Robot
from elastogen.runtime.loop.controllers import ComputedTorqueLaw
from elastogen.runtime.loop.plants import Simulated

PAGE = (Path(__file__).parents[3] / "docs" / "own" / "own-functions.md").read_text(encoding="utf-8")
RNG = np.random.default_rng(4)
Q, QD, QR, QDR, QDDR = RNG.uniform(-1, 1, (5, 2))


@pytest.fixture(scope="module")
def page() -> dict[str, Any]:
    """The names that the page defines."""
    names: dict[str, Any] = {}
    for code in re.findall(r"```python\n(.*?)```", PAGE, flags=re.S):
        exec(compile(code, "own-functions.md", "exec"), names)
        if any(function.name == "pd_law" for function in names["robot"].functions):
            names.setdefault("with_laws", names["robot"])
    return names


def derived(robot: Robot, *names: str) -> dict[str, Function]:
    return {function.name: function for function in derive_model(robot, names).functions}


@lru_cache
def parts(name: str) -> Function:
    return derived(elastogen.load("two_link"), name)[name]


def live(robot: Robot) -> dict[str, float]:
    return {p.name: p.value for p in robot.live_parameters}


def value(name: str, *arguments: Any) -> Any:
    function = parts(name)
    given = dict(zip([a.name for a in function.inputs], arguments, strict=True))
    return next(iter(function.evaluate(given, live(elastogen.load("two_link"))).values()))


def close(found: Any, expected: Any) -> None:
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12 * max(1.0, np.abs(expected).max()))


def test_computed_torque_is_inverse_dynamics_of_the_corrected_acceleration(page: dict[str, Any]) -> None:
    expected = value("inverse_dynamics", [0.1, 0.2], [0.0, 0.1], 400 * np.array([0.2, -0.1]) + 40 * np.array([0.0, -0.1]))
    close(page["F"], expected)


@pytest.mark.parametrize("name", ["two_link", "puma560"])
def test_a_fused_law_needs_six_operations_per_joint_more(name: str) -> None:
    robot = elastogen.load(name)
    s = elastogen.symbols(robot)
    n = len(s.q)
    refs = [s.input(key, n) for key in ("q_ref", "qd_ref", "qdd_ref")]
    a = refs[2] + 400 * (refs[0] - s.q) + 40 * (refs[1] - s.qd)
    inputs = {"q_ref": n, "qd_ref": n, "qdd_ref": n}
    robot = robot.with_function("law", inputs=inputs, outputs={"F": s.f.inverse_dynamics(s.q, s.qd, a)})
    found = derived(robot, "law", "inverse_dynamics")
    plain, fused = found["inverse_dynamics"].program.count, found["law"].program.count
    assert fused.total <= plain.total + 6 * n
    assert fused.sincos == plain.sincos


def test_the_other_laws_of_the_page(page: dict[str, Any]) -> None:
    robot = page["with_laws"]
    laws = derived(robot, "pd_law", "impedance", "observer", "adaptive")
    numbers = live(robot)
    G, M, C = value("gravity_vector", Q), value("mass_matrix", Q), value("coriolis_matrix", Q, QD)
    close(laws["pd_law"].evaluate({"q": Q, "qd": QD, "q_ref": QR}, numbers)["F"], G + 50 * (QR - Q) - 8 * QD)

    J, x = value("jacobian", Q)[:2], value("forward_kinematics", Q)[-1, :2, 3]
    goal = np.array([0.7, 0.4])
    force = np.linalg.solve(J @ np.linalg.inv(M) @ J.T + 0.01 * np.eye(2), 100 * (goal - x) - 20 * J @ QD)
    expected = J.T @ force + C @ QD + G
    close(laws["impedance"].evaluate({"q": Q, "qd": QD, "x_ref": goal}, numbers)["F"], expected)
    assert laws["impedance"].can_fail

    p_hat, r, drive = RNG.uniform(-1, 1, (3, 2))
    found = laws["observer"].evaluate({"q": Q, "qd": QD, "p_hat": p_hat, "r": r, "drive": drive}, numbers)
    p_next = p_hat + 1e-3 * (drive - G + C.T @ QD + r)
    close(found["p_next"], p_next)
    close(found["r_next"], 50 * (M @ QD - p_next))

    pi = value("inertial_parameters")
    v, a = QDR + 5 * (QR - Q), QDDR + 5 * (QDR - QD)
    arguments = {"q": Q, "qd": QD, "q_ref": QR, "qd_ref": QDR, "qdd_ref": QDDR, "estimate": pi}
    found = laws["adaptive"].evaluate(arguments, numbers)
    close(found["F"], M @ a + C @ v + G - 8 * (QD - v))  # with the true parameters


def test_a_kalman_step_is_that_of_numpy(page: dict[str, Any]) -> None:
    arm = page["arm"]
    found = derived(arm, "kalman", "forward_dynamics", "forward_dynamics_derivatives")
    q, qd = np.array([0.4, 0.01]), np.array([-0.5, 0.2])
    P, z, drive = np.diag([1e-4, 1e-5, 1e-3, 1e-3]) + 1e-6, np.array([0.41, 3e-4]), np.array([0.3, 0.0])
    state = {"q": q, "qd": qd, "F": drive}
    qdd = found["forward_dynamics"].evaluate(state)["qdd"]
    slopes = found["forward_dynamics_derivatives"].evaluate(state)
    A = np.eye(4) + 1e-3 * np.block([[np.zeros((2, 2)), np.eye(2)], [slopes["dqdd_dq"], slopes["dqdd_dqd"]]])
    x, ahead = np.concatenate([q + 1e-3 * qd, qd + 1e-3 * qdd]), A @ P @ A.T + np.diag([1e-8, 1e-8, 1e-5, 1e-5])
    H = np.array([[1, 0, 0, 0], [0, 0.03, 0, 0]])
    gain = ahead @ H.T @ np.linalg.inv(H @ ahead @ H.T + np.diag([1e-8, 1e-10]))
    step = found["kalman"].evaluate({"q": q, "qd": qd, "P": P, "z": z, "drive": drive})
    np.testing.assert_allclose(step["x_next"], x + gain @ (z - H @ x), rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(step["P_next"], (np.eye(4) - gain @ H) @ ahead, rtol=1e-9, atol=1e-14)


def test_derivatives_of_a_law() -> None:
    robot = elastogen.load("two_link")
    s = elastogen.symbols(robot)
    law = s.f.gravity_vector(s.q) + 50 * (s.input("q_ref", 2) - s.q)
    robot = robot.with_function("law", inputs={"q_ref": 2}, outputs={"F": law}).derivatives_of("law", by=["q", "q_ref"])
    found = derived(robot, "law_derivatives")["law_derivatives"].evaluate({"q": Q, "q_ref": QR}, live(robot))
    zero = np.zeros(2)
    function = derived(robot, "inverse_dynamics_derivatives")["inverse_dynamics_derivatives"]
    by_q = function.evaluate({"q": Q, "qd": zero, "qdd": zero}, live(robot))["dF_dq"]
    close(found["dF_dq"], by_q - 50 * np.eye(2))
    close(found["dF_dq_ref"], 50 * np.eye(2))


def test_the_gradient_of_one_number_goes_backward() -> None:
    """Of l^T F by q: the weighted rows of dF/dq, for less than all of these; with kinks it goes forward."""
    robot = elastogen.load("two_link")
    s = elastogen.symbols(robot)
    weights = np.array([1.0, 2.0])
    total = sum(w * f for w, f in zip(weights, s.f.inverse_dynamics(s.q, s.qd, s.qdd), strict=True))
    kinked = sympy.Abs(s.q[1]) * s.q[0] + s.q[0] ** 2
    robot = robot.with_function("cost", outputs={"y": total}).derivatives_of("cost", by=["q", "qd"])
    robot = robot.with_function("kink", outputs={"z": kinked}).derivatives_of("kink", by=["q"])
    found = derived(robot, "cost_derivatives", "kink_derivatives", "inverse_dynamics_derivatives")
    state = dict(zip(("q", "qd", "qdd"), np.random.default_rng(2).uniform(-1, 1, (3, 2)), strict=True))
    matrices = found["inverse_dynamics_derivatives"]
    for row, block in zip(found["cost_derivatives"].evaluate(state, live(robot)).values(), ("dF_dq", "dF_dqd"), strict=False):
        close(row, weights[None] @ matrices.evaluate(state, live(robot))[block])
    assert found["cost_derivatives"].program.count.cost < matrices.program.count.cost
    q = state["q"]
    by_q = found["kink_derivatives"].evaluate({"q": q}, live(robot))["dz_dq"]
    close(by_q, [[2 * q[0] + abs(q[1]), np.sign(q[1]) * q[0]]])


def test_laws_call_functions_of_flexible_robots() -> None:
    robot = elastogen.load("par_table3")
    s = elastogen.symbols(robot)
    M = s.f.mass_matrix(s.q)
    robot = robot.with_function("energy", outputs={"T": (s.qd.T * M * s.qd)[0] / 2, "work": s.qd.dot(s.f.gravity_vector(s.q))})
    found = derived(robot, "energy", "kinetic_energy")
    q, qd = np.full(len(s.q), 0.01), np.linspace(0.1, 0.5, len(s.q))
    state = {"q": q, "qd": qd}
    T = found["kinetic_energy"].evaluate(state, live(robot))["T"]
    np.testing.assert_allclose(found["energy"].evaluate(state, live(robot))["T"], T, rtol=1e-12)


def test_in_the_loop_an_own_law_does_what_the_built_in_one_does(page: dict[str, Any]) -> None:
    robot = elastogen.load("two_link")
    s = elastogen.symbols(robot)
    q_ref, qd_ref, qdd_ref = (s.input(name, 2) for name in ("q_ref", "qd_ref", "qdd_ref"))
    a = qdd_ref + 400 * (q_ref - s.q) + 40 * (qd_ref - s.qd)
    inputs = {"q_ref": 2, "qd_ref": 2, "qdd_ref": 2}
    robot = robot.with_function("law", inputs=inputs, outputs={"F": s.f.inverse_dynamics(s.q, s.qd, a)})
    model = elastogen.build_model(robot, outputs=["law"])
    ends = []
    for controller in ("law", ComputedTorqueLaw(kp=400, kd=40)):
        loop = model.loop(controller=controller, plant=Simulated([0.2, -0.3]), rate=1000, free_running=True, keep="oldest")
        loop.move_to([0.6, 0.4], 0.05)
        ends.append(finish(loop, 80)["q"])
    np.testing.assert_allclose(ends[0], ends[1], rtol=1e-10)
    assert abs(ends[0][-1, 0] - 0.6) < 0.05


ROBOT = elastogen.load("two_link")
S = elastogen.symbols(ROBOT)


@pytest.mark.parametrize(
    ("name", "inputs", "outputs", "words"),
    [
        ("mass_matrix", {}, {"y": S.q}, "functions.mass_matrix: .*no function of the catalogue"),
        ("simulation", {}, {"y": S.q}, "no function of the catalogue"),
        ("double", {}, {"y": S.q}, "that C and the generated code do not use"),
        ("sincos", {}, {"y": S.q}, "that C and the generated code do not use"),
        ("params_nominal", {}, {"y": S.q}, "that C and the generated code do not use"),
        ("sim_step", {}, {"y": S.q}, "functions.sim_step: .*do not use"),
        ("simulate", {}, {"y": S.q}, "that C and the generated code do not use"),
        ("two_t", {}, {"y": S.q}, "that C and the generated code do not use"),
        ("bad name", {}, {"y": S.q}, "a C identifier"),
        ("law", {"q": 2}, {"y": S.q}, "inputs.q: .*do not use"),
        ("law", {"r": 0}, {"y": S.q}, "inputs.r: .*None, a size or"),
        ("law", {"r": (2, 3, 4)}, {"y": S.q}, "inputs.r"),
        ("law", {"y": 2}, {"y": S.q}, "names that inputs and outputs do not share"),
        ("law", {}, {}, "outputs: .*a mapping"),
        ("law", {}, {"y": S.input("r", 2)}, r"got 'r\[0\]'"),
        ("law", {}, {"y": S.position("tip")}, r"use s.f.forward_kinematics"),
        ("law", {}, {"y": "q"}, "outputs.y: .*a SymPy expression or matrix"),
        ("law", {}, {"y": sympy.gamma(S.q[0])}, "outputs.y: .*gamma has no C"),
        ("law", {}, {"y": sympy.Function("g")(S.q[0])}, "g is not a function of the catalogue"),
        ("law", {}, {"y": sympy.zeros(40, 40)}, "1 to 1000 elements"),
        ("law", [2], {"y": S.q}, "inputs: .*a mapping from names to sizes"),
        ("law", {"r": True}, {"y": S.q}, "inputs.r: .*None, a size or"),
        ("law", {}, [S.q[0]], "outputs: .*a mapping"),
        ("law", {}, {"y": sympy.Lambda(S.q[0], S.q[0])}, "outputs.y: "),
        ("law", {}, {"y": S.q[0] / sympy.S.Zero}, "outputs.y: .*finite"),
        (None, {}, {"y": S.q}, "a C identifier"),
    ],
)
def test_bad_functions(name: str, inputs: Any, outputs: Any, words: str) -> None:
    with pytest.raises(elastogen.RobotError, match=words):
        ROBOT.with_function(name, inputs=inputs, outputs=outputs)


@pytest.mark.parametrize("name", ["ARM_NQ", "arm_real_t", "arm_sincos", "arm_law"])
def test_arguments_called_as_the_symbols_of_the_robot(name: str, tmp_path: Path) -> None:
    """Also where the robot is called so later."""
    robots = [
        ROBOT.with_function("law", inputs={name: 1}, outputs={"y": S.q[0] * S.input(name, 1)[0]}),
        ROBOT.with_function("law", outputs={name: S.q[0]}),
    ]
    for robot in robots:
        elastogen.load(robot, name="leg")
        with pytest.raises(elastogen.RobotError, match=f"law.{name}: got .* does not begin with arm_ or ARM_"):
            elastogen.generate(elastogen.load(robot, name="arm"), tmp_path)


@pytest.mark.parametrize(
    ("output", "inputs", "words"),
    [
        (sympy.Symbol("x"), {"x": 2}, r"got 'the symbol x', expected x\[0\] .* Fix: use s.input\('x', 2\)"),
        (sympy.Symbol("x"), {"x": None}, r"Fix: use s.input\('x', None\)"),
        (sympy.IndexedBase("x")[1], {"x": (2, 2)}, r"Fix: use s.input\('x', \(2, 2\)\)"),
        (sympy.Trace(sympy.MatrixSymbol("x", 2, 2)), {"x": (2, 2)}, r"the MatrixSymbol x.*s.input\('x', \(2, 2\)\)"),
    ],
)
def test_a_symbol_called_like_an_input_is_answered_by_its_elements(output: Any, inputs: dict[str, Any], words: str) -> None:
    """The answer was: did you mean 'x'?"""
    with pytest.raises(elastogen.RobotError, match=words):
        ROBOT.with_function("law", inputs=inputs, outputs={"y": output})


def test_an_input_of_no_sizes_is_one_number() -> None:
    assert S.input("r", ()) == S.input("r", None)


def test_bad_calls() -> None:
    with pytest.raises(elastogen.OutputError, match="got 1 arguments, expected 3: q, qd, qdd"):
        S.f.inverse_dynamics(S.q)
    with pytest.raises(elastogen.OutputError, match="q has 3 elements, expected 2"):
        S.f.mass_matrix([1, 2, 3])
    with pytest.raises(AttributeError, match="did you mean 'mass_matrix'"):
        S.f.mass_matrx  # noqa: B018
    with pytest.raises(elastogen.OutputError, match="expected n x n"):
        S.f.solve(sympy.eye(2), sympy.zeros(3, 1))
    with pytest.raises(elastogen.OutputError, match="expected SymPy matrices"):
        S.f.solve(5, None)
    for shape in ("6", True, (1, 2, 3), -1):
        with pytest.raises(elastogen.RobotError, match=r"input.r: .*None, a size or"):
            S.input("r", shape)
    for doc, words in (("ends the comment */ int x;", "without"), (5, "a text"), ("x" * 2000, "at most 1000")):
        with pytest.raises(elastogen.RobotError, match=f"functions.law.doc: .*{words}"):
            ROBOT.with_function("law", outputs={"y": S.q}, doc=doc)
    deep = S.q[0]
    for _ in range(400):
        deep = sympy.sin(deep, evaluate=False)
    with pytest.raises(elastogen.RobotError, match=r"outputs.y: .*nested more than 150 deep"):
        ROBOT.with_function("law", outputs={"y": deep})
    law = ROBOT.with_function("law", outputs={"y": S.q})
    for by in (None, 5, "qdd"):
        with pytest.raises(elastogen.RobotError, match="inputs of law: q"):
            law.derivatives_of("law", by=by)
    with pytest.raises(elastogen.RobotError, match="no other function"):
        law.with_function("law", outputs={"y": S.q})
    with pytest.raises(elastogen.RobotError, match="inputs of law: q"):
        law.derivatives_of("law", by="qd")
    with pytest.raises(elastogen.OutputError, match="expected an output F of 2 numbers"):
        elastogen.build_loop(law, controller="law")
    with pytest.raises(elastogen.OutputError, match="did you mean 'law'"):
        derive_model(law, ("lav",))


def test_every_function_of_the_catalogue_can_be_called() -> None:
    """In one own function, which gives what each of them gives."""
    robot = elastogen.load("two_link").with_points(elastogen.Point("eye", "lower"))
    s = elastogen.symbols(robot)
    shapes: dict[str, Any] = {}
    outputs: dict[str, Any] = {}
    called = {}
    for number, (name, entry) in enumerate((n, e) for n, e in CATALOGUE.items() if e.applies(robot)):
        arguments = s.f.arguments(entry)
        own = {f"given_{a.name}": a.shape if len(a.shape) == 2 else a.size if a.shape else None for a in arguments}
        shapes |= own
        results = getattr(s.f, name)(*(s.input(key, shape) for key, shape in own.items()))
        for k, result in enumerate(results if isinstance(results, tuple) else (results,)):
            while isinstance(result, list):  # of a stack, the last matrix
                result = result[-1]
            outputs[f"y{number}_{k}"] = result
            called[f"y{number}_{k}"] = (name, k, [a.name for a in arguments])
    robot = robot.with_function("everything", inputs=shapes, outputs=outputs)
    programs, rng = PlainPrograms(robot), np.random.default_rng(0)
    given = {key: rng.uniform(0.2, 0.8, () if shape is None else shape) for key, shape in shapes.items()}
    found = dict(zip(outputs, programs("everything", **given), strict=True))
    assert len(called) > 90
    for key, (name, k, arguments) in called.items():
        expected = programs(name, **{a: given[f"given_{a}"] for a in arguments})
        expected = np.asarray(expected[k] if isinstance(expected, tuple) else expected)
        np.testing.assert_allclose(np.ravel(found[key]), np.ravel(expected)[-found[key].size :], rtol=1e-9, atol=1e-11)


def test_calls_on_a_mechanism_keep_its_loops_closed() -> None:
    """The accelerations that an own function asks for are those of the model, whose rows of the loop vanish."""
    robot = quietly_loaded("four_bar")
    s = elastogen.symbols(robot)
    force = s.input("force", 3)
    called = robot.with_function("called", inputs={"force": 3}, outputs={"a": s.f.forward_dynamics(s.q, s.qd, force)})
    functions = {f.name: f.program for f in derive_model(called, ("called", "forward_dynamics", "loop_jacobian")).functions}
    q, F, parameters = np.zeros(3), np.array([0.3, 0.0, 0.0]), {p.name: p.value for p in robot.live_parameters}
    (a,) = functions["called"].evaluate({"q": q, "qd": 0 * q, "force": F}, parameters).values()
    (expected,) = functions["forward_dynamics"].evaluate({"q": q, "qd": 0 * q, "F": F}, parameters).values()
    J = next(iter(functions["loop_jacobian"].evaluate({"q": q}, parameters).values()))
    np.testing.assert_allclose(a, expected, rtol=1e-10)
    np.testing.assert_allclose(J @ a, 0.0, atol=1e-10 * np.abs(a).max())
