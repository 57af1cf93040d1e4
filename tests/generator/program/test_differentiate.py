"""Derivatives of values in a graph, against complex steps through the same operations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.special
from build_samples import LIVE, random_arguments, random_program

from elastogen.generator.program.differentiate import directional, jacobian, time_derivative
from elastogen.generator.program.graph import Graph, Op, Value, values
from elastogen.generator.program.program import Program
from elastogen.runtime.interface.argument import Argument

STEP = 1e-30  # a complex step has no cancellation


def by_sign(decides: Any, x: Any, y: Any) -> Any:
    return x if np.real(decides) < 0 else y


COMPLEX = {
    Op.ADD: np.add, Op.MUL: np.multiply, Op.DIV: np.divide, Op.SIN: np.sin, Op.COS: np.cos, Op.SQRT: np.sqrt,
    Op.TANH: np.tanh, Op.EXP: np.exp, Op.LOG: np.log, Op.ASIN: np.arcsin, Op.ACOS: np.arccos, Op.ATAN: np.arctan,
    Op.SINH: np.sinh, Op.COSH: np.cosh, Op.ASINH: np.arcsinh, Op.ACOSH: np.arccosh, Op.ATANH: np.arctanh, Op.POW: np.power,
    Op.ATAN2: lambda y, x: np.arctan(y / x),  # x > 0 in these programs
    Op.ABS: lambda x: by_sign(x, -x, x), Op.MIN: lambda x, y: by_sign(x - y, x, y),
    Op.MAX: lambda x, y: by_sign(y - x, x, y), Op.SELECT: by_sign,
    Op.ERF: scipy.special.erf, Op.FLOOR: lambda x: np.floor(np.real(x)),
}  # fmt: skip


def evaluate(graph: Graph, wanted: list[Value], environment: dict[str, Any]) -> np.ndarray:
    """Values in plain numpy, for complex numbers as well."""
    held: dict[int, Any] = {}

    def read(ref: int) -> Any:
        return -held[ref >> 1] if ref & 1 else held[ref >> 1]

    for node in graph.cone(value.ref for value in wanted):
        op, operands = graph.op[node], [read(ref) for ref in graph.operands(node)]
        if op is Op.CONSTANT:
            held[node] = graph.number[node]
        elif op is Op.INPUT:
            held[node] = environment[graph.label[node]]
        else:
            held[node] = COMPLEX[op](*operands)
    return np.array([read(value.ref) for value in wanted])


def complex_step(graph: Graph, wanted: list[Value], environment: dict[str, Any], direction: dict[str, float]) -> np.ndarray:
    moved = {name: value + 1j * STEP * direction.get(name, 0.0) for name, value in environment.items()}
    return evaluate(graph, wanted, moved).imag / STEP


def sample(seed: int) -> tuple[Graph, list[Value], list[Value], dict[str, Any]]:
    """A random program over all operations: graph, inputs, outputs and a state."""
    program = random_program(seed)
    graph = program.graph
    arguments = random_arguments(program, seed)
    labels = [argument.element(k) for argument in program.inputs for k in range(argument.size)]
    numbers = np.concatenate([np.ravel(arguments[argument.name]) for argument in program.inputs])
    environment = {**dict(zip(labels, numbers, strict=True)), **LIVE}
    outputs = [value for _, refs in program.outputs for value in values(graph, refs)]
    return graph, [graph.input(label) for label in labels], outputs, environment


@pytest.mark.parametrize("seed", range(15))
def test_jacobian_of_a_random_program(seed: int) -> None:
    graph, inputs, outputs, environment = sample(seed)
    found = [evaluate(graph, row, environment) for row in jacobian(graph, outputs, inputs)]
    expected = np.stack([complex_step(graph, outputs, environment, {graph.label[x.ref >> 1]: 1.0}) for x in inputs], axis=1)
    scale = max(1.0, np.abs(expected).max())
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * scale)
    assert np.abs(expected).max() > 0.1


def test_random_programs_differentiate_every_operation() -> None:
    used = set()
    for seed in range(15):
        graph, _, outputs, _ = sample(seed)
        used |= {graph.op[node] for node in graph.cone(value.ref for value in outputs)}
    assert used == set(Op)


@pytest.mark.parametrize("seed", range(5))
def test_directional_derivative_along_expressions(seed: int) -> None:
    """Rates may be values themselves; they are multiplied by the Jacobian."""
    graph, inputs, outputs, environment = sample(seed)
    rates = [graph.sin(x) + 0.5 for x in reversed(inputs)]
    found = directional(graph, outputs, {x.ref >> 1: rate.ref for x, rate in zip(inputs, rates, strict=True)})
    numbers = evaluate(graph, rates, environment)
    direction = {graph.label[x.ref >> 1]: float(rate) for x, rate in zip(inputs, numbers, strict=True)}
    expected = complex_step(graph, outputs, environment, direction)
    np.testing.assert_allclose(evaluate(graph, found, environment), expected, rtol=0, atol=1e-12 * np.abs(expected).max())


@pytest.mark.parametrize("seed", range(3))
def test_second_derivatives_are_symmetric(seed: int) -> None:
    graph, inputs, outputs, environment = sample(seed)
    total = graph.value(0)
    for value in outputs:
        total = total + value
    gradient = jacobian(graph, [total], inputs)[0]
    hessian = np.array([evaluate(graph, row, environment) for row in jacobian(graph, gradient, inputs)])
    np.testing.assert_allclose(hessian, hessian.T, rtol=0, atol=1e-11 * np.abs(hessian).max())
    assert np.abs(hessian).max() > 0.1


def test_time_derivatives_of_a_motion() -> None:
    """d/dt and d2/dt2 of q0 sin(q1) + qd0^2, by the chain rule."""
    graph = Graph()
    q, qd, qdd, q3 = ([graph.input(f"{name}{k}") for k in range(2)] for name in ("q", "qd", "qdd", "q3"))
    value = q[0] * graph.sin(q[1]) + qd[0] * qd[0]
    motion = [(q, qd), (qd, qdd), (qdd, q3)]
    first = time_derivative(graph, [value], motion)
    second = time_derivative(graph, first, motion)
    rng = np.random.default_rng(3)
    numbers = {name: rng.normal(size=2) for name in ("q", "qd", "qdd", "q3")}
    environment = {f"{name}{k}": array[k] for name, array in numbers.items() for k in range(2)}
    x, v, a, j = numbers.values()
    s, c = np.sin(x[1]), np.cos(x[1])
    expected = v[0] * s + x[0] * c * v[1] + 2 * v[0] * a[0]
    np.testing.assert_allclose(evaluate(graph, first, environment), [expected], rtol=1e-14)
    expected = a[0] * s + 2 * v[0] * c * v[1] - x[0] * s * v[1] ** 2 + x[0] * c * a[1] + 2 * a[0] ** 2 + 2 * v[0] * j[0]
    np.testing.assert_allclose(evaluate(graph, second, environment), [expected], rtol=1e-14)


def test_derivatives_fold() -> None:
    graph = Graph()
    x, y = graph.input("x"), graph.input("y")

    def derivative(value: Value) -> int:
        return jacobian(graph, [value], [x])[0][0].ref

    assert derivative(y) == graph.zero
    assert derivative(graph.value(3)) == graph.zero
    assert derivative(x) == graph.one
    assert derivative(-x) == graph.one ^ 1
    assert derivative(x * x) == (2 * x).ref
    assert derivative(x * y) == y.ref
    assert derivative(x + y) == graph.one
    assert derivative(3 * x - 5) == graph.constant(3)
    assert derivative(graph.sin(x)) == graph.cos(x).ref
    assert derivative(graph.cos(x)) == (-graph.sin(x)).ref
    assert derivative(y / x) == (-(y / x) / x).ref
    assert derivative(graph.cos(y) * graph.tanh(y)) == graph.zero


def test_nothing_changes_by_a_constant() -> None:
    graph = Graph()
    x = graph.input("x")
    rows = jacobian(graph, [2 * x, x * x], [graph.value(2), x])
    assert [row[0].is_zero for row in rows] == [True, True]
    assert rows[0][1].constant == 2.0


def test_derivatives_of_a_program_are_a_program() -> None:
    """The rows of a Jacobian evaluate with batches, as any program."""
    graph = Graph()
    x = [graph.input(f"x[{k}]") for k in range(2)]
    rows = jacobian(graph, [x[0] * x[1], graph.sin(x[0])], x)
    refs = [value.ref for row in rows for value in row]
    program = Program(graph, [Argument("x", (2,), "", "")], [(Argument("J", (2, 2), "", ""), refs)])
    points = np.array([[0.5, 2.0], [-1.0, 3.0]])
    expected = [[[p[1], p[0]], [np.cos(p[0]), 0.0]] for p in points]
    np.testing.assert_allclose(program.evaluate({"x": points})["J"], expected, rtol=1e-15)
