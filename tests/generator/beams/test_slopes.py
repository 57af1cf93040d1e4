"""How far flexible links turn: slopes along beams and rotations of tips, against differences of their shapes and frames."""

from dataclasses import asdict

import numpy as np
import pytest
from flexible_arms import planar_arm
from plain_programs import PlainPrograms
from reference_beam import eigenmodes, link_a

import elastogen
from elastogen.generator.beams.integrals import beam_body
from elastogen.generator.beams.slopes import link_slopes
from elastogen.generator.robot.robot import Body, Link
from elastogen.runtime.functions.metadata import LinkSlopes


def slopes_of(robot):
    return [LinkSlopes(**asdict(slopes)) for slopes in link_slopes(robot)]


def planar(*links):
    link = {"length": 0.8, "mass_per_length": 0.35, "EI": 0.17}
    return elastogen.load({"elastogen": 1, "name": "planar", "planar": {"links": [link | given for given in links]}})


def test_nodal_slopes_are_coordinates():
    robot = planar({"joint": "R", "elements": 10}, {"joint": "Pb", "gamma": 0.1, "elements": 4})
    first, second = slopes_of(robot)
    q = np.random.default_rng(3).normal(size=(5, len(robot.coordinates)))
    assert (first.link, second.link) == ("link1", "link2")
    np.testing.assert_allclose(first.largest(q), np.abs(q[:, 2:21:2]).max(axis=1), rtol=1e-12)
    assert (second.largest(q) >= np.abs(q[:, 23::2]).max(axis=1) * (1 - 1e-12)).all()  # places between nodes count too
    assert not first.by_series
    assert not second.stretched


def test_slope_of_modes_between_clamp_and_tip():
    """Two modes whose slopes at the tip cancel each other leave a slope in between."""
    robot = planar_arm(Link("", Body(), beam_body(link_a(), eigenmodes(2))))
    (slopes,) = slopes_of(robot)
    at_tip = [vector[2] for _, vector in slopes.places[0]]
    q = np.array([0.0, 1 / at_tip[0], -1 / at_tip[1]])
    assert slopes.largest(q) > 0.3
    assert abs(q[1] * at_tip[0] + q[2] * at_tip[1]) < 1e-12


def test_rotation_of_a_tip_is_that_of_its_frame():
    """A reduced telescopic link, whose modes stretch, and a tip that bends in two directions and twists, by its series."""
    robot = planar({"joint": "Pb", "gamma": 0, "elements": 6, "reduce_to": 2})
    (slopes,) = slopes_of(robot)
    q = np.array([0.5, 0.03, 0.0])
    frame = PlainPrograms(robot)("forward_kinematics", q=q)[-1]
    assert slopes.largest(q) == pytest.approx(np.arctan2(frame[1, 0], frame[0, 0]), rel=1e-9)
    spatial = elastogen.load({
        "elastogen": 1, "name": "spatial", "joints": [{"name": "j", "type": "revolute"}],
        "links": [{"name": "a", "flexible": {"type": "elements", "length": 1, "mass_per_length": 1, "EI": 1, "GJ": 1,
                                             "polar_inertia_per_length": 1,
                                             "elements": 1, "directions": ["y", "z", "torsion"]}}],
    })  # fmt: skip
    (slopes,) = slopes_of(spatial)
    assert slopes.by_series
    q = np.array([0.0, *np.random.default_rng(1).uniform(0.1, 0.4, len(spatial.coordinates) - 1)])
    frame = PlainPrograms(spatial)("forward_kinematics", q=q)[-1]
    angle = np.arccos((np.trace(frame[:3, :3]) - 1) / 2)
    assert slopes.largest(q) == pytest.approx(angle, rel=1e-9)
