"""Interfaces on flat faces: whole where they are a frame's own, round it where they reach to another one."""

import numpy as np
import pytest
from test_solids import HERE, box

from elastogen.generator.solids.interfaces import FACE, Wanted, held
from elastogen.generator.solids.materials import MATERIALS
from elastogen.generator.solids.solid import Solid, quadratic_elements

PLATE = (0.02, 0.4, 0.3)
FLANGE, BACK = np.array([0.02, 0.0, 0.0]), np.zeros((1, 3))


def elements_of(solid):
    return quadratic_elements(solid, MATERIALS["aluminium"])


def nodes_at(place, elements, others=BACK, axis=None):
    clamped = held(Wanted("tip", np.array(place), axis, None, False, HERE), elements, np.array(others))
    return clamped.nodes.tolist(), clamped.how


@pytest.mark.parametrize("axis", [None, np.array([1.0, 0, 0])])
def test_a_flange_is_held_to_its_corners(axis):
    """They are farther from the frame than a quarter of the solid's diagonal."""
    plate = elements_of(box(1, 8, 6, size=PLATE))
    face = np.flatnonzero(plate.nodes[:, 0] > 0.0199)
    assert np.linalg.norm(plate.nodes[face] - FLANGE, axis=1).max() > FACE * np.linalg.norm(PLATE)
    nodes, how = nodes_at(FLANGE, plate, axis=axis)
    assert nodes == face.tolist()
    assert "reaches" not in how


def test_a_face_that_reaches_to_another_place_is_held_in_part():
    bar = elements_of(box(20, 4, 2, size=(0.4, 0.06, 0.02)))
    nodes, how = nodes_at([0.34, 0, 0.01], bar)
    x, y, z = bar.nodes[nodes].T
    assert np.abs(z - 0.01).max() < 1e-12
    assert x.min() > 0.2
    assert np.ptp(y) == pytest.approx(0.06)
    assert how.startswith("flat face that its frame lies in, as far as 0.101 m: it reaches to another place")


def test_another_face_in_the_same_plane_is_not_held():
    """Two feet of a portal, farther apart than a quarter of its diagonal."""
    whole = box(4, 12, 2, size=(0.1, 0.6, 0.04))
    middles = whole.corners[whole.tetrahedra].mean(axis=1)
    used, kept = np.unique(whole.tetrahedra[(middles[:, 0] < 0.05) | (np.abs(middles[:, 1]) > 0.2)], return_inverse=True)
    portal = elements_of(Solid.of(whole.corners[used], kept.reshape(-1, 4)))
    nodes, _ = nodes_at([0.1, 0.25, 0], portal)
    assert nodes == np.flatnonzero((portal.nodes[:, 0] > 0.0999) & (portal.nodes[:, 1] > 0)).tolist()
