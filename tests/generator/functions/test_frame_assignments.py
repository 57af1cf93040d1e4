"""Layouts that are left out agree with one that is derived, value by value; those that differ are all there."""

from __future__ import annotations

from dataclasses import replace

import pytest
from robots_for_tests import quietly_loaded, random_robot

from elastogen.generator.functions.catalogue import Derived
from elastogen.generator.functions.derivation import CATALOGUE
from elastogen.generator.functions.variants import VariantFamily
from elastogen.generator.joints import kinds
from elastogen.generator.robot.robot import Robot

PARALLEL = [quietly_loaded("puma560"), quietly_loaded("scara"), quietly_loaded("two_link")]
SKEW = [random_robot(seed, 4, types=(kinds.REVOLUTE,), fixed=0.0) for seed in (1, 2)]


def refs(derived: Derived) -> list[int]:
    return [value.ref for values in (*derived.outputs, derived.pivots) for value in values]


@pytest.mark.parametrize("robot", [*PARALLEL, *SKEW], ids=lambda robot: robot.name)
def test_axes_are_joined_where_some_are_parallel(robot: Robot) -> None:
    family = VariantFamily(robot)
    merges = [variant.merge for variant in family.frame_assignments("kinematic")]
    assert merges == ([False, True] if robot in PARALLEL else [False])
    assert len(family.frame_assignments("dynamic")) == (8 if robot in PARALLEL else 4)
    variant = family.frame_assignments("dynamic")[0]
    differ = []
    for name in ("inverse_dynamics", "mass_matrix", "forward_dynamics"):
        one, other = (refs(CATALOGUE[name].formulations[0](replace(variant, merge=merge))) for merge in (False, True))
        differ.append(one != other)
    assert any(differ) == (robot is PARALLEL[0])  # a plane arm turns what it needs about one axis anyway


@pytest.mark.parametrize("robot", [*PARALLEL, *SKEW, quietly_loaded("flexible_two_link")], ids=lambda robot: robot.name)
def test_ways_that_ask_for_no_moments_give_the_same_whatever_they_are(robot: Robot) -> None:
    family = VariantFamily(robot)
    formulations = [
        formulation
        for entry in CATALOGUE.values()
        for formulation in entry.any_moment
        if entry.formulations_for is None or formulation in entry.formulations_for(family.plain())
    ]
    assert formulations

    variant = family.frame_assignments("dynamic")[-1]
    for formulation in formulations:
        one, other = (refs(formulation(replace(variant, moment=moment))) for moment in ("tensor", "pseudo-inertia"))
        assert one == other
