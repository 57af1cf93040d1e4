"""Derivatives of dynamics from composite bodies: Pinocchio's numbers, those of differentiated programs, few operations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from plain_programs import program
from robots_for_tests import example_urdf, in_pinocchio, quietly_loaded, random_robot, random_states, relative_error

from elastogen.generator.functions.catalogue import Formulation
from elastogen.generator.functions.derivation import CATALOGUE
from elastogen.generator.functions.variants import Variant, VariantFamily
from elastogen.generator.program.arguments import input_argument
from elastogen.generator.program.graph import Op


def formulations(variant: Variant, name: str) -> tuple[Formulation, ...]:
    choice = CATALOGUE[name].formulations_for
    assert choice is not None
    return choice(variant)


def evaluated(variant: Variant, formulation: Formulation, name: str, **state: Any) -> list[Any]:
    entry = CATALOGUE[name]
    inputs = [input_argument(key, variant.size, variant.size) for key in entry.inputs]
    made = program(variant.graph, inputs, list(zip(entry.outputs(variant), formulation(variant).outputs, strict=True)))
    return list(made.evaluate({key: state[key] for key in entry.inputs}).values())


@pytest.mark.parametrize("seed", range(400, 406))
def test_recursion_on_random_trees_against_pinocchio(seed: int) -> None:
    pin = pytest.importorskip("pinocchio")
    robot = random_robot(seed, 6)
    theirs = in_pinocchio(robot)
    states = random_states(robot, seed, count=2)
    for variant in (VariantFamily(robot).plain(), VariantFamily(robot).frame_assignments("dynamic")[-1]):
        *_, recursion = formulations(variant, "inverse_dynamics_derivatives")
        by_q, by_qd, by_qdd = evaluated(variant, recursion, "inverse_dynamics_derivatives", **states)
        for k, (q, qd, qdd) in enumerate(zip(states["q"], states["qd"], states["qdd"], strict=True)):
            data, at = theirs.model.createData(), (theirs.configuration(q), theirs.vector(qd), theirs.vector(qdd))
            expected = [theirs.square(x) for x in pin.computeRNEADerivatives(theirs.model, data, *at)]  # views of data
            assert relative_error(by_q[k], expected[0]) < 1e-12
            assert relative_error(by_qd[k], expected[1]) < 1e-12
            assert relative_error(np.triu(by_qdd[k]), np.triu(expected[2])) < 1e-12


@pytest.mark.parametrize("name", ["inverse_dynamics_derivatives", "forward_dynamics_derivatives"])
def test_recursion_is_the_differentiated_program(name: str) -> None:
    """With drives, friction and a spring in a joint, which only the differentiated part knows, and a screw."""
    robot = quietly_loaded({
        "elastogen": 1, "name": "springs",
        "links": [{"name": "base"}, {"name": "a", "mass": 1.5, "com": [0.2, 0.1, 0], "inertia": [0.1, 0.2, 0.2]},
                  {"name": "b", "mass": 0.5, "com": [0, 0.1, 0.3], "inertia": [0.2, 0.2, 0.1]},
                  {"name": "c", "mass": 0.3, "com": [0.1, 0.1, 0.1], "inertia": [0.01, 0.02, 0.02]}],
        "joints": [
            {"name": "j1", "type": "revolute", "motor": {"inertia": 0.002, "gear_ratio": 10},
             "elasticity": {"stiffness": 50, "damping": 0.3}, "friction": {"viscous": 0.2, "coulomb": 0.4}},
            {"name": "j2", "type": "prismatic", "axis": [0.6, 0, 0.8], "placement": {"xyz": [0.3, 0, 0.1], "rpy": [0.4, 0, 1]}},
            {"name": "j3", "type": "helical", "pitch": 0.05, "placement": {"xyz": [0.1, 0.2, 0], "rpy": [0.5, 0.2, 0]}},
        ],
    })  # fmt: skip
    variant = VariantFamily(robot).plain()
    differentiation, recursion = formulations(variant, name)
    vectors = np.random.default_rng(5).normal(size=(4, 3, variant.size))
    state = dict(zip(("q", "qd", "qdd", "F"), vectors, strict=True))
    for expected, found in zip(
        *(evaluated(variant, formulation, name, **state) for formulation in (differentiation, recursion)), strict=True
    ):
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * np.abs(expected).max())


def operations(variant: Variant, formulation: Formulation) -> int:
    derived = formulation(variant)
    refs = [value.ref for values in derived.outputs for value in values]
    return sum(variant.graph.op[node] in (Op.ADD, Op.MUL) for node in variant.graph.cone(refs))


def test_panda_needs_little_more_than_half_of_the_operations() -> None:
    """With both fingers. All numbers are exact, before common factors are taken out."""
    robot = quietly_loaded(example_urdf("panda"), mimic="independent")
    variant = VariantFamily(robot).frame_assignments("dynamic")[1]
    differentiation, recursion = (
        operations(variant, formulation) for formulation in formulations(variant, "inverse_dynamics_derivatives")
    )
    assert recursion < 0.6 * differentiation
    assert recursion <= 3773
    assert operations(variant, formulations(variant, "forward_dynamics_derivatives")[1]) <= 6810
    assert operations(variant, CATALOGUE["coriolis_matrix"].formulations[0]) <= 1806
