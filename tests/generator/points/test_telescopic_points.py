"""Points of beams that slide through their joint, and on the joint itself, against power series in time."""

import warnings
from functools import cache

import numpy as np
import point_oracle as oracle
import pytest
from sliding_frames import HERMITE
from test_points import check, state

import elastogen
from elastogen.generator.functions.derivation import derive_model

WANTED = ("point_positions", "point_velocities", "point_accelerations", "point_jacobians", "accelerometers", "point_forces",
          "point_strains", "point_curvatures")  # fmt: skip
FEW = ("point_positions", "point_accelerations", "point_strains", "point_curvatures")
LENGTH, GAMMA = 0.8, 0.4
NODES, WEIGHTS = np.polynomial.legendre.leggauss(3)  # exact for the squares of slopes of cubics
PLACES = (0.1, 0.35, 0.6, 0.8)


def telescope(slide, elements, **more):
    """A rod with a beam that slides through its end; points behind the joint, in the elements, at the tip, on the mouth."""
    rod = {"joint": "R", "length": 0.3, "rigid": True, "mass": 0.7, "inertia": 0.01}
    beam = {"joint": "Pb", "gamma": GAMMA, "length": LENGTH, "mass_per_length": 0.35, "EI": 0.17, "elements": elements,
            "slide": slide, **more}  # fmt: skip
    points = [{"link": "link2", "x": x, "strain": {"offset": 0.002}} for x in PLACES]
    points += [{"name": "mouth", "joint": "joint2"}]
    return {"elastogen": 1, "name": "tele", "planar": {"links": [rod, beam], "gravity": [0.5, -9.81]}, "points": points}


@cache
def programs(slide, elements, shortened):
    robot = elastogen.load(telescope(slide, elements, foreshortening=shortened))
    wanted = FEW if shortened else WANTED
    return {function.name: function for function in derive_model(robot, wanted).functions}


def power(t):
    return [1.0 + 0.0 * t, t, t * t, t * t * t]


def combined(nodes, h, t, order):
    """The derivative of that order of a cubic by its nodes' deflections and slopes; everything may be jets."""
    total = 0.0 * t
    for j, (u, phi) in enumerate(zip(nodes, HERMITE, strict=True)):
        scaled = h * u if j % 2 else u + 0.0 * h
        for c, p in zip((phi.deriv(order) if order else phi).coef, power(t), strict=False):
            total = total + scaled * p * float(c)
    for _ in range(order):
        total = total / h
    return total


def smooth_section(x, k, n, shortened):
    """Element k of the n outside, 0 behind the joint; d is q[1]."""

    def parts(q):
        h = q[1] * (1 / n)
        return h, [0.0, 0.0, *q[2:]], (x - LENGTH + q[1]) / h - (k - 1.0)

    def moved(q):
        if k == 0:
            return x, 0, 0
        h, u, t = parts(q)
        along = x + 0.0 * q[1]
        for e in range(1, k + 1 if shortened else 0):
            end = t if e == k else 1.0 + 0.0 * t
            for node, weight in zip(NODES, WEIGHTS, strict=True):
                slope = combined(u[2 * e - 2 : 2 * e + 2], h, end * ((node + 1) / 2), 1)
                along = along - slope * slope * h * end * (0.25 * weight)
        return along, combined(u[2 * k - 2 : 2 * k + 2], h, t, 0), 0

    def rotated(q):
        if k == 0:
            return 0, 0, 0.0 * q[0]
        h, u, t = parts(q)
        return 0, 0, combined(u[2 * k - 2 : 2 * k + 2], h, t, 1)

    return oracle.bent(moved, rotated)


def nodal_section(x, k, n):
    """Element k (from 1) of the n equal ones of the whole beam; nodes begin at q[2], node 0 first."""
    h = LENGTH / n
    t = x / h - (k - 1)

    def value(q, order):
        return combined(q[2 * k : 2 * k + 4], h + 0.0 * q[0], t + 0.0 * q[0], order)

    return oracle.bent(lambda q: (x, value(q, 0), 0), lambda q: (0, 0, value(q, 1)))


def chains(sections):
    rod = [oracle.turn((0, 0, 1), 0), oracle.shift(0.3, 0, 0), oracle.rpy(0, 0, GAMMA)]
    beam = [*rod, oracle.slide((1, 0, 0), 1), oracle.shift(-LENGTH, 0, 0)]
    return [*([*beam, section] for section in sections), rod]


@pytest.mark.parametrize(
    ("d", "inside", "shortened"), [(0.6, (0, 1, 2, 3), False), (0.25, (0, 0, 1, 3), False), (0.6, (0, 1, 2, 3), True)]
)
def test_smooth(d, inside, shortened):
    found = programs("smooth", 3, shortened)
    q, qd, qdd = state(8, 31)
    q[1] = d
    sections = [smooth_section(x, k, 3, shortened) for x, k in zip(PLACES, inside, strict=True)]
    check(found, chains(sections), (0.5, -9.81, 0), q, qd, qdd)
    u, h, bent = [0.0, 0.0, *q[2:]], d / 3, []
    for x, k in zip(PLACES, inside, strict=True):
        t = (x - LENGTH + d) / h - (k - 1)
        bent.append(combined(u[2 * k - 2 : 2 * k + 2], h, t, 2) if k else 0.0)
    curvatures = found["point_curvatures"].evaluate({"q": q})["curvature"][:, 0]
    np.testing.assert_allclose(curvatures, bent, rtol=1e-11, atol=1e-12)
    strains = found["point_strains"].evaluate({"q": q})["strain"]
    np.testing.assert_allclose(strains, -0.002 * np.array(bent), rtol=1e-11, atol=1e-12)


def test_smooth_by_modes():
    """Reduced to all of its modes, the beam is the same: amplitudes are the modes' share of the nodal values."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the highest of all modes are coarse
        robot = elastogen.load(telescope("smooth", 3, reduce_to=6))
    reduced = {f.name: f for f in derive_model(robot, ["point_positions", "point_strains"]).functions}
    full = programs("smooth", 3, False)
    q, _, _ = state(8, 32)
    q[1] = 0.6
    telescope_data = robot.links[2].flexible.telescope
    c = np.array(telescope_data.modes) @ q[2:]
    nodal = np.concatenate([q[:2], np.where(np.arange(6) % 2, c / 0.6, c)])
    for name, output in (("point_positions", "r"), ("point_strains", "strain")):
        result = reduced[name].evaluate({"q": q})[output]
        np.testing.assert_allclose(result, full[name].evaluate({"q": nodal})[output], rtol=1e-10, atol=1e-12)


def test_nodal():
    """With element 2 of 3 inside the joint, its nodes are clamped."""
    found = programs("nodal", 3, False)
    q, qd, qdd = state(10, 33)
    q[1] = 0.45
    for row in (q, qd, qdd):
        row[4:8] = 0.0
    sections = [nodal_section(x, k, 3) for x, k in zip(PLACES, (1, 2, 3, 3), strict=True)]
    clamped = [4, 5, 6, 7]
    names = ("point_positions", "point_velocities", "point_accelerations", "accelerometers")
    expected = oracle.everything(chains(sections), np.array([0.5, -9.81, 0]), q, qd, qdd, (*names, "point_jacobians"))
    arguments = {"q": q, "qd": qd, "qdd": qdd}
    for name in names:
        (result,) = found[name].evaluate({a.name: arguments[a.name] for a in found[name].inputs}).values()
        np.testing.assert_allclose(result, expected[name], rtol=0, atol=1e-12 * np.abs(expected[name]).max())
    J = found["point_jacobians"].evaluate({"q": q})["J"]
    assert not J[:, :, clamped].any()
    free = np.delete(expected["point_jacobians"], clamped, axis=2)
    np.testing.assert_allclose(np.delete(J, clamped, axis=2), free, rtol=0, atol=1e-12)


def test_out_of_range_there_is_no_point():
    found = programs("smooth", 3, False)
    q = np.zeros(8)
    q[1] = 0.9
    assert np.isnan(found["point_positions"].evaluate({"q": q})["r"]).all()
