"""Exciting motions: exact gradients, inside all limits, at rest at both ends, and worth more than chance."""

from __future__ import annotations

import numpy as np
import pytest

import elastogen

pytest.importorskip("scipy")

from elastogen.identification.excitation.excite import _limits, _Search
from elastogen.identification.excitation.fourier import FourierSeries
from elastogen.identification.measurements.read_table import read_table

ROBOT = {
    "elastogen": 1, "name": "limited",
    "links": [{"name": "base"}, {"name": "upper", "mass": 3.0, "com": [0.2, 0.01, 0], "inertia": [0.01, 0.05, 0.05]},
              {"name": "lower", "mass": 2.0, "com": [0.15, 0, 0.02], "inertia": [0.005, 0.02, 0.02]}],
    "joints": [
        {"name": "turn", "type": "revolute", "axis": [0, 0, 1], "limits": {"lower": -1, "upper": 2, "velocity": 1.5}},
        {"name": "lift", "type": "revolute", "axis": [0, 1, 0], "placement": {"xyz": [0.4, 0, 0]}, "friction": {"viscous": 0.3},
         "limits": {"lower": -1.2, "upper": 1.2, "velocity": 2.0, "effort": 6.0}},
    ],
    "tip": {"link": "lower", "xyz": [0.3, 0, 0]},
}  # fmt: skip
BOX = ((0.0, -1.0, -1.0), (1.0, 1.0, -0.1))


@pytest.fixture(scope="module")
def robot():
    return elastogen.load(ROBOT)


def test_a_series_begins_and_ends_at_rest():
    series = FourierSeries(4, 0.2)
    position, velocity, acceleration = series.basis(np.array([0.0, 5.0, 1.234]))
    np.testing.assert_allclose(velocity[:2], 0, atol=1e-12)
    np.testing.assert_allclose(acceleration[:2], 0, atol=1e-12)
    np.testing.assert_allclose(position[0], position[1], atol=1e-12)
    h = 1e-5
    ends = series.basis(np.array([1.234 - h, 1.234 + h]))
    np.testing.assert_allclose((ends[0][1] - ends[0][0]) / (2 * h), velocity[2], atol=1e-7)
    np.testing.assert_allclose((ends[1][1] - ends[1][0]) / (2 * h), acceleration[2], atol=1e-7)


def test_gradients_are_exact(robot):
    from elastogen.identification.excitation.excite import Box

    search = _Search(robot, _limits(robot, 3.0), [Box(*BOX)], 3, 5.0)
    x = np.random.default_rng(0).normal(size=search.series.size * search.joints) * 0.5  # beyond many limits
    search.size = np.ones(search._regressor(x.reshape(-1, 2)).shape[2])
    _, gradient = search.cost(x)
    h = 1e-6 * np.eye(len(x))
    expected = [(search.cost(x + row)[0] - search.cost(x - row)[0]) / 2e-6 for row in h]
    np.testing.assert_allclose(gradient, expected, rtol=1e-6, atol=1e-6 * np.abs(gradient).max())


def test_limits_and_boxes_are_kept(robot, tmp_path):
    found = elastogen.excite(robot, harmonics=3, seconds=6.0, keep_out=[BOX], acceleration={"lift": 5.0}, tries=2)
    model = elastogen.build_model(robot, outputs=["inverse_dynamics", "forward_kinematics"])
    assert np.all(found.q >= [-1, -1.2])
    assert np.all(found.q <= [2, 1.2])
    assert np.all(np.abs(found.qd) <= [1.5, 2.0])
    assert np.abs(found.qdd[:, 1]).max() <= 5.0
    assert np.abs(model.inverse_dynamics(found.q, found.qd, found.qdd)[:, 1]).max() <= 6.0
    tip = model.forward_kinematics(found.q)[:, -1, :3, 3]
    assert not np.any(np.all((tip > BOX[0]) & (tip < BOX[1]), axis=1))
    np.testing.assert_allclose(found.qd[[0, -1]], 0, atol=1e-12)
    table = read_table(found.save(tmp_path / "motion.csv"))
    np.testing.assert_allclose(table.columns["qd.lift"], found.qd[:, 1], atol=1e-8)


def test_the_motion_is_better_than_chance(robot):
    search = _Search(robot, _limits(robot, None), [], 3, 6.0)
    rng = np.random.default_rng(3)
    cost, x = search.one(rng, 100)
    for _ in range(20):
        other = search._shrunk(rng.normal(size=x.shape) * 0.5)
        assert cost < search._information_cost(other)[0]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"harmonics": 1}, "two are needed to start and end at rest"),
        ({"rate": 1.0}, "expected more than"),
        ({"tries": 0}, "at least 1"),
        ({"acceleration": {"left": 1.0}}, "a driven joint"),
        ({"keep_out": [((0, 0), (1, 1, 1))]}, "corners of three numbers"),
        ({"keep_out": [((-9, -9, -9), (9, 9, 9))], "tries": 1, "iterations": 3}, "no motion inside all limits"),
    ],
)
def test_wrong_wishes_are_refused(robot, options, words):
    with pytest.raises(elastogen.IdentificationError, match=words):
        elastogen.excite(robot, **options)
