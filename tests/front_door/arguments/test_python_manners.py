"""What people expect of a Python package."""

from __future__ import annotations

import numpy as np

import elastogen


def test_a_linearization_unpacks(bender: elastogen.Model) -> None:
    zero = np.zeros(bender.nq)
    linear = bender.linearize(zero, zero, 0.0 * zero)
    A, B = linear
    assert A is linear.A
    assert B is linear.B
    assert len(repr(linear)) < 120


def test_dir_shows_public_names_only() -> None:
    names = set(dir(elastogen))
    assert {"load", "build_model", "Model", "__version__"} <= names
    assert not names & {"import_module", "TYPE_CHECKING", "Any", "annotations", "_HOME"}
