"""Shapes along beams: eigenfunctions, expressions, tables, parameters."""

from itertools import pairwise

import numpy as np
import pytest
import sympy
from flexible_reference import constant
from reference_beam import EI, FREE, LENGTH, RHO, eigenmodes, link_a, powers

from elastogen.generator.beams import shapes as beam_shapes
from elastogen.generator.beams.integrals import Beam, Mode, beam_body
from elastogen.generator.beams.natural_frequencies import mass_matrix, natural_frequencies, numeric
from elastogen.generator.beams.piecewise import Curve, as_fraction
from elastogen.generator.robot.location import Location
from elastogen.generator.robot.robot import Body

HERE = Location("test")


# --- eigenfunctions and other modes ---


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


def test_twist_and_stretch():
    beam = Beam(
        as_fraction(2.0),
        constant(3),
        {"torsion": constant(5), "extension": constant(7)},
        inertia_y=constant(0.1),
        inertia_z=constant(0.3),
    )
    shape = beam_shapes.from_expression(sympy.sin(sympy.pi * beam_shapes.S / 2), HERE)
    body = beam_body(beam, [Mode("t", "torsion", shape), Mode("e", "extension", shape)])
    expected = np.pi / 4 * np.sqrt([5 / 0.4, 7 / 3])  # pi/(2 L) sqrt(GJ/j), pi/(2 L) sqrt(EA/mu)
    np.testing.assert_allclose(natural_frequencies(body), np.sort(expected), rtol=1e-12)


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
            as_fraction(LENGTH),
            Curve.polynomial((as_fraction(RHO), -as_fraction(RHO) / 3)),
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
