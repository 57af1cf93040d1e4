"""Flexible bodies with dense integrals: loops over constant tables give what straight lines give, counted exactly."""

import re
import shutil
import subprocess

import numpy as np
import pytest
from c_compilers import WARNINGS
from dense_arms import dense_arm

import elastogen
from elastogen.build.c.dialect import Dialect
from elastogen.build.c.function import print_body
from elastogen.build.c.tables.pool import Pool
from elastogen.build.c.tables.printer import print_in_tables
from elastogen.generator.bodies.shaped_body import dense_modes
from elastogen.generator.functions.derivation import derive_model
from elastogen.generator.program.graph import Graph
from elastogen.generator.program.program import Program
from elastogen.generator.program.tables.in_tables import LOOP_TIME, InTables
from elastogen.runtime.interface.argument import Argument

OUTPUTS = [
    "forward_kinematics", "jacobian", "mass_matrix", "coriolis_matrix", "coriolis_vector", "elastic_forces", "gravity_vector",
    "inverse_dynamics", "forward_dynamics", "kinetic_energy", "inverse_dynamics_derivatives", "point_positions",
    "point_accelerations", "joint_reactions",
]  # fmt: skip
POINT = {"points": [{"name": "probe", "link": "fore", "xyz": [0.1, 0.02, 0]}]}


@pytest.fixture(scope="module")
def arm():
    return elastogen.load(dense_arm(5, seed=3, **POINT))


@pytest.fixture(scope="module")
def programs(arm):
    return {function.name: function for function in derive_model(arm, OUTPUTS).functions}


@pytest.fixture(scope="module")
def model(arm):
    return elastogen.build_model(arm, outputs=OUTPUTS)


def state_of(function, rng):
    scale = {"q": 0.05}
    return {a.name: scale.get(a.name, 1.0) * rng.normal(size=a.shape) for a in function.inputs}


def test_dense_functions_are_in_tables(programs):
    small = {"forward_kinematics", "point_positions"}  # what of these is not a loop is most of them
    found = {name for name, function in programs.items() if function.program.in_tables is not None}
    assert found >= set(OUTPUTS) - small


@pytest.mark.parametrize("name", OUTPUTS)
def test_loops_give_what_straight_lines_give(model, programs, name):
    """The program is evaluated node by node in Python, without loops."""
    rng = np.random.default_rng(5)
    function = programs[name]
    for _ in range(2):
        arguments = state_of(function, rng)
        expected = function.program.evaluate(arguments)
        found = getattr(model, name)(*arguments.values())
        for one, other in zip(found if isinstance(found, tuple) else (found,), expected.values(), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12 * np.abs(other).max())


def counted(body):
    """Operations of the printed text: those of loops as often as they run."""
    found = {"*": 0, "+": 0, "-": 0}
    text = "\n".join([*(line for part in body.parts for line in part.lines), *body.lines])
    statements = re.sub(r"\s*\n\s{8,}(?=[^\s/cslMFCGTJq{}])", " ", text)
    times, depth = [1], 0
    for line in re.sub(r"/\*.*?\*/", "", statements, flags=re.S).split("\n"):
        start = re.search(r"for \(int \w+ = (\d+); \w+ < (\d+); \+\+\w+\) \{", line)
        if start:
            times.append(times[-1] * (int(start[2]) - int(start[1])))
            line = line[start.end() :]
            depth += 1
        plain = line
        while "[" in plain:
            plain = re.sub(r"\[[^\[\]]*\]", "", plain)
        plain = re.sub(r"\d(\.\d+)?e-\d+", "1", plain)
        if "sincos(" not in plain and "(void)" not in plain:
            for operator in found:
                found[operator] += times[-1] * len(re.findall(rf" \{operator} ", plain))
            found["+"] += times[-1] * len(re.findall(r" \+= ", plain))
            found["-"] += times[-1] * len(re.findall(r" -= ", plain))
            for count in re.findall(r"polynomial\(&\w+, (\d+), ", plain):  # by Horner's rule
                found["*"] += int(count) - 1
                found["+"] += int(count) - 1
        closing = line.count("}") - line.count("{")
        if len(times) > 1 and closing > 0:
            times.pop()
    return found


@pytest.mark.parametrize("name", ["mass_matrix", "coriolis_vector", "inverse_dynamics", "kinetic_energy"])
def test_counts_are_those_of_the_text(programs, name):
    program = programs[name].program
    body = print_body(program, name, Dialect("dense", "double", "libm"), [], Pool("dense", "double"))
    found = counted(body)
    assert found["*"] == program.count.mul
    assert found["+"] + found["-"] == program.count.add


def test_two_dense_links_of_different_sizes():
    robot = elastogen.load(dense_arm(6, second=5, seed=4))
    (function,) = derive_model(robot, ["mass_matrix"]).functions
    assert function.program.in_tables is not None
    model = elastogen.build_model(robot, outputs=["mass_matrix"])
    q = 0.05 * np.random.default_rng(1).normal(size=model.nq)
    expected = function.program.evaluate({"q": q})["M"]
    np.testing.assert_allclose(model.mass_matrix(q), expected, rtol=1e-12, atol=1e-12 * np.abs(expected).max())


def test_little_c_for_an_eight_mode_link(tmp_path):
    """Straight lines are 480 kB; the same robot with a rigid link is 26 kB."""
    description = dense_arm(8)
    elastogen.generate(elastogen.load(description), tmp_path / "all")
    size = len((tmp_path / "all" / "dense.c").read_text())
    description["links"][1] = {**description["links"][2], "name": "upper"}
    elastogen.generate(elastogen.load(description), tmp_path / "rigid")
    assert size < 100_000
    assert size - len((tmp_path / "rigid" / "dense.c").read_text()) < 80_000


def test_no_function_costs_more_than_in_straight_lines():
    """Operations in loops take 0.85 of the time of those of straight lines, also where functions call others."""
    names = ["mass_matrix", "coriolis_vector", "coriolis_matrix", "gravity_vector", "kinetic_energy", *SHARING[1:-1]]
    for function in derive_model(elastogen.load(dense_arm(8)), names).functions:
        straight = function.program.straight_count
        assert LOOP_TIME * function.count.total <= straight.total, function.name


def test_a_matrix_with_zeros_on_its_diagonal_is_one_loop():
    """Entries 0.5 (A y[0] + b z^T + d w^T), A skew: zeros are numbers, too, and the table has each half of A once."""
    rng, graph = np.random.default_rng(4), Graph()
    A, (b, d, e) = rng.normal(size=(6, 6)), rng.normal(size=(3, 6))
    A -= A.T
    x, y = ([graph.input(f"{name}[{k}]") for k in range(6)] for name in "xy")
    z = [float(e[k]) * x[k] + x[k] * y[1] for k in range(6)]
    w = [x[k] * y[2] + z[k] * y[3] for k in range(6)]
    entries = []
    for j in range(6):
        entries.append(y[0])
        for k in range(6):
            rest = float(b[j]) * z[k] + float(d[j]) * w[k]
            entries.append(0.5 * (float(A[j, k]) * y[0] + rest if j != k else rest))
    inputs, outputs = [Argument(name, (6,), "", "") for name in "xy"], Argument("C", (6, 7), "", "")
    program = Program(graph, inputs, [(outputs, [entry.ref for entry in entries])], modes=6)
    tables, pool = InTables(program, 6), Pool("arm", "double")
    assert [loop.width for loop in tables.loops] == [6]
    print_in_tables(tables, "C", Dialect("arm", "double", "libm"), frozenset(), pool)
    halves = [*np.abs(0.5 * A[np.triu_indices(6, 1)]), *np.abs(e), 0.0]
    assert sorted(set(np.abs(pool.numbers))) == pytest.approx(sorted(halves))
    assert len(pool.numbers) == 36 + 6
    given = {"x": rng.normal(size=6), "y": rng.normal(size=6)}
    z = (e + given["y"][1]) * given["x"]
    w = given["x"] * given["y"][2] + z * given["y"][3]
    expected = 0.5 * (A * given["y"][0] + np.outer(b, z) + np.outer(d, w))
    np.testing.assert_allclose(program.evaluate(given)["C"][:, 1:], expected, rtol=1e-13, atol=1e-14)


SHARING = ["mass_matrix", "elastic_forces", "friction_forces", "inertia_forces", "inverse_dynamics",
           "forward_dynamics"]  # fmt: skip


@pytest.mark.parametrize("more", [
    {},
    {"gravity": ["g", 0, "-9 - g"], "parameters": {"g": 0.3}, "live": ["g"]},
    {"friction": {"viscous": 0.2, "coulomb": 0.1, "coulomb_velocity": 0.01}},
    {"friction": {"load": 0.1, "load_width": 1.0}},
])  # fmt: skip
def test_functions_that_call_others(more):
    """Newton-Euler is emitted once; what friction makes nonlinear in F keeps its own lines."""
    friction = more.get("friction")
    description = dense_arm(5, seed=3, **{key: value for key, value in more.items() if key != "friction"})
    if friction:
        description["joints"][0]["friction"] = friction
    robot = elastogen.load(description)
    functions = {function.name: function for function in derive_model(robot, SHARING).functions}
    replaced = {name for name, f in functions.items() if f.composition is not None and f.composition.replaces}
    loaded = friction is not None and "load" in friction
    own = {"inverse_dynamics", "forward_dynamics"} if loaded else set()
    assert replaced == {"inertia_forces", "inverse_dynamics", "forward_dynamics"} - own
    model = elastogen.build_model(robot, outputs=SHARING)
    rng, parameters = np.random.default_rng(7), {}
    if "live" in more:
        parameters = {"g": 0.7}
        model.parameters["g"] = 0.7
    for name, function in functions.items():
        arguments = state_of(function, rng)
        (expected,) = function.program.evaluate(arguments, parameters).values()
        found = getattr(model, name)(*arguments.values())
        np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-11 * np.abs(expected).max(), err_msg=name)
    least = functions["inertia_forces"].count.total
    assert least > 100
    assert functions["inverse_dynamics"].count.total > least


def test_forward_dynamics_alone_and_where_it_fails():
    """Without the functions that it would call it is a loop over tables; a mass matrix that is not positive is reported."""
    robot = elastogen.load(dense_arm(5, seed=3))
    (alone,) = derive_model(robot, ["forward_dynamics"]).functions
    assert alone.composition is None
    arguments = state_of(alone, np.random.default_rng(5))
    expected = alone.program.evaluate(arguments)["qdd"]
    model = elastogen.build_model(robot, outputs=["forward_dynamics"])
    np.testing.assert_allclose(model.forward_dynamics(*arguments.values()), expected, rtol=1e-11)
    description = dense_arm(5, seed=3, parameters={"m": 1.0}, live=["m"])
    description["links"][2]["mass"] = "m"
    model = elastogen.build_model(elastogen.load(description), outputs=SHARING)
    model.parameters["m"] = -50.0
    with pytest.raises(elastogen.ModelError, match="not positive"):
        model.forward_dynamics(*arguments.values())


def test_rows_that_stand_in_others_are_not_written_again():
    """What a row is said to be is read out of the table and compared with it."""
    rng, pool = np.random.default_rng(2), Pool("arm", "double")
    whole = tuple(rng.normal(size=8))
    rows = [whole, whole[::-1], whole[2:6], whole[6:1:-1], tuple(-x for x in whole[3:]), (whole[0], whole[2]), whole[:2] * 2]
    for as_it_is in (False, True):
        for row in rows:
            first, step, negated = pool.number_row(row, as_it_is)
            found = [pool.numbers[first + step * i] for i in range(len(row))]
            assert tuple(-x if negated else x for x in found) == row
            assert not (negated and as_it_is)
    assert len(pool.numbers) == 8 + 2 + 4 + 5  # as it is: the negated one once more


def test_the_same_bytes_twice(arm, tmp_path):
    for k in "ab":
        elastogen.generate(arm, tmp_path / k, outputs=["inverse_dynamics", "mass_matrix"])
    assert (tmp_path / "a" / "dense.c").read_bytes() == (tmp_path / "b" / "dense.c").read_bytes()


@pytest.mark.parametrize("precision", ["double", "float"])
def test_strict_compilers_take_it(arm, tmp_path, precision):
    outputs = ["mass_matrix", "coriolis_vector", "forward_dynamics", "kinetic_energy", "gravity_vector"]
    elastogen.generate(arm, tmp_path / "c", outputs=outputs, precision=precision)
    compiler = shutil.which("gcc") or pytest.skip("no gcc")
    command = [compiler, *WARNINGS, "-fsyntax-only", "dense.c"]
    done = subprocess.run(command, cwd=tmp_path / "c", capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_single_precision(arm):
    model = elastogen.build_model(arm, outputs=["inverse_dynamics"], precision="float")
    double = derive_model(arm, ["inverse_dynamics"]).functions[0]
    arguments = state_of(double, np.random.default_rng(2))
    expected = double.program.evaluate(arguments)["F"]
    found = model.inverse_dynamics(*arguments.values())
    np.testing.assert_allclose(found, expected, atol=3e-5 * np.abs(expected).max())


def test_beams_stay_straight():
    assert dense_modes(elastogen.load("flexible_two_link")) == 0


def test_terms_that_cancel():
    """A sum whose terms vanish when they are collected still waits for what its own lines read."""
    graph = Graph()
    x = [graph.input(f"x[{k}]") for k in range(4)]
    late = graph.sin(graph.cos(x[0]))
    scaled = 3.0 * late
    sums = [((scaled + float(k + 2) * x[1]) + x[2] * x[3]) - scaled for k in range(2)]
    nothing = (scaled + x[1]) - (x[1] + scaled)
    outputs = [(Argument("y", (4,), "", ""), [*(value.ref for value in sums), scaled.ref, nothing.ref])]
    program = Program(graph, [Argument("x", (4,), "", "")], outputs, modes=5)
    tables = InTables(program, 5)
    sizes = [len(terms) for terms in tables.found.sums.products.values()]
    assert min(sizes) >= 1
    given = np.array([0.3, -1.2, 0.7, 2.0])
    expected = [(k + 2) * given[1] + given[2] * given[3] for k in range(2)]
    np.testing.assert_allclose(program.evaluate({"x": given})["y"][:2], expected, rtol=1e-14)
    assert tables.straight.order
