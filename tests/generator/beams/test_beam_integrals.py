"""Integrals and stiffness of beams against an independent quadrature; the reference chains."""

import math
from fractions import Fraction

import numpy as np
import pytest
from flexible_reference import CASES, beam_of, power, robot_of

from elastogen.generator.beams import piecewise
from elastogen.generator.beams.finite_elements import element_modes
from elastogen.generator.beams.integrals import Beam, Mode, beam_body, stiffness_matrix
from elastogen.generator.beams.piecewise import Curve, as_fraction

# --- integrals against quadrature over mass points ---

X, W = np.polynomial.legendre.leggauss(40)


def gauss(function, upper):
    return sum(w * function(upper * (x + 1) / 2) for x, w in zip(X, W, strict=True)) * upper / 2


def taper(x):
    return 0.4 - 0.2 * x + 0.3 * x**2


def mass_points():
    """Points and masses of a tapered beam of length 0.7: sections of four points that have the sections' inertias."""
    a, b = math.sqrt(2 * 1e-3), math.sqrt(2 * 3e-3)  # 2 (mu/4) a^2 = mu 1e-3
    for t, w in zip(X, W, strict=True):
        x, mass = 0.7 * (t + 1) / 2, w * 0.35
        for offset in ((a, 0), (-a, 0), (0, b), (0, -b)):
            yield np.array([x, *offset]), mass * taper(x) / 4


def tapered_beam(**options):
    length = Fraction("0.7")
    mass = Curve.polynomial(as_fraction(c) for c in (0.4, -0.2 * 0.7, 0.3 * 0.49))
    stiff = Curve.polynomial((as_fraction(3.0), as_fraction(-1.0)))
    return Beam(
        length,
        mass,
        dict.fromkeys(("y", "z", "torsion", "extension"), stiff),
        inertia_y=mass.scaled(as_fraction(3e-3)),
        inertia_z=mass.scaled(as_fraction(1e-3)),
        **options,
    )


MODES = [
    Mode("a", "y", power(2)),
    Mode("b", "z", Curve.polynomial((0, 0, 3, -1))),
    Mode("c", "y", power(3)),
    Mode("d", "torsion", power(1)),
    Mode("e", "extension", Curve.polynomial((0, 2, -1))),
]
SHAPES = {  # phi, dphi/dx, in x
    "a": (lambda x: (x / 0.7) ** 2, lambda x: 2 * x / 0.49),
    "b": (lambda x: 3 * (x / 0.7) ** 2 - (x / 0.7) ** 3, lambda x: (6 * x / 0.7 - 3 * (x / 0.7) ** 2) / 0.7),
    "c": (lambda x: (x / 0.7) ** 3, lambda x: 3 * x**2 / 0.343),
    "d": (lambda x: x / 0.7, lambda x: 1 / 0.7),
    "e": (lambda x: 2 * x / 0.7 - (x / 0.7) ** 2, lambda x: (2 - 2 * x / 0.7) / 0.7),
}


def plain_fields(rotary):
    """The fields b_n(r), written from their definitions."""
    turn = 1.0 if rotary else 0.0

    def bend_y(name):
        phi, slope = SHAPES[name]
        return lambda r: np.array([-turn * r[1] * slope(r[0]), phi(r[0]), 0])

    def shortened(j, k, half):
        product = lambda x: SHAPES[j][1](x) * SHAPES[k][1](x)  # noqa: E731
        return lambda r: np.array([-gauss(product, r[0]) * (0.5 if half else 1), 0, 0])

    phi_b, slope_b = SHAPES["b"]
    return [
        bend_y("a"),
        lambda r: np.array([-turn * r[2] * slope_b(r[0]), 0, phi_b(r[0])]),
        bend_y("c"),
        lambda r: SHAPES["d"][0](r[0]) * np.cross([1, 0, 0], r),
        lambda r: np.array([SHAPES["e"][0](r[0]), 0, 0]),
        shortened("a", "a", True),
        shortened("a", "c", False),
        shortened("b", "b", True),
        shortened("c", "c", True),
    ]


@pytest.mark.parametrize("rotary", [False, True])
def test_integrals_equal_sums_over_mass_points(rotary):
    body = beam_body(tapered_beam(rotary_inertia=rotary, foreshortening=True), MODES)
    assert body.monomials == ((0,), (1,), (2,), (3,), (4,), (0, 0), (0, 2), (1, 1), (2, 2))
    points = list(mass_points())
    fields = plain_fields(rotary)
    values = np.array([[f(r) for f in fields] for r, _ in points])  # points x fields x 3
    r, m = np.array([r for r, _ in points]), np.array([m for _, m in points])
    near = {"rtol": 1e-12, "atol": 1e-15}
    np.testing.assert_allclose(float(body.mass), m.sum(), **near)
    np.testing.assert_allclose(np.array(body.first_moments, float), m @ r, **near)
    np.testing.assert_allclose(np.array(body.second_moments, float), np.einsum("p,pi,pj", m, r, r), **near)
    np.testing.assert_allclose(np.array(body.field_integrals, float), np.einsum("p,pni->ni", m, values), **near)
    np.testing.assert_allclose(np.array(body.field_position_integrals, float), np.einsum("p,pni,pj->nij", m, values, r), **near)
    np.testing.assert_allclose(
        np.array(body.field_field_integrals, float), np.einsum("p,pni,pmj->nmij", m, values, values), **near
    )
    tip = np.array([0.7, 0, 0])
    np.testing.assert_allclose(np.array(body.tip_displacements, float), [f(tip) for f in fields], **near)


def test_tip_rotations_are_half_the_curl_of_the_fields():
    body = beam_body(tapered_beam(rotary_inertia=True), MODES)
    expected = [(0, 0, 2 / 0.7), (0, -3 / 0.7, 0), (0, 0, 3 / 0.7), (1, 0, 0), (0, 0, 0)]
    np.testing.assert_allclose(np.array(body.tip_rotations, float), expected, rtol=1e-14)
    assert np.array(body.tip_pose, float)[:3, 3].tolist() == [0.7, 0, 0]


def test_stiffness_equals_quadrature():
    body = beam_body(tapered_beam(), MODES)
    strain = {
        "a": lambda x: 2 / 0.49,
        "b": lambda x: (6 - 6 * x / 0.7) / 0.49,
        "c": lambda x: 6 * x / 0.343,
        "d": SHAPES["d"][1],
        "e": SHAPES["e"][1],
    }
    for i, one in enumerate(MODES):
        for j, other in enumerate(MODES):
            expected = 0.0
            if one.direction == other.direction:
                expected = gauss(lambda x: (3 - x / 0.7) * strain[one.name](x) * strain[other.name](x), 0.7)  # noqa: B023
            assert float(body.stiffness[i][j]) == pytest.approx(expected, rel=1e-13, abs=1e-15)


# --- the reference chains ---


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_stiffness_of_the_reference_chains(case):
    robot = robot_of(case)
    for link, entry in zip(robot.links[1:], case["chain"], strict=True):
        given = entry["link"].get("stiffness")
        assert (given is None) == (link.flexible is None)
        if given is not None:
            np.testing.assert_allclose(np.array(link.flexible.stiffness, float), given, rtol=1e-12)


def test_second_order_fields_leave_the_first_order_data_alone():
    link = CASES[0]["chain"][0]["link"]
    plain, more = (beam_body(*beam_of(link, foreshortening=on)) for on in (False, True))
    assert more.field_integrals[:2] == plain.field_integrals
    assert more.stiffness == plain.stiffness
    assert more.monomials == ((0,), (1,), (0, 0), (0, 1), (1, 1))
    # (x/L)^2: -1/2 int (2x/L^2)^2 dx = -2/(3 L) at the tip
    assert float(more.tip_displacements[2][0]) == pytest.approx(-2 / 3 / link["length"], rel=1e-14)


# --- equal elements ---


def test_two_hundred_elements_have_the_matrices_of_the_textbook():
    """Euler-Bernoulli elements assembled by hand; their integrals are computed for one element and placed 200 times."""
    count, length = 200, Fraction(2)
    mass, stiff = (Curve.polynomial((as_fraction(c),)) for c in (0.8, 3.5))
    beam = Beam(length, mass, {"y": stiff})
    before = piecewise._exact_integral.cache_info().misses
    computed = stiffness_matrix(beam, element_modes(count, ("y",), length))
    assert piecewise._exact_integral.cache_info().misses - before <= 16
    moved = beam_body(beam, element_modes(count, ("y",), length)).field_field_integrals
    h = 2 / count
    M_e = np.array([[156, 22 * h, 54, -13 * h], [22 * h, 4 * h**2, 13 * h, -3 * h**2],
                    [54, 13 * h, 156, -22 * h], [-13 * h, -3 * h**2, -22 * h, 4 * h**2]]) * 0.8 * h / 420  # fmt: skip
    K_e = np.array([[12, 6 * h, -12, 6 * h], [6 * h, 4 * h**2, -6 * h, 2 * h**2],
                    [-12, -6 * h, 12, -6 * h], [6 * h, 2 * h**2, -6 * h, 4 * h**2]]) * 3.5 / h**3  # fmt: skip
    M, K = (np.zeros((2 * count + 2, 2 * count + 2)) for _ in range(2))
    for node in range(count):
        at = slice(2 * node, 2 * node + 4)
        M[at, at] += M_e
        K[at, at] += K_e
    np.testing.assert_allclose(np.array(computed, float), K[2:, 2:], rtol=1e-12, atol=1e-12 * K_e.max())
    own = np.array([[float(block[1][1]) for block in row] for row in moved])
    np.testing.assert_allclose(own, M[2:, 2:], rtol=1e-12, atol=1e-15 * M_e.max())
