"""Articulated bodies: the same accelerations as Pinocchio's, the same pivots as the factorization, linear growth."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from plain_programs import program
from robots_for_tests import Programs, in_pinocchio, quietly_loaded, random_chain, random_robot, random_states, relative_error

import elastogen
from elastogen.generator.algorithms.solving import articulated_bodies
from elastogen.generator.functions import dynamics
from elastogen.generator.functions.derivation import CATALOGUE
from elastogen.generator.functions.variants import Variant, VariantFamily
from elastogen.generator.program.arguments import input_argument
from elastogen.generator.program.graph import Op
from elastogen.generator.program.program import OperationCount
from elastogen.generator.robot.robot import Robot
from elastogen.runtime.interface.argument import Argument


def evaluated(variant: Variant, formulation: Any, name: str, parameters: dict[str, float] | None = None, **state: Any) -> Any:
    """Solution and pivots of a way to solve."""
    entry = CATALOGUE[name]
    derived = formulation(variant)
    pivots = (Argument("pivots", (len(derived.pivots),), "", ""), derived.pivots)
    outputs = [*zip(entry.outputs(variant), derived.outputs, strict=True), pivots]
    made = program(variant.graph, [input_argument(key, variant.size, variant.size) for key in entry.inputs], outputs)
    return tuple(made.evaluate({key: state[key] for key in entry.inputs}, parameters).values())


@pytest.mark.parametrize("seed", range(300, 306))
def test_accelerations_of_random_trees_are_those_of_pinocchio(seed: int) -> None:
    pin = pytest.importorskip("pinocchio")
    robot = random_robot(seed, 7, drives=seed % 2 == 0)
    theirs = in_pinocchio(robot)
    states = random_states(robot, seed)
    for variant in (VariantFamily(robot).plain(), VariantFamily(robot).frame_assignments("dynamic")[-1]):
        found, _ = evaluated(variant, dynamics.forward_dynamics_by_articulated_bodies, "forward_dynamics", **states)
        for q, qd, F, qdd in zip(states["q"], states["qd"], states["F"], found, strict=True):
            friction, _ = theirs.friction(qd)
            at = (theirs.configuration(q), theirs.vector(qd), theirs.vector(F - friction))
            expected = pin.aba(theirs.model, theirs.model.createData(), *at)[theirs.columns]
            assert relative_error(qdd, expected) < 1e-10


def test_pivots_are_those_of_the_factorization() -> None:
    """Both eliminate from the tips inward: D is unique."""
    robot = random_robot(311, 6, drives=True)
    variant = VariantFamily(robot).plain()
    state = {"q": random_states(robot, 311)["q"], "b": random_states(robot, 311)["F"]}
    both = [
        evaluated(variant, formulation, "mass_matrix_solve", **state)
        for formulation in (dynamics.mass_matrix_solve, dynamics.mass_matrix_solve_by_articulated_bodies)
    ]
    for first, second in zip(*both, strict=True):
        np.testing.assert_allclose(first, second, rtol=1e-11, atol=1e-12 * np.abs(first).max())


def test_elastic_joints_and_live_parameters() -> None:
    """A joint with a spring has two frames; with a live angle rotations are nine numbers."""
    links = [{"name": name, "mass": 1.5, "com": [0.2, 0.1, 0], "inertia": [0.1, 0.2, 0.2]} for name in "abc"]
    robot = quietly_loaded({
        "elastogen": 1, "name": "springs", "live": ["twist", "payload"], "parameters": {"twist": {"value": 0.4}},
        "links": [{"name": "base"}, *links],
        "joints": [
            {"name": "j1", "type": "revolute", "motor": {"inertia": 0.002, "gear_ratio": 10}, "elasticity": {"stiffness": 50}},
            {"name": "j2", "type": "prismatic", "axis": [1, 0, 0], "placement": {"xyz": [0.3, 0, 0.1], "rpy": ["twist", 0, 0]}},
            {"name": "j3", "type": "revolute", "axis": [0, 0.6, 0.8], "placement": {"xyz": [0.3, 0.2, 0]}},
        ],
    })  # fmt: skip
    variant = VariantFamily(robot).plain()
    assert articulated_bodies.applies_to(variant.mechanism)
    q, qd, F = np.random.default_rng(4).normal(size=(3, 5, 4))
    parameters = {p.name: p.value for p in robot.live_parameters} | {"twist": 0.9, "payload_mass": 0.7}
    both = [
        evaluated(variant, formulation, "forward_dynamics", parameters, q=q, qd=qd, F=F)
        for formulation in (dynamics.forward_dynamics, dynamics.forward_dynamics_by_articulated_bodies)
    ]
    for first, second in zip(*both, strict=True):
        np.testing.assert_allclose(first, second, rtol=1e-11, atol=1e-12 * np.abs(first).max())


# ---- flexible links


def flexible_tree(seed: int) -> Robot:
    """A flexible link on an elastic joint with a motor; on its tip a flexible link that carries a rigid one, and a third."""
    rng = np.random.default_rng(seed)
    shapes = [{"direction": d, "shape": f"(x/L)**{k}"} for d, k in (("y", 2), ("z", 2), ("y", 3), ("torsion", 1))]
    beam: dict[str, Any] = {"type": "modes", "length": 0.6, "mass_per_length": 0.4, "EI": 20.0, "GJ": 15.0,
                            "polar_inertia_per_length": 1e-3, "foreshortening": True}  # fmt: skip
    body = {"mass": 0.7, "com": [0.1, 0.05, 0.02], "inertia": [0.01, 0.02, 0.025]}
    links = [{"name": "base"}]
    for name, count in (("a", 3), ("b", 4), ("c", 2)):
        tip = {"mass": 0.2, "com": [0.02, 0.01, 0.03], "inertia": [1e-3, 1e-3, 1e-3]}
        links.append({"name": name, **body, "flexible": {**beam, "modes": shapes[:count], "tip": tip}})
    links.append({"name": "d", **body})
    motor = {"motor": {"inertia": 0.002, "gear_ratio": 10}}
    parents = {"a": "base", "b": "a", "c": "a", "d": "b"}
    joints: list[dict[str, Any]] = [
        {"name": f"j{name}", "type": "revolute", "parent": parent, "child": name, **motor, "axis": _axis(rng),
         "placement": {"xyz": rng.normal(size=3).round(2).tolist(), "rpy": rng.normal(size=3).round(2).tolist()}}
        for name, parent in parents.items()
    ]  # fmt: skip
    joints[0]["elasticity"] = {"stiffness": 50, "damping": 0.1}
    joints[3]["type"] = "prismatic"
    return quietly_loaded({"elastogen": 1, "name": "tree", "links": links, "joints": joints})


def _axis(rng: np.random.Generator) -> list[float]:
    axis = rng.normal(size=3)
    return list(axis / np.linalg.norm(axis))


def beams(links: int, elements: int, **more: Any) -> Robot:
    """Revolute joints in a plane, each with a beam."""
    beam = {"joint": "R", "length": 0.8, "mass_per_length": 0.4, "EI": 2.0, "elements": elements, **more}
    planar = {"links": [beam] * links, "payload": {"mass": 0.2}, "gravity": [0, -9.81]}
    return elastogen.load({"elastogen": 1, "name": "beams", "planar": planar})


FLEXIBLE = {"tree": lambda: flexible_tree(1), "another tree": lambda: flexible_tree(2), "elements": lambda: beams(3, 3),
            "one beam": lambda: beams(1, 2, foreshortening=True)}  # fmt: skip


@pytest.mark.parametrize("kind", FLEXIBLE)
def test_flexible_links_against_the_mass_matrix(kind: str) -> None:
    """M by composite bodies, solved by LAPACK; pivots as the factorization has them."""
    robot = FLEXIBLE[kind]()
    state = np.random.default_rng(12).normal(size=(2, len(robot.coordinates)))
    q = np.where([coordinate.elastic for coordinate in robot.coordinates], 0.03, 1.0) * state[0]
    (M,) = Programs(robot, ["mass_matrix"]).derivation.functions[0].evaluate({"q": q}).values()
    expected = np.linalg.solve(M, state[1])
    for variant in (VariantFamily(robot).plain(), VariantFamily(robot).frame_assignments("dynamic")[-1]):
        assert articulated_bodies.applies_to(variant.mechanism)
        (found, pivots), (_, theirs) = (
            evaluated(variant, formulation, "mass_matrix_solve", q=q, b=state[1])
            for formulation in (dynamics.mass_matrix_solve_by_articulated_bodies, dynamics.mass_matrix_solve)
        )
        assert relative_error(found, expected) < 1e-10
        np.testing.assert_allclose(pivots, theirs, rtol=1e-10)


def test_flexible_chains_cost_the_same_for_every_link() -> None:
    """Two are cheaper so, already."""

    def count(links: int, elements: int) -> OperationCount:
        return Programs(beams(links, elements), ["forward_dynamics"]).program["forward_dynamics"].count

    slopes = np.diff([count(links, 1).total for links in (4, 9, 14)])
    assert slopes[1] == pytest.approx(slopes[0], rel=0.03)  # the cheapest layout may be another one
    short = count(2, 5)
    assert (short.mul, short.add) == (459, 462)  # fewer: a step forward, write it here


def test_bodies_that_slide_or_shear_are_factorized() -> None:
    beam = {"length": 0.8, "mass_per_length": 0.4, "EI": 2.0, "elements": 2}
    rod = {"length": 0.3, "rigid": True, "mass": 0.7, "inertia": 0.01}
    pairs = [
        ({"joint": "R", **beam}, {"joint": "Pa", "gamma": 0.4, **rod}),
        ({"joint": "R", **rod}, {"joint": "Pb", "gamma": 0.4, **beam}),
        ({"joint": "R", **rod}, {"joint": "Pb", "gamma": 0.4, "slide": "nodal", **beam}),
    ]
    robots = [elastogen.load({"elastogen": 1, "name": "slides", "planar": {"links": list(pair)}}) for pair in pairs]
    linear = {"type": "elements", "rotation": "linear", **beam}
    links = [{"name": "base"}, {"name": "b", "flexible": linear}]
    robots.append(
        elastogen.load({"elastogen": 1, "name": "shear", "links": links, "joints": [{"name": "j", "type": "revolute"}]})
    )
    choice = CATALOGUE["forward_dynamics"].formulations_for
    assert choice is not None
    for robot in robots:
        assert choice(VariantFamily(robot).plain()) == (dynamics.forward_dynamics,)


def cost(size: int) -> int:
    """Operations of forward dynamics of a chain by articulated bodies, before common factors are taken out."""
    variant = VariantFamily(random_chain(size)).frame_assignments("dynamic")[-1]
    derived = dynamics.forward_dynamics_by_articulated_bodies(variant)
    values = [*derived.outputs[0], *derived.pivots]
    return sum(variant.graph.op[node] in (Op.ADD, Op.MUL) for node in variant.graph.cone(value.ref for value in values))


def test_operations_grow_linearly() -> None:
    slopes = np.diff([cost(size) for size in (8, 16, 32)]) / [8, 16]
    assert slopes[1] == pytest.approx(slopes[0], rel=2e-3)  # constants that are 1 by chance
    assert slopes[0] <= 470


@pytest.mark.parametrize(("size", "expected"), [(7, (True, False)), (12, (True, True)), (25, (False, True))])
def test_ways_by_the_length_of_the_chain(size: int, expected: tuple[bool, bool]) -> None:
    choice = CATALOGUE["forward_dynamics"].formulations_for
    assert choice is not None
    formulations = choice(VariantFamily(random_chain(size)).plain())
    both = (dynamics.forward_dynamics, dynamics.forward_dynamics_by_articulated_bodies)
    assert tuple(formulation in formulations for formulation in both) == expected


def test_the_cheaper_way_is_kept() -> None:
    """Thirteen joints in a row are articulated bodies."""
    row = Programs(random_chain(13), ["forward_dynamics"]).derivation.functions[0].program
    labels = {row.graph.section_of[node] for node in row.order}
    assert any(label.endswith("articulated body") for label in labels)


def test_a_body_without_mass_has_a_pivot_that_is_zero() -> None:
    """No division by it at generation: the program fails at every state, as that of the factorization does."""
    links = [{"name": "base"}, {"name": "a", "mass": 1.0, "inertia": [1, 1, 1]}, {"name": "b"}]
    joints = [{"name": "j1", "type": "revolute"}, {"name": "j2", "type": "revolute"}]
    variant = VariantFamily(quietly_loaded({"elastogen": 1, "name": "massless", "links": links, "joints": joints})).plain()
    q, drives = variant.input("q"), [drive.inertia for drive in variant.drives]
    _, pivots = articulated_bodies.solve(variant.mechanism, variant.place(q), q, drives, variant.input("F"))
    assert [pivot.is_zero for pivot in pivots] == [False, True]
