"""Driving forces are linear in the inertial parameters: regressors and base parameters."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from function_groups import LINEAR, LIVE
from robots_for_tests import (
    DATA,
    Programs,
    puma560_from_table,
    quietly_loaded,
    random_body,
    random_robot,
    random_states,
    relative_error,
)

from elastogen.generator.robot.robot import Link


@pytest.mark.parametrize("drives", [False, True], ids=["bare", "with drives"])
@pytest.mark.parametrize("payload", [False, True], ids=["empty", "loaded"])
@pytest.mark.parametrize("live", LIVE)
def test_inverse_dynamics_is_linear_in_the_parameters(live: str, payload: bool, drives: bool) -> None:
    robot = random_robot(351, 4, drives=drives, payload=payload)
    programs = Programs(quietly_loaded(robot, live=LIVE[live]) if LIVE[live] else robot, LINEAR)
    state = random_states(robot, 350)
    motion = {name: state[name] for name in ("q", "qd", "qdd")}
    rng = np.random.default_rng(352)
    changed = {name: value * rng.uniform(0.8, 1.2) + 0.01 for name, value in programs.nominal.items()}
    for parameters in ({}, changed) if changed else ({},):
        forces = programs("inverse_dynamics", parameters, **motion)
        by_all = programs("regressor", parameters, **motion) @ programs("inertial_parameters", parameters)
        by_base = programs("base_regressor", parameters, **motion) @ programs("base_parameters", parameters)
        assert relative_error(by_all, forces) < 1e-12
        assert relative_error(by_base, forces) < 1e-11
    full, base = (programs.program[name].outputs[0][0].shape[1] for name in ("regressor", "base_regressor"))
    assert full >= 40
    assert base < full or live == "lengths live"


def test_base_parameters_of_a_live_length_that_is_zero() -> None:
    """What a length of zero hides must not be dropped when the length can change."""
    table = json.loads((DATA / "puma560.json").read_text())
    robot = quietly_loaded(puma560_from_table(table, "modified_dh"), live=["joints.*.placement.xyz"])
    programs = Programs(robot, LINEAR)
    state = random_states(robot, 354)
    moved = {name: value + 0.1 for name, value in programs.nominal.items()}
    assert 0.0 in programs.nominal.values()
    by_base = programs("base_regressor", moved, **state) @ programs("base_parameters", moved)
    assert relative_error(by_base, programs("inverse_dynamics", moved, **state)) < 1e-11


def test_base_regressor_has_full_rank() -> None:
    """No column of it is a combination of others, and it spans what the regressor spans."""
    robot = random_robot(353, 3, drives=True)
    programs = Programs(robot, ("regressor", "base_regressor"))
    state = random_states(robot, 353, 60)
    Y, Y_b = (programs(name, **state).reshape(180, -1) for name in ("regressor", "base_regressor"))

    def rank(matrix: np.ndarray) -> int:
        size = np.linalg.norm(matrix, axis=0)
        return int(np.linalg.matrix_rank(matrix[:, size > 0] / size[size > 0], tol=1e-8))

    assert rank(Y_b) == Y_b.shape[1] == rank(Y) < Y.shape[1]


def test_puma560_has_36_base_parameters() -> None:
    """Modified DH geometry, every link with ten generic inertial parameters."""
    table = json.loads((DATA / "puma560.json").read_text())
    robot, rng = puma560_from_table(table, "modified_dh"), np.random.default_rng(36)
    base, *links = robot.links
    robot = replace(robot, links=(base, *(Link(link.name, random_body(rng)) for link in links)))
    programs = Programs(robot, ["base_regressor", "base_parameters"])
    count = table["base_parameters_modified_dh"]["count_generic"]
    assert count == 36
    assert programs.program["base_regressor"].outputs[0][0].shape == (6, count)
    assert programs.program["base_parameters"].outputs[0][0].shape == (count,)
