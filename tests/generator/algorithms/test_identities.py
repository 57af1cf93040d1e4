"""What must hold between the functions of any rigid robot: physics, derivatives, forces on the tip."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from function_groups import PHYSICS
from plain_kinematics import mass_matrix as plain_mass_matrix
from robots_for_tests import Programs, difference_quotient, random_robot, random_states, relative_error

from elastogen.generator.robot.robot import Body, Robot

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
    dM = np.stack([difference_quotient(lambda s, e=e: robot("mass_matrix", q=q + s * e)) for e in np.eye(len(q))], axis=-1)
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
