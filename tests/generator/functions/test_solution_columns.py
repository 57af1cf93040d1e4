"""Columns that are of one pattern are loops in C: the same numbers as the straight program, single and in batches."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from robots_for_tests import random_robot

import elastogen
from elastogen.build.c.body import FunctionBody
from elastogen.build.c.dialect import Dialect
from elastogen.build.c.function import print_body
from elastogen.build.c.loops.column_memory import ColumnMemory, padded
from elastogen.build.c.loops.direct_results import direct_results
from elastogen.generator.functions.derivation import derive_model
from elastogen.generator.functions.function import Function
from elastogen.generator.joints import kinds
from elastogen.generator.robot.robot import Robot

NAME = "forward_dynamics_derivatives"
COUNT = 17  # states, more than any processor has lanes: fewer go the way of single ones


@pytest.fixture(scope="module")
def tree() -> Robot:
    """A joint beside a tree of six on the base, in which one joint is a branch of its own."""
    return random_robot(36, 7, types=(kinds.REVOLUTE,), fixed=0.0, offsets=0.0)


@pytest.fixture(scope="module")
def function(tree: Robot) -> Function:
    (found,) = derive_model(tree, [NAME]).functions
    return found


def test_loops_compute_the_program(tree: Robot, function: Function) -> None:
    model = elastogen.build_model(tree, outputs=[NAME], lanes=True)  # batches in lanes are straight
    state = dict(zip(("q", "qd", "F"), np.random.default_rng(1).uniform(-1, 1, (3, COUNT, 7)), strict=True))
    expected = function.evaluate(state, {p.name: p.value for p in tree.live_parameters})
    together = model.evaluate(NAME, **state)
    for k in range(COUNT):
        single = model.evaluate(NAME, **{key: x[k] for key, x in state.items()})
        for found, batch, right in zip(single, together, expected.values(), strict=True):
            assert np.abs(found - right[k]).max() < 1e-12 * np.abs(right[k]).max()
            assert np.array_equal(found, batch[k])


def test_numbers_of_the_tree_and_of_its_factors_are_not_brought_together() -> None:
    """Sliding joints make factors of the mass matrix constant: c1 (c2 x) in a loop is not (c1 c2) x, to the last bit."""
    robot = random_robot(6, 7, types=(kinds.REVOLUTE, kinds.PRISMATIC), fixed=0.0, offsets=0.0, branching=0.8)
    model = elastogen.build_model(robot, outputs=[NAME], lanes=True)
    states = np.random.default_rng(1).uniform(-1, 1, (3, COUNT, 7))
    together = model.forward_dynamics_derivatives(*states)
    for k in range(COUNT):
        for single, batch in zip(model.forward_dynamics_derivatives(*states[:, k]), together, strict=True):
            assert np.array_equal(single, batch[k])


def test_text(function: Function) -> None:
    """Loops over a multiple of four columns in place of operations; what cannot be solved leaves zeros everywhere."""
    program = function.program
    assert program.in_loops is not None
    assert [columns.width for columns in program.in_loops.columns] == [4, 8, 2]  # of both matrices: {0, 3}, {1, 4, 5, 6}, {2}
    assert [padded(columns) for columns in program.in_loops.columns] == [4, 8, 2]
    assert not ColumnMemory(program.in_loops, direct_results(program.in_loops)).zeroed  # all columns are used
    assert [len(columns.results) for columns in program.in_loops.columns] == [6, 6, 1]
    live = program.used_inputs()
    looped = print_body(program, NAME, Dialect("arm", "double", "fast"), live)
    for number, columns in enumerate(program.in_loops.columns, 1):
        (part,) = (part for part in looped.parts if part.name.endswith(f"_loop{number}"))
        each = {2: "ARM_EACH_TWO", 4: "ARM_EACH_FOUR"}.get(columns.width, f"for (int i = 0; i < {padded(columns)}; ++i)")
        assert f"    {each} {{" in part.lines
    text = "\n".join(looped.lines)
    for name in ("dqdd_dq", "dqdd_dqd", "dqdd_dF"):
        assert text.count(f"for (int i = 0; i < 49; ++i) {{ {name}[i] = 0.0; }}") == 1
    straight = copy.copy(program)
    straight.in_loops = None
    assert _length(looped) < _length(print_body(straight, NAME, Dialect("arm", "double", "fast"), live))


def _length(body: FunctionBody) -> int:
    return sum(len(part.lines) for part in body.parts)
