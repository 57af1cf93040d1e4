"""Finite elements against the exact frequencies of beams: clamped or on a hub, with and without a mass at the tip.

Exact shapes y are sums of sin, sinh, cos, cosh of beta x with EI beta^4 = rho w^2. To leading order, cubic Hermite elements of
length h make w^2 too high by h^4/720 int EI y''''^2 dx over int EI y''^2 dx, relatively: (beta h)^4/720 times the part of the
kinetic energy that is in the beam.
"""

from functools import cache

import numpy as np
import pytest
from reference_beam import EI, FREE, LENGTH, LOADED, RHO, TIP
from scipy.integrate import quad
from scipy.optimize import brentq

import elastogen
from elastogen.generator.beams.natural_frequencies import clamped_modes
from elastogen.generator.functions.derivation import derive_model

COUNT = 3  # frequencies
CASES = {  # hub inertia (None: clamped), mass at the tip, frequencies published for this beam [rad/s]
    "clamped": (None, 0.0, FREE[:3]),
    "clamped, tip mass": (None, TIP, LOADED[:3]),
    "light hub": (1e-2, 0.0, (9.195911256, 25.69314063, 67.28853517)),
    "heavy hub, tip mass": (1.0, TIP, (2.573944493, 18.75125278, 56.48224969)),
}


class ExactBeam:
    """Frequencies and shapes of the differential equation."""

    def __init__(self, hub, tip):
        self.hub, self.tip = hub, tip

    def basis(self, beta, x, derivative):
        """The two functions that satisfy the conditions at the hub, EI y'' = -hub w^2 y', or at the clamp."""
        signs = [(1, 1), (1, -1), (-1, -1), (-1, 1)]  # of sin and cos when differentiated 0, 1, 2, 3 times
        s, c = np.sin(beta * x), np.cos(beta * x)
        sine = signs[derivative][0] * (c if derivative % 2 else s)
        cosine = signs[derivative][1] * (s if derivative % 2 else c)
        sinh = np.cosh(beta * x) if derivative % 2 else np.sinh(beta * x)
        cosh = np.sinh(beta * x) if derivative % 2 else np.cosh(beta * x)
        if self.hub is None:
            return beta**derivative * np.array([sinh - sine, cosh - cosine])
        bent = self.hub * beta**3 / (2 * RHO) * (cosh - cosine)
        return beta**derivative * np.array([sine - bent, sinh - bent])

    def conditions(self, beta):
        """y'' = 0 and EI y''' = -m w^2 y at the tip, for the two functions."""
        loaded = self.basis(beta, LENGTH, 3) + self.tip / RHO * beta**4 * self.basis(beta, LENGTH, 0)
        return np.array([self.basis(beta, LENGTH, 2), loaded])

    def modes(self):
        """beta and the part of the kinetic energy in the beam, of the lowest modes."""

        def determinant(beta):
            return np.linalg.det(self.conditions(beta)) / np.cosh(beta * LENGTH) ** 2

        grid = np.linspace(0.5, 15, 600) / LENGTH
        values = [determinant(beta) for beta in grid]
        found = []
        for low, high, a, b in zip(grid, grid[1:], values, values[1:], strict=False):
            if a * b < 0:
                beta = brentq(determinant, low, high, xtol=1e-14)
                found.append((beta, self.beam_part(beta)))
        return found[:COUNT]

    def beam_part(self, beta):
        c = self.conditions(beta)[0]
        weights = np.array([c[1], -c[0]]) / np.abs(c).max()
        beam = RHO * quad(lambda x: (weights @ self.basis(beta, x, 0)) ** 2, 0, LENGTH, epsrel=1e-10)[0]
        tip = self.tip * (weights @ self.basis(beta, LENGTH, 0)) ** 2
        hub = 0.0 if self.hub is None else self.hub * (weights @ self.basis(beta, 0.0, 1)) ** 2
        return beam / (beam + tip + hub)

    def frequencies(self):
        return np.array([np.sqrt(EI / RHO) * beta**2 for beta, _ in self.modes()])


@cache
def by_elements(hub, tip, elements):
    """The lowest frequencies of a link on a revolute joint; clamped: with the joint held."""
    link = {"joint": "R", "length": LENGTH, "mass_per_length": RHO, "EI": EI, "elements": elements, "inertia": hub or 1}
    robot = elastogen.load({"elastogen": 1, "name": "beam", "planar": {"links": [link], "payload": {"mass": tip}}})
    q = np.zeros(len(robot.coordinates))
    matrices = []
    for function in derive_model(robot, ("mass_matrix", "stiffness_matrix")).functions:
        (matrix,) = function.evaluate({"q": q}).values()
        matrices.append(matrix[1:, 1:] if hub is None else matrix)
    frequencies = clamped_modes(*matrices)[0]
    return frequencies[0 if hub is None else 1 :][:COUNT]  # on a free hub the first is the rotation as a rigid body


@pytest.mark.parametrize("case", CASES)
def test_published_frequencies_are_exact(case):
    hub, tip, published = CASES[case]
    np.testing.assert_allclose(ExactBeam(hub, tip).frequencies(), published, rtol=1e-9)


@pytest.mark.parametrize("case", CASES)
def test_ten_elements(case):
    """Two frequencies to 1e-4. The third cannot be: its error is that of the theory, as are those of the others."""
    hub, tip, published = CASES[case]
    errors = by_elements(hub, tip, 10) / published - 1
    assert (np.abs(errors[:2]) < 1e-4).all()
    assert 1e-4 < errors[2] < 3e-4
    theory = [(beta * LENGTH / 10) ** 4 / 1440 * part for beta, part in ExactBeam(hub, tip).modes()]  # of w, not w^2
    np.testing.assert_allclose(errors, theory, rtol=0.05, atol=1e-9)


@pytest.mark.parametrize("case", CASES)
def test_thirteen_elements(case):
    hub, tip, published = CASES[case]
    np.testing.assert_allclose(by_elements(hub, tip, 13), published, rtol=1e-4)


@pytest.mark.parametrize("case", CASES)
def test_order_four(case):
    """Twice as many elements, a sixteenth of the error."""
    hub, tip, _ = CASES[case]
    exact = ExactBeam(hub, tip).frequencies()
    coarse, fine = (by_elements(hub, tip, elements) / exact - 1 for elements in (5, 10))
    assert (fine > 0).all()
    np.testing.assert_allclose(np.log2(coarse / fine), 4, atol=0.2)
