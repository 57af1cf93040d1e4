"""Matrices of single finite elements (paper 003 (12), (17), (22)): the printed blocks, and their sums."""

import numpy as np
import pytest
from plain_programs import PlainPrograms

import elastogen
from elastogen.generator.functions.derivation import derive_model
from elastogen.generator.robot.errors import OutputError

BEAM = {"joint": "R", "length": 0.8, "mass_per_length": 0.35, "EI": 0.17, "elements": 2}
OTHER = {"joint": "R", "length": 0.6, "mass_per_length": 0.25, "EI": 0.11, "elements": 3}
NAMES = ("element_mass_matrices", "element_stiffness_matrices", "element_shapes", "mass_matrix", "stiffness_matrix")


def printed(mu, EI, h):
    """(13) and (27)."""
    m = mu * h / 420 * np.array([[156, 22 * h, 54, -13 * h], [22 * h, 4 * h * h, 13 * h, -3 * h * h],
                                 [54, 13 * h, 156, -22 * h], [-13 * h, -3 * h * h, -22 * h, 4 * h * h]])  # fmt: skip
    k = EI / h**3 * np.array([[12, 6 * h, -12, 6 * h], [6 * h, 4 * h * h, -6 * h, 2 * h * h],
                              [-12, -6 * h, 12, -6 * h], [6 * h, 2 * h * h, -6 * h, 4 * h * h]])  # fmt: skip
    return m, k


def test_elements_sum_to_the_robot():
    robot = elastogen.load({"elastogen": 1, "name": "two", "planar": {"links": [BEAM, OTHER]}})
    found = {function.name: function for function in derive_model(robot, NAMES).functions}
    q = np.random.default_rng(91).uniform(-0.2, 0.2, len(robot.coordinates))
    M = found["element_mass_matrices"].evaluate({"q": q})["M"]
    K = found["element_stiffness_matrices"].evaluate({})["K"]
    S = found["element_shapes"].evaluate({})["S"]
    assert M.shape == K.shape == (5, 12, 12)
    np.testing.assert_allclose(M.sum(axis=0), found["mass_matrix"].evaluate({"q": q})["M"], rtol=0, atol=1e-13)
    np.testing.assert_allclose(K.sum(axis=0), found["stiffness_matrix"].evaluate({})["K"], rtol=0, atol=1e-12)
    places = [(0, 1, BEAM), (1, 1, BEAM), (0, 6, OTHER), (1, 6, OTHER), (2, 6, OTHER)]
    for e, (j, first, link) in enumerate(places):
        h = link["length"] / link["elements"]
        m, k = printed(link["mass_per_length"], link["EI"], h)
        start, skip = (first + 2 * (j - 1), 0) if j else (first, 2)  # the first node is clamped
        own = slice(start, start + 4 - skip)
        np.testing.assert_allclose(M[e][own, own], m[skip:, skip:], rtol=1e-12)
        np.testing.assert_allclose(K[e][own, own], k[skip:, skip:], rtol=1e-12)
        t = 0.3
        hermite = np.array([1 - 3 * t**2 + 2 * t**3, h * (t - 2 * t**2 + t**3), 3 * t**2 - 2 * t**3, h * (t**3 - t**2)])
        expected = np.zeros(12)
        expected[own] = hermite[skip:]
        np.testing.assert_allclose(S[e] @ t ** np.arange(4), expected, rtol=0, atol=1e-14)


def test_what_has_no_elements_is_refused():
    with pytest.raises(OutputError, match="slide: nodal has them"):
        derive_model(elastogen.load("rpb_table3"), ["element_mass_matrices"])


def test_a_link_that_slides_from_node_to_node():
    """With the boundary conditions as printed: rows and columns of the element inside vanish, all others are (13), (27)."""
    beam = {"joint": "Pb", "gamma": 0.3, "length": 0.9, "mass_per_length": 0.25, "EI": 0.11, "elements": 3, "slide": "nodal"}
    robot = elastogen.load({"elastogen": 1, "name": "rear", "planar": {"links": [beam]}})
    programs = PlainPrograms(robot)
    q = np.zeros(9)
    q[0], q[1:3], q[7:9] = 0.5, 0.1, -0.2  # element 2 is inside
    M, K, S = (programs(name, q=q) for name in NAMES[:3])
    clamped = [3, 4, 5, 6]
    m, k = printed(0.25, 0.11, 0.3)
    for e in range(3):
        own = slice(1 + 2 * e, 5 + 2 * e)
        free = [j - own.start for j in range(own.start, own.stop) if j not in clamped]
        full = np.zeros((4, 4))
        full[np.ix_(free, free)] = m[np.ix_(free, free)]
        np.testing.assert_allclose(M[e][own, own], full, rtol=1e-12, atol=1e-16)
        full[np.ix_(free, free)] = k[np.ix_(free, free)]
        np.testing.assert_allclose(K[e][own, own], full, rtol=1e-12, atol=1e-14)
        assert not np.delete(S[e], range(own.start, own.stop), axis=0).any()
    whole = M.sum(axis=0)
    whole[clamped, clamped] += 1  # what the solver needs
    np.testing.assert_allclose(whole, programs("mass_matrix", q=q), rtol=0, atol=1e-15)
    np.testing.assert_allclose(K.sum(axis=0), programs("stiffness_matrix", q=q), rtol=0, atol=1e-12)
