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
from elastogen.runtime.interface.argument import Argument


def evaluated(variant: Variant, way: Any, name: str, parameters: dict[str, float] | None = None, **state: Any) -> Any:
    """Solution and pivots of a way to solve."""
    entry = CATALOGUE[name]
    derived = way(variant)
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
    for variant in (VariantFamily(robot).plain(), VariantFamily(robot).layouts("dynamic")[-1]):
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
        evaluated(variant, way, "mass_matrix_solve", **state)
        for way in (dynamics.mass_matrix_solve, dynamics.mass_matrix_solve_by_articulated_bodies)
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
        evaluated(variant, way, "forward_dynamics", parameters, q=q, qd=qd, F=F)
        for way in (dynamics.forward_dynamics, dynamics.forward_dynamics_by_articulated_bodies)
    ]
    for first, second in zip(*both, strict=True):
        np.testing.assert_allclose(first, second, rtol=1e-11, atol=1e-12 * np.abs(first).max())


def test_flexible_bodies_are_factorized() -> None:
    beam = {"joint": "R", "length": 0.8, "mass_per_length": 0.4, "EI": 2.0, "elements": 1}
    robot = elastogen.load({"elastogen": 1, "name": "beams", "planar": {"links": [beam] * 5}})
    mechanism = VariantFamily(robot).plain().mechanism
    assert not articulated_bodies.applies_to(mechanism)
    assert mechanism.depth > 8


def cost(size: int) -> int:
    """Operations of forward dynamics of a chain by articulated bodies, before common factors are taken out."""
    variant = VariantFamily(random_chain(size)).layouts("dynamic")[-1]
    derived = dynamics.forward_dynamics_by_articulated_bodies(variant)
    values = [*derived.outputs[0], *derived.pivots]
    return sum(variant.graph.op[node] in (Op.ADD, Op.MUL) for node in variant.graph.cone(value.ref for value in values))


def test_operations_grow_linearly() -> None:
    slopes = np.diff([cost(size) for size in (8, 16, 32)]) / [8, 16]
    assert slopes[1] == pytest.approx(slopes[0], rel=2e-3)  # constants that are 1 by chance
    assert slopes[0] <= 470


@pytest.mark.parametrize(("size", "expected"), [(7, (True, False)), (12, (True, True)), (25, (False, True))])
def test_ways_by_the_length_of_the_chain(size: int, expected: tuple[bool, bool]) -> None:
    choice = CATALOGUE["forward_dynamics"].ways_for
    assert choice is not None
    ways = choice(VariantFamily(random_chain(size)).plain())
    both = (dynamics.forward_dynamics, dynamics.forward_dynamics_by_articulated_bodies)
    assert tuple(way in ways for way in both) == expected


def test_the_cheaper_way_is_kept() -> None:
    """Thirteen joints in a row are articulated bodies."""
    row = Programs(random_chain(13), ["forward_dynamics"]).derivation.functions[0].program
    labels = {row.graph.section_of[node] for node in row.order}
    assert any(label.endswith("articulated body") for label in labels)
