"""Why a mass matrix cannot be factorized: missing inertia is told from lost accuracy."""

import numpy as np
import pytest

from elastogen.runtime.functions.singular import condition, why_singular

NAMES = ("base", "shoulder", "elbow")
DIRECTION = np.array([1.0, 2.0, 0.5])


def test_missing_inertia_names_its_coordinate() -> None:
    assert "a link without inertia: M[1][1] = 0, what shoulder moves" in why_singular(np.diag([1.0, 0.0, 2.0]), NAMES)
    assert "a negative inertia: M[2][2] = -2, what elbow moves" in why_singular(np.diag([1.0, 3.0, -2.0]), NAMES)


def test_motion_without_inertia_is_told() -> None:
    """A point mass that three parallel joints move: two directions are free of inertia, up to rounding errors."""
    M = np.array([[4.0, 2.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    text = why_singular(M, NAMES)
    assert text.startswith("a link without inertia, or shapes that are nearly the same: the pivot of base is 0 of its M[0][0]")
    assert "base with shoulder is a motion without inertia" in text or "shoulder with base is a motion" in text
    M[0, 0] = 3.9
    text = why_singular(M, NAMES)
    assert text.startswith("a link without inertia, or with a negative one: the pivot of base is -0.026 of its M[0][0]")
    assert condition(M) == np.inf


@pytest.mark.parametrize("real", [np.float32, np.float64])
def test_lost_accuracy_is_told(real: type) -> None:
    """Definite beyond rounding errors, but with a condition that is large for the precision; its scale does not count."""
    small = 100 * float(np.finfo(real).eps)
    V, _ = np.linalg.qr(np.vander(DIRECTION))
    M = (V * [1.0, 1.5, small]) @ V.T
    scaled = M * np.outer([1e3, 1.0, 1e-3], [1e3, 1.0, 1e-3])
    text = why_singular(scaled.astype(real), NAMES)
    assert text.startswith("lost accuracy, no inertia is missing: the pivot of base")
    assert "precision 'double', fewer elements or reduced modes" in text
    assert condition(scaled) == pytest.approx(condition(M), rel=0.1)
    assert condition(scaled) > 0.1 / small


def test_not_finite_is_told() -> None:
    assert "NaN or infinity" in why_singular(np.diag([1.0, np.nan, 2.0]), NAMES)
    assert condition(np.diag([1.0, np.nan, 2.0])) == np.inf
