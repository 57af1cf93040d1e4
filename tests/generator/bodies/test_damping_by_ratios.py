"""Damping by the ratios of the lowest modes: against an assembly and eigenvectors of SciPy, and at little cost."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy.linalg import eigh

import elastogen
from elastogen.describe import describe
from elastogen.generator.functions.derivation import derive_model

LENGTH, DENSITY, EI, TIP = 0.8, 0.4, 2.0, 0.15
FUNCTIONS = ("inverse_dynamics", "friction_forces", "damping_matrix")


def beam(elements, damping, **more):
    return {"type": "elements", "length": LENGTH, "mass_per_length": DENSITY, "EI": EI, "elements": elements,
            "tip": {"mass": TIP}, "damping": damping, **more}  # fmt: skip


def arm(flexible, **more):
    joint = {"name": "j", "type": "revolute", "axis": [0, 0, 1]}
    return elastogen.load(
        {
            "elastogen": 1,
            "name": "arm",
            "links": [{"name": "base"}, {"name": "b", "flexible": flexible}],
            "joints": [joint],
            **more,
        }
    )


def evaluator(robot, names=FUNCTIONS):
    found = {function.name: function for function in derive_model(robot, names).functions}

    def value(name, parameters=None, **state):
        (result,) = found[name].evaluate({a.name: state[a.name] for a in found[name].inputs}, parameters).values()
        return result

    return value


def assembled(elements):
    """M and K of a clamped Euler-Bernoulli beam with a mass on its tip, from the element matrices of any textbook."""
    size, a = 2 * elements + 2, LENGTH / elements
    M, K = np.zeros((2, size, size))
    mass = [[156, 22 * a, 54, -13 * a], [22 * a, 4 * a**2, 13 * a, -3 * a**2],
            [54, 13 * a, 156, -22 * a], [-13 * a, -3 * a**2, -22 * a, 4 * a**2]]  # fmt: skip
    stiffness = [[12, 6 * a, -12, 6 * a], [6 * a, 4 * a**2, -6 * a, 2 * a**2],
                 [-12, -6 * a, 12, -6 * a], [6 * a, 2 * a**2, -6 * a, 4 * a**2]]  # fmt: skip
    for k in range(elements):
        own = slice(2 * k, 2 * k + 4)
        M[own, own] += DENSITY * a / 420 * np.array(mass)
        K[own, own] += EI / a**3 * np.array(stiffness)
    M[-2, -2] += TIP
    return M[2:, 2:], K[2:, 2:]


@pytest.mark.parametrize("ratios", [[0.02], [0.01, 0.02], [0.001, 0.05, 0.02], [0.02, 0.0]], ids=str)
def test_modes_have_their_ratios_and_those_above_grow_with_frequency(ratios):
    """By the definition D = M X diag(2 zeta w) X^T M; the third has a mode with less than internal friction gives it."""
    value = evaluator(arm(beam(5, {"ratios": ratios})))
    M, K = assembled(5)
    squares, X = eigh(K, M)
    w, k = np.sqrt(squares), len(ratios)
    zeta = np.array([*ratios, *(ratios[-1] * w[k:] / w[k - 1])])
    expected = M @ X @ np.diag(2 * zeta * w) @ X.T @ M
    D = value("damping_matrix")
    assert not D[0].any()
    assert np.array_equal(D, D.T)
    scale = np.sqrt(np.outer(np.diag(expected), np.diag(expected)))
    assert np.abs((D[1:, 1:] - expected) / scale).max() < 1e-10
    A = np.block([[0 * M, np.eye(10)], [-np.linalg.solve(M, K), -np.linalg.solve(M, D[1:, 1:])]])
    roots = np.linalg.eigvals(A)
    roots = sorted(roots[roots.imag > 0], key=abs)
    vibrating = zeta[zeta < 1]
    np.testing.assert_allclose([-root.real / abs(root) for root in roots[:4]], vibrating[:4], rtol=1e-8, atol=1e-10)
    for qd in np.random.default_rng(7).normal(size=(4, 11)):
        zero = np.zeros(11)
        forces = value("friction_forces", q=zero, qd=qd)
        size = np.abs(forces).max()
        np.testing.assert_allclose(forces, D @ qd, rtol=0, atol=1e-14 * size)
        odd = value("inverse_dynamics", q=zero, qd=qd, qdd=zero) - value("inverse_dynamics", q=zero, qd=-qd, qdd=zero)
        np.testing.assert_allclose(odd, 2 * forces, rtol=0, atol=1e-13 * size)
        assert qd @ forces > 0  # taken from the motion


@cache
def operations(ratios):
    planar = {"joint": "R", "length": LENGTH, "mass_per_length": DENSITY, "EI": EI, "elements": 20}
    damping = {"damping": {"ratios": list(ratios)}} if ratios else {}
    robot = elastogen.load({"elastogen": 1, "name": "lengthy", "planar": {"links": [{**planar, **damping}] * 2}})
    return derive_model(robot, ("inverse_dynamics",)).functions[0].program.count


def test_two_ratios_cost_a_fifth_more_than_no_damping():
    """Per coordinate: one operation for K (q + beta qd), two for the mode. Fewer: a step forward, write it here."""
    free, damped = operations(()), operations((0.01, 0.02))
    assert (damped.mul - free.mul, damped.add - free.add) == (240, 238)
    assert damped.mul <= 1.3 * free.mul
    assert damped.add <= 1.3 * free.add


def test_the_cheaper_form_is_kept():
    """Internal friction where it takes fewer operations; entries where modes are few or all have their ratios."""
    body = arm(beam(5, {"ratios": [0.01, 0.02]})).links[1].flexible
    assert (len(body.damping_parts.modal), body.damping_parts.modal[0][0]) == (1, 1)
    above = arm(beam(5, {"ratios": [0.001, 0.05]})).links[1].flexible
    assert above.damping_parts.modal[0][0] == -1  # less than internal friction
    assert arm(beam(1, {"ratios": [0.01, 0.02]})).links[1].flexible.damping_parts is None
    assert arm(beam(5, {"ratio": 0.01})).links[1].flexible.damping_parts is None


def test_equal_frequencies_in_two_directions():
    """A tube: the lowest modes in y and in z have one frequency; each keeps to its own coordinates."""
    robot = arm(beam(3, {"ratios": [0.01, 0.01, 0.03, 0.03]}, directions=["y", "z"]))
    D = np.array(robot.links[1].flexible.damping, float)
    names = robot.links[1].flexible.coordinates
    across = {d: [k for k, name in enumerate(names) if d in name] for d in "yz"}
    assert len(across["y"]) == len(across["z"]) == 6
    np.testing.assert_allclose(
        np.abs(D[np.ix_(across["y"], across["y"])]), np.abs(D[np.ix_(across["z"], across["z"])]), rtol=1e-9
    )
    assert not D[np.ix_(across["y"], across["z"])].any()
    assert [np.count_nonzero(vector) for _, vector in robot.links[1].flexible.damping_parts.modal] == [6, 6]


def test_ratios_are_those_of_the_nominal_parameters():
    """D stays as it is when a live stiffness changes, and when a fixed one is given another value later."""
    flexible = beam(5, {"ratios": [0.01, 0.02]}, EI="stiffness")
    robot = arm(flexible, parameters={"stiffness": EI})
    value, live = evaluator(robot), evaluator(arm(flexible, parameters={"stiffness": EI}, live=["stiffness"]))
    D, qd = value("damping_matrix"), np.random.default_rng(8).normal(size=11)
    state = {"q": np.zeros(11), "qd": qd, "qdd": np.zeros(11)}
    softer = replace(robot, parameters={"stiffness": replace(robot.parameters["stiffness"], value=0.5)})
    later = evaluator(softer)
    forces = value("friction_forces", **state)
    for other in (
        later("friction_forces", **state),
        live("friction_forces", {"stiffness": EI}, **state),
        live("friction_forces", {"stiffness": 0.5}, **state),
    ):
        np.testing.assert_allclose(other, D @ qd, rtol=0, atol=1e-14 * np.abs(forces).max())
    soft = later("inverse_dynamics", **state)
    np.testing.assert_allclose(
        live("inverse_dynamics", {"stiffness": 0.5}, **state), soft, rtol=0, atol=1e-13 * np.abs(soft).max()
    )


@pytest.mark.parametrize("slide", ["smooth", "nodal"])
def test_telescopic_links_at_every_length(slide):
    """The lowest modes of the part outside (nodal: of what is left on both sides), without a load."""
    link = {"joint": "Pb", "gamma": 0, "length": LENGTH, "mass_per_length": DENSITY, "EI": EI, "elements": 4,
            "slide": slide, "damping": {"ratios": [0.01, 0.03]}}  # fmt: skip
    hub = {"joint": "R", "length": 0.2, "rigid": True, "mass": 1.0, "inertia": 0.05}
    robot = elastogen.load({"elastogen": 1, "name": "drawn", "planar": {"links": [hub, link]}})
    value = evaluator(robot, ("friction_forces", "damping_matrix", "mass_matrix", "stiffness_matrix"))
    for d in (0.25, 0.7):
        q, qd = np.zeros(len(robot.coordinates)), np.random.default_rng(9).normal(size=len(robot.coordinates))
        q[1] = d
        D, M, K = (value(f"{name}_matrix", q=q) for name in ("damping", "mass", "stiffness"))
        forces = value("friction_forces", q=q, qd=qd)
        np.testing.assert_allclose(forces, D @ qd, rtol=0, atol=1e-14 * np.abs(forces).max())
        free = np.diag(K) > 0
        assert not D[~free].any()
        M, K, D = (matrix[np.ix_(free, free)] for matrix in (M, K, D))
        squares, X = eigh(K, M)
        w = np.sqrt(squares)
        expected = np.array([0.01, *(0.03 * w[1:] / w[1])])
        np.testing.assert_allclose(X.T @ D @ X / np.sqrt(np.outer(2 * w, 2 * w)), np.diag(expected), rtol=0, atol=1e-9)


@pytest.mark.filterwarnings("ignore::elastogen.RobotWarning")  # upper modes of a mesh are not those of the beam
def test_every_mode_has_the_ratio_at_little_cost_where_modes_are_the_coordinates():
    elements, ratio = 8, 0.02
    value = evaluator(arm(beam(elements, {"ratio": ratio}, reduce_to=2 * elements)))
    D = value("damping_matrix")[1:, 1:]
    assert np.count_nonzero(D) == np.count_nonzero(np.diag(D)) == 2 * elements
    stiffness = evaluator(arm(beam(elements, {"ratio": ratio}, reduce_to=2 * elements)), ("stiffness_matrix", "mass_matrix"))
    K, M = stiffness("stiffness_matrix")[1:, 1:], stiffness("mass_matrix", q=np.zeros(1 + 2 * elements))[1:, 1:]
    first_order = np.block([[np.zeros_like(M), np.eye(len(M))], [-np.linalg.solve(M, K), -np.linalg.solve(M, D)]])
    poles = np.linalg.eigvals(first_order)
    assembly_mass, assembly_stiffness = assembled(elements)
    w = np.sqrt(eigh(assembly_stiffness, assembly_mass, eigvals_only=True))
    found = poles[poles.imag > 0]
    np.testing.assert_allclose(np.sort(np.abs(found)), w, rtol=1e-8)
    np.testing.assert_allclose(-found.real / np.abs(found), ratio, rtol=1e-6)

    def operations(**more):  # without a mass on the tip, with which alone the modes are orthogonal
        (function,) = derive_model(arm(beam(20, **more, tip={})), ("inverse_dynamics",)).functions
        return function.program.count.total

    assert operations(damping={"ratio": ratio}, reduce_to=40) <= 1.3 * operations(damping={"ratio": 0.0})


def test_check_says_how_a_link_is_damped():
    def text(damping):
        return describe(arm(beam(8, damping)))

    assert "internal friction, ratios 0.000" in text({"ratios": [0.01, 0.02]})
    assert "1 of its modes otherwise" in text({"ratios": [0.01, 0.02]})
    assert "otherwise" not in text({"ratios": [0.01]})
    assert "damping matrix is full: 256 multiplications" in text({"ratio": 0.01})
    assert "ratios of the lowest two modes alone take 48" in text({"ratio": 0.01})
    assert "damping" not in text({"rayleigh": {"beta": 0.001}})
