"""Second derivatives of weighted forces and accelerations, against differences of the functions themselves in many digits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import mpmath
import numpy as np
import pytest
import sympy
from robots_for_tests import example_urdf, quietly_loaded, random_robot

import elastogen
from elastogen.generator.functions.derivation import derive_model
from elastogen.generator.functions.function import Function
from elastogen.generator.program.numbers import many_digits
from elastogen.generator.sliding.elements_inside import INDICATORS, indicators_at

STEP = mpmath.mpf("1e-14")
KINDS = {
    "inverse_dynamics": ("q", "qd", "qdd"),
    "forward_dynamics": ("q", "qd", "F"),
}


def robot_of(kind: str) -> Any:
    if kind == "tree":
        return random_robot(403, 4)
    if kind == "drives":  # friction, a motor and a spring at a screw, and a live mass
        return quietly_loaded({
            "elastogen": 1, "name": "drives", "live": ["links.b.mass"],
            "links": [{"name": "base"}, {"name": "a", "mass": 1.5, "com": [0.2, 0.1, 0], "inertia": [0.1, 0.2, 0.2]},
                      {"name": "b", "mass": 0.5, "com": [0, 0.1, 0.3], "inertia": [0.2, 0.2, 0.1]}],
            "joints": [
                {"name": "j1", "type": "revolute", "motor": {"inertia": 0.002, "gear_ratio": 10},
                 "elasticity": {"stiffness": 50, "damping": 0.3}, "friction": {"viscous": 0.2, "coulomb": 0.4}},
                {"name": "j2", "type": "helical", "pitch": 0.05, "placement": {"xyz": [0.1, 0.2, 0], "rpy": [0.5, 0.2, 0]}},
            ],
        })  # fmt: skip
    if kind == "clamped":  # a beam through its joint, of which the element inside does not bend
        rod = {"joint": "R", "length": 0.3, "rigid": True, "mass": 0.7, "inertia": 0.01}
        beam = {
            "joint": "Pb",
            "gamma": 0.4,
            "slide": "nodal",
            "length": 0.8,
            "mass_per_length": 0.35,
            "EI": 0.17,
            "elements": 3,
        }
        return quietly_loaded({"elastogen": 1, "name": "clamped", "planar": {"links": [rod, beam]}})
    return elastogen.load(kind)


def exactly(function: Function, arguments: Mapping[str, Any], parameters: Mapping[str, float]) -> Any:
    if function.selectors:
        inside = indicators_at(function.selectors, [float(x) for x in arguments["q"]])
        arguments = {**arguments, INDICATORS: inside}
    (value,) = many_digits.evaluate(function.program, arguments, parameters, digits=60).values()
    return value


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        *((kind, name) for kind in ("tree", "drives", "par_table3") for name in KINDS),
        ("rpb_table3", "inverse_dynamics"),
        ("clamped", "inverse_dynamics"),
    ],
)
def test_differences_of_the_function(kind: str, name: str) -> None:
    """Rigid, tree, screw with drives, flexible, sliding along a beam, telescopic: all blocks between two random directions."""
    robot = robot_of(kind)
    function, second = derive_model(robot, [name, f"{name}_second_order"]).functions
    parameters = {p.name: p.value for p in robot.live_parameters}
    rng = np.random.default_rng(4)
    n = len(robot.coordinate_names)
    state = {key: 0.1 + 0.2 * rng.random(n) for key in KINDS[name]}
    w = rng.standard_normal(n)
    blocks = [*second.evaluate({**state, "weights": w}, parameters).values()]
    q, v, a = KINDS[name]
    pairs = {(q, q): 0, (q, v): 1, (v, v): 2, (q, a): 3, (v, a): None, (a, a): None}
    for (one, other), index in pairs.items():
        along, across = rng.standard_normal((2, n))

        def shifted(e: int, d: int, one: str = one, other: str = other, along: Any = along, across: Any = across) -> Any:
            moved = {key: [mpmath.mpf(x) for x in value] for key, value in state.items()}
            for key, direction, sign in ((one, along, e), (other, across, d)):
                moved[key] = [x + sign * STEP * mpmath.mpf(u) for x, u in zip(moved[key], direction, strict=True)]
            return exactly(function, moved, parameters)

        with mpmath.workdps(60):
            difference = shifted(1, 1) - shifted(1, -1) - shifted(-1, 1) + shifted(-1, -1)
            expected = float(sum(mpmath.mpf(u) * x for u, x in zip(w, difference, strict=True)) / (4 * STEP**2))
        got = 0.0 if index is None else along @ blocks[index] @ across
        scale = 1.0 if index is None else np.abs(blocks[index]).max()
        assert abs(got - expected) < 1e-10 * max(scale, 1.0), (one, other)


@pytest.mark.parametrize("name", KINDS)
def test_of_quaternions_along_the_velocities(name: str) -> None:
    """The block of q, q has in row i, column j the derivative along j of the derivative along i: it is not symmetric."""
    robot = quietly_loaded({
        "elastogen": 1, "name": "flier",
        "links": [{"name": "base"}, {"name": "a", "mass": 1.5, "com": [0.2, 0.1, 0], "inertia": [0.1, 0.2, 0.2]},
                  {"name": "b", "mass": 0.5, "com": [0, 0.1, 0.3], "inertia": [0.2, 0.2, 0.1]}],
        "joints": [{"name": "free", "type": "floating"},
                   {"name": "j", "type": "revolute", "placement": {"xyz": [0.1, 0.2, 0], "rpy": [0.5, 0.2, 0]}}],
    })  # fmt: skip
    names = ["integrate", f"{name}_derivatives", f"{name}_second_order"]
    functions = {function.name: function for function in derive_model(robot, names).functions}
    parameters = {p.name: p.value for p in robot.live_parameters}
    rng = np.random.default_rng(8)
    n = len(robot.velocities)
    q = rng.standard_normal(len(robot.coordinates))
    q[3:7] /= np.linalg.norm(q[3:7])
    vectors = dict(zip(KINDS[name][1:], rng.standard_normal((2, n)), strict=True))
    w = rng.standard_normal(n)
    got = functions[f"{name}_second_order"].evaluate({"q": q, **vectors, "weights": w}, parameters)
    columns: list[list[Any]] = [[] for _ in range(3)]
    with mpmath.workdps(60):
        unit = [mpmath.mpf(x) for x in q]
        length = mpmath.sqrt(sum(x * x for x in unit[3:7]))
        unit[3:7] = [x / length for x in unit[3:7]]
        for k in range(n):
            sides = []
            for sign in (1, -1):
                step = [sign * STEP * (i == k) for i in range(n)]
                moved = exactly(functions["integrate"], {"q": unit, "v": step}, parameters)
                first = functions[f"{name}_derivatives"].program
                sides.append(many_digits.evaluate(first, {"q": moved, **vectors}, parameters, digits=60).values())
            for block, plus, minus in zip(columns, *sides, strict=True):
                block.append([float(x) for x in (np.array([mpmath.mpf(x) for x in w]) @ (plus - minus)) / (2 * STEP)])
    by_q, by_qd, by_last = (np.array(block) for block in columns)  # row: the direction of the difference
    q_q, q_qd, qd_qd, q_last = got.values()
    for found, expected in ((q_q, by_q.T), (q_qd, by_qd), (q_last, by_last)):
        assert np.abs(found - expected).max() < 1e-10 * np.abs(expected).max()
    assert np.abs(q_q - q_q.T).max() > 1e-3
    assert np.array_equal(qd_qd, qd_qd.T)


@pytest.mark.parametrize("name", KINDS)
def test_what_a_selection_leaves_out_may_be_infinite(name: str) -> None:
    """A potential 8 q0^(5/2) for q0 > 0 only: its third derivative 15 / sqrt(q0) there, and no trace of it elsewhere."""
    plain = elastogen.load("two_link")
    q0 = elastogen.symbols(plain).q[0]
    bent = plain.with_terms(potential=sympy.Piecewise((8 * q0 ** sympy.Rational(5, 2), q0 > 0), (0, True)))
    without, within = (derive_model(robot, [f"{name}_second_order"]).functions[0] for robot in (plain, bent))
    parameters = {p.name: p.value for p in plain.live_parameters}
    state = dict(zip((*KINDS[name][1:], "weights"), np.random.default_rng(5).standard_normal((3, 2)), strict=True))
    below = {"q": np.array([-0.3, 0.4]), **state}
    with np.errstate(invalid="ignore"):
        pairs = zip(within.evaluate(below, parameters).values(), without.evaluate(below, parameters).values(), strict=True)
    for found, expected in pairs:
        np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-13)
    above = {"q": np.array([0.25, 0.4]), **state}
    if name == "inverse_dynamics":
        added = within.evaluate(above, parameters)["d2F_dq_dq"] - without.evaluate(above, parameters)["d2F_dq_dq"]
        np.testing.assert_allclose(added, [[state["weights"][0] * 15 / 0.5, 0], [0, 0]], rtol=1e-12, atol=1e-12)


def test_operations_and_symmetry() -> None:
    """Exact counts of Panda with its fingers: one Hessian costs what three sets of first derivatives do."""
    robot = quietly_loaded(example_urdf("panda"), mimic="independent")
    (second,) = derive_model(robot, ["inverse_dynamics_second_order"]).functions
    count = second.program.count
    assert (count.mul, count.add) == (4965, 4416)
    n = len(robot.coordinate_names)
    state = dict(zip(("q", "qd", "qdd", "weights"), np.random.default_rng(1).standard_normal((4, n)), strict=True))
    blocks = second.evaluate(state)
    for key in ("d2F_dq_dq", "d2F_dqd_dqd"):
        assert np.array_equal(blocks[key], blocks[key].T)
