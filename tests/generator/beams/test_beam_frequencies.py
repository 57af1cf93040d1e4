"""Frequencies of beams: published ones, convergence, elements, modal reduction, what a link carries."""

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from flexible_reference import CASES, constant, robot_of
from reference_beam import EI, FREE, LENGTH, LOADED, RHO, TIP, eigenmodes, link_a, powers

from elastogen.generator.beams.finite_elements import element_modes, mesh_errors, reduced_modes
from elastogen.generator.beams.integrals import Beam, beam_body
from elastogen.generator.beams.natural_frequencies import (
    carried_body,
    clamped_modes,
    critical_rates,
    mass_matrix,
    natural_frequencies,
)
from elastogen.generator.beams.piecewise import as_fraction
from elastogen.generator.robot.robot import Body

# --- frequencies ---


def test_eigenfunctions_reproduce_the_clamped_frequencies():
    np.testing.assert_allclose(natural_frequencies(beam_body(link_a(), eigenmodes(5))), FREE, rtol=1e-9)
    ratio = TIP / (RHO * LENGTH)
    loaded = beam_body(link_a(), eigenmodes(5, ratio))
    np.testing.assert_allclose(natural_frequencies(loaded, Body(TIP)), LOADED, rtol=1e-9)


def test_polynomials_converge_to_the_clamped_frequencies_from_above():
    for expected, load in ((FREE, Body()), (LOADED, Body(TIP))):
        bodies = [beam_body(link_a(), powers(count)) for count in (2, 4, 6, 8)]
        errors = [natural_frequencies(body, load)[:2] / expected[:2] - 1 for body in bodies]
        assert all((fine < coarse).all() for coarse, fine in pairwise(errors))
        assert (np.array(errors) > -1e-9).all()
        assert max(errors[-1]) < 1e-7


def test_hermite_elements_converge_with_order_four():
    worst = []
    for elements in (3, 5, 10, 20):
        body = beam_body(link_a(), element_modes(elements, ["y"], Fraction("0.8")))
        assert body.coordinates[-2:] == (f"y{elements}", f"y{elements}_slope")
        worst.append(np.max(natural_frequencies(body)[:3] / FREE[:3] - 1))
    np.testing.assert_allclose(worst, [1.25e-2, 3.6e-3, 2.6e-4, 1.6e-5], rtol=0.03)
    assert math.log2(worst[2] / worst[3]) == pytest.approx(4, abs=0.05)


def test_ten_elements_with_a_tip_mass():
    body = beam_body(link_a(), element_modes(10, ["y"], Fraction("0.8")))
    np.testing.assert_allclose(natural_frequencies(body, Body(TIP))[:2], LOADED[:2], rtol=1e-4)


def test_element_matrices_are_those_of_the_paper():
    """Paper 003 (13), (27): one element, its right node free."""
    body = beam_body(link_a(), element_modes(1, ["y"], Fraction("0.8")))
    le, m = LENGTH, RHO * LENGTH / 420
    np.testing.assert_allclose(
        np.array(mass_matrix(body, Body()), float), m * np.array([[156, -22 * le], [-22 * le, 4 * le**2]]), rtol=1e-14
    )
    np.testing.assert_allclose(
        np.array(body.stiffness, float), EI / le**3 * np.array([[12, -6 * le], [-6 * le, 4 * le**2]]), rtol=1e-14
    )
    assert body.tip_displacements == ((0, 1, 0), (0, 0, 0))
    assert body.tip_rotations == ((0, 0, 0), (0, 0, 1))


@pytest.mark.parametrize("direction", ["y", "z"])
@pytest.mark.parametrize("elements", [1, 4])
def test_static_deflection_of_a_cantilever(direction, elements):
    body = beam_body(link_a(), element_modes(elements, [direction], Fraction("0.8")))
    axis = {"y": 1, "z": 2}[direction]
    force = np.array(body.tip_displacements, float)[:, axis]
    x = np.linalg.solve(np.array(body.stiffness, float), force)
    assert force @ x == pytest.approx(LENGTH**3 / (3 * EI), rel=1e-10)
    turn = np.array(body.tip_rotations, float).T @ x
    expected = np.zeros(3)
    expected[3 - axis] = LENGTH**2 / (2 * EI) * (1 if direction == "y" else -1)  # about z, about -y
    np.testing.assert_allclose(turn, expected, rtol=1e-10)


def test_de_luca_and_siciliano():
    """The planar two-link arm of 1991: link 2 with its payload, link 1 with what it carries at 90 degrees."""
    beam = Beam(as_fraction(0.5), constant(0.2), {"y": constant(1)})
    body = beam_body(beam, element_modes(20, ["y"], as_fraction(0.5)))
    payload = Body(0.1, (0, 0, 0), ((0, 0, 0), (0, 0, 0), (0, 0, 5e-4)))
    hertz = natural_frequencies(body, payload)[:2] / (2 * np.pi)
    np.testing.assert_allclose(hertz, [2.178333566, 15.91451297], rtol=1e-6)
    load = Body(1.2, (0, 0, 0), ((0, 0, 0), (0, 0, 0), (0, 0, 0.1338333)))
    hertz = natural_frequencies(body, load)[:2] / (2 * np.pi)
    np.testing.assert_allclose(hertz, [0.4796930351, 1.796589143], rtol=1e-6)


def test_rotary_inertia_lowers_the_frequencies():
    section = {"inertia_y": constant(RHO * 1e-4), "inertia_z": constant(RHO * 1e-4)}
    plain, rotary = (
        natural_frequencies(beam_body(link_a(rotary_inertia=on, **section), powers(6)))[:3] for on in (False, True)
    )
    z = (FREE[:3] ** 2 * RHO * LENGTH**4 / EI) ** 0.25
    sigma = z * (np.sinh(z) - np.sin(z)) / (np.cosh(z) + np.cos(z))
    slopes = sigma * (sigma + 2) / LENGTH**2  # int phi'^2 dx / int phi^2 dx of the eigenfunctions: Rayleigh's quotient
    np.testing.assert_allclose(plain / rotary, np.sqrt(1 + 1e-4 * slopes), rtol=1e-5)


def test_clamped_modes_are_normalized_and_need_a_mass_matrix():
    rng = np.random.default_rng(3)
    a, b = rng.normal(size=(2, 5, 5))
    mass, stiffness = a @ a.T + np.eye(5), b @ b.T + np.eye(5)
    frequencies, shapes = clamped_modes(mass, stiffness)
    np.testing.assert_allclose(shapes.T @ mass @ shapes, np.eye(5), atol=1e-12)
    np.testing.assert_allclose(shapes.T @ stiffness @ shapes, np.diag(frequencies**2), atol=1e-11)
    with pytest.raises(np.linalg.LinAlgError):
        clamped_modes(np.ones((2, 2)), np.eye(2))


# --- modal reduction ---


def test_reduction_keeps_the_lowest_frequencies_and_tells_the_error_of_the_mesh():
    beam, tip = link_a(), Body(TIP)
    link = (beam, 10, ["y"], 3, tip, {})
    body = beam_body(beam, reduced_modes(*link))
    assert body.coordinates == ("y1", "y2", "y3")
    full = natural_frequencies(beam_body(beam, element_modes(10, ["y"], Fraction("0.8"))), tip)[:3]
    np.testing.assert_allclose(natural_frequencies(body, tip), full, rtol=1e-10)
    np.testing.assert_allclose(np.array(body.tip_displacements, float)[:, 1], 1, rtol=1e-12)
    np.testing.assert_allclose(mesh_errors(*link), full / LOADED[:3] - 1, rtol=0.1)


def test_reduction_in_space_takes_the_lowest_of_all_directions():
    beam = Beam(
        as_fraction(0.8),
        constant(RHO),
        {"y": constant(EI), "z": constant(16 * EI), "torsion": constant(0.02)},
        inertia_y=constant(1e-5),
        inertia_z=constant(3e-5),
        rotary_inertia=True,
    )
    tip = Body(0.05, (0, 0, 0), ((1e-4, 0, 0), (0, 2e-4, 0), (0, 0, 3e-4)))
    modes = reduced_modes(beam, 12, ["y", "z", "torsion"], 4, tip, {})
    body = beam_body(beam, modes)
    full = beam_body(beam, element_modes(12, ["y", "z", "torsion"], as_fraction(0.8)))
    np.testing.assert_allclose(natural_frequencies(body, tip), natural_frequencies(full, tip)[:4], rtol=1e-9)
    assert {mode.direction for mode in modes} == {"y", "z", "torsion"}


# --- what a link carries ---


def test_the_critical_rate_counts_everything_that_the_tip_carries():
    robot = robot_of(CASES[0])
    rates = critical_rates(robot)
    alone = natural_frequencies(robot.links[1].flexible, robot.links[1].tip_body)[0]
    assert set(rates) == {"link1", "link2"}
    assert rates["link1"] < 0.8 * alone
    assert rates["link2"] == pytest.approx(natural_frequencies(robot.links[2].flexible, robot.links[2].tip_body)[0])
    load = carried_body(robot, robot.links[1])
    second = CASES[0]["chain"][1]["link"]
    first_tip = CASES[0]["chain"][0]["link"]["tip_mass"]
    assert load.mass == pytest.approx(second["mass_per_length"] * second["length"] + second["tip_mass"] + first_tip)
    assert critical_rates(robot_of(CASES[0], foreshortening=True)) == {}
