"""Loads of beams' sections: against free-body equations summed over mass points, and by statics."""

from functools import cache
from itertools import pairwise

import free_bodies
import numpy as np
import point_oracle as oracle
import pytest
from plain_programs import PlainPrograms
from sliding_frames import beam_at, rod_on_beam, sliding
from test_inner_forces import flexible_arm, spatial_parts
from test_points import GRAVITY, state
from test_telescopic_points import LENGTH, PLACES, chains, nodal_section, smooth_section, telescope

import elastogen
from elastogen.generator.functions.derivation import derive_model
from elastogen.generator.robot.errors import OutputError

LOADS = "section_loads"


@pytest.mark.parametrize("kind", ["exponential", "linear"])
def test_loads_of_sections(kind):
    """Of the part of the beam beyond each point, the body on the tip and the hand; components by R^T of sheared sections."""
    q, qd, qdd = state(6, 25)
    q[0] = 0.4
    _, (_, hand) = spatial_parts(kind == "linear")
    sections = spatial_parts(kind == "linear", sections=(0.3, 0.5, 0.8))
    found = PlainPrograms(flexible_arm(kind))(LOADS, q=q, qd=qd, qdd=qdd)
    for load, (x, chain) in zip(found, sections, strict=True):
        outer = spatial_parts(kind == "linear", outside_of=x)
        points = free_bodies.moved([*outer, *hand], q, qd, qdd)
        axes, origin = free_bodies.frame(chain, q)
        expected = free_bodies.projected(free_bodies.wrench(points, origin, np.array(GRAVITY)), axes)
        np.testing.assert_allclose(load, expected, rtol=0, atol=1e-12 * np.abs(expected).max())


def test_a_cantilever_under_its_own_weight():
    beam = {"type": "elements", "length": 0.8, "mass_per_length": 0.35, "EI": 0.17, "elements": 3}
    robot = elastogen.load({
        "elastogen": 1, "name": "cantilever", "gravity": [0, -9.81, 0],
        "links": [{"name": "base"}, {"name": "beam", "flexible": beam}], "joints": [{"name": "hub", "type": "revolute"}],
        "points": [{"link": "beam", "x": x} for x in (0, 0.1, 0.8)],
    })  # fmt: skip
    found = {f.name: f for f in derive_model(robot, [LOADS, "joint_reactions"]).functions}
    rest = {"q": np.zeros(7), "qd": np.zeros(7), "qdd": np.zeros(7)}
    outside = np.array([0.8, 0.7, 0.0])
    weight = 0.35 * 9.81
    expected = np.zeros((3, 6))
    expected[:, 1], expected[:, 5] = weight * outside, weight * outside**2 / 2
    np.testing.assert_allclose(found[LOADS].evaluate(rest)["load"], expected, rtol=1e-13, atol=1e-14)
    np.testing.assert_allclose(found["joint_reactions"].evaluate(rest)["reaction"][0], expected[0], rtol=1e-13, atol=1e-14)


def test_loads_of_a_beam_that_a_joint_slides_on():
    """What the joint carries counts at the sections inside of it only."""
    description = sliding("Pa")
    places = (0.1, 0.5, 0.7)
    description["points"] = [{"link": "link1", "x": x} for x in places]
    (function,) = derive_model(elastogen.load(description), [LOADS]).functions
    q, qd, qdd = state(6, 26)
    q[5] = 0.55
    found = function.evaluate({"q": q, "qd": qd, "qdd": qdd})["load"]
    (_, _), (_, rod) = rod_on_beam(q)
    for x, load in zip(places, found, strict=True):
        ends = [x, *(end for end in (0.4, 0.8) if end > x)]
        beam = [(m, [oracle.turn((0, 0, 1), 0), beam_at(y)]) for m, y in free_bodies.beam_points(0.35, ends)]
        points = free_bodies.moved([*beam, *(rod if x < 0.55 else ())], q, qd, qdd)
        axes, origin = free_bodies.frame([oracle.turn((0, 0, 1), 0), beam_at(x)], q)
        expected = free_bodies.projected(free_bodies.wrench(points, origin, np.array([0.5, -9.81, 0])), axes)
        np.testing.assert_allclose(load, expected, rtol=0, atol=1e-12 * np.abs(expected).max())


NODES, WEIGHTS = np.polynomial.legendre.leggauss(8)  # exact to degree 15: shortened levers times accelerations


@cache
def telescopic(slide, elements, shortened):
    """The telescope with a body on its rear end and a payload on its tip."""
    description = telescope(slide, elements, foreshortening=shortened, mass=0.15)
    description["planar"]["payload"] = {"mass": 0.2}
    return PlainPrograms(elastogen.load(description))


def expected_loads(section, ends, q, qd, qdd):
    """By mass points on both sides; ``section(x)`` is the chain's last step at a place, pieces of the beam end at ``ends``."""
    mouth, found = LENGTH - q[1], []
    for x in PLACES:
        front = x >= mouth
        inner, outer = (x, LENGTH) if front else (0.0, x)
        stops = [inner, *(end for end in ends if inner < end < outer), outer]
        masses = [
            (0.35 * (b - a) * w / 2, a + (b - a) * (t + 1) / 2)
            for a, b in pairwise(stops)
            for t, w in zip(NODES, WEIGHTS, strict=True)
        ]
        part = [(m, chains([section(y)])[0]) for m, y in masses]
        part.append((0.2, chains([section(LENGTH)])[0]) if front else (0.15, chains([oracle.shift(0, 0, 0)])[0]))
        points = free_bodies.moved(part, q, qd, qdd)
        axes, origin = free_bodies.frame(chains([section(x)])[0], q)
        needed = free_bodies.projected(free_bodies.wrench(points, origin, np.array([0.5, -9.81, 0])), axes)
        found.append(needed if front else -needed)
    return np.array(found)


@pytest.mark.parametrize(("d", "elements", "shortened"), [(0.6, 3, False), (0.33, 3, False), (0.6, 2, True)])
def test_a_beam_that_slides_through_its_joint(d, elements, shortened):
    q, qd, qdd = state(2 + 2 * elements, 27)
    q[1] = d
    nodes = [LENGTH - d + k * d / elements for k in range(elements)]

    def section(x):
        return smooth_section(x, sum(x > node for node in nodes), elements, shortened)

    found = telescopic("smooth", elements, shortened)(LOADS, q=q, qd=qd, qdd=qdd)
    expected = expected_loads(section, nodes, q, qd, qdd)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * np.abs(expected).max())


def test_nodal_clamps():
    """Element 2 of 3 is inside the joint: what is behind it bends, too."""
    q, qd, qdd = state(10, 28)
    q[1] = 0.45
    for row in (q, qd, qdd):
        row[4:8] = 0.0
    nodes = [LENGTH / 3, 2 * LENGTH / 3]

    def section(x):
        return nodal_section(x, 1 + sum(x > node for node in nodes), 3)

    found = telescopic("nodal", 3, False)(LOADS, q=q, qd=qd, qdd=qdd)
    expected = expected_loads(section, nodes, q, qd, qdd)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * np.abs(expected).max())


def test_they_belong_to_points_on_beams():
    with pytest.raises(OutputError, match="points on beams"):
        derive_model(elastogen.load("two_link"), [LOADS])


def test_in_c(cache_dir):
    """In single precision, on both sides of the mouth."""
    description = {**sliding("Pb"), "points": [{"link": "link2", "x": x} for x in (0.1, 0.5)]}
    model = elastogen.build_model(description, outputs=[LOADS], precision="float")
    q, qd, qdd = state(6, 29)
    q[1] = 0.55
    expected = PlainPrograms(elastogen.load(description))(LOADS, q=q, qd=qd, qdd=qdd)
    result = model.section_loads(np.stack([q, q]), qd, qdd)
    assert result.shape == (2, 2, 6)
    np.testing.assert_allclose(result[1], expected, rtol=0, atol=1e-5 * np.abs(expected).max())


def live_beam(rod, place, mass, live):
    beam = {"type": "modes", "length": "rod", "mass_per_length": mass, "EI": 0.17, "foreshortening": True,
            "modes": [{"direction": "y", "shape": "(x/L)**2"}]}  # fmt: skip
    return {
        "elastogen": 1, "name": "live", "gravity": list(GRAVITY), "parameters": {"rod": rod, "place": place},
        "live": ["rod", "place"] if live else [], "links": [{"name": "base"}, {"name": "beam", "mass": 0.2, "flexible": beam}],
        "joints": [{"name": "turn", "type": "revolute", "axis": [0, 0, 1]}],
        "points": [{"link": "beam", "x": x} for x in (0.3, "place", "rod/4", "rod")],
    }  # fmt: skip


@pytest.mark.parametrize("mass", [0.35, {"x": [0, 0.2, 0.8], "value": [0.5, 0.3, 0.2]}], ids=["even", "table"])
def test_places_and_lengths_that_are_live(mass):
    """Loads at other values of the parameters are those of a robot with these values: the part beyond a section changes."""
    rod = 1.0 if mass == 0.35 else 0.8  # a table ends where the beam does
    (live,), (fixed,) = (
        derive_model(elastogen.load(robot), [LOADS]).functions
        for robot in (live_beam(0.8, 0.5, mass, True), live_beam(rod, 0.6, mass, False))
    )
    motion = dict(zip(("q", "qd", "qdd"), state(2, 27), strict=True))
    found, expected = live.evaluate(motion, {"rod": rod, "place": 0.6})["load"], fixed.evaluate(motion)["load"]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-13 * np.abs(expected).max())
