"""The graph folds while it grows, and a program means what its graph says."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from build_samples import Recipe, random_arguments, random_program

from elastogen.generator.program.graph import Graph, Op, Value
from elastogen.generator.program.names import PARAMETERS
from elastogen.generator.program.program import Program
from elastogen.runtime.interface.argument import Argument


@pytest.fixture
def graph() -> Graph:
    return Graph()


@pytest.fixture
def x(graph: Graph) -> Value:
    return graph.input("x")


@pytest.fixture
def y(graph: Graph) -> Value:
    return graph.input("y")


@pytest.fixture
def z(graph: Graph) -> Value:
    return graph.input("z")


def same(a: Value, b: Value | float) -> bool:
    """Whether two values are one reference: folding is exact, not numeric."""
    return a.ref == a.graph.as_ref(b)


def operations(graph: Graph, *values: Value) -> list[Op]:
    return [graph.op[node] for node in graph.cone(value.ref for value in values) if graph.op[node] > Op.INPUT]


# ---- folding


def test_zero_and_one_vanish(x: Value) -> None:
    assert same(x + 0, x)
    assert same(0 + x, x)
    assert same(x - 0, x)
    assert same(0 - x, -x)
    assert same(x * 0, 0)
    assert same(0 * x, 0)
    assert same(x * 1, x)
    assert same(1 * x, x)
    assert same(x * -1, -x)
    assert same(0 / x, 0)
    assert same(x / 1, x)
    assert (x * 0).is_zero
    assert not x.is_zero


def test_signs_live_on_edges(graph: Graph, x: Value, y: Value) -> None:
    assert same(0 - (-x), x)
    assert same(y - x, -(x - y))
    assert same(-x - y, -(x + y))
    assert same((-x) * y, -(x * y))
    assert same((-x) * (-y), x * y)
    assert same((-x) / y, -(x / y))
    assert same(x / (-y), -(x / y))
    assert not same(x / y, y / x)
    assert len(operations(graph, x - y, y - x, -x * y, x * y)) == 2


def test_equal_values_are_one_node(graph: Graph, x: Value, y: Value) -> None:
    assert same(x + y, y + x)
    assert same(x * y, y * x)
    assert same(graph.input("x"), x)
    assert same(graph.sin(x + y), graph.sin(y + x))
    assert not same(x + y, x * y)
    assert not same(graph.input("other"), x)


def test_equal_terms_cancel_or_add_up(graph: Graph, x: Value, y: Value) -> None:
    assert same(x - x, 0)
    assert same(x * y - y * x, 0)
    assert same(x + x, 2 * x)
    assert same(-x - x, -2 * x)
    assert same(2 * x + 3 * x, 5 * x)
    assert same(2 * x - x, x)
    assert same(2 * x - 2 * x, 0)
    assert same(x - 3 * x, -2 * x)
    assert operations(graph, x + x) == [Op.MUL]


def test_constants_fold(graph: Graph, x: Value) -> None:
    assert (graph.value(2) + 3).constant == 5.0
    assert (graph.value(2) - 3).constant == -1.0
    assert (graph.value(-2) * 3).constant == -6.0
    assert (graph.value(3) / -4).constant == -0.75
    assert (graph.value(0.5) - 0.5).is_zero
    assert x.constant is None
    assert same(graph.value(-0.0), 0)


def test_constants_gather_in_sums_and_products(graph: Graph, x: Value) -> None:
    assert same(2 + (3 + x), 5 + x)
    assert same((x + 3) - 5, x - 2)
    assert same(2 - (3 - x), x - 1)
    assert same(2 - (2 - x), x)
    assert same(2 * (3 * x), 6 * x)
    assert same(0.5 * (2 * x), x)
    assert same(-0.5 * (2 * x), -x)
    assert same((x / 4) * 8, 2 * x)
    assert same(x / 4, x * 0.25)
    assert operations(graph, 2 + (3 + x)) == [Op.ADD]


def test_quotients(graph: Graph, x: Value, y: Value) -> None:
    assert same(x / x, 1)
    assert same(x / -x, -1)
    with pytest.raises(ZeroDivisionError, match="constant 0"):
        x / 0
    assert operations(graph, x / y) == [Op.DIV]


def test_functions_of_constants_and_signs(graph: Graph, x: Value) -> None:
    for function, plain in (
        (graph.sin, math.sin),
        (graph.cos, math.cos),
        (graph.tanh, math.tanh),
        (graph.sqrt, math.sqrt),
    ):
        assert function(0.7).constant == plain(0.7)
    assert same(graph.sin(-x), -graph.sin(x))
    assert same(graph.tanh(-x), -graph.tanh(x))
    assert same(graph.cos(-x), graph.cos(x))
    assert not same(graph.sqrt(-x), graph.sqrt(x))
    assert not same(graph.sqrt(-x), -graph.sqrt(x))
    assert graph.sin(0).is_zero
    assert graph.cos(0).constant == 1.0


def test_squares_of_sine_and_cosine(graph: Graph, x: Value, y: Value) -> None:
    s, c = graph.sin(x), graph.cos(x)
    assert same(s * s + c * c, 1)
    assert same(c * c + s * s, 1)
    assert same(-(s * s) - c * c, -1)
    assert (s * s - c * c).constant is None
    assert (s * s + graph.cos(y) * graph.cos(y)).constant is None
    assert (s * s + s * c).constant is None
    assert (graph.tanh(x) * graph.tanh(x) + c * c).constant is None
    assert same(graph.sin(-x) * graph.sin(-x) + c * c, 1)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_a_constant_is_finite(graph: Graph, bad: float) -> None:
    with pytest.raises(ValueError, match="finite"):
        graph.constant(bad)


def test_overflow_of_folded_constants_is_an_error(graph: Graph) -> None:
    with pytest.raises(ValueError, match="finite"):
        graph.value(1e200) * 1e200


# ---- reading


def test_cone_is_what_a_value_needs_in_order(graph: Graph, x: Value, y: Value, z: Value) -> None:
    wanted = graph.sin(x * y)
    unwanted = x + z
    cone = graph.cone([wanted.ref])
    assert cone == sorted(cone)
    assert unwanted.ref >> 1 not in cone
    assert z.ref >> 1 not in cone
    assert [graph.op[node] for node in cone] == [Op.INPUT, Op.INPUT, Op.MUL, Op.SIN]
    assert graph.cone([]) == []


def test_names_go_to_intermediates_and_the_first_wins(graph: Graph, x: Value, y: Value) -> None:
    total = graph.name(x + y, "total")
    graph.name(total, "twice")
    graph.name(x, "not_an_input")
    graph.name(graph.value(3), "not_a_number")
    assert graph.label[total.ref >> 1] == "total"
    assert graph.label[x.ref >> 1] == "x"
    assert graph.label[graph.constant(3) >> 1] == ""


def test_text_shows_the_expression(graph: Graph, x: Value, y: Value) -> None:
    assert repr(-(x * y)) == "-(x * y)"
    assert repr(graph.sin(x) / y) == "(sin(x) / y)"
    assert repr(graph.value(-2)) == "-2.0"


# ---- programs


def program_of(graph: Graph, inputs: list[str], *values: Value, pivots: tuple[int, ...] = ()) -> Program:
    arguments = [Argument(name, (), "", "") for name in inputs]
    for name in inputs:  # a single number is element 0 of its argument
        graph.input(f"{name}[0]")
    return Program(graph, arguments, [(Argument("out", (len(values),), "", ""), [value.ref for value in values])], pivots)


def test_evaluation_of_every_operation(graph: Graph) -> None:
    a, b = graph.input("a[0]"), graph.input("b[0]")
    functions = [graph.sin(a), graph.cos(b), graph.tanh(a), graph.sqrt(b)]
    program = program_of(graph, ["a", "b"], a + b, a - b, a * b, a / b, -a, 2 * a, a * 0, *functions)
    A, B = np.array([0.3, -1.2]), np.array([0.8, 2.5])
    expected = np.stack([A + B, A - B, A * B, A / B, -A, 2 * A, 0 * A, np.sin(A), np.cos(B), np.tanh(A), np.sqrt(B)], axis=-1)
    np.testing.assert_allclose(program.evaluate({"a": A, "b": B})["out"], expected, rtol=1e-15)
    np.testing.assert_allclose(program.evaluate({"a": 0.3, "b": 0.8})["out"], expected[0], rtol=1e-15)


def test_parameters_are_inputs_by_name(graph: Graph) -> None:
    program = program_of(graph, ["a"], graph.input("a[0]") * graph.input("mass"))
    assert program.evaluate({"a": 3.0}, {"mass": 2.0})["out"] == [6.0]
    assert program.used_inputs() == ["a[0]", "mass"]


def test_outputs_must_fill_their_shape(graph: Graph) -> None:
    with pytest.raises(ValueError, match=r"output M of shape \(2, 2\) got 3 values"):
        Program(graph, [], [(Argument("M", (2, 2), "", ""), [graph.zero] * 3)])


def test_uses_count_operands_and_outputs(graph: Graph) -> None:
    a = graph.input("a[0]")
    square = a * a
    program = program_of(graph, ["a"], square, square + a)
    assert program.uses[a.ref >> 1] == 3
    assert program.uses[square.ref >> 1] == 2


DOUBLE = {
    Op.ADD: np.add, Op.MUL: np.multiply, Op.DIV: np.divide, Op.SIN: np.sin, Op.COS: np.cos, Op.SQRT: np.sqrt,
    Op.TANH: np.tanh, Op.EXP: np.exp, Op.LOG: np.log, Op.ASIN: np.arcsin, Op.ACOS: np.arccos, Op.ATAN: np.arctan,
    Op.SINH: np.sinh, Op.COSH: np.cosh, Op.ASINH: np.arcsinh, Op.ACOSH: np.arccosh, Op.ATANH: np.arctanh, Op.POW: np.power,
    Op.ERF: math.erf, Op.FLOOR: np.floor,
    Op.ATAN2: np.arctan2, Op.ABS: np.abs, Op.MIN: min, Op.MAX: max, Op.SELECT: lambda d, x, y: x if d < 0 else y,
}  # fmt: skip


def evaluate_as_printed(program: Program, arguments: dict[str, Any]) -> list[Any]:
    """Evaluate what the nodes compute as printed: flipped nodes hold the opposite sign and operands are corrected."""
    graph = program.graph
    held: dict[int, Any] = {}
    environment = {
        argument.element(k): np.ravel(arguments[argument.name])[k] for argument in program.inputs for k in range(argument.size)
    }
    environment.update({"load": 1.25, "offset": -0.75})

    def read(ref: int) -> Any:
        return -held[ref >> 1] if program.sign(ref) else held[ref >> 1]

    for node in program.order:
        op = graph.op[node]
        if op in (Op.CONSTANT, Op.INPUT):
            assert node not in program.flipped
            held[node] = graph.number[node] if op is Op.CONSTANT else environment[graph.label[node]]
            continue
        value = DOUBLE[op](*(read(ref) for ref in graph.operands(node)))
        held[node] = -value if node in program.flipped else value
    return [read(ref) for _, refs in program.outputs for ref in refs]


@pytest.mark.parametrize("seed", range(20))
def test_polarity_changes_no_value_and_saves_negations(seed: int) -> None:
    program = random_program(seed)
    arguments = random_arguments(program, seed)
    results = program.evaluate(arguments, {"load": 1.25, "offset": -0.75}).values()
    np.testing.assert_array_equal(evaluate_as_printed(program, arguments), np.concatenate([np.ravel(r) for r in results]))
    plain = random_program(seed)
    plain.flipped = frozenset()
    assert program.count.neg <= plain.count.neg
    assert program.count.mul == plain.count.mul
    assert program.count.add == plain.count.add


def test_polarity_is_used() -> None:
    """Random programs give it something to do, and -a - b becomes free where its user can subtract."""
    arithmetic = Recipe(transcendental=False)
    programs = [random_program(seed, arithmetic) for seed in range(20)]
    plain = [random_program(seed, arithmetic) for seed in range(20)]
    for program in plain:
        program.flipped = frozenset()
    assert sum(p.count.neg for p in programs) < 0.7 * sum(p.count.neg for p in plain)


@pytest.mark.parametrize("seed", range(10))
def test_folding_changes_no_value(seed: int) -> None:
    """Random expressions, grown in the graph and in numbers side by side, with many constants and repetitions."""
    rng = np.random.default_rng(seed)
    graph = Graph()
    numbers = rng.uniform(0.5, 2.0, 4)
    pool = [(graph.input(f"a[{k}]"), float(number)) for k, number in enumerate(numbers)]
    pool += [(graph.value(number), float(number)) for number in (0, 1, -1, 2, 0.5, -3)]
    for _ in range(300):
        (a, p), (b, r) = (pool[k] for k in rng.integers(len(pool), size=2))
        kind = rng.integers(7)
        if kind == 0:
            made = (a + b, p + r)
        elif kind == 1:
            made = (a - b, p - r)
        elif kind == 2:
            made = (a * b, p * r)
        elif kind == 3 and abs(r) > 0.1 and b.constant != 0:
            made = (a / b, p / r)
        elif kind == 4:
            made = (-a, -p)
        elif kind == 5:
            made = (
                graph.sin(a) * graph.sin(a) + graph.cos(a) * graph.cos(a) * b,
                math.sin(p) ** 2 + math.cos(p) ** 2 * r,
            )
        else:
            made = (graph.cos(a) + graph.sin(b), math.cos(p) + math.sin(r))
        if abs(made[1]) < 50:
            pool.append(made)
    values = [value for value, _ in pool]
    program = Program(
        graph, [Argument("a", (4,), "", "")], [(Argument("out", (len(values),), "", ""), [v.ref for v in values])]
    )
    found = program.evaluate({"a": numbers})["out"]
    np.testing.assert_allclose(found, [number for _, number in pool], rtol=1e-9, atol=1e-9)


def test_derivations_apart_leave_nothing_behind() -> None:
    graph = Graph()
    a, b = graph.input("a"), graph.input("b")
    with graph.section("kept"):
        kept = a + b
    before = len(graph), list(graph.sections), graph.cone([kept.ref])
    for _ in range(2):
        with graph.apart(), graph.section("gone"):
            inner = graph.name(kept, "total") * graph.input("c")
            assert graph.label[kept.ref >> 1] == "total"
            assert inner.ref >> 1 >= before[0]
        assert (len(graph), list(graph.sections), graph.cone([kept.ref])) == before
        assert graph.label[kept.ref >> 1] == ""
    assert (graph.input("c") * kept).ref >> 1 == before[0] + 1  # made again, not found
    with pytest.raises(ZeroDivisionError), graph.apart():
        graph.input("d") / 0
    assert len(graph) == before[0] + 2


def test_labels_stand_only_where_they_are_true_for_all_uses():
    graph = Graph()
    q, rate, mass = graph.input("q[0]"), graph.input("qd[0]"), graph.input("mass")
    with graph.section(PARAMETERS):
        moment = mass * 0.5
    for value, label, expected in (
        (rate * q, "w1x", "w1x"),  # one value, one name
        (graph.cos(q), "a2y", "~a2y"),  # a cosine is a cosine
        (moment, "f2x", "~f2x"),  # made of parameters, for whoever needs it
    ):
        assert graph.label[graph.name(value, label).ref >> 1] == expected
    first, second = graph.name(rate + 1, "n1z"), graph.name(rate + 2, "n1z")  # one name, two values
    assert [graph.label[value.ref >> 1] for value in (first, second)] == ["~n1z", "~n1z"]
    graph.name(rate * q, "w2x")  # the same quantity of another frame: the first name is true
    assert graph.label[(rate * q).ref >> 1] == "w1x"
    graph.name(rate * q, "f1y")  # and a force in another place
    assert graph.label[(rate * q).ref >> 1] == "~w1x"


def test_names_proposed_apart_are_forgotten():
    graph = Graph()
    rate = graph.input("qd[0]")
    with graph.apart():
        graph.name(rate + 1, "n1z")
    assert graph.label[graph.name(rate + 2, "n1z").ref >> 1] == "n1z"
