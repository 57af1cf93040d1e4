"""000 (90)-(94): inertia matrices of flexible links, against quadrature of the shapes on paper."""

from __future__ import annotations

import numpy as np
import pytest
from robots_for_tests import quietly_loaded
from scipy.integrate import quad

import elastogen
from elastogen.generator.functions.derivation import derive_model

L, MU = 0.5, 0.2  # of both beams of flexible_two_link, whose shapes are (x/L)^2, (x/L)^3, (x/L)^4 along y


def skew(v: np.ndarray) -> np.ndarray:
    return np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])


def integral(a: int, b: int) -> np.ndarray:
    """int {a x} {b x}^T dm; 0 is the place r, j > 0 the shape (x/L)^(j + 1)."""

    def along(x: float, field: int) -> np.ndarray:
        return np.array([x, 0, 0]) if field == 0 else np.array([0, (x / L) ** (field + 1), 0])

    def entry(r: int, c: int) -> float:
        return quad(lambda x: MU * (skew(along(x, a)) @ skew(along(x, b)).T)[r, c], 0, L, epsabs=1e-15)[0]

    return np.array([[entry(r, c) for c in range(3)] for r in range(3)])


def test_two_equal_links_on_paper() -> None:
    (function,) = derive_model(quietly_loaded("flexible_two_link"), ["link_inertia_matrices"]).functions
    found = function.evaluate({}, {})
    assert found["I_r"].shape == (2, 3, 3)
    assert found["I_dd"].shape == (6, 6, 3, 3)
    for link in range(2):
        np.testing.assert_allclose(found["I_r"][link], integral(0, 0), atol=1e-14)
        for j in range(3):
            np.testing.assert_allclose(found["I_rd"][3 * link + j], integral(0, j + 1), atol=1e-14)
            for k in range(3):
                np.testing.assert_allclose(found["I_dd"][3 * link + j, 3 * link + k], integral(j + 1, k + 1), atol=1e-14)
                assert not found["I_dd"][3 * link + j, 3 * (1 - link) + k].any()


def test_they_are_for_beams_that_do_not_slide_through_joints() -> None:
    for name in ("puma560", "rpb_table3"):
        with pytest.raises(elastogen.OutputError, match="only for robots with flexible links"):
            derive_model(quietly_loaded(name), ["link_inertia_matrices"])
