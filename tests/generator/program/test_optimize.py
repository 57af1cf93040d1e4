"""Rewriting of values: common factors, substitution, extraction. Values stay, costs never grow."""

from __future__ import annotations

import json

import numpy as np
import pytest
from build_samples import LIVE, Recipe, random_arguments, random_program
from robots_for_tests import DATA, puma560_from_table

from elastogen.generator.algorithms.newton_euler import inverse_dynamics
from elastogen.generator.functions.derivation import COST
from elastogen.generator.functions.variants import VariantFamily
from elastogen.generator.program.graph import Graph, Op, Value, values
from elastogen.generator.program.optimize import factor_sums
from elastogen.generator.program.program import Program
from elastogen.generator.program.substitute import extract, substitute
from elastogen.runtime.interface.argument import Argument

SUMS_OF_PRODUCTS = Recipe(operations=150, choices=["add"] * 6 + ["mul"] * 4, transcendental=False)


def cost(graph: Graph, refs: list[int]) -> float:
    return sum(COST.get(graph.op[node], 0.0) for node in graph.cone(refs))


def count(graph: Graph, refs: list[int]) -> tuple[int, int]:
    """Multiplications and additions."""
    operations = [graph.op[node] for node in graph.cone(refs)]
    return operations.count(Op.MUL), operations.count(Op.ADD)


def evaluated(program: Program, graph: Graph, refs: list[int], seed: int) -> np.ndarray:
    """Values of references for random arguments of a program."""
    same = Program(graph, program.inputs, [(Argument("out", (len(refs),), "", ""), refs)])
    return np.asarray(same.evaluate(random_arguments(program, seed), LIVE)["out"])


# ---- common factors


@pytest.mark.parametrize("recipe", [Recipe(), SUMS_OF_PRODUCTS], ids=["all operations", "sums of products"])
@pytest.mark.parametrize("seed", range(25))
def test_factoring_keeps_values_and_never_costs(seed: int, recipe: Recipe) -> None:
    program = random_program(seed, recipe)
    graph, refs = program.graph, list(program.output_refs)
    expected = evaluated(program, graph, refs, seed)
    for _ in range(3):
        before = cost(graph, refs)
        refs = factor_sums(graph, refs)
        assert cost(graph, refs) <= before
        np.testing.assert_allclose(evaluated(program, graph, refs, seed), expected, rtol=0, atol=1e-12)


def test_factoring_pays_on_equations_of_motion() -> None:
    """Newton-Euler as derived still has common factors."""
    variant = VariantFamily(puma560_from_table(json.loads((DATA / "puma560.json").read_text()), "modified_dh")).plain()
    motion = [variant.input(name) for name in ("q", "qd", "qdd")]
    forces = inverse_dynamics(variant.mechanism, *motion, variant.mechanism.gravity, "tensor")
    graph, refs = variant.graph, [force.ref for force in forces]
    assert sum(count(graph, factor_sums(graph, refs))) < sum(count(graph, refs))


@pytest.fixture
def graph() -> Graph:
    return Graph()


@pytest.fixture
def abcd(graph: Graph) -> list[Value]:
    return [graph.input(name) for name in "abcd"]


def test_a_common_factor_is_taken_out(graph: Graph, abcd: list[Value]) -> None:
    a, b, c, d = abcd
    [ref] = factor_sums(graph, [(a * b + c + a * d).ref])
    assert ref == (a * (b + d) + c).ref
    [ref] = factor_sums(graph, [(a * b - a * c).ref])
    assert ref == (a * (b - c)).ref
    [ref] = factor_sums(graph, [(a * a + a * b).ref])
    assert ref == (a * (a + b)).ref
    [ref] = factor_sums(graph, [(2 * a + 2 * b).ref])
    assert ref == (2 * (a + b)).ref


def test_the_most_frequent_factor_goes_first(graph: Graph, abcd: list[Value]) -> None:
    a, b, c, d = abcd
    total = a * b + a * c + a * d + b * c
    [ref] = factor_sums(graph, [total.ref])
    assert count(graph, [total.ref]) == (4, 3)
    assert count(graph, [ref]) == (2, 3)


def test_factors_that_cancel_leave_nothing(graph: Graph, abcd: list[Value]) -> None:
    a, b, c, d = abcd
    total = a * (b * c + b * d) - a * (b * (c + d)) + d
    assert count(graph, [total.ref])[0] == 5
    assert factor_sums(graph, [total.ref]) == [d.ref]


def test_a_product_that_others_use_stays(graph: Graph, abcd: list[Value]) -> None:
    """Taking a factor out of a product that is needed anyway would compute it twice."""
    a, b, c, _ = abcd
    product = a * b
    refs = [(product + a * c).ref, product.ref]
    assert factor_sums(graph, refs) == refs


def test_constants_of_a_sum_come_last_and_together(graph: Graph, abcd: list[Value]) -> None:
    a, b, *_ = abcd
    [ref] = factor_sums(graph, [((a + 2.0) + (b + 3.0)).ref])
    assert count(graph, [ref]) == (0, 2)


def test_outputs_keep_their_signs(graph: Graph, abcd: list[Value]) -> None:
    a, b, c, _ = abcd
    total = a * b + a * c
    refs = factor_sums(graph, [total.ref, (-total).ref, graph.zero, (-a).ref])
    assert refs[1] == refs[0] ^ 1
    assert refs[2:] == [graph.zero, (-a).ref]


def test_names_follow_the_values(graph: Graph, abcd: list[Value]) -> None:
    a, b, c, _ = abcd
    with graph.section("joint1: force"):
        total = graph.name(a * b + a * c, "f_1x")
    with graph.section("elsewhere"):
        [ref] = factor_sums(graph, [total.ref])
    assert ref != total.ref
    assert graph.label[ref >> 1] == "f_1x"
    assert graph.section_of[ref >> 1] == "joint1: force"


# ---- substitution


def test_substitution_replaces_inputs_by_values(graph: Graph, abcd: list[Value]) -> None:
    a, b, c, d = abcd
    value = graph.sin(a * b) - c / a
    [found] = substitute(graph, [value], {a.ref >> 1: (c + d).ref, c.ref >> 1: (-b).ref})
    assert found.ref == (graph.sin((c + d) * b) - (-b) / (c + d)).ref, "replacements are not substituted into again"


def test_substitution_folds(graph: Graph, abcd: list[Value]) -> None:
    a, b, c, _ = abcd
    zero, one = {a.ref >> 1: graph.zero}, {a.ref >> 1: graph.one}
    total = a * b + c
    assert [v.ref for v in substitute(graph, [total, -total, -(a * b)], zero)] == [c.ref, (-c).ref, graph.zero]
    assert [v.ref for v in substitute(graph, [total, graph.cos(a - 1)], one)] == [(b + c).ref, graph.one]
    assert substitute(graph, [b * c], zero)[0].ref == (b * c).ref


@pytest.mark.parametrize("seed", range(5))
def test_substitution_of_numbers_is_evaluation(seed: int) -> None:
    program = random_program(seed)
    graph, refs = program.graph, list(program.output_refs)
    numbers = {k: float(x) for k, x in enumerate(random_arguments(program, seed)["x0"])}
    known = {graph.input(f"x0[{k}]").ref >> 1: graph.constant(x) for k, x in numbers.items()}
    found = [value.ref for value in substitute(graph, values(graph, refs), known)]
    labels = {graph.label[node] for node in graph.cone(found)}
    assert not any(label.startswith("x0[") for label in labels)
    np.testing.assert_allclose(
        evaluated(program, graph, found, seed), evaluated(program, graph, refs, seed), rtol=0, atol=1e-12
    )


# ---- extraction


@pytest.mark.parametrize("seed", range(5))
def test_extraction_copies_just_what_is_needed(seed: int) -> None:
    program = random_program(seed)
    graph, refs = program.graph, list(program.output_refs)
    graph.input("unused") * graph.input("x0[0]")
    small, found = extract(graph, refs)
    assert small is not graph
    assert cost(small, found) == cost(graph, refs)
    assert len(small) <= len(graph.cone(refs)) + 2  # zero and one are always there
    np.testing.assert_array_equal(evaluated(program, small, found, seed), evaluated(program, graph, refs, seed))


def test_extraction_keeps_names_and_sections(graph: Graph, abcd: list[Value]) -> None:
    a, b, *_ = abcd
    with graph.section("joint1: force"):
        total = graph.name(a + b, "f_1x")
    small, [ref] = extract(graph, [(-total).ref])
    assert ref & 1 == 1
    assert small.label[ref >> 1] == "f_1x"
    assert small.section_of[ref >> 1] == "joint1: force"
    assert [small.label[node] for node in small.cone([ref])][:2] == ["a", "b"]


def test_a_sum_of_thousands_of_products() -> None:
    """The energy of a finely divided beam is one long sum."""
    graph = Graph()
    total = graph.value(0)
    for k in range(4000):
        total = total + graph.input(f"x[{k}]") * graph.input(f"x[{k + 1}]")
    (ref,) = factor_sums(graph, [total.ref])
    arguments = [Argument("x", (4001,), "", "")]
    values = np.random.default_rng(0).normal(size=4001)
    result = Program(graph, arguments, [(Argument("y", (), "", ""), [ref])]).evaluate({"x": values})["y"]
    np.testing.assert_allclose(result, values[:-1] @ values[1:], rtol=1e-12)


def test_a_divisor_that_factoring_shows_to_be_zero_stays_as_it_is() -> None:
    """(a b + a c) - a (b + c) is zero only after factoring; what divides by it keeps its form, the pivot says zero."""
    graph = Graph()
    a, b, c = (graph.input(name) for name in "abc")
    pivot = (a * b + a * c) - a * (b + c)
    assert not pivot.is_zero  # unknown before factoring
    quotient, known = factor_sums(graph, [(b / pivot).ref, pivot.ref])
    assert graph.constant_of(known) == 0.0
    assert graph.op[quotient >> 1] is Op.DIV
