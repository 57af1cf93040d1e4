"""One robot in several forms: live or constant parameters, merged bodies, DH tables, compiled C, closed forms."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from function_groups import DERIVATIVES, KINEMATICS, LINEAR, LIVE, PHYSICS
from robots_for_tests import (
    DATA,
    Programs,
    merged,
    pose,
    puma560_from_table,
    quietly_loaded,
    random_robot,
    random_states,
    relative_error,
)

import elastogen
from elastogen.generator.closed_form.closed_form import derive
from elastogen.generator.joints import kinds
from elastogen.generator.robot.robot import Actuation, Body, Joint, Link, Robot

# ---- equal robots


@pytest.mark.parametrize("live", [name for name in LIVE if name != "constant"])
@pytest.mark.parametrize("seed", [361, 364])
def test_live_parameters_act_as_the_numbers_they_replace(live: str, seed: int) -> None:
    """A program with live parameters at other values is the program of the robot with those values."""
    robot = quietly_loaded(random_robot(seed, 3, drives=True), live=LIVE[live])
    rng = np.random.default_rng(seed)
    values = {p.name: p.value * rng.uniform(0.8, 1.2) + 0.01 for p in robot.live_parameters}
    assert len(values) > 5
    numbers = {name: replace(p, value=values[name], live=False) for name, p in robot.parameters.items()}
    names = [*PHYSICS, "forward_kinematics", "jacobian_rate", "payload_forces", "frame_accelerations"]
    lively, constant = Programs(robot, names), Programs(replace(robot, parameters=numbers), names)
    state = random_states(robot, seed)
    state = {**state, "b": state["F"], "wrench": rng.normal(size=(3, 6))}
    for name in names:
        if name == "damping_matrix":  # no inputs, no batch
            assert relative_error(lively(name, values), constant(name)) < 1e-15
        else:
            assert relative_error(lively(name, values, **state), constant(name, **state)) < 1e-11, name


@pytest.mark.parametrize("seed", range(370, 375))
def test_fixed_joints_merge_the_bodies_they_connect(seed: int) -> None:
    robot = random_robot(seed, 3, fixed=0.6)
    same = merged(robot)
    assert len(same.joints) == 3 < len(robot.joints)
    state = random_states(robot, seed)
    names = ["mass_matrix", "coriolis_matrix", "inverse_dynamics", "forward_dynamics", "jacobian", "potential_energy"]
    one, other = Programs(robot, names), Programs(same, names)
    for name in names:
        assert relative_error(one(name, **state), other(name, **state)) < 1e-11, name


def test_standard_and_modified_dh_are_the_same_robot() -> None:
    table = json.loads((DATA / "puma560.json").read_text())
    standard, modified = (Programs(puma560_from_table(table, kind), PHYSICS) for kind in ("standard_dh", "modified_dh"))
    state = random_states(standard.robot, 380)
    for name in ("mass_matrix", "coriolis_matrix", "gravity_vector", "inverse_dynamics", "kinetic_energy"):
        assert relative_error(standard(name, **state), modified(name, **state)) < 1e-13, name


# ---- compiled C, programs and closed forms


def assert_compiled_is_program(model: Any, programs: Programs, seed: int) -> None:
    rng = np.random.default_rng(seed)
    parameters = {
        name: value + rng.uniform(0.01, 0.02) * (1 if name.endswith(("_xy", "_xz", "_yz")) else 20)
        for name, value in programs.nominal.items()
    }
    assert set(model.functions) == set(programs.program)
    for name, program in programs.program.items():
        arguments = {argument.name: rng.uniform(-1.5, 1.5, (5, *argument.shape)) for argument in program.inputs}
        actual = model.evaluate(name, parameters=parameters, **arguments)
        expected = programs(name, parameters, **arguments)
        if not isinstance(expected, tuple):
            actual, expected = (actual,), (expected,)
        for one, other in zip(actual, expected, strict=True):
            assert relative_error(one, other) < 1e-13, name


def test_compiled_two_link_is_its_program(two_link: elastogen.Model) -> None:
    assert_compiled_is_program(two_link, Programs(quietly_loaded("two_link"), "all"), 400)


def test_compiled_puma560_is_its_program(puma560: elastogen.Model) -> None:
    assert_compiled_is_program(puma560, Programs(quietly_loaded("puma560"), "default"), 401)


def test_compiled_random_tree_is_its_program() -> None:
    """Branches, slides, fixed joints, drives with friction, live parameters: every function of a rigid robot."""
    robot = quietly_loaded(random_robot(443, 3, drives=True, branching=0.8), live=("gravity", "payload"))
    assert len({joint.parent for joint in robot.joints}) < len(robot.joints)
    assert {kinds.PRISMATIC, kinds.FIXED} < {joint.type for joint in robot.joints}
    names = [*PHYSICS, *KINEMATICS, *DERIVATIVES, *LINEAR, "default"]
    assert_compiled_is_program(elastogen.build_model(robot, outputs=names), Programs(robot, names), 402)


CLOSED = {
    "transforms": "forward_kinematics",
    "jacobian": "jacobian",
    "jacobian_tip": "jacobian_tip",
    "jacobian_rate": "jacobian_rate",
    "jacobian_tip_rate": "jacobian_rate_tip",
    **{name: name for name in ("mass_matrix", "coriolis_matrix", "coriolis_vector", "gravity_vector", "kinetic_energy",
                               "potential_energy", "inverse_dynamics")},
}  # fmt: skip


def rpr_robot() -> Robot:
    """Rotation, slide, rotation in space, with full tensors, a drive and a payload."""
    right = np.array([[1.0, 0, 0], [0, 0, -1], [0, 1, 0]])
    tensor = ((0.5, 0.0625, -0.125), (0.0625, 0.75, 0.03125), (-0.125, 0.03125, 0.625))
    bodies = [Body(m, (0.25, -0.125, 0.5), tensor) for m in (3.0, 2.0, 1.5)]
    joints = (
        Joint("swing", kinds.REVOLUTE, "base", "arm", (0, 0, 1), actuation=Actuation(0.0005, 50, 0.25)),
        Joint("slide", kinds.PRISMATIC, "arm", "rod", (0, 0, 1), pose(right, (0.5, 0.25, 0))),
        Joint("twist", kinds.REVOLUTE, "rod", "hand", (1, 0, 0), pose(np.eye(3), (0, 0, 0.75))),
    )
    links = (Link("base"), *(Link(name, body) for name, body in zip(("arm", "rod", "hand"), bodies, strict=True)))
    return Robot("rpr", links, joints, (0.5, -1.0, -9.75), "hand", pose(right, (0.5, 0, 0.25)), Body(0.5, (0, 0.25, 0)))


@pytest.mark.parametrize("robot", [quietly_loaded("two_link"), rpr_robot()], ids=lambda robot: robot.name)
def test_closed_forms_are_the_programs(robot: Robot) -> None:
    """Lagrange's equations in SymPy against the recursions."""
    names = [
        *CLOSED.values(),
        "frame_velocities",
        "frame_velocities_local",
        "frame_accelerations",
        "frame_accelerations_local",
    ]
    programs, closed = Programs(robot, names), derive(robot)
    state = {name: values[0] for name, values in random_states(robot, 410, 1).items()}
    motion = [state[name] for name in ("q", "qd", "qdd")]
    for name, function in CLOSED.items():
        assert relative_error(programs(function, **state), closed.lambdify(name)(*motion)) < 1e-12, name
    for order, kind in (("frame_velocities", "velocities"), ("frame_accelerations", "accelerations")):
        for suffix, frame in (("", "base"), ("_local", "own")):
            parts = [closed.lambdify(f"{part}_{kind}", frame=frame)(*motion) for part in ("linear", "angular")]
            assert relative_error(programs(order + suffix, **state), np.hstack(parts)) < 1e-12, (kind, frame)
