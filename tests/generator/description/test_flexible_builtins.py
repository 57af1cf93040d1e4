"""The built-in flexible arms against published frequencies, the frequency equation of a beam, and Pinocchio."""

from __future__ import annotations

import numpy as np
import pytest
from plain_programs import PlainPrograms
from robots_for_tests import in_pinocchio
from scipy.linalg import eigh
from scipy.optimize import brentq

from elastogen.generator.description.load_robot import load
from elastogen.generator.description.rigid_limit import rigid_robot


def clamped(programs: PlainPrograms, q: np.ndarray, kept: list[int]) -> np.ndarray:
    """Natural frequencies of some coordinates, all others held [rad/s]."""
    block = np.ix_(kept, kept)
    K = programs("stiffness_matrix")
    return np.sqrt(eigh(K[block], programs("mass_matrix", q=q)[block], eigvals_only=True))


def test_one_link_has_the_frequencies_of_a_beam_with_a_mass_on_its_tip() -> None:
    length, density, EI, payload = 0.8, 0.35, 0.1688, 0.1
    mu = payload / (density * length)

    def equation(z: float) -> float:
        return 1 + np.cos(z) * np.cosh(z) + mu * z * (np.cos(z) * np.sinh(z) - np.sin(z) * np.cosh(z))

    roots = np.array([brentq(equation, low, high, xtol=1e-14) for low, high in ((0.5, 2.5), (3.0, 5.0))])
    found = clamped(PlainPrograms(load("flexible_one_link")), np.zeros(5), [1, 2, 3, 4])
    exact = roots**2 * np.sqrt(EI / (density * length**4))
    excess = found[:2] / exact - 1
    assert (excess > -1e-12).all()  # Ritz: from above
    assert (excess < [1e-6, 2e-3]).all()


def test_two_links_of_de_luca_and_siciliano() -> None:
    """Published: 0.48 and 1.80 Hz of the first link at theta2 = 90 deg, 2.18 and 15.91 Hz of the second; M by hand."""
    programs = PlainPrograms(load("flexible_two_link"))
    q, joints = np.zeros(8), np.ix_([0, 4], [0, 4])
    own = 0.1 + 0.1 * 0.5**2 / 3  # hub and rod [kg m^2]
    outer = own + 0.1 * 0.5**2 + 5e-4
    moment = 0.1 * 0.25 + 0.1 * 0.5  # first moment of rod 2 and payload [kg m]
    for angle in (0.0, np.pi / 2):
        q[4] = angle
        coupled = outer + 0.5 * moment * np.cos(angle)
        whole = own + (1.0 + 0.1 + 0.1) * 0.5**2 + outer + 2 * 0.5 * moment * np.cos(angle)
        np.testing.assert_allclose(programs("mass_matrix", q=q)[joints], [[whole, coupled], [coupled, outer]], rtol=1e-12)
    first, second = (clamped(programs, q, kept)[:2] / (2 * np.pi) for kept in ([1, 2, 3], [5, 6, 7]))
    np.testing.assert_allclose(first, [0.4796930351, 1.796589143], rtol=2e-4)
    np.testing.assert_allclose(second, [2.178333566, 15.91451297], rtol=2e-3)


def test_six_joints_without_deformation_are_the_rigid_arm() -> None:
    pytest.importorskip("pinocchio")
    robot = load("flexible_six_joint")
    rigid = in_pinocchio(rigid_robot(robot))
    programs = PlainPrograms(robot)
    joints = [k for k, coordinate in enumerate(robot.coordinates) if not coordinate.elastic]
    q = np.zeros(12)
    q[joints] = np.random.default_rng(8).uniform(-2, 2, 6)
    import pinocchio as pin

    M = pin.crba(rigid.model, rigid.model.createData(), q[joints])
    M = np.triu(M) + np.triu(M, 1).T
    G = pin.computeGeneralizedGravity(rigid.model, rigid.model.createData(), q[joints])
    np.testing.assert_allclose(programs("mass_matrix", q=q)[np.ix_(joints, joints)], M, rtol=0, atol=1e-11)
    np.testing.assert_allclose(programs("gravity_vector", q=q)[joints], G, rtol=0, atol=1e-11)


def test_a_tube_of_the_six_joint_arm_bends_as_a_cantilever() -> None:
    """A tip force P deflects the tube by P L^3 / (3 EI): the shape is the exact one, E and radii are in the file."""
    K = PlainPrograms(load("flexible_six_joint"))("stiffness_matrix")
    EI = 7.0e10 * np.pi * (0.025**4 - 0.023**4) / 4
    GJ = 2.6e10 * np.pi * (0.025**4 - 0.023**4) / 2
    np.testing.assert_allclose(np.diag(K)[2:5], [3 * EI / 0.5**3, 3 * EI / 0.5**3, GJ / 0.5], rtol=1e-12)
