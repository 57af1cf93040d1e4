"""Frame assignments that are left out agree with one that is derived, value by value; those that differ are all there."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from robots_for_tests import quietly_loaded, random_robot

from elastogen.generator.functions.catalogue import Derived
from elastogen.generator.functions.derivation import CATALOGUE, program_of
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


@pytest.mark.parametrize("name", ["inverse_dynamics", "frame_velocities", "frame_accelerations", "jacobian_rate"])
def test_three_parallel_axes_rotate_together(name: str) -> None:
    """As those of a UR5: joined or one after the other, the values are the same."""
    rng = np.random.default_rng(8)
    bodies = [{"mass": 1.0 + k, "com": rng.uniform(-0.2, 0.2, 3).tolist(), "inertia": [0.03, 0.04, 0.05]} for k in range(5)]
    links = [{"name": "base"}, *({"name": f"l{k}", **body} for k, body in enumerate(bodies))]
    joints = [
        {"name": f"j{k}", "type": "revolute", "child": f"l{k}", "axis": axis, "placement": {"xyz": [0.3, 0.02 * k, 0.1]}}
        for k, axis in enumerate([[0, 0, 1], *[[0, 1, 0]] * 3, [1, 0, 0]])
    ]
    family = VariantFamily(quietly_loaded({"elastogen": 1, "name": "wrist", "links": links, "joints": joints}))
    variant, entry = family.frame_assignments(CATALOGUE[name].frame_assignment)[0], CATALOGUE[name]
    assert max(len(place.group) for place in replace(variant, merge=True).place(variant.input("q"))) == 3
    state = {argument: rng.uniform(-1, 1, 5) for argument in entry.inputs}
    joined, apart = (
        program_of(entry, each, entry.formulations[0](each), ())
        for each in (replace(variant, merge=True), replace(variant, merge=False))
    )
    for found, expected in zip(joined.evaluate(state).values(), apart.evaluate(state).values(), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


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
