"""The matrices of paper 002, (9)-(30) as corrected: against the recursions, and in closed form."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
import sympy
from flexible_reference import CASES, robot_of
from plain_programs import PlainPrograms
from robots_for_tests import Programs, difference_quotient, quietly_loaded, random_robot, relative_error

from elastogen.generator.algorithms.acceleration_matrices import pairs
from elastogen.generator.closed_form.closed_form import derive
from elastogen.generator.functions.derivation import CATALOGUE, output_names
from elastogen.generator.functions.higher.acceleration_matrices import ENTRIES
from elastogen.generator.robot.errors import OutputError
from elastogen.generator.robot.robot import JointElasticity, Robot

TOLERANCE = 1e-12


def elastic_joints() -> Robot:
    robot = random_robot(12, 2, branching=0.0, fixed=0.0, drives=True)
    return replace(robot, joints=tuple(replace(joint, elasticity=JointElasticity(80.0, 0.3)) for joint in robot.joints))


ROBOTS = {
    **{f"tree{seed}": lambda seed=seed: random_robot(seed, 1 + seed, branching=0.4, drives=True) for seed in range(4)},
    "elastic joints": elastic_joints,
    "RR flexible": lambda: robot_of(CASES[0]),
    "RTR flexible": lambda: robot_of(CASES[1]),
    "RTR foreshortening": lambda: robot_of(CASES[1], foreshortening=True),
    "RTR linear tips": lambda: robot_of(CASES[1], "linear"),
}


@cache
def programs(name: str) -> PlainPrograms:
    return PlainPrograms(ROBOTS[name]())


@cache
def state(name: str) -> dict[str, Any]:
    rng = np.random.default_rng(sorted(ROBOTS).index(name))
    scale = np.array([0.3 if coordinate.elastic else 1.0 for coordinate in programs(name).robot.coordinates])
    motion = {key: scale * rng.uniform(-1, 1, len(scale)) for key in ("q", "qd", "qdd")}
    return {**motion, "wrench": rng.normal(size=6)}


def products(qd: np.ndarray) -> np.ndarray:
    return np.array([qd[i] * qd[j] for i, j in pairs(len(qd))])


@pytest.mark.parametrize("name", ROBOTS)
def test_mass_matrix_21_and_velocity_forces_22(name: str) -> None:
    P, x = programs(name), state(name)
    assert relative_error(P("trace_mass_matrix", **x), P("mass_matrix", **x)) < TOLERANCE
    assert relative_error(P("trace_coriolis_vector", **x), P("coriolis_vector", **x)) < TOLERANCE


@pytest.mark.parametrize("name", ROBOTS)
def test_acceleration_energy_23(name: str) -> None:
    P, x = programs(name), state(name)
    M, V, D = (P(key, **x) for key in ("trace_mass_matrix", "trace_coriolis_vector", "acceleration_matrix"))
    qd, qdd = x["qd"], x["qdd"]
    energy = qdd @ M @ qdd / 2 + V @ qdd + qd @ D @ qd / 2
    assert relative_error(energy, P("acceleration_energy_1", **x)) < TOLERANCE
    at_rest = P("acceleration_energy_1", **{**x, "qdd": 0 * qdd})
    assert relative_error(qd @ D @ qd / 2, at_rest) < TOLERANCE
    np.testing.assert_allclose(D, D.T, rtol=0, atol=1e-12 * np.abs(D).max())


@pytest.mark.parametrize("name", [name for name in ROBOTS if name != "tree0"])
def test_coefficients_B_with_2_V_and_C(name: str) -> None:
    P, x = programs(name), state(name)
    B, C = P("coriolis_coefficients", **x), P("centrifugal_coefficients", **x)
    forces = B @ products(x["qd"]) + C @ x["qd"] ** 2
    assert relative_error(forces, P("coriolis_vector", **x)) < TOLERANCE


def test_the_printed_B_is_wrong_in_30() -> None:
    P, x = programs("tree3"), state("tree3")
    B, C = P("coriolis_coefficients", **x), P("centrifugal_coefficients", **x)
    printed = B / 2 @ products(x["qd"]) + C @ x["qd"] ** 2
    assert relative_error(printed, P("coriolis_vector", **x)) > 1e-2


@pytest.mark.parametrize("name", [name for name in ROBOTS if name != "tree0"])
@pytest.mark.parametrize("frame", ["", "_tip"])
def test_J_B_and_J_C_give_the_rate_of_the_jacobian_13(name: str, frame: str) -> None:
    P, x = programs(name), state(name)
    J_B, J_C = P(f"jacobian_coriolis{frame}", **x), P(f"jacobian_centrifugal{frame}", **x)
    acceleration = J_B @ products(x["qd"]) + J_C @ x["qd"] ** 2
    assert relative_error(acceleration, P(f"jacobian_rate{frame}", **x) @ x["qd"]) < TOLERANCE


def test_angular_part_of_J_C_of_joints_is_zero() -> None:
    P, x = programs("tree3"), state("tree3")
    assert not P("jacobian_centrifugal", **x)[3:].any()


@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.parametrize("form", ["driving_forces", "driving_forces_by_coefficients"])
def test_driving_forces_29_and_30_for_all_switches(name: str, form: str) -> None:
    P, x = programs(name), state(name)
    inertia, weight, load = (P(key, **x) for key in ("inertia_forces", "gravity_vector", "payload_forces"))
    for own_and_load in (-1, 0, 1):
        for moving in (0, 1):
            for sign in (-1, 1):
                found = P(form, **x, delta_m=own_and_load, delta_theta=moving, tau=sign)
                own = inertia * moving - sign * weight  # Q_g is the active force of the weight
                expected = own_and_load**2 * own + sign * load * (own_and_load < 1)
                assert relative_error(found, expected) < TOLERANCE


@pytest.mark.parametrize("name", ["tree2", "elastic joints", "RTR flexible"])
def test_inverse_dynamics_is_29_with_springs_and_friction(name: str) -> None:
    P, x = programs(name), state(name)
    forces = P("driving_forces", **{**x, "wrench": np.zeros(6)}, delta_m=-1, delta_theta=1, tau=-1)
    forces = forces + P("stiffness_matrix") @ x["q"] + P("damping_matrix") @ x["qd"]
    for k, (coordinate, rate) in enumerate(zip(P.robot.coordinates, x["qd"], strict=True)):
        if not coordinate.elastic:
            drive = next(joint for joint in P.robot.joints if joint.name == coordinate.name).actuation
            forces[k] += float(drive.coulomb) * np.tanh(rate / float(drive.coulomb_velocity))
    assert relative_error(forces, P("inverse_dynamics", **x)) < TOLERANCE


@pytest.mark.parametrize("name", ROBOTS)
def test_differential_matrices_10(name: str) -> None:
    """A_ij and A_ijk against differences; A_ij is zero where q_j does not move frame i, hence not symmetric."""
    P, x = programs(name), state(name)
    n, q = P.size, x["q"]
    A, B = P("transform_partials", q=q), P("transform_second_partials", q=q)
    for j in range(n):
        axis = np.eye(n)[j]
        slope = difference_quotient(lambda s, axis=axis: P("forward_kinematics", q=q + s * axis))
        assert relative_error(A[:, j], slope, 1.0) < 1e-9
        bend = difference_quotient(lambda s, axis=axis: P("transform_partials", q=q + s * axis))
        assert relative_error(B[:, :, j], bend, 1.0) < 1e-8
    np.testing.assert_array_equal(B, B.transpose(0, 2, 1, 3, 4))


@pytest.mark.parametrize("name", ["tree1", "tree2", "tree3", "elastic joints"])
def test_operators_9(name: str) -> None:
    """A_ij = T_j0 U_j T_ij with T_ij = T_j0^-1 T_i0."""
    P, x = programs(name), state(name)
    T, A, U = P("forward_kinematics", **x), P("transform_partials", **x), P("joint_operators")
    names = [joint.child for joint in P.robot.joints if joint.type.name != "fixed"]
    copies = 2 if name == "elastic joints" else 1
    frames = [link.name for link in P.robot.links[1:]]
    checked = 0
    for j, child in enumerate(np.repeat(names, copies)):
        own = T[frames.index(str(child))]
        for i in range(len(T)):
            if A[i, j].any():
                assert np.abs(A[i, j] - own @ U[j] @ np.linalg.inv(own) @ T[i]).max() < 1e-12
                checked += 1
    assert checked >= P.size


def test_optimized_programs_are_the_same() -> None:
    """What is emitted: other frames, base parameters, common factors taken out."""
    robot = random_robot(21, 3, branching=0.3, drives=True)
    names = [entry.name for entry in ENTRIES]
    plain, emitted = PlainPrograms(robot), Programs(robot, names)
    rng = np.random.default_rng(5)
    x = {key: rng.uniform(-1, 1, 3) for key in ("q", "qd", "qdd")}
    x |= {"wrench": rng.normal(size=6), "delta_m": -1.0, "delta_theta": 1.0, "tau": -1.0}
    for name in names:
        assert relative_error(emitted(name, **x), plain(name, **x)) < TOLERANCE, name


def test_closed_forms_of_the_elbow_arm() -> None:
    closed = derive(quietly_loaded("two_link"), symbolic="nonzero")
    assert closed.function("trace_mass_matrix")["M"] == closed.mass_matrix
    V = closed.function("trace_coriolis_vector")["V"]
    assert all(sympy.simplify(x) == 0 for x in V - closed.coriolis_vector)
    q2, l1, lc2, m2 = sympy.symbols("q2 l1 lc2 m2", real=True)
    assert closed.function("coriolis_coefficients")["B"] == sympy.Matrix([-2 * l1 * lc2 * m2 * sympy.sin(q2), 0])
    assert closed.function("centrifugal_coefficients")["C"] == sympy.Matrix(
        [[0, -l1 * lc2 * m2 * sympy.sin(q2)], [l1 * lc2 * m2 * sympy.sin(q2), 0]]
    )
    A = closed.function("transform_partials")["A"]
    assert A[-1][1] == closed.transforms[-1].diff(closed.q[1])
    D, qd = closed.function("acceleration_matrix")["D"], sympy.Matrix(closed.qd)
    at_rest = closed.function("acceleration_energy_1")["E"].subs(dict.fromkeys(closed.qdd, 0))
    assert sympy.simplify((qd.T * D * qd)[0] / 2 - at_rest) == 0
    assert "tau" in {str(s) for s in closed.function("driving_forces")["Q"].free_symbols}


def test_closed_form_of_a_flexible_robot() -> None:
    """One mode: the energy as a polynomial in the rates, sines and the elastic coordinate."""
    robot = robot_of({**CASES[1], "chain": CASES[1]["chain"][2:]})
    energy = derive(robot).function("acceleration_energy_1")["E"]
    x = {"q": [0.3, 0.1], "qd": [0.5, -0.7], "qdd": [1.1, 0.4]}
    letters = {"q": "q", "qd": "qd", "qdd": "qdd"}
    values = {f"{letters[key]}{k + 1}": value for key, row in x.items() for k, value in enumerate(row)}
    number = energy.subs({symbol: values[symbol.name] for symbol in energy.free_symbols})
    assert relative_error(float(number), PlainPrograms(robot)("acceleration_energy_1", **x)) < TOLERANCE


def test_they_are_not_among_the_default_functions() -> None:
    names = {entry.name for entry in ENTRIES}
    assert names <= set(CATALOGUE)
    assert not names & set(output_names("default"))
    with pytest.raises(OutputError, match="without flexible links"):
        output_names("joint_operators", robot_of(CASES[0]))
    with pytest.raises(OutputError, match="two coordinates or more"):
        output_names("coriolis_coefficients", random_robot(0, 1))
