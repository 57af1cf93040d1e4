"""Robots with flexible links and joints: reference chains, published frequencies, limits and conservation laws."""

import warnings
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from flexible_reference import CASES, TIPS, constant, power, robot_of
from scipy.integrate import solve_ivp

import elastogen
from elastogen.generator.beam_integrals import Beam, Mode, beam_body
from elastogen.generator.derivation import derive_model
from elastogen.generator.finite_elements import element_modes
from elastogen.generator.robot import (
    Actuation,
    Body,
    Joint,
    JointElasticity,
    JointType,
    Link,
    Robot,
)

ROD = 0.35325, 0.1688, 0.8  # mass per length [kg/m], EI [N m^2], length [m]
HUB = Body(0, (0, 0, 0), ((0, 0, 0), (0, 0, 0), (0, 0, 0.01)))


def beam(mass_per_length, EI, length, modes, **options):
    data = Beam(
        Fraction(repr(length)), constant(mass_per_length), {"y": constant(EI), "z": constant(EI)}, **options
    )
    return beam_body(data, modes)


def polynomials(count, direction="y"):
    return [Mode(f"{direction}{k}", direction, power(k + 2)) for k in range(count)]


def planar_arm(*links, gravity=(0, 0, 0), types=()):
    """A chain of links with axes along z; each link is a Link without a name."""
    named = [Link("base")] + [replace(link, name=f"link{k}") for k, link in enumerate(links, start=1)]
    joints = []
    for k in range(len(links)):
        kind = types[k] if types else JointType.REVOLUTE
        axis = (0, 0, 1) if kind is JointType.REVOLUTE else (1, 0, 0)
        joints.append(Joint(f"j{k + 1}", kind, named[k].name, named[k + 1].name, axis=axis))
    return Robot("arm", tuple(named), tuple(joints), gravity=gravity, tip=named[-1].name)


class Programs:
    """The functions of a robot, evaluated in plain Python."""

    def __init__(self, robot, *outputs):
        self.programs = {f.name: f.program for f in derive_model(robot, outputs or None).functions}

    def __call__(self, name, **arguments):
        results = tuple(self.programs[name].evaluate(arguments).values())
        return results[0] if len(results) == 1 else results


def frequencies(M, K, kept):
    """sqrt of the eigenvalues of M^-1 K on some coordinates [rad/s]."""
    block = np.ix_(kept, kept)
    return np.sqrt(np.abs(np.sort(np.linalg.eigvals(np.linalg.solve(M[block], K[block])).real)))


# ---- reference numbers


@pytest.mark.parametrize("tip", TIPS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_reference_chains(case, tip):
    robot = robot_of(case, TIPS[tip])
    evaluate = Programs(robot)
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
        np.testing.assert_allclose(
            evaluate("coriolis_matrix", q=q, qd=qd) @ qd, found["coriolis_vector"], atol=1e-12
        )
        # inverse dynamics: all rows, with stiffness
        forces = found["mass_matrix"] @ qdd + found["coriolis_vector"] + found["gravity_vector"]
        forces = forces + evaluate("stiffness_matrix") @ q
        np.testing.assert_allclose(
            evaluate("inverse_dynamics", q=q, qd=qd, qdd=qdd), forces, rtol=1e-11, atol=1e-11 * np.abs(forces).max()
        )
        np.testing.assert_allclose(evaluate("forward_dynamics", q=q, qd=qd, F=forces), qdd, rtol=1e-8, atol=1e-8)


def test_potential_energy_of_a_chain_has_gravity_and_stiffness_as_its_gradient():
    robot = robot_of(CASES[1])
    evaluate = Programs(robot, "potential_energy", "gravity_vector", "stiffness_matrix")
    q, h = np.array(CASES[1]["states"][0]["derivatives"][0]), 1e-3
    weights = {1: 3 / 4, 2: -3 / 20, 3: 1 / 60}  # central differences of order 6
    gradient = [
        sum(w * (evaluate("potential_energy", q=q + k * h * e) - evaluate("potential_energy", q=q - k * h * e))
            for k, w in weights.items()) / h
        for e in np.eye(len(q))
    ]  # fmt: skip
    expected = evaluate("gravity_vector", q=q) + evaluate("stiffness_matrix") @ q
    np.testing.assert_allclose(gradient, expected, rtol=1e-8, atol=1e-8)


# ---- published frequencies


@pytest.mark.parametrize(
    ("hub", "payload", "joint_free", "expected"),
    [
        (None, 0.0, False, [3.797658548, 23.79951987, 66.63934478]),
        (None, 0.1, False, [2.430759847, 18.72959228, 56.47491039]),
        (HUB, 0.1, True, [7.777672371, 21.05306834, 57.23146274]),
    ],
)
@pytest.mark.parametrize("shapes", ["polynomials", "elements"])
def test_frequencies_of_one_beam(hub, payload, joint_free, expected, shapes):
    modes = polynomials(8) if shapes == "polynomials" else element_modes(10, ["y"], Fraction("0.8"))
    link = Link("", hub or Body(), beam(*ROD, modes), Body(payload))
    evaluate = Programs(planar_arm(link), "mass_matrix", "stiffness_matrix")
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
    evaluate = Programs(robot, "mass_matrix", "stiffness_matrix")
    M, K = evaluate("mass_matrix", q=np.zeros(7)), evaluate("stiffness_matrix")
    np.testing.assert_allclose(frequencies(M, K, range(7))[1:4], [7.777672371, 21.05306834, 57.23146274], rtol=1e-6)
    np.testing.assert_allclose(frequencies(M, K, range(1, 7))[:3], [2.430759847, 18.72959228, 56.47491039], rtol=1e-8)


def test_constant_elastic_blocks_are_factorized_at_generation_time():
    """The outer link's block of M is constant: of its five pivots none is computed at run time."""
    link = Link("", Body(), beam(*ROD, polynomials(5)), Body(0.1))
    (function,) = derive_model(planar_arm(link, link), ["forward_dynamics"]).functions
    assert function.program.count.div == 2 + 5


def test_polynomial_modes_converge_from_above():
    errors = []
    for count in (2, 3, 4, 5, 6):
        evaluate = Programs(planar_arm(Link("", Body(), beam(*ROD, polynomials(count)))), "mass_matrix", "stiffness_matrix")
        M, K = evaluate("mass_matrix", q=np.zeros(1 + count)), evaluate("stiffness_matrix")
        errors.append(frequencies(M, K, list(range(1, 1 + count)))[1] / 23.79951987 - 1)
    assert all(error > -1e-9 for error in errors)
    assert all(later < earlier for earlier, later in pairwise(errors))
    assert errors[-1] < 2e-5 < 1e-2 < errors[0]


def de_luca_siciliano(modes_per_link):
    """The planar two-link arm of De Luca and Siciliano 1991."""
    rod = beam(0.2, 1.0, 0.5, polynomials(modes_per_link))
    inertia = ((0, 0, 0), (0, 0, 0), (0, 0, 0.1))
    first = Link("", Body(0, (0, 0, 0), inertia), rod, Body(1.0))  # hub of joint 2 on the tip of link 1
    payload = Body(0.1, (0, 0, 0), ((0, 0, 0), (0, 0, 0), (0, 0, 5e-4)))
    return planar_arm(first, Link("", Body(0, (0, 0, 0), inertia), rod, payload))


def test_arm_of_de_luca_and_siciliano():
    m = 7
    evaluate = Programs(de_luca_siciliano(m), "mass_matrix", "stiffness_matrix")
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


# ---- limits, identities and conservation


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
        Joint("j1", JointType.REVOLUTE, "base", "link1"),
        Joint("f1", JointType.FIXED, "link1", "load1"),
        Joint("j2", JointType.REVOLUTE, "link1", "link2", before=at_tip),
        Joint("f2", JointType.FIXED, "link2", "load2"),
    ]
    order = [links[0], links[1], links[3], links[2], links[4]]
    rigid = Robot("arm", tuple(order), tuple(joints), gravity=(0, -9.81, 0), tip="link2", tool=at_tip)
    return flexible, rigid


def test_links_without_modes_are_rigid():
    flexible, rigid = (Programs(robot) for robot in rigid_and_stiff())
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
    expected = Programs(rigid, "forward_dynamics")("forward_dynamics", q=[0.3, 0.4], qd=[0.0, 0.0], F=[1.0, 0.5])
    differences = []
    for EI in (1e6, 1e8):
        link = Link("", Body(), beam(0.7, EI, 0.6, polynomials(2)), Body(0.2))
        evaluate = Programs(planar_arm(link, link, gravity=(0, -9.81, 0)), "elastic_inverse_dynamics", "mass_matrix",
                            "gravity_vector", "stiffness_matrix")  # fmt: skip
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
    modes = [*polynomials(2, "y"), *polynomials(2, "z")]
    flexible = beam(mass_per_length, EI, length, modes, **options)
    inertia = ((0.02, 0.001, 0), (0.001, 0.03, 0.002), (0, 0.002, 0.04))
    body = Body(0.8, (0.1, 0.05, -0.02), inertia)
    turned = ((0, -1, 0, 0.1), (1, 0, 0, 0.0), (0, 0, 1, 0.2), (0, 0, 0, 1))
    links = (
        Link("base"),
        Link("a", body),
        Link("b", body, flexible, Body(0.1)),
        Link("c", body),
        Link("d", Body(), flexible, Body(0.2, (0.05, 0, 0), inertia)),
    )
    joints = (
        Joint("j1", JointType.REVOLUTE, "base", "a", axis=(0.6, 0, 0.8), before=turned,
              actuation=Actuation(1e-4, 50, 0.1), elasticity=JointElasticity(400.0, 0.0)),
        Joint("j2", JointType.REVOLUTE, "a", "b", axis=(0, 1, 0), before=turned),
        Joint("j3", JointType.PRISMATIC, "b", "c", axis=(0, 0.6, 0.8), before=turned),
        Joint("j4", JointType.REVOLUTE, "b", "d", axis=(0, 0, 1)),
    )  # fmt: skip
    return Robot("tree", links, joints, gravity=(0.5, 1.0, -9.0), tip="d")


@pytest.mark.parametrize("options", [{}, {"foreshortening": True}], ids=["modes", "foreshortening"])
def test_identities_of_a_flexible_tree(options):
    robot = spatial_arm(**options)
    evaluate = Programs(robot, "default", "elastic_inverse_dynamics", "jacobian_rate", "acceleration_energy_1")
    n = len(robot.coordinates)
    rng = np.random.default_rng(11)
    scale = np.where([c.elastic for c in robot.coordinates], 0.05, 1.0)
    q, qd, qdd = rng.normal(size=(3, n)) * scale
    M, C = evaluate("mass_matrix", q=q), evaluate("coriolis_matrix", q=q, qd=qd)
    np.testing.assert_allclose(M, M.T, atol=1e-14)
    h, weights = 1e-3, {1: 3 / 4, 2: -3 / 20, 3: 1 / 60}
    rate = sum(
        w * (evaluate("mass_matrix", q=q + k * h * qd) - evaluate("mass_matrix", q=q - k * h * qd)) / h
        for k, w in weights.items()
    )
    skew = rate - 2 * C
    np.testing.assert_allclose(skew, -skew.T, atol=1e-10 * np.abs(C).max() + 1e-10)
    np.testing.assert_allclose(evaluate("kinetic_energy", q=q, qd=qd), 0.5 * qd @ M @ qd, rtol=1e-12)
    np.testing.assert_allclose(
        evaluate("inertia_forces", q=q, qd=qd, qdd=qdd), M @ qdd + C @ qd, rtol=1e-11, atol=1e-11
    )
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
    ahead, behind = (evaluate("forward_kinematics", q=q + s * 1e-5 * qd)[-1] for s in (1, -1))
    np.testing.assert_allclose((ahead - behind)[:3, 3] / 2e-5, (J @ qd)[:3], rtol=1e-7, atol=1e-8)


def test_mass_matrix_is_positive_definite_in_a_thousand_states():
    robot = spatial_arm()
    evaluate = Programs(robot, "mass_matrix")
    rng = np.random.default_rng(5)
    scale = np.where([c.elastic for c in robot.coordinates], 0.1, 3.0)
    M = evaluate("mass_matrix", q=rng.normal(size=(1000, len(scale))) * scale)
    assert np.linalg.eigvalsh(M).min() > 0
    assert np.all(np.linalg.eigvalsh(M)[:, 0] > 1e-7 * np.linalg.eigvalsh(M)[:, -1])


@pytest.fixture(scope="module")
def swinging():
    """A compiled two-link arm with three modes per link, hanging in gravity."""
    link = Link("", Body(), beam(0.5, 2.0, 0.5, polynomials(3)), Body(0.1))
    return elastogen.build_model(planar_arm(link, link, gravity=(0, -9.81, 0)))


def test_free_swing_conserves_energy(swinging):
    n = swinging.nq
    start = np.zeros(2 * n)
    start[0], start[4] = 0.3, -0.5
    forward, zero = swinging.forward_dynamics, np.zeros(n)

    def rates(_, y):
        return np.concatenate([y[n:], forward(y[:n], y[n:], zero)])

    solution = solve_ivp(rates, (0, 10), start, method="DOP853", rtol=1e-11, atol=1e-12, t_eval=np.linspace(0, 10, 21))
    q, qd = solution.y[:n].T, solution.y[n:].T
    kinetic, potential = swinging.kinetic_energy(q, qd), swinging.potential_energy(q)
    assert kinetic.max() > 0.5
    np.testing.assert_allclose(kinetic + potential, potential[0], atol=1e-8 * kinetic.max())


def test_modes_and_linearization(swinging):
    n = swinging.nq
    hanging = np.zeros(n)
    hanging[0] = -np.pi / 2
    locked = swinging.modes(hanging, joints="locked")
    M, K = swinging.mass_matrix(hanging), swinging.stiffness_matrix()
    assert locked.coordinates == (1, 2, 3, 5, 6, 7)
    linear = swinging.linearize(hanging, np.zeros(n), np.zeros(n))
    free = swinging.modes(hanging, gravity=True)
    np.testing.assert_allclose(swinging.modes(hanging).frequencies[:2], 0, atol=1e-3)
    assert linear.B.shape == (2 * n, 2)
    assert linear.driven == (0, 4)
    np.testing.assert_allclose(linear.B[n:], np.linalg.inv(M)[:, [0, 4]], rtol=1e-9)
    poles = np.linalg.eigvals(linear.A)
    np.testing.assert_allclose(np.sort(np.abs(poles.imag))[::2], free.frequencies, rtol=1e-6)
    np.testing.assert_allclose(free.shapes.T @ M @ free.shapes, np.eye(n), atol=1e-9)
    block = np.ix_(locked.coordinates, locked.coordinates)
    np.testing.assert_allclose(
        K[block] @ locked.shapes, M[block] @ locked.shapes * locked.frequencies**2, atol=1e-8 * np.abs(K).max()
    )


def spin_up(foreshortening):
    """Tip deflection of Simo and Vu-Quoc's beam (1988) under a prescribed rotation, at given times."""
    length, mass_per_length, EI = 10.0, 1.2, 1.4e4
    count = 3
    rod = beam(mass_per_length, EI, length, polynomials(count), foreshortening=foreshortening)
    evaluate = derive_model(planar_arm(Link("", Body(), rod)), ["elastic_inverse_dynamics"]).functions[0].program
    tip = np.ones(count)  # (x/L)^k at x = L

    def psi(t):
        w = 2 * np.pi / 15
        if t >= 15:
            return 6 * t - 45, 6.0, 0.0
        return 0.4 * (t**2 / 2 + (np.cos(w * t) - 1) / w**2), 0.4 * (t - np.sin(w * t) / w), 0.4 * (1 - np.cos(w * t))

    def rates(t, y):
        angle, rate, acceleration = psi(t)
        q, qd = np.array([angle, *y[:count]]), np.array([rate, *y[count:]])
        answer = evaluate.evaluate({"q": q, "qd": qd, "qdd": np.array([acceleration, *np.zeros(count)])})
        return np.concatenate([y[count:], answer["acceleration"][1:]])

    times = np.arange(0.0, 9.01 if not foreshortening else 8.01, 0.2)
    solution = solve_ivp(rates, (0, times[-1]), np.zeros(2 * count), method="LSODA", rtol=1e-6, atol=1e-8, t_eval=times)
    return times, solution.y[:count].T @ tip


def test_spin_up_stays_bounded_with_foreshortening():
    times, lag = spin_up(True)
    assert -lag.min() == pytest.approx(0.574, abs=0.02)
    assert times[lag.argmin()] == pytest.approx(6.76, abs=0.3)


def test_spin_up_loses_its_stiffness_without_foreshortening():
    times, lag = spin_up(False)
    np.testing.assert_allclose(lag[[20, 30, 45]], [-0.35, -0.73, -7.4], rtol=0.05)
    assert times[45] == pytest.approx(9.0)


def test_a_flexible_joint_is_a_spring_between_drive_and_link():
    """One link on an elastic joint against the textbook equations I_m th'' = tau + k d, I (th + d)'' = -k d."""
    inertia, rotor, ratio, stiffness, damping = 0.4, 2e-4, 60.0, 120.0, 0.3
    link = Link("arm", Body(0, (0, 0, 0), ((0, 0, 0), (0, 0, 0), (0, 0, inertia))))
    joint = Joint("j", JointType.REVOLUTE, "base", "arm", actuation=Actuation(rotor, ratio),
                  elasticity=JointElasticity(stiffness, damping))  # fmt: skip
    robot = Robot("joint", (Link("base"), link), (joint,), tip="arm")
    assert robot.coordinate_names == ("j", "j.deflection")
    q, qd, F = np.array([0.3, -0.02]), np.array([1.0, 0.5]), np.array([2.0, 0.0])
    spring = stiffness * q[1] + damping * qd[1]
    drive = (F[0] + spring) / (rotor * ratio**2)
    expected = [drive, -spring / inertia - drive]
    np.testing.assert_allclose(Programs(robot)("forward_dynamics", q=q, qd=qd, F=F), expected, rtol=1e-12)


def test_a_simulation_that_spins_too_fast_says_so_once():
    link = Link("", Body(), beam(*ROD, polynomials(2)))
    model = elastogen.build_model(planar_arm(link))
    (critical,) = model.metadata.critical_rates
    assert critical.coordinates == (0,)
    assert critical.rate == pytest.approx(3.797658548, rel=1e-2)
    start = np.zeros(3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.simulate(start, np.array([1.0, 0.0, 0.0]), t=0.1)
    with pytest.warns(elastogen.ModelWarning, match=r"link1 turned at .* rad/s.*foreshortening"):
        model.simulate(start, np.array([2.5, 0.0, 0.0]), t=0.1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.simulate(start, np.array([2.5, 0.0, 0.0]), t=0.1)
