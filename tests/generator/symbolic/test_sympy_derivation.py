"""SymPy carries the recursions: the same numbers as the graph's own algebra gives, and no more operations."""

from __future__ import annotations

from pathlib import Path

import flexible_chains
import numpy as np
import own_terms_arm
import pytest
import sympy
from robots_for_tests import quietly_loaded, random_robot

import elastogen
from elastogen.generator.derivation_errors import DerivationError
from elastogen.generator.functions.derivation import derive_model
from elastogen.generator.functions.variants import SYMPY
from elastogen.generator.joints import kinds
from elastogen.generator.program.graph import Graph, Op
from elastogen.generator.program.interpret import DOUBLES, interpret
from elastogen.generator.program.symbolic import carrier
from elastogen.generator.program.symbolic.carrier import SympyGraph
from elastogen.generator.program.symbolic.lowering import lowered
from elastogen.generator.program.symbolic.shared_parts import share_parts
from elastogen.generator.robot.robot import Robot

BUILT_IN = sorted(path.stem for path in (Path(elastogen.__file__).parents[1] / "generator/description/robots").glob("*.yaml"))
LARGE = {"flexible_one_link", "six_leg_platform", "flexible_six_joint", "delta"}  # take seconds each
QUICK = ("inverse_dynamics", "mass_matrix")
SOLVED = 1e-9  # of the largest entry: where M is ill-conditioned, its solution loses digits on either carrier
MORE, FEW = 1.05, 2  # operations: at most 5 % more than on the graph, or as many as this


def agree(robot: Robot, outputs: tuple[str, ...] | None, frames: tuple[str, ...] = ()) -> None:
    """All functions on both carriers: numbers to rounding, operations within 5 %."""
    ours, theirs = derive_model(robot, outputs, frames), derive_model(robot, outputs, frames, derivation=SYMPY)
    rng = np.random.default_rng(30)
    parameters = {parameter.name: parameter.value for parameter in robot.live_parameters}
    for one, other in zip(ours.functions, theirs.functions, strict=True):
        assert [a.name for a in one.program.inputs] == [a.name for a in other.program.inputs], one.name
        given = {argument.name: rng.uniform(-1, 1, argument.shape) for argument in one.program.inputs}
        expected, found = (each.program.evaluate(given, parameters) for each in (one, other))
        for key, value in expected.items():
            scale = np.abs(value).max(initial=1e-3)
            np.testing.assert_allclose(found[key], value, rtol=0, atol=SOLVED * scale, err_msg=f"{robot.name} {one.name}")
        counted, limit = other.program.count.total, one.program.count.total
        assert counted <= max(MORE * limit, limit + FEW), f"{robot.name} {one.name}: {counted} operations, {limit} on the graph"
    total = sum(function.program.count.total for function in ours.functions)
    assert sum(function.program.count.total for function in theirs.functions) <= MORE * total + FEW


@pytest.mark.parametrize("name", [name for name in BUILT_IN if name not in LARGE])
def test_built_in_robots(name: str) -> None:
    agree(quietly_loaded(name), QUICK)


@pytest.mark.nightly
@pytest.mark.parametrize("name", BUILT_IN)
def test_all_default_functions_of_built_in_robots(name: str) -> None:
    agree(quietly_loaded(name), None)


@pytest.mark.parametrize("seed", range(4))
def test_random_trees_with_drives(seed: int) -> None:
    agree(random_robot(seed, drives=True), (*QUICK, "forward_dynamics"))


@pytest.mark.parametrize("seed", range(3))
def test_random_flexible_chains(seed: int) -> None:
    agree(flexible_chains.random_chain(seed, 2, 2), QUICK)


def test_operations_where_sympy_writes_sums_and_products_in_another_order() -> None:
    """Composite bodies of short programs, sums that come together, products and sums whose terms stand in another order."""
    agree(random_robot(106, 3, drives=True), ("mass_matrix",))
    agree(quietly_loaded("six_leg_platform"), ("mass_matrix",))
    agree(random_robot(105, 2), ("exponential_jacobian_rate",))
    agree(quietly_loaded("trtrr"), ("frame_acceleration",), ("tip",))


def test_parts_of_sums_and_products_are_shared() -> None:
    graph = Graph()
    a, b, c, d = (graph.input(name) for name in "abcd")
    made = [
        (a * b) * c, (a * c) * d + 1, (c * (b * a)) * d,  # a c in all of them
        (a + b) - c, d - (a - c), (b + d) + (c - b),  # a - c in two; b - b in the last
    ]  # fmt: skip
    refs = share_parts(graph, [value.ref for value in made])
    count = [graph.op[node] for node in graph.cone(refs)]
    assert (count.count(Op.MUL), count.count(Op.ADD)) == (4, 5)
    x = {"a": 3.0, "b": 5.0, "c": 7.0, "d": 11.0}
    read = interpret(graph, graph.cone(refs), x, DOUBLES).read
    assert [float(read(ref)) for ref in refs] == [105.0, 232.0, 1155.0, 1.0, 15.0, 18.0]


def test_quaternions_and_joints_of_several_coordinates() -> None:
    robot = random_robot(4, 3, types=(kinds.SPHERICAL, kinds.CYLINDRICAL, kinds.PLANAR), fixed=0.0)
    agree(robot, ("inverse_dynamics", "integrate", "configuration_rate"))


def test_every_function_of_a_small_robot() -> None:
    agree(quietly_loaded("two_link"), ("all",))


def test_own_terms_tangents_sensitivities_and_fused_functions() -> None:
    outputs = ("inverse_dynamics", "potential_energy", "stiffness_matrix", "forward_dynamics_tangent")
    agree(own_terms_arm.arm(), (*outputs, "inverse_dynamics_adjoint", "mass_matrix+gravity_vector"))


def test_the_lowered_equations_give_what_their_values_say() -> None:
    """Sums that cancel, squares, quotients, choices and functions, from SymPy's forms to numbers."""
    graph = SympyGraph()
    x, y = graph.input("x"), graph.input("y")
    assert (x + y - x - y).is_zero
    assert ((x + y) * 0.5 * 2 - (y + x)).is_zero
    assert ((x + y) - x).ref == y.ref
    assert (3 * x - 2 * x).ref == x.ref
    assert (graph.sin(x) * graph.sin(x) + graph.cos(x) * graph.cos(x)).constant == 1.0
    made = [
        (x * x * y - y) / (1 + x * x),
        graph.choose(x - y, graph.sqrt(1 + y * y), graph.elementary(Op.ATAN2, x, y)),
        graph.elementary(Op.MIN, x, -y) + graph.elementary(Op.ABS, x - y) * graph.elementary(Op.EXP, x) ,
        graph.elementary(Op.POW, 1 + x * x, y) - graph.elementary(Op.FLOOR, 3 * x),
        -graph.tanh(-x) * (x + y) - (x + y),
    ]  # fmt: skip
    small, refs = lowered(graph, [value.ref for value in made])
    assert type(small) is Graph
    a, b = 0.3, -0.7
    expected = [
        (a * a * b - b) / (1 + a * a),
        np.arctan2(a, b),
        min(a, -b) + abs(a - b) * np.exp(a),
        (1 + a * a) ** b - np.floor(3 * a),
        np.tanh(a) * (a + b) - (a + b),
    ]
    read = interpret(small, small.cone(refs), {"x": a, "y": b}, DOUBLES).read
    np.testing.assert_allclose([float(read(ref)) for ref in refs], expected, rtol=1e-14)


def test_values_are_expressions_of_sympy() -> None:
    graph = SympyGraph()
    q, c = graph.input("q[0]"), graph.cos(graph.input("q[0]"))
    assert graph.forms[(2 * c + q).ref >> 1] == 2 * sympy.cos(sympy.Symbol("q[0]")) + sympy.Symbol("q[0]")
    with graph.apart():
        inner = graph.name(c * q + 1, "omega_1")
        assert graph.forms[(inner * q).ref >> 1] == graph.symbol(inner.ref >> 1) * sympy.Symbol("q[0]")
        before = len(graph.forms)
    assert len(graph.forms) == len(graph.op) < before


def test_a_derivation_without_end_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(carrier, "MOST_VALUES", 500)
    with pytest.raises(DerivationError, match=r"more than 500 values.*derivation='graph'"):
        derive_model(quietly_loaded("puma560"), ("inverse_dynamics",), derivation=SYMPY)


def test_the_compiled_model_and_its_name_in_the_cache(tmp_path: Path) -> None:
    robot = quietly_loaded("two_link")
    ours = elastogen.build_model(robot, outputs=["inverse_dynamics"], cache_dir=tmp_path)
    theirs = elastogen.build_model(robot, outputs=["inverse_dynamics"], cache_dir=tmp_path, derivation="sympy")
    state = ([0.3, -0.8], [1.0, 2.0], [-1.0, 0.5])
    np.testing.assert_allclose(theirs.inverse_dynamics(*state), ours.inverse_dynamics(*state), rtol=1e-14)
    assert len(list(tmp_path.rglob("*.so"))) == 2  # each has its own place in the cache
    elastogen.build_model(robot, outputs=["inverse_dynamics"], cache_dir=tmp_path, derivation="sympy")
    assert len(list(tmp_path.rglob("*.so"))) == 2
    with pytest.raises(elastogen.OutputError, match="derivation: got 'maple', expected 'graph' or 'sympy'"):
        elastogen.build_model(robot, derivation="maple")
