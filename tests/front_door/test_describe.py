"""What ``elastogen check`` says about sliding joints and reduced links."""

import re

import numpy as np
import pytest

import elastogen
from elastogen.describe import describe

BEAM = {"length": 0.8, "mass_per_length": 0.353, "EI": 0.169}


def described(*links):
    return describe(elastogen.load({"elastogen": 1, "name": "planar", "planar": {"links": [BEAM | link for link in links]}}))


def section(text, title):
    """The lines under a title."""
    lines = text.splitlines()
    rest = lines[lines.index(title) + 1 :]
    return rest[: next(k for k, line in enumerate(rest) if not line.startswith(" "))]


def test_sliding_joints():
    text = described(
        {"joint": "R", "elements": 4},
        {"joint": "Pa", "gamma": 0.3, "elements": 1, "length": 0.5},
        {"joint": "Pb", "gamma": 0, "elements": 3, "length": 0.6, "slide": "nodal"},
    )
    assert section(text, "sliding joints") == [
        "  joint2  slides along link1 (P_a), smooth, elements: 4, 0 <= d <= 0.8 m",
        "  joint3  lets link3 slide through (P_b), nodal, elements: 3, 0 < d <= 0.6 m",
    ]


def test_robots_without_sliding_joints():
    assert "sliding joints" not in described({"joint": "R", "elements": 2}, {"joint": "R", "elements": 2})
    assert "sliding joints" not in described({"joint": "Pa", "gamma": 0, "elements": 2})  # prismatic on the base


@pytest.mark.parametrize("elements", [8, 12])
def test_errors_of_reduced_links(elements):
    """By the theory of Hermite elements, (beta h)^4/1440 of a clamped beam; the mesh twice as fine has a sixteenth of it."""
    text = described({"joint": "R", "elements": elements, "reduce_to": 3})
    (line,) = (line for line in section(text, "flexible links") if "too high" in line)
    count, shown = re.fullmatch(r" +lowest modes of (\d+) elements, frequencies too high by (.*) %", line).groups()
    assert int(count) == elements
    beta = np.array([1.875104, 4.694091, 7.854757])  # times the length
    expected = 100 * 15 / 16 * (beta / elements) ** 4 / 1440
    np.testing.assert_allclose([float(error) for error in shown.split(", ")], expected, rtol=0.1)


def test_links_that_are_not_reduced_have_no_such_line():
    assert "too high" not in described({"joint": "R", "elements": 6})
