"""Coordinates of pseudo-inertias: every body that can exist, once."""

from __future__ import annotations

import numpy as np

from elastogen.identification.equations.pseudo_inertia import LogCholesky, guess, of_body, to_body, to_matrix, to_parameters


def test_coordinates_take_every_body_once():
    rng = np.random.default_rng(2)
    for _ in range(20):
        A = rng.normal(size=(3, 3))
        S = A @ A.T
        pi = of_body(rng.uniform(0.1, 5), rng.normal(size=3), np.trace(S) * np.eye(3) - S)
        np.testing.assert_allclose(to_parameters(to_matrix(pi)), pi, rtol=1e-12, atol=1e-12)
        mass, com, inertia = to_body(pi)
        np.testing.assert_allclose(of_body(mass, com, inertia), pi, rtol=1e-9, atol=1e-9)
        of, theta = LogCholesky(guess(pi, 1.0)), 0.3 * rng.normal(size=10)
        assert np.linalg.eigvalsh(to_matrix(of.parameters(theta)))[0] > 0
        for k in range(10):
            h = 1e-6 * np.eye(10)[k]
            slope = (of.parameters(theta + h) - of.parameters(theta - h)) / 2e-6
            np.testing.assert_allclose(of.slopes(theta)[:, k], slope, rtol=1e-6, atol=1e-8)
