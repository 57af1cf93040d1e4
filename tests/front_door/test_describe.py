"""What ``elastogen check`` says about sliding joints and reduced links."""

import re
from types import SimpleNamespace

import numpy as np
import pytest

import elastogen
from elastogen.build.pages.report.robot_sections import description
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


def test_the_mass_of_a_flexible_link_means_the_same_everywhere():
    """All of the link: hub 0.5 kg, beam 0.8 m of 0.35 kg/m; and the hub, whose centre and inertia a report lists, beside it."""
    robot = elastogen.load("flexible_one_link")
    assert float(robot.link("beam").whole_mass) == pytest.approx(0.78)
    assert "beam 0.78 kg (hub 0.5 kg)" in describe(robot)
    assert "<td>flexible, 4 coordinates, hub 0.5 kg</td><td>0.78</td>" in robot._repr_html_()
    subject = SimpleNamespace(robot=robot, kind=lambda joint: joint.type.name)
    text = re.sub(r"<[^>]*>", " ", "".join(str(part) for part in description(subject).html))
    assert re.search(r"beam\s+0\.78\s+0\.5\s+0 0 0\s+0\.02 0\.02 0\.02", text)
