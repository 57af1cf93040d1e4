"""What own terms cost: divisions are shared, and gradients need no more operations than those of SymPy and CasADi."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sympy
from sympy.physics.mechanics import dynamicsymbols

import elastogen
from elastogen.generator.functions.derivation import derive_model
from elastogen.generator.program.differentiate import pulled_back
from elastogen.generator.program.from_sympy import ExpressionLowering
from elastogen.generator.program.graph import Graph
from elastogen.generator.program.program import Program
from elastogen.runtime.interface.argument import Argument

K, REST = 80.0, 0.4
A, B = sympy.symbols("a:3", real=True), sympy.symbols("b:3", real=True)
SPRING = K / 2 * (sympy.sqrt(sum((a - b) ** 2 for a, b in zip(A, B, strict=True))) - REST) ** 2


def operations(robot: Any) -> Any:
    return derive_model(robot, ["inverse_dynamics"]).functions[0].program.count


def gradient_count() -> Any:
    """Operations of the gradient of a spring between two points by their six coordinates."""
    graph = Graph()
    inputs = [graph.input(f"z[{k}]") for k in range(6)]
    value = ExpressionLowering(graph, dict(zip((*A, *B), inputs, strict=True)))(SPRING)
    found = pulled_back(graph, [value], [graph.value(1)], inputs)
    program = Program(graph, [Argument("z", (6,), "", "")], [(Argument("w", (6,), "", ""), [v.ref for v in found])])
    return program.count


def test_one_division_for_a_spring() -> None:
    count = gradient_count()
    assert (count.div, count.sqrt) == (1, 1)
    assert count.mul <= 8
    assert count.add <= 9


def test_not_more_than_cse_of_sympy() -> None:
    shared, entries = sympy.cse([sympy.diff(SPRING, z) for z in (*A, *B)], optimizations="basic")
    theirs = sum(sympy.count_ops(e, visual=False) for e in (*(e for _, e in shared), *entries))
    assert gradient_count().total <= theirs


def test_not_more_than_casadi() -> None:
    casadi = pytest.importorskip("casadi")
    z = casadi.SX.sym("z", 6)
    spring = K / 2 * (casadi.sqrt(casadi.sumsqr(z[:3] - z[3:])) - REST) ** 2
    function = casadi.Function("f", [z], [casadi.gradient(spring, z)])
    moves = {casadi.OP_INPUT, casadi.OP_OUTPUT, casadi.OP_CONST}
    theirs = sum(function.instruction_id(k) not in moves for k in range(function.n_instructions()))
    assert gradient_count().total <= theirs


@pytest.mark.parametrize("at", ["lower", "tip"])
def test_a_spring_on_a_robot_divides_once(at: str) -> None:
    robot = elastogen.load("two_link")
    s = elastogen.symbols(robot)
    stretch = (s.position(at) - sympy.Matrix([0.3, 1.4, 0])).norm() - REST
    plain, sprung = operations(robot), operations(robot.with_terms(name="spring", potential=K * stretch**2 / 2))
    assert sprung.div - plain.div == 1
    assert sprung.sqrt - plain.sqrt == 1


def test_a_term_that_does_not_depend_on_the_state_costs_nothing() -> None:
    robot = elastogen.load("two_link")
    s = elastogen.symbols(robot)
    assert operations(robot.with_terms(potential=3 * s.t + s.position("base").norm())) == operations(robot)


def test_functions_of_time_are_coordinates() -> None:
    robot = elastogen.load("two_link")
    s = elastogen.symbols(robot)
    by_time = robot.with_terms(name="x", forces={"elbow": -2 * dynamicsymbols("elbow", 1) - sympy.sin(dynamicsymbols("elbow"))})
    by_symbols = robot.with_terms(name="x", forces={"elbow": -2 * s.qd[1] - sympy.sin(s.q[1])})
    assert by_time == by_symbols
    by_number = -2 * dynamicsymbols("q2", 1) - sympy.sin(dynamicsymbols("q2"))
    assert robot.with_terms(name="x", forces={"elbow": by_number}) == by_symbols


def test_plain_symbols_are_coordinates() -> None:
    """As closed forms print them: an expression of one can be a term; a parameter of the same name goes first."""
    robot = elastogen.load("two_link")
    s = elastogen.symbols(robot)
    by_symbols = robot.with_terms(name="x", forces={"elbow": -2 * s.qd[1] - sympy.sin(s.q[1] + s.q[0])})
    q1, q2, qd2, elbow = sympy.symbols("q1 q_2 qd2 elbow")
    for angle in (q2, elbow, sympy.Symbol("q2", real=True)):
        assert robot.with_terms(name="x", forces={"elbow": -2 * qd2 - sympy.sin(angle + q1)}) == by_symbols
    closed = elastogen.derive(robot)
    found = robot.with_function("inertia", outputs={"m": closed.mass_matrix[0, 1]})
    assert found.functions[0].outputs["m"].elements[0] == closed.mass_matrix[0, 1].xreplace({closed.q[1]: s.q[1]})
    stiff = robot.with_terms(name="x", potential=elbow * s.q[1] ** 2, parameters={"elbow": 3.0})
    assert sympy.Symbol("elbow", real=True) in stiff.terms[0].free_symbols


def spring(robot: Any, first: str, second: str, **more: Any) -> Any:
    s = elastogen.symbols(robot)
    apart = s.position(first) - s.position(second)
    return robot.with_terms(name="spring", potential=K * (apart.norm() - REST) ** 2 / 2, **more)


def added(robot: Any, sprung: Any) -> tuple[int, int, int]:
    plain, more = operations(robot), operations(sprung)
    return more.mul - plain.mul, more.add - plain.add, more.div - plain.div


def test_a_spring_between_links_costs_what_it_costs_by_hand() -> None:
    """By hand: |p|^2 = A + B cos q3 + C sin q3, F = k (1 - l / |p|) (C cos q3 - B sin q3) / 2 in one row, 7, 5 and 1."""
    robot = elastogen.load("puma560")
    mul, add, div = added(robot, spring(robot, "upper_arm", "wrist"))
    assert (mul, add, div) == (7, 5, 1)
    q = sympy.Symbol("q3", real=True)
    distance = sympy.sqrt(0.374 + 0.1865 * sympy.cos(q) + 0.0088 * sympy.sin(q))
    shared, (force,) = sympy.cse([sympy.diff(K * (distance - REST) ** 2 / 2, q)], optimizations="basic")
    theirs = sum(sympy.count_ops(e, visual=False) for e in (*(e for _, e in shared), force))
    assert mul + add + div + 1 <= theirs - 1  # a root more here; there sine and cosine, and not the sum with the row


def test_a_spring_over_two_joints_costs_less_than_through_the_base() -> None:
    robot = elastogen.load("two_link")
    casadi = pytest.importorskip("casadi")
    mul, add, div = added(robot, spring(robot, "base", "tip"))
    q = casadi.SX.sym("q", 2)
    l1, l2 = 0.5, 0.4
    p = casadi.vertcat(
        l1 * casadi.cos(q[0]) + l2 * casadi.cos(q[0] + q[1]), l1 * casadi.sin(q[0]) + l2 * casadi.sin(q[0] + q[1])
    )
    potential = K / 2 * (casadi.sqrt(casadi.sumsqr(p)) - REST) ** 2
    function = casadi.Function("f", [q], [casadi.gradient(potential, q)])
    free = {casadi.OP_INPUT, casadi.OP_OUTPUT, casadi.OP_CONST, casadi.OP_SIN, casadi.OP_COS, casadi.OP_SQRT}
    theirs = sum(function.instruction_id(k) not in free for k in range(function.n_instructions()))
    assert mul + add + div <= theirs


@pytest.mark.parametrize(("first", "second"), [("trunk", "forearm"), ("forearm", "tip"), ("base", "upper_arm")])
def test_a_spring_whose_length_does_not_change_is_not_computed(first: str, second: str) -> None:
    robot = elastogen.load("puma560")
    assert added(robot, spring(robot, first, second)) == (0, 0, 0)


def test_own_terms_are_lowered_once(monkeypatch: pytest.MonkeyPatch) -> None:
    lowered: list[Any] = []
    plain = ExpressionLowering.__call__

    def counted(self: ExpressionLowering, expression: Any) -> Any:
        lowered.append(expression)
        return plain(self, expression)

    robot = elastogen.load("puma560")
    sprung = spring(robot, "upper_arm", "wrist")
    monkeypatch.setattr(ExpressionLowering, "__call__", counted)
    model = derive_model(sprung, ["inverse_dynamics", "forward_dynamics", "gravity_vector", "potential_energy"])
    assert len(model.functions) == 4
    assert sum("distance[" in str(expression) for expression in lowered) == 1  # and the self-check, as it is written


def test_springs_and_dampers_between_links_are_those_of_the_base_frame(rng: Any) -> None:
    """Against J^T f with the force along the line between the two frames, at random states of a tree with a free base."""
    robot = elastogen.load("satellite")
    s = elastogen.symbols(robot)
    names = [robot.links[-1].name, robot.links[2].name]
    apart = s.position(names[0]) - s.position(names[1])
    rate = (apart.T * (s.velocity(names[0]) - s.velocity(names[1])))[0] / apart.norm()
    sprung = spring(robot, *names, dissipation=3 * rate**2 / 2)
    asked = ["inverse_dynamics", "forward_kinematics", "frame_jacobian"]
    plain = {f.name: f.program for f in derive_model(robot, asked, tuple(names)).functions}
    (with_terms,) = derive_model(sprung, ["inverse_dynamics"]).functions
    live = {p.name: p.value for p in robot.live_parameters}
    order = [link.name for link in robot.links[1:]]
    for _ in range(3):
        q = rng.uniform(-0.5, 0.5, len(robot.coordinates))
        q[3:7] /= np.linalg.norm(q[3:7])
        qd, qdd = rng.uniform(-1, 1, (2, len(robot.velocities)))
        (frames,) = plain["forward_kinematics"].evaluate({"q": q}, live).values()
        (jacobians,) = plain["frame_jacobian"].evaluate({"q": q}, live).values()
        places = [np.asarray(frames).reshape(-1, 4, 4)[order.index(name), :3, 3] for name in names]
        J = np.asarray(jacobians).reshape(2, 6, -1)[:, :3]
        line = places[0] - places[1]
        length = np.linalg.norm(line)
        along = line / length @ (J[0] - J[1])
        expected = along * (K * (length - REST) + 3 * along @ qd)
        state = {"q": q, "qd": qd, "qdd": qdd}
        (before,) = plain["inverse_dynamics"].evaluate(state, live).values()
        (after,) = with_terms.program.evaluate(state, live).values()
        np.testing.assert_allclose(np.subtract(after, before), expected, rtol=1e-10, atol=1e-11)


@pytest.mark.parametrize(
    "of",
    [
        lambda q, w: (q + 1) ** 2 - q**2 - 2 * q - 1,
        lambda q, w: sympy.sin(2 * q) - 2 * sympy.sin(q) * sympy.cos(q),
        lambda q, w: sympy.cosh(w) ** 2 - sympy.sinh(w) ** 2 - sympy.exp(q) * sympy.exp(-q),
    ],
)
def test_a_force_that_is_zero_costs_nothing(of: Any) -> None:
    """However it is written."""
    robot = elastogen.load("two_link")
    s = elastogen.symbols(robot)
    zero = of(s.coordinate("elbow"), s.velocity_of("shoulder"))
    assert not zero.is_zero
    assert operations(robot.with_terms(forces={"elbow": zero})) == operations(robot)


@pytest.mark.parametrize(
    "of", [lambda q: sympy.Max(q - 5, 0) + 0 * q, lambda q: (q - 1) ** 2 - q**2 + 2 * q - 1.0000001, lambda q: 1e-30 * q]
)
def test_a_force_that_is_zero_somewhere_is_kept(of: Any) -> None:
    """A stop that is far away, or very little force, is a force."""
    robot = elastogen.load("two_link")
    given = of(elastogen.symbols(robot).coordinate("elbow"))
    assert operations(robot.with_terms(forces={"elbow": given})) != operations(robot)
