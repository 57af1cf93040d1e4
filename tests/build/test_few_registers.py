"""Functions in float are printed so that few values wait: the same values, the same operations, less to hold."""

from __future__ import annotations

import numpy as np
import pytest
from build_samples import LIVE, MOSTLY_SUMS, Recipe, random_arguments, random_program

from elastogen.build.c.association import early_terms_first, for_few_registers, with_few_waiting
from elastogen.build.c.dialect import Dialect
from elastogen.build.c.function import print_body
from elastogen.build.c.late_reads import LONG, late_reads
from elastogen.build.pipeline import derive_model
from elastogen.generator.description.load_robot import load

RECIPES = [Recipe(200, pivots=3), Recipe(300, choices=MOSTLY_SUMS), Recipe(12, inputs=(1,), outputs=((),), live=())]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("recipe", RECIPES)
def test_values_and_operations_stay(recipe: Recipe, seed: int) -> None:
    program = random_program(seed, recipe)
    again, chosen = early_terms_first(program), with_few_waiting(program)
    assert len(again.pivots) == len(program.pivots)
    for operation in ("mul", "add", "div"):
        assert getattr(chosen.count, operation) <= getattr(program.count, operation)
    arguments, live = random_arguments(program, seed), LIVE
    before, after = program.evaluate(arguments, live), again.evaluate(arguments, live)
    for name, values in before.items():
        np.testing.assert_allclose(after[name], values, rtol=1e-9, atol=1e-9 * np.max(np.abs(values), initial=1.0))


@pytest.mark.parametrize("size", [20, 40, 60])
def test_values_that_fit_into_the_registers_stay_in_their_order(size: int) -> None:
    for seed in range(30):
        program = random_program(seed, Recipe(size, choices=MOSTLY_SUMS, live=()))
        assert with_few_waiting(program) is program


def test_inverse_dynamics_goes_outward_and_the_mass_matrix_stays() -> None:
    derivation = derive_model(load("puma560"), ("inverse_dynamics", "mass_matrix"), ())
    programs = {function.name: function.program for function in for_few_registers(derivation).functions}
    inverse = programs["inverse_dynamics"]
    assert inverse.outward
    assert not programs["mass_matrix"].outward  # the composite bodies come from the tip anyway
    lines = print_body(
        inverse, "inverse_dynamics", Dialect("arm", "float", "fast"), [p.name for p in derivation.robot.live_parameters]
    ).lines
    reads = [k for k, line in enumerate(lines) if "sin_q1" in line and "= sine" in line]
    assert "sine_again" not in lines[reads[0]]
    assert "sine_again" in lines[reads[-1]]  # on the way back


def test_reads_are_late_and_again_only_after_a_long_time() -> None:
    uses = [[7], [], [7, 8], *([[]] * LONG), [7], [8]]
    assert late_reads(uses, {7, 8}) == {0: [7], 2: [8], LONG + 3: [7], LONG + 4: [8]}
    assert late_reads(uses, set()) == {}
