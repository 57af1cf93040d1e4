"""What must hold between the functions of any robot: physics, linearity, equal robots, special cases."""

from __future__ import annotations

import json
import warnings
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from plain_kinematics import mass_matrix as plain_mass_matrix
from robots_for_tests import (
    DATA,
    Programs,
    difference_quotient,
    merged,
    pose,
    puma560_from_table,
    quietly_loaded,
    random_body,
    random_robot,
    random_states,
    relative_error,
)

import elastogen
from elastogen.generator.closed_form import derive
from elastogen.generator.robot import IDENTITY, Actuation, Body, Joint, JointType, Link, Robot

PHYSICS = ("mass_matrix", "coriolis_matrix", "coriolis_vector", "gravity_vector", "inertia_forces", "inverse_dynamics",
           "forward_dynamics", "mass_matrix_solve", "kinetic_energy", "potential_energy", "damping_matrix")  # fmt: skip
KINEMATICS = (
    "forward_kinematics", "jacobian", "jacobian_tip", "jacobian_rate", "jacobian_rate_tip", "frame_velocities",
    "frame_velocities_local", "frame_accelerations", "frame_accelerations_local", "payload_forces",
)  # fmt: skip
DERIVATIVES = ("inverse_dynamics_derivatives", "forward_dynamics_derivatives")
SEEDS = range(300, 310)


@cache
def physics(seed: int) -> Programs:
    """A random tree of 1 to 5 joints; every second one has drives with friction."""
    return Programs(random_robot(seed, 1 + seed % 5, drives=seed % 2 == 0), PHYSICS)


def slow_state(programs: Programs, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A state whose rates add up to 0.5, so that difference quotients along its motion are exact to rounding."""
    state = random_states(programs.robot, seed, 1)
    q, qd, qdd = (state[name][0] for name in ("q", "qd", "qdd"))
    return q, 0.5 * qd / np.abs(qd).sum(), 0.5 * qdd / np.abs(qdd).sum()


def friction(robot: Robot, qd: np.ndarray) -> np.ndarray:
    drives = [joint.actuation for joint in robot.moving_joints]
    return np.array([
        float(drive.viscous) * v + float(drive.coulomb) * np.tanh(v / float(drive.coulomb_velocity))
        for drive, v in zip(drives, qd, strict=True)
    ])  # fmt: skip


# ---- physics of random robots


@pytest.mark.parametrize("seed", SEEDS)
def test_mass_matrix_is_symmetric_and_positive_definite(seed: int) -> None:
    robot = physics(seed)
    M = robot("mass_matrix", q=random_states(robot.robot, seed, 20)["q"])
    np.testing.assert_array_equal(M, np.swapaxes(M, -1, -2))
    assert np.linalg.eigvalsh(M).min() > 1e-6


@pytest.mark.parametrize("seed", SEEDS)
def test_mass_matrix_is_the_sum_over_links(seed: int) -> None:
    """M = sum of m Jv^T Jv + Jw^T I Jw, with geometric Jacobians; drives and payload apart."""
    robot = replace(random_robot(seed, 1 + seed % 5), payload=Body())
    q = random_states(robot, seed, 1)["q"][0]
    expected = plain_mass_matrix(robot, dict(zip(robot.coordinate_names, q, strict=True)))
    assert relative_error(Programs(robot, ["mass_matrix"])("mass_matrix", q=q), expected) < 1e-12


@pytest.mark.parametrize("seed", SEEDS)
def test_coriolis_matrix_consists_of_christoffel_symbols_of_the_mass_matrix(seed: int) -> None:
    """C_ij = 1/2 sum_k (dM_ij/dq_k + dM_ik/dq_j - dM_jk/dq_i) qd_k; dM/dt - 2C is skew."""
    robot = physics(seed)
    q, qd, _ = slow_state(robot, seed)
    dM = np.stack(
        [difference_quotient(lambda s, e=e: robot("mass_matrix", q=q + s * e)) for e in np.eye(len(q))], axis=-1
    )
    C = robot("coriolis_matrix", q=q, qd=qd)
    expected = 0.5 * (dM @ qd + np.einsum("ikj,k->ij", dM, qd) - np.einsum("jki,k->ij", dM, qd))
    assert relative_error(C, expected) < 1e-10
    rate = difference_quotient(lambda s: robot("mass_matrix", q=q + s * qd))
    N = rate - 2 * C
    assert relative_error(N, -N.T) < 1e-10


@pytest.mark.parametrize("seed", SEEDS)
def test_coriolis_vector_is_the_coriolis_matrix_times_the_velocity(seed: int) -> None:
    robot = physics(seed)
    state = random_states(robot.robot, seed)
    q, qd = state["q"], state["qd"]
    expected = np.einsum("nij,nj->ni", robot("coriolis_matrix", q=q, qd=qd), qd)
    assert relative_error(robot("coriolis_vector", q=q, qd=qd), expected) < 1e-12


@pytest.mark.parametrize("seed", SEEDS)
def test_driving_forces_are_the_sum_of_their_parts(seed: int) -> None:
    robot = physics(seed)
    state = random_states(robot.robot, seed, 1)
    q, qd, qdd = (state[name][0] for name in ("q", "qd", "qdd"))
    inertia = robot("mass_matrix", q=q) @ qdd + robot("coriolis_vector", q=q, qd=qd)
    assert relative_error(robot("inertia_forces", q=q, qd=qd, qdd=qdd), inertia) < 1e-12
    expected = inertia + robot("gravity_vector", q=q) + friction(robot.robot, qd)
    assert relative_error(robot("inverse_dynamics", q=q, qd=qd, qdd=qdd), expected) < 1e-12


@pytest.mark.parametrize("seed", SEEDS)
def test_gravity_forces_are_the_gradient_of_the_potential_energy(seed: int) -> None:
    robot = physics(seed)
    q = random_states(robot.robot, seed, 1)["q"][0]
    gradient = [difference_quotient(lambda s, e=e: robot("potential_energy", q=q + s * e)) for e in np.eye(len(q))]
    assert relative_error(robot("gravity_vector", q=q), gradient, floor=1.0) < 1e-11


@pytest.mark.parametrize("seed", SEEDS)
def test_kinetic_energy_is_the_quadratic_form_of_the_mass_matrix(seed: int) -> None:
    robot = physics(seed)
    state = random_states(robot.robot, seed)
    q, qd = state["q"], state["qd"]
    expected = 0.5 * np.einsum("ni,nij,nj->n", qd, robot("mass_matrix", q=q), qd)
    assert relative_error(robot("kinetic_energy", q=q, qd=qd), expected) < 1e-13


@pytest.mark.parametrize("seed", SEEDS)
def test_power_of_the_drives_is_the_rate_of_energy_and_the_loss_by_friction(seed: int) -> None:
    robot = physics(seed)
    q, qd, qdd = slow_state(robot, seed)

    def energy(t: float) -> Any:
        position, velocity = q + qd * t + qdd * t * t / 2, qd + qdd * t
        return robot("kinetic_energy", q=position, qd=velocity) + robot("potential_energy", q=position)

    power = robot("inverse_dynamics", q=q, qd=qd, qdd=qdd) @ qd
    assert relative_error(difference_quotient(energy) + friction(robot.robot, qd) @ qd, power, floor=0.1) < 1e-11


@pytest.mark.parametrize("seed", SEEDS)
def test_forward_dynamics_inverts_inverse_dynamics(seed: int) -> None:
    robot = physics(seed)
    state = random_states(robot.robot, seed)
    q, qd, qdd = state["q"], state["qd"], state["qdd"]
    forces = robot("inverse_dynamics", q=q, qd=qd, qdd=qdd)
    assert relative_error(robot("forward_dynamics", q=q, qd=qd, F=forces), qdd) < 1e-10
    b = state["F"]
    x = robot("mass_matrix_solve", q=q, b=b)
    assert relative_error(np.einsum("nij,nj->ni", robot("mass_matrix", q=q), x), b) < 1e-11


@pytest.mark.parametrize("seed", range(320, 326))
def test_derivatives_of_the_dynamics_are_difference_quotients(seed: int) -> None:
    names = ("inverse_dynamics", "inverse_dynamics_derivatives", "forward_dynamics", "forward_dynamics_derivatives")
    robot = Programs(random_robot(seed, 1 + seed % 3, drives=True), names)
    given = {name: 0.3 * values[0] for name, values in random_states(robot.robot, seed, 1).items()}
    for function, inputs in (("inverse_dynamics", ("q", "qd", "qdd")), ("forward_dynamics", ("q", "qd", "F"))):
        arguments = {name: given[name] for name in inputs}
        derivatives = robot(f"{function}_derivatives", **arguments)
        for name, derivative in zip(inputs, derivatives, strict=True):
            columns = []
            for unit in np.eye(len(given["q"])):

                def along(s: float, name: str = name, unit: np.ndarray = unit) -> Any:
                    return robot(function, **{**arguments, name: arguments[name] + s * unit})  # noqa: B023

                columns.append(difference_quotient(along, step=2e-3))  # small against the width of Coulomb friction
            assert relative_error(derivative, np.array(columns).T) < 1e-8, (function, name)


# ---- forces on the tip


@pytest.mark.parametrize("seed", range(330, 335))
def test_payload_forces_are_the_transposed_jacobian_times_the_wrench(seed: int) -> None:
    names = ("payload_forces", "jacobian", "jacobian_tip", "forward_kinematics")
    robot = Programs(random_robot(seed, 1 + seed % 5), names)
    q, wrench = random_states(robot.robot, seed, 1)["q"][0], np.random.default_rng(seed).normal(size=6)
    Q = robot("payload_forces", q=q, wrench=wrench)
    assert relative_error(Q, robot("jacobian_tip", q=q).T @ wrench) < 1e-13
    turn = np.kron(np.eye(2), robot("forward_kinematics", q=q)[-1, :3, :3])
    assert relative_error(Q, robot("jacobian", q=q).T @ (turn @ wrench)) < 1e-13


@pytest.mark.parametrize("seed", range(340, 344))
def test_a_point_mass_at_the_tip_loads_the_drives_by_its_weight_and_inertia(seed: int) -> None:
    robot = replace(random_robot(seed, 4), payload=Body())
    loaded = Programs(replace(robot, payload=Body(mass=2.5)), ["inverse_dynamics"])
    empty = Programs(robot, ["inverse_dynamics", "payload_forces", "frame_accelerations_local", "forward_kinematics"])
    state = {name: values[0] for name, values in random_states(robot, seed, 1).items()}
    a = empty("frame_accelerations_local", **state)[-1, :3]
    g = empty("forward_kinematics", **state)[-1, :3, :3].T @ np.array(robot.gravity, dtype=float)
    load = empty("payload_forces", q=state["q"], wrench=np.array([*(2.5 * (a - g)), 0, 0, 0]))
    assert relative_error(loaded("inverse_dynamics", **state) - load, empty("inverse_dynamics", **state)) < 1e-12


# ---- linear in the inertial parameters

LINEAR = ("inverse_dynamics", "regressor", "inertial_parameters", "base_regressor", "base_parameters")
LIVE = {
    "constant": (),
    "gravity and payload live": ("gravity", "payload"),
    "inertial numbers and drives live": ("links", "payload", "joints.*.motor", "joints.*.friction", "gravity"),
    "lengths live": ("joints.*.placement.xyz", "tip.xyz", "payload.mass"),
}


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
    assert {JointType.PRISMATIC, JointType.FIXED} < {joint.type for joint in robot.joints}
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
        Joint("swing", JointType.REVOLUTE, "base", "arm", (0, 0, 1), actuation=Actuation(0.0005, 50, 0.25)),
        Joint("slide", JointType.PRISMATIC, "arm", "rod", (0, 0, 1), pose(right, (0.5, 0.25, 0))),
        Joint("twist", JointType.REVOLUTE, "rod", "hand", (1, 0, 0), pose(np.eye(3), (0, 0, 0.75))),
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


# ---- special robots


def test_a_single_joint_is_a_physical_pendulum() -> None:
    body = Body(2.0, (0.5, 0, 0), ((0.1, 0, 0), (0, 0.2, 0), (0, 0, 0.3)))
    joint = Joint("pin", JointType.CONTINUOUS, "base", "bob", actuation=Actuation(1e-4, 100, 0.7, 0.4, 0.1))
    robot = Programs(Robot("pendulum", (Link("base"), Link("bob", body)), (joint,), (0, -10.0, 0), "bob"), PHYSICS)
    q, qd, qdd, inertia = 0.3, 1.1, -0.4, 0.3 + 2.0 * 0.25 + 1.0
    state = {"q": np.array([q]), "qd": np.array([qd]), "qdd": np.array([qdd])}
    gravity = 2.0 * 10.0 * 0.5 * np.cos(q)
    force = inertia * qdd + gravity + 0.7 * qd + 0.4 * np.tanh(qd / 0.1)
    expected: dict[str, Any] = {
        "mass_matrix": [[inertia]], "coriolis_matrix": [[0.0]], "coriolis_vector": [0.0], "gravity_vector": [gravity],
        "kinetic_energy": 0.5 * inertia * qd**2, "potential_energy": 2.0 * 10.0 * 0.5 * np.sin(q),
        "inverse_dynamics": [force], "damping_matrix": [[0.7]],
    }  # fmt: skip
    for name, value in expected.items():
        np.testing.assert_allclose(robot(name, **state), value, rtol=1e-14, atol=1e-15, err_msg=name)
    np.testing.assert_allclose(robot("forward_dynamics", F=np.array([force]), **state), [qdd], rtol=1e-13)


def test_slides_only_make_a_robot_without_coriolis_forces() -> None:
    """Masses add up along the chain; nothing depends on the state."""
    chain = random_robot(420, 3, types=(JointType.PRISMATIC,), fixed=0.0, branching=0.0, payload=False)
    robot = Programs(
        chain, ("mass_matrix", "coriolis_matrix", "coriolis_vector", "gravity_vector", "forward_kinematics")
    )
    state = random_states(chain, 420, 1)
    T = [np.eye(4), *robot("forward_kinematics", q=state["q"])[0]]
    axes = []
    for joint, frame in zip(chain.joints, T[1:4], strict=True):
        seat = frame[:3, :3] @ np.array(joint.after, dtype=float)[:3, :3].T
        axes.append(seat @ np.array(joint.axis))
    carried = np.cumsum([float(link.body.mass) for link in chain.links[:0:-1]])[::-1]
    M = [[carried[max(i, j)] * axes[i] @ axes[j] for j in range(3)] for i in range(3)]
    assert relative_error(robot("mass_matrix", **state)[0], M) < 1e-13
    weights = [-m * axis @ np.array(chain.gravity) for m, axis in zip(carried, axes, strict=True)]
    assert relative_error(robot("gravity_vector", **state)[0], weights) < 1e-13
    for name in ("coriolis_matrix", "coriolis_vector"):
        assert not robot(name, **state).any()
        assert robot.program[name].count.total == 0


def test_a_tip_on_the_base_never_moves() -> None:
    """The tip's link hangs on the base by a fixed joint, beside the moving arm; a payload there changes nothing."""
    arm = random_robot(430, 2, fixed=0.0, branching=0.0, payload=False)
    stand = Joint("stand", JointType.FIXED, "base", "shelf", before=pose(np.eye(3), (0.3, 0.1, 0.2)))
    robot = replace(
        arm, links=(*arm.links, Link("shelf", random_body(np.random.default_rng(1)))), joints=(*arm.joints, stand)
    )
    robot = replace(robot, tip="shelf", tool=IDENTITY, payload=Body(5.0, (0.1, 0.2, 0.3)))
    names = ("jacobian", "jacobian_tip", "jacobian_rate", "payload_forces", "frame_velocities", "frame_accelerations",
             "forward_kinematics", "inverse_dynamics", "potential_energy")  # fmt: skip
    programs, bare = Programs(robot, names), Programs(arm, ["inverse_dynamics", "potential_energy"])
    state = {**random_states(robot, 430), "wrench": np.ones((3, 6))}
    for name in ("jacobian", "jacobian_tip", "jacobian_rate", "payload_forces"):
        assert not programs(name, **state).any(), name
    for name in ("frame_velocities", "frame_accelerations"):
        assert not programs(name, **state)[:, -2:].any(), name
        assert programs(name, **state)[:, 1].any(), name
    np.testing.assert_array_equal(programs("forward_kinematics", **state)[:, -1, :3, 3], [[0.3, 0.1, 0.2]] * 3)
    for name in ("inverse_dynamics", "potential_energy"):
        assert relative_error(programs(name, **state), bare(name, **state)) < 1e-14, name


def massless_hand(live: Sequence[str] = ()) -> Robot:
    """A robot whose last link has no mass: M is singular without a payload."""
    arm = random_robot(440, 2, types=(JointType.REVOLUTE,), fixed=0.0, branching=0.0, payload=False)
    base, link, hand = arm.links
    return quietly_loaded(replace(arm, tip=hand.name, links=(base, link, Link(hand.name))), live=live)


@pytest.mark.parametrize("live", [(), ("payload",)], ids=["constant", "live payload"])
def test_a_singular_mass_matrix_is_reported(live: tuple[str, ...]) -> None:
    names = ("mass_matrix", "forward_dynamics", "mass_matrix_solve", "forward_dynamics_derivatives")
    robot = massless_hand(live)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = elastogen.build_model(robot, outputs=names)
    q, rates = np.array([0.3, 0.4]), np.zeros(2)
    assert np.linalg.matrix_rank(model.mass_matrix(q)) == 1
    with pytest.raises(elastogen.ModelError, match="positive definite"):
        model.forward_dynamics(q, rates, rates)
    with pytest.raises(elastogen.ModelError, match="positive definite"):
        model.mass_matrix_solve(q, rates)
    with pytest.raises(elastogen.ModelError, match="positive definite"):
        model.forward_dynamics_derivatives(q, rates, rates)
    assert np.isnan(model.forward_dynamics(q, rates, rates, on_failure="nan")).all()
    if live:
        heavy = {"payload_mass": 1.0, "payload_com_x": 0.2, "payload_inertia_xx": 0.1, "payload_inertia_yy": 0.1,
                 "payload_inertia_zz": 0.1}  # fmt: skip
        M = model.mass_matrix(q, parameters=heavy)
        x = model.mass_matrix_solve(q, [1.0, 2.0], parameters=heavy)
        np.testing.assert_allclose(x, np.linalg.solve(M, [1.0, 2.0]), rtol=1e-12)
