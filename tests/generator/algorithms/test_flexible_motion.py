"""Motions of flexible robots: conservation of energy, spin-up, modes and linearization, elastic joints."""

import warnings

import numpy as np
import pytest
from flexible_arms import ROD, beam, planar_arm
from reference_beam import FREE, powers
from robots_for_tests import Programs
from scipy.integrate import solve_ivp

import elastogen
from elastogen.generator.functions.derivation import derive_model
from elastogen.generator.joints import kinds
from elastogen.generator.robot.robot import Actuation, Body, Joint, JointElasticity, Link, Robot


@pytest.fixture(scope="module")
def swinging():
    """A compiled two-link arm with three modes per link, hanging in gravity."""
    link = Link("", Body(), beam(0.5, 2.0, 0.5, powers(3)), Body(0.1))
    return elastogen.build_model(planar_arm(link, link, gravity=(0, -9.81, 0)))


def test_free_swing_conserves_energy(swinging):
    n = swinging.nq
    start = np.zeros(2 * n)
    start[0], start[4] = 0.3, -0.5
    forward, zero = swinging.forward_dynamics, np.zeros(n)

    def rates(_, y):
        return np.concatenate([y[n:], forward(y[:n], y[n:], zero)])

    solution = solve_ivp(rates, (0, 3), start, method="DOP853", rtol=1e-11, atol=1e-12, t_eval=np.linspace(0, 3, 21))
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
    rod = beam(mass_per_length, EI, length, powers(count), foreshortening=foreshortening)
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
    joint = Joint("j", kinds.REVOLUTE, "base", "arm", actuation=Actuation(rotor, ratio),
                  elasticity=JointElasticity(stiffness, damping))  # fmt: skip
    robot = Robot("joint", (Link("base"), link), (joint,), tip="arm")
    assert robot.coordinate_names == ("j", "j.deflection")
    q, qd, F = np.array([0.3, -0.02]), np.array([1.0, 0.5]), np.array([2.0, 0.0])
    spring = stiffness * q[1] + damping * qd[1]
    drive = (F[0] + spring) / (rotor * ratio**2)
    expected = [drive, -spring / inertia - drive]
    np.testing.assert_allclose(Programs(robot, ["forward_dynamics"])("forward_dynamics", q=q, qd=qd, F=F), expected, rtol=1e-12)


def test_a_simulation_that_spins_too_fast_says_so_once():
    link = Link("", Body(), beam(*ROD, powers(2)))
    model = elastogen.build_model(planar_arm(link))
    (critical,) = model.metadata.critical_rates
    assert critical.coordinates == (0,)
    assert critical.rate == pytest.approx(FREE[0], rel=1e-2)
    start = np.zeros(3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.simulate(start, np.array([1.0, 0.0, 0.0]), t=0.1)
    with pytest.warns(elastogen.ModelWarning, match=r"link1 turned at .* rad/s.*foreshortening"):
        model.simulate(start, np.array([2.5, 0.0, 0.0]), t=0.1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.simulate(start, np.array([2.5, 0.0, 0.0]), t=0.1)


def test_a_simulation_with_large_slopes_says_so_once():
    """The slope at the tip of x^2 and x^3 with amplitudes a, b per length: (2 a + 3 b) / L, steepest there for a, b > 0."""
    link = Link("", Body(), beam(*ROD, powers(2)))
    model = elastogen.build_model(planar_arm(link))
    (slopes,) = model.metadata.slopes
    tip = dict(slopes.places[0])
    small, large = (np.array([0.0, angle / tip[1][2], 0.0]) for angle in (0.29, 0.6))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        s = model.simulate(small, t=1e-3)
    assert s.flexible_links == ("link1",)
    np.testing.assert_allclose(s.largest_slopes, [0.29], rtol=1e-3)
    with pytest.warns(
        elastogen.ModelWarning,
        match=r"link1 bent by 0\.6 rad.*linear: small up to 0\.3 rad\. Expect.* about 14 % too large\. Fix",
    ):
        s = model.simulate(np.stack([small, large]), t=1e-3)
    np.testing.assert_allclose(s.largest_slopes, [[0.29], [0.6]], rtol=1e-3)
    assert "largest slopes of flexible links [rad]: link1 0.6" in s.report()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.simulate(large, t=1e-3)
