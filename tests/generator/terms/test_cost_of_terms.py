"""What own terms cost: divisions are shared, and gradients need no more operations than those of SymPy and CasADi."""

from __future__ import annotations

from typing import Any

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
