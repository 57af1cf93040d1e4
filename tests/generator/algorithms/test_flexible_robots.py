"""Robots with flexible links: reference chains and published frequencies."""

import warnings
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from flexible_arms import HUB, ROD, beam, frequencies, planar_arm
from flexible_reference import CASES, TIPS, robot_of
from reference_beam import FREE, LOADED, ON_A_HUB, powers
from robots_for_tests import Programs, difference_quotient, relative_error

import elastogen
from elastogen.generator.beams.finite_elements import element_modes
from elastogen.generator.functions.derivation import derive_model
from elastogen.generator.robot.robot import Body, Link

# ---- reference numbers


@pytest.mark.parametrize("tip", TIPS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_reference_chains(case, tip):
    robot = robot_of(case, TIPS[tip])
    evaluate = Programs(robot, "default")
    for state in case["states"]:
        q, qd, qdd = (np.array(row) for row in state["derivatives"][:3])
        expected = state[tip]
        found = {
            "tip_transform": evaluate("forward_kinematics", q=q)[-1],
            "tip_jacobian": evaluate("jacobian", q=q),
            "mass_matrix": evaluate("mass_matrix", q=q),
            "coriolis_vector": evaluate("coriolis_vector", q=q, qd=qd),
            "gravity_vector": evaluate("gravity_vector", q=q),
            "kinetic_energy": evaluate("kinetic_energy", q=q, qd=qd),
        }
        for name, value in found.items():
            scale = np.abs(expected[name]).max()
            np.testing.assert_allclose(value, expected[name], rtol=0, atol=1e-12 * scale, err_msg=name)
        np.testing.assert_allclose(evaluate("coriolis_matrix", q=q, qd=qd) @ qd, found["coriolis_vector"], atol=1e-12)
        # inverse dynamics: all rows, with stiffness
        forces = found["mass_matrix"] @ qdd + found["coriolis_vector"] + found["gravity_vector"]
        forces = forces + evaluate("stiffness_matrix") @ q
        np.testing.assert_allclose(
            evaluate("inverse_dynamics", q=q, qd=qd, qdd=qdd), forces, rtol=1e-11, atol=1e-11 * np.abs(forces).max()
        )
        np.testing.assert_allclose(evaluate("forward_dynamics", q=q, qd=qd, F=forces), qdd, rtol=1e-8, atol=1e-8)


def test_potential_energy_of_a_chain_has_gravity_and_stiffness_as_its_gradient():
    robot = robot_of(CASES[1])
    evaluate = Programs(robot, ("potential_energy", "gravity_vector", "stiffness_matrix"))
    q = np.array(CASES[1]["states"][0]["derivatives"][0])
    gradient = [difference_quotient(lambda s, e=e: evaluate("potential_energy", q=q + s * e)) for e in np.eye(len(q))]
    expected = evaluate("gravity_vector", q=q) + evaluate("stiffness_matrix") @ q
    assert relative_error(gradient, expected) < 1e-11


# ---- published frequencies


@pytest.mark.parametrize(
    ("hub", "payload", "joint_free", "expected"),
    [
        (None, 0.0, False, FREE[:3]),
        (None, 0.1, False, LOADED[:3]),
        (HUB, 0.1, True, ON_A_HUB),
    ],
)
@pytest.mark.parametrize("shapes", ["polynomials", "elements"])
def test_frequencies_of_one_beam(hub, payload, joint_free, expected, shapes):
    modes = powers(8) if shapes == "polynomials" else element_modes(10, ["y"], Fraction("0.8"))
    link = Link("", hub or Body(), beam(*ROD, modes), Body(payload))
    evaluate = Programs(planar_arm(link), ("mass_matrix", "stiffness_matrix"))
    n = 1 + len(modes)
    M, K = evaluate("mass_matrix", q=np.zeros(n)), evaluate("stiffness_matrix")
    found = frequencies(M, K, list(range(n)) if joint_free else list(range(1, n)))
    start = 1 if joint_free else 0  # the rigid motion comes first
    tolerance = 2e-6 if shapes == "polynomials" else 3e-4  # ten elements: 2.6e-4 in the third frequency
    np.testing.assert_allclose(found[start : start + 3], expected, rtol=tolerance)


def test_eigenfunctions_on_a_hub():
    """Six clamped eigenfunctions with the tip mass, hinged at a hub; clamped, each is exact."""
    modes = [{"direction": "y", "eigenfunction": k} for k in range(1, 7)]
    flexible = {"type": "modes", "length": 0.8, "mass_per_length": 0.35325, "EI": 0.1688, "tip": {"mass": 0.1},
                "eigenfunctions": "tip_mass", "modes": modes}  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", elastogen.RobotWarning)  # a hub with inertia and no mass
        robot = elastogen.load({
            "elastogen": 1,
            "name": "hub",
            "links": [{"name": "base"}, {"name": "beam", "inertia": [0, 0, 0.01], "flexible": flexible}],
            "joints": [{"name": "j", "type": "revolute", "axis": [0, 0, 1], "child": "beam"}],
        })  # fmt: skip
    evaluate = Programs(robot, ("mass_matrix", "stiffness_matrix"))
    M, K = evaluate("mass_matrix", q=np.zeros(7)), evaluate("stiffness_matrix")
    np.testing.assert_allclose(frequencies(M, K, range(7))[1:4], ON_A_HUB, rtol=1e-6)
    np.testing.assert_allclose(frequencies(M, K, range(1, 7))[:3], LOADED[:3], rtol=1e-8)


def test_constant_elastic_blocks_are_factorized_at_generation_time():
    """The outer link's block of M is constant: of its five pivots none is computed at run time."""
    link = Link("", Body(), beam(*ROD, powers(5)), Body(0.1))
    (function,) = derive_model(planar_arm(link, link), ["forward_dynamics"]).functions
    assert function.program.count.div == 2 + 5


def test_polynomial_modes_converge_from_above():
    errors = []
    for count in (2, 3, 4, 5, 6):
        evaluate = Programs(planar_arm(Link("", Body(), beam(*ROD, powers(count)))), ("mass_matrix", "stiffness_matrix"))
        M, K = evaluate("mass_matrix", q=np.zeros(1 + count)), evaluate("stiffness_matrix")
        errors.append(frequencies(M, K, list(range(1, 1 + count)))[1] / FREE[1] - 1)
    assert all(error > -1e-9 for error in errors)
    assert all(later < earlier for earlier, later in pairwise(errors))
    assert errors[-1] < 2e-5 < 1e-2 < errors[0]


def de_luca_siciliano(modes_per_link):
    """The planar two-link arm of De Luca and Siciliano 1991."""
    rod = beam(0.2, 1.0, 0.5, powers(modes_per_link))
    inertia = ((0, 0, 0), (0, 0, 0), (0, 0, 0.1))
    first = Link("", Body(0, (0, 0, 0), inertia), rod, Body(1.0))  # hub of joint 2 on the tip of link 1
    payload = Body(0.1, (0, 0, 0), ((0, 0, 0), (0, 0, 0), (0, 0, 5e-4)))
    return planar_arm(first, Link("", Body(0, (0, 0, 0), inertia), rod, payload))


def test_arm_of_de_luca_and_siciliano():
    m = 7
    evaluate = Programs(de_luca_siciliano(m), ("mass_matrix", "stiffness_matrix"))
    K = evaluate("stiffness_matrix")
    n = 2 + 2 * m
    q = np.zeros(n)
    joints = [0, 1 + m]
    straight = evaluate("mass_matrix", q=q)
    np.testing.assert_allclose(
        straight[np.ix_(joints, joints)], [[0.6171666667, 0.1713333333], [0.1713333333, 0.1338333333]], rtol=1e-9
    )
    q[1 + m] = np.pi / 2
    M = evaluate("mass_matrix", q=q)
    np.testing.assert_allclose(
        M[np.ix_(joints, joints)], [[0.5421666667, 0.1338333333], [0.1338333333, 0.1338333333]], rtol=1e-9
    )
    second = frequencies(M, K, list(range(2 + m, n))) / (2 * np.pi)
    np.testing.assert_allclose(second[:2], [2.178333566, 15.91451297], rtol=1e-6)
    # link 1 carries link 2, here rigid: its clamped frequencies with that load
    first = frequencies(M, K, list(range(1, 1 + m))) / (2 * np.pi)
    np.testing.assert_allclose(first[:2], [0.4796930351, 1.796589143], rtol=1e-6)
