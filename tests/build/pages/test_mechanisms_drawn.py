"""Mechanisms are drawn closed: rods reach the platform, and nothing is drawn where there is no material."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from browser import CHROMIUM, Browser
from robots_for_tests import quietly_loaded

import elastogen
from elastogen.build.pages.animation import drawn_model
from elastogen.build.pages.report import vibration_sections
from elastogen.build.pages.report.subject import Subject
from elastogen.build.pages.skeleton import skeleton
from elastogen.build.pages.view import view_page

INSIDE = """(() => {
  const { viewer } = window.poser, nodes = window.poser.nodes(window.poser.q);
  const used = viewer.scene.lines.flatMap((line) => line.nodes);
  return used.every((k) => {
    const [x, y] = viewer.project(...nodes.subarray(3 * k, 3 * k + 3));
    return x > 0 && x < viewer.width && y > 0 && y < viewer.height;
  });
})()"""


def test_rods_of_a_delta_end_on_its_platform(cache_dir: Path) -> None:
    """Lengths and places as its file says: rods of 0.5 m from elbows at a radius of 0.32 m, to 0.04 m from the middle below."""
    drawing = skeleton(quietly_loaded("delta"))
    model = drawn_model(drawing)
    nodes = np.asarray(model.point_positions(np.zeros(model.nq)))
    rods = [(nodes[line.nodes[0]], nodes[line.nodes[-1]]) for line in drawing.lines]
    long = [(a, b) for a, b in rods if np.linalg.norm(b - a) > 0.4]
    assert len(long) == 3  # no rod stands for the slides that count the platform's freedoms
    for elbow, end in long:
        assert np.linalg.norm(end - elbow) == pytest.approx(0.5, abs=1e-9)
        assert np.hypot(*elbow[:2]) == pytest.approx(0.32, abs=1e-9)
        assert [np.hypot(*end[:2]), end[2]] == pytest.approx([0.04, -0.41424630354415953], abs=1e-9)
        assert any(b == pytest.approx(end, abs=1e-9) for a, b in rods if np.linalg.norm(b - a) < 0.05)  # an arm of the platform


def test_frequencies_of_a_mechanism_are_those_of_closed_places(cache_dir: Path) -> None:
    """A report moves the drive through its range: the loops are closed at every place."""
    subject = Subject(quietly_loaded("slider_crank"))
    outputs = ["mass_matrix", "stiffness_matrix", "simulation"]
    model = elastogen.build_model("slider_crank", outputs=outputs, cflags="-O0")
    subject.__dict__["model"] = model  # fewer functions than a report has
    crank = 1.3
    found = vibration_sections._frequencies(subject, 0, crank)
    q = model.close_loops([crank, *subject.home[1:]])
    np.testing.assert_array_equal(found, model.modes(q, joints="locked").frequencies[:4])


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium: apt-get install chromium")
@pytest.mark.parametrize("name", ["flexible_two_link", "puma560"])
def test_all_of_a_robot_is_inside_the_picture(name: str, tmp_path: Path, cache_dir: Path) -> None:
    page = tmp_path / "view.html"
    page.write_text(view_page(quietly_loaded(name)), encoding="utf-8")
    with Browser(tmp_path / "profile") as browser:
        for width, phone in ((1200, False), (390, True)):
            browser.open(page, width=width, phone=phone)
            assert browser.ask(INSIDE)
            assert not browser.errors
