"""Functions along a beam by Legendre's polynomials on every element, against Gauss quadrature of the same functions."""

from fractions import Fraction

import numpy as np
import pytest
from numpy.polynomial import legendre

from elastogen.generator.beams.finite_elements import element_modes, unit_matrices
from elastogen.generator.program.graph import Graph
from elastogen.generator.sliding.element_polynomials import ElementPolynomials

NODES, WEIGHTS = legendre.leggauss(10)


class Beam:
    """Functions with numbers as coefficients, evaluated at eta."""

    def __init__(self, elements, seed=0):
        self.n, self.graph, self.rng = elements, Graph(), np.random.default_rng(seed)
        self.space = ElementPolynomials(self.graph, elements)
        self.shapes = [mode.shape for mode in element_modes(elements, ("y",), Fraction(1))]

    def values(self, numbers):
        return [self.graph.value(float(x)) for x in numbers]

    def polynomial(self, degree):
        return [self.values(self.rng.normal(size=degree + 1)) for _ in range(self.n)]

    def cubic(self):
        return self.space.interpolated(self.values(self.rng.normal(size=2 * self.n)))

    def at(self, f, eta, derivative=0):
        e = min(int(eta * self.n), self.n - 1)
        weights = [weight.constant for weight in f[e]] or [0.0]
        series = legendre.Legendre(weights, domain=[e / self.n, (e + 1) / self.n])
        return series.deriv(derivative)(eta) if derivative else series(eta)

    def integral(self, function, end=1.0):
        total = 0.0
        for e in range(self.n):
            a, b = e / self.n, min((e + 1) / self.n, end)
            if b > a:
                places = a + 0.5 * (b - a) * (1 + NODES)
                total += 0.5 * (b - a) * sum(w * function(s) for w, s in zip(WEIGHTS, places, strict=True))
        return total


@pytest.fixture(params=[1, 2, 5])
def beam(request):
    return Beam(request.param)


PLACES = (0.07, 0.33, 0.58, 0.91)


def test_interpolation_and_projection(beam):
    c = beam.rng.normal(size=2 * beam.n)
    f = beam.space.interpolated(beam.values(c))
    for eta in PLACES:
        expected = sum(x * shape.value(eta) for x, shape in zip(c, beam.shapes, strict=True))
        assert beam.at(f, eta) == pytest.approx(expected, abs=1e-13)
    for force in (beam.polynomial(5), beam.polynomial(0), [[beam.graph.value(2)]] * beam.n):
        expected = [beam.integral(lambda s, n=n, f=force: beam.at(f, s) * n.value(s)) for n in beam.shapes]
        np.testing.assert_allclose([x.constant for x in beam.space.projected(force)], expected, rtol=0, atol=1e-13)


def test_integrals(beam):
    f, g = beam.polynomial(5), beam.polynomial(3)
    assert beam.space.inner(f, g).constant == pytest.approx(beam.integral(lambda s: beam.at(f, s) * beam.at(g, s)), abs=1e-13)
    assert beam.space.mean(f).constant == pytest.approx(beam.integral(lambda s: beam.at(f, s)), abs=1e-13)
    assert beam.space.moment(f).constant == pytest.approx(beam.integral(lambda s: s * beam.at(f, s)), abs=1e-13)
    line = beam.space.line(*beam.values([0.3, 2.0]))
    assert beam.at(line, 0.77) == pytest.approx(0.3 + 2 * 0.77)
    mass, bending = unit_matrices(beam.n)
    w = beam.rng.normal(size=2 * beam.n)
    function = beam.space.interpolated(beam.values(w))
    squares = beam.integral(lambda s: beam.at(function, s) ** 2), beam.integral(lambda s: beam.at(function, s, 2) ** 2)
    for matrix, expected in zip((mass, bending), squares, strict=True):
        total = sum(w[i] * number * w[j] for i, row in enumerate(matrix) for j, number in row)
        assert total == pytest.approx(expected, rel=1e-11)


def test_ahead(beam):
    f = beam.polynomial(5)
    result = beam.space.ahead(f)
    for eta in PLACES:
        assert beam.at(result, eta) == pytest.approx((1 - eta) * beam.at(f, eta, 1), abs=1e-11)


def test_products_of_slopes(beam):
    f, g = beam.cubic(), beam.cubic()
    products = beam.space.slope_products(f, g)
    for eta in PLACES:
        expected = beam.integral(lambda s: beam.at(f, s, 1) * beam.at(g, s, 1), eta)
        assert beam.at(products, eta) == pytest.approx(expected, abs=1e-11)
    for degree in (0, 3, 5):
        force = beam.polynomial(degree)
        left = beam.space.inner(force, products).constant
        assert beam.space.inner(beam.space.by_slope_products(f, force), g).constant == pytest.approx(left, rel=1e-11)
