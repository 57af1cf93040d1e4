"""Flexible robots: rigid limits and the identities between their functions."""

import numpy as np
import pytest
from flexible_arms import beam, planar_arm
from reference_beam import powers
from robots_for_tests import Programs, difference_quotient, relative_error

from elastogen.generator.joints import kinds
from elastogen.generator.robot.robot import Actuation, Body, Joint, JointElasticity, Link, Robot


def rigid_and_stiff():
    """The same arm with links of no modes, and rigid."""
    mass_per_length, length = 0.7, 0.6
    mass = mass_per_length * length
    rod = Body(mass, (length / 2, 0, 0), ((0, 0, 0), (0, mass * length**2 / 12, 0), (0, 0, mass * length**2 / 12)))
    no_modes = beam(mass_per_length, 3.0, length, [])
    flexible = planar_arm(*(Link("", Body(), no_modes, Body(0.2)) for _ in range(2)), gravity=(0, -9.81, 0))
    tip = Body(0.2, (length, 0, 0))
    links = [Link("base"), Link("link1", rod), Link("link2", rod), Link("load1", tip), Link("load2", tip)]
    at_tip = ((1, 0, 0, length), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1))
    joints = [
        Joint("j1", kinds.REVOLUTE, "base", "link1"),
        Joint("f1", kinds.FIXED, "link1", "load1"),
        Joint("j2", kinds.REVOLUTE, "link1", "link2", before=at_tip),
        Joint("f2", kinds.FIXED, "link2", "load2"),
    ]
    order = [links[0], links[1], links[3], links[2], links[4]]
    rigid = Robot("arm", tuple(order), tuple(joints), gravity=(0, -9.81, 0), tip="link2", tool=at_tip)
    return flexible, rigid


def test_links_without_modes_are_rigid():
    flexible, rigid = (Programs(robot, "default") for robot in rigid_and_stiff())
    rng = np.random.default_rng(3)
    q, qd, qdd = rng.normal(size=(3, 20, 2))
    for name, arguments in {
        "mass_matrix": {"q": q},
        "inverse_dynamics": {"q": q, "qd": qd, "qdd": qdd},
        "coriolis_matrix": {"q": q, "qd": qd},
        "jacobian": {"q": q},
        "potential_energy": {"q": q},
    }.items():
        np.testing.assert_allclose(flexible(name, **arguments), rigid(name, **arguments), rtol=1e-12, atol=1e-12)


def test_a_stiff_beam_moves_as_a_rigid_one():
    """EI to infinity: joint accelerations differ by O(1/EI) at zero deflection under the quasi-static load."""
    _, rigid = rigid_and_stiff()
    expected = Programs(rigid, ["forward_dynamics"])("forward_dynamics", q=[0.3, 0.4], qd=[0.0, 0.0], F=[1.0, 0.5])
    differences = []
    for EI in (1e6, 1e8):
        link = Link("", Body(), beam(0.7, EI, 0.6, powers(2)), Body(0.2))
        names = ("elastic_inverse_dynamics", "mass_matrix", "gravity_vector", "stiffness_matrix")
        evaluate = Programs(planar_arm(link, link, gravity=(0, -9.81, 0)), names)
        q = np.array([0.3, 0, 0, 0.4, 0, 0])
        kept, elastic = [0, 3], [1, 2, 4, 5]
        M, G, K = evaluate("mass_matrix", q=q), evaluate("gravity_vector", q=q), evaluate("stiffness_matrix")
        # quasi-static deflection under the rigid motion's inertia forces
        load = M[np.ix_(elastic, kept)] @ expected + G[elastic]
        q[elastic] = np.linalg.solve(K[np.ix_(elastic, elastic)], -load)
        qdd = np.zeros(6)
        qdd[kept] = expected
        F, _ = evaluate("elastic_inverse_dynamics", q=q, qd=np.zeros(6), qdd=qdd)
        differences.append(np.abs(F[kept] - [1.0, 0.5]).max())
    assert differences[1] < 1e-6
    np.testing.assert_allclose(differences[0] / differences[1], 100, rtol=0.1)


def spatial_arm(**options):
    """Bending in both planes, a prismatic and two revolute joints, a tree with two tips, a flexible joint."""
    mass_per_length, EI, length = 0.6, 5.0, 0.5
    modes = [*powers(2, "y"), *powers(2, "z")]
    flexible = beam(mass_per_length, EI, length, modes, **options)
    inertia = ((0.02, 0.001, 0), (0.001, 0.03, 0.002), (0, 0.002, 0.04))
    body = Body(0.8, (0.1, 0.05, -0.02), inertia)
    rotated = ((0, -1, 0, 0.1), (1, 0, 0, 0.0), (0, 0, 1, 0.2), (0, 0, 0, 1))
    links = (
        Link("base"),
        Link("a", body),
        Link("b", body, flexible, Body(0.1)),
        Link("c", body),
        Link("d", Body(), flexible, Body(0.2, (0.05, 0, 0), inertia)),
    )
    joints = (
        Joint("j1", kinds.REVOLUTE, "base", "a", axis=(0.6, 0, 0.8), before=rotated,
              actuation=Actuation(1e-4, 50, 0.1), elasticity=JointElasticity(400.0, 0.0)),
        Joint("j2", kinds.REVOLUTE, "a", "b", axis=(0, 1, 0), before=rotated),
        Joint("j3", kinds.PRISMATIC, "b", "c", axis=(0, 0.6, 0.8), before=rotated),
        Joint("j4", kinds.REVOLUTE, "b", "d", axis=(0, 0, 1)),
    )  # fmt: skip
    return Robot("tree", links, joints, gravity=(0.5, 1.0, -9.0), tip="d")


@pytest.mark.parametrize("options", [{}, {"foreshortening": True}], ids=["modes", "foreshortening"])
def test_identities_of_a_flexible_tree(options):
    robot = spatial_arm(**options)
    evaluate = Programs(robot, ("default", "elastic_inverse_dynamics", "jacobian_rate", "acceleration_energy_1"))
    n = len(robot.coordinates)
    rng = np.random.default_rng(11)
    scale = np.where([c.elastic for c in robot.coordinates], 0.05, 1.0)
    q, qd, qdd = rng.normal(size=(3, n)) * scale
    M, C = evaluate("mass_matrix", q=q), evaluate("coriolis_matrix", q=q, qd=qd)
    np.testing.assert_allclose(M, M.T, atol=1e-14)
    skew = difference_quotient(lambda s: evaluate("mass_matrix", q=q + s * qd), step=2e-3) - 2 * C
    np.testing.assert_allclose(skew, -skew.T, atol=1e-10 * np.abs(C).max() + 1e-10)
    np.testing.assert_allclose(evaluate("kinetic_energy", q=q, qd=qd), 0.5 * qd @ M @ qd, rtol=1e-12)
    np.testing.assert_allclose(evaluate("inertia_forces", q=q, qd=qd, qdd=qdd), M @ qdd + C @ qd, rtol=1e-11, atol=1e-11)
    F = evaluate("inverse_dynamics", q=q, qd=qd, qdd=qdd)
    np.testing.assert_allclose(evaluate("forward_dynamics", q=q, qd=qd, F=F), qdd, rtol=1e-9, atol=1e-9)
    # Appell: E1 is quadratic in qdd with the Hessian M
    unit = np.eye(n)[0]
    second = sum(
        sign * evaluate("acceleration_energy_1", q=q, qd=qd, qdd=qdd + step * unit)
        for sign, step in ((1, 1.0), (-2, 0.0), (1, -1.0))
    )
    np.testing.assert_allclose(second, M[0, 0], rtol=1e-9)
    # joint motion given, elastic state free: the elastic rows carry no force
    forces, accelerations = evaluate("elastic_inverse_dynamics", q=q, qd=qd, qdd=qdd)
    elastic = np.array([c.elastic for c in robot.coordinates])
    np.testing.assert_allclose(accelerations[~elastic], qdd[~elastic], atol=0)
    check = evaluate("inverse_dynamics", q=q, qd=qd, qdd=accelerations)
    np.testing.assert_allclose(check[elastic], 0, atol=1e-9)
    np.testing.assert_allclose(check[~elastic], forces[~elastic], rtol=1e-10, atol=1e-10)
    J = evaluate("jacobian", q=q)
    rate = difference_quotient(lambda s: evaluate("forward_kinematics", q=q + s * qd)[-1], step=2e-3)
    np.testing.assert_allclose(rate[:3, 3], (J @ qd)[:3], rtol=1e-10, atol=1e-11)
    slope = difference_quotient(lambda s: evaluate("jacobian", q=q + s * qd), step=2e-3)
    assert relative_error(evaluate("jacobian_rate", q=q, qd=qd), slope) < 1e-9


def test_mass_matrix_is_positive_definite_in_a_thousand_states():
    robot = spatial_arm()
    evaluate = Programs(robot, ["mass_matrix"])
    rng = np.random.default_rng(5)
    scale = np.where([c.elastic for c in robot.coordinates], 0.1, 3.0)
    M = evaluate("mass_matrix", q=rng.normal(size=(1000, len(scale))) * scale)
    assert np.linalg.eigvalsh(M).min() > 0
    assert np.all(np.linalg.eigvalsh(M)[:, 0] > 1e-7 * np.linalg.eigvalsh(M)[:, -1])
