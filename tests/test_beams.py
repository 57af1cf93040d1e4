"""Beams: integrals against an independent quadrature, stiffness, published frequencies, elements, reduction."""

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
import sympy
from flexible_reference import CASES, beam_of, constant, power, robot_of

from elastogen.generator import beam_shapes
from elastogen.generator.beam_integrals import Beam, Mode, beam_body
from elastogen.generator.finite_elements import element_modes, mesh_errors, reduced_modes
from elastogen.generator.location import Location
from elastogen.generator.natural_frequencies import (
    carried_body,
    clamped_modes,
    critical_rates,
    mass_matrix,
    natural_frequencies,
    numeric,
)
from elastogen.generator.piecewise import Curve, exact
from elastogen.generator.robot import Body

HERE = Location("test")
EI, RHO, LENGTH, TIP = 0.1688, 0.35325, 0.8, 0.1  # link A of the reference: seed 003's R P_b link
FREE = np.array([3.797658548, 23.79951987, 66.63934478, 130.5865191, 215.8688729])  # rad/s
LOADED = np.array([2.430759847, 18.72959228, 56.47491039, 115.2547527, 195.2938083])  # with 0.1 kg at the tip


def link_a(**options):
    bending = constant(EI)
    return Beam(Fraction("0.8"), constant(RHO), {"y": bending, "z": bending}, **options)


def eigenmodes(count, ratio=0.0):
    return [Mode(f"y{n}", "y", beam_shapes.eigenfunction(n, ratio)) for n in range(1, count + 1)]


def powers(count, direction="y"):
    return [Mode(f"{direction}{n - 1}", direction, power(n)) for n in range(2, count + 2)]


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
    mass = Curve.polynomial(exact(c) for c in (0.4, -0.2 * 0.7, 0.3 * 0.49))
    stiff = Curve.polynomial((exact(3.0), exact(-1.0)))
    return Beam(
        length,
        mass,
        dict.fromkeys(("y", "z", "torsion", "extension"), stiff),
        inertia_y=mass.scaled(exact(3e-3)),
        inertia_z=mass.scaled(exact(1e-3)),
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
    np.testing.assert_allclose(
        np.array(body.field_position_integrals, float), np.einsum("p,pni,pj->nij", m, values, r), **near
    )
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


# --- frequencies ---


def test_eigenfunctions_reproduce_the_clamped_frequencies():
    np.testing.assert_allclose(natural_frequencies(beam_body(link_a(), eigenmodes(5))), FREE, rtol=1e-9)
    ratio = TIP / (RHO * LENGTH)
    loaded = beam_body(link_a(), eigenmodes(5, ratio))
    np.testing.assert_allclose(natural_frequencies(loaded, Body(TIP)), LOADED, rtol=1e-9)


def test_eigenfunctions_are_orthogonal_and_one_at_the_tip():
    body = beam_body(link_a(), eigenmodes(5))
    mass, stiffness = np.array(mass_matrix(body, Body()), float), np.array(body.stiffness, float)
    np.testing.assert_allclose(mass, np.eye(5) * RHO * LENGTH / 4, atol=0, rtol=1e-13)
    assert np.count_nonzero(stiffness) == 5  # exact zeros: no operations for them
    np.testing.assert_allclose(np.array(body.tip_displacements, float)[:, 1], 1, rtol=1e-13)


@pytest.mark.parametrize("number", [1, 2, 5, 20])
@pytest.mark.parametrize("ratio", [0.0, 0.35, 1e3])
def test_eigenfunctions_satisfy_their_boundary_conditions(number, ratio):
    phi = beam_shapes.eigenfunction(number, ratio)
    z = float(beam_shapes.eigenvalue(number, ratio))
    first, second = phi.derivative(), phi.derivative().derivative()
    third = second.derivative()
    assert phi.start == first.start == 0
    assert float(second.end) == pytest.approx(0, abs=1e-10 * z**2)
    assert float(third.end) == pytest.approx(-(z**4) * ratio * float(phi.end), rel=1e-8, abs=1e-9 * z**3)
    values = [phi.value(i / 500) for i in range(501)]
    assert max(map(abs, values)) < 1001
    if ratio == 1e3 and number > 1:
        assert abs(values[-1]) < 1e-3  # the mass hardly moves
    else:
        assert values[-1] == pytest.approx(1, rel=1e-13)
    if ratio < 1:
        assert sum(a * b < 0 for a, b in pairwise(values)) == number - 1  # nodes


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


def test_element_matrices_are_those_of_the_seed():
    """Seed 003 (13), (27): one element, its right node free."""
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


def test_twist_and_stretch():
    beam = Beam(
        exact(2.0),
        constant(3),
        {"torsion": constant(5), "extension": constant(7)},
        inertia_y=constant(0.1),
        inertia_z=constant(0.3),
    )
    shape = beam_shapes.from_expression(sympy.sin(sympy.pi * beam_shapes.S / 2), HERE)
    body = beam_body(beam, [Mode("t", "torsion", shape), Mode("e", "extension", shape)])
    expected = np.pi / 4 * np.sqrt([5 / 0.4, 7 / 3])  # pi/(2 L) sqrt(GJ/j), pi/(2 L) sqrt(EA/mu)
    np.testing.assert_allclose(natural_frequencies(body), np.sort(expected), rtol=1e-12)


def test_de_luca_and_siciliano():
    """The planar two-link arm of 1991: link 2 with its payload, link 1 with what it carries at 90 degrees."""
    beam = Beam(exact(0.5), constant(0.2), {"y": constant(1)})
    body = beam_body(beam, element_modes(20, ["y"], exact(0.5)))
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
    assert (rotary < plain).all()
    assert (rotary > 0.95 * plain).all()


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
        exact(0.8),
        constant(RHO),
        {"y": constant(EI), "z": constant(16 * EI), "torsion": constant(0.02)},
        inertia_y=constant(1e-5),
        inertia_z=constant(3e-5),
        rotary_inertia=True,
    )
    tip = Body(0.05, (0, 0, 0), ((1e-4, 0, 0), (0, 2e-4, 0), (0, 0, 3e-4)))
    modes = reduced_modes(beam, 12, ["y", "z", "torsion"], 4, tip, {})
    body = beam_body(beam, modes)
    full = beam_body(beam, element_modes(12, ["y", "z", "torsion"], exact(0.8)))
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


# --- curves ---


def test_smooth_expressions_are_exact_to_rounding():
    s = beam_shapes.S
    for expression in (1 - sympy.cos(sympy.pi * s / 2), 1 / (2 + s) ** 3, sympy.sqrt(1 + s), sympy.sin(20 * s)):
        curve = beam_shapes.from_expression(expression, HERE)
        for value in np.linspace(0, 1, 11):
            assert curve.value(value) == pytest.approx(float(expression.subs(s, value)), rel=1e-14, abs=1e-15)


def test_tables_reproduce_cubics_and_the_spline_fits_smooth_shapes():
    places = [0, 0.2, 0.5, 0.7, 1]
    cubic, slope = np.polynomial.Polynomial([0, 0, 3, -1]), np.polynomial.Polynomial([0, 6, -3])
    curve = beam_shapes.from_table(places, cubic(np.array(places)), slope(np.array(places)), clamped_slope=True)
    fine = np.linspace(0, 1, 41)
    np.testing.assert_allclose([curve.value(v) for v in fine], cubic(fine), atol=1e-15)
    phi = beam_shapes.eigenfunction(2)
    spline = beam_shapes.from_table(fine, [phi.value(v) for v in fine], None, clamped_slope=True)
    body = beam_body(link_a(), [Mode("y1", "y", spline)])
    assert natural_frequencies(body)[0] == pytest.approx(FREE[1], rel=1e-4)


def test_parameters_stay_symbols_and_give_the_numbers():
    ei, rho, length = sympy.symbols("ei rho length", real=True)
    values = {ei: EI, rho: RHO, length: LENGTH}
    beam = Beam(length, Curve.polynomial((rho, -rho / 3)), {"y": Curve.polynomial((ei,))}, foreshortening=True)
    modes = [*powers(2), Mode("y3", "y", beam_shapes.eigenfunction(1))]
    symbolic = beam_body(beam, modes)
    plain = beam_body(
        Beam(
            exact(LENGTH),
            Curve.polynomial((exact(RHO), -exact(RHO) / 3)),
            {"y": constant(EI)},
            foreshortening=True,
        ),
        modes,
    )

    def number(matrix):
        return [[float(sympy.sympify(entry).subs(values)) for entry in row] for row in matrix]

    assert symbolic.mass == 5 * rho * length / 6
    assert symbolic.stiffness[0][0] == 4 * ei / length**3
    np.testing.assert_allclose(number(symbolic.stiffness), numeric(plain.stiffness, {}), rtol=1e-12)
    np.testing.assert_allclose(number(symbolic.field_integrals), numeric(plain.field_integrals, {}), rtol=1e-12)
    np.testing.assert_allclose(number(symbolic.tip_displacements), numeric(plain.tip_displacements, {}), rtol=1e-12)
    for n in range(len(symbolic.monomials)):
        for m in range(len(symbolic.monomials)):
            np.testing.assert_allclose(
                number(symbolic.field_field_integrals[n][m]),
                numeric(plain.field_field_integrals[n][m], {}),
                rtol=1e-12,
            )
