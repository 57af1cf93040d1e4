"""Charts: points are where the ticks say they are, on every kind of axis, and nothing that is named ends the drawing."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import numpy as np
import pytest

from elastogen.build.pages.report.chart import MOST_POINTS, Chart


def read(chart: Chart) -> tuple[list[tuple[float, str]], list[tuple[float, str]], list[list[tuple[float, float]]]]:
    """Ticks across and up, with their pixels, and the points of every line in pixels."""
    drawing = ElementTree.fromstring(re.search(r"<svg viewBox.*?</svg>", chart.svg(), re.S).group())  # type: ignore[union-attr]
    ticks = [one for one in drawing if one.get("class") == "tick"]
    grid = [one for one in drawing if one.get("class") == "grid"]
    across = [
        (float(line.get("x1", 0)), tick.text or "")
        for line, tick in zip(grid, ticks, strict=True)
        if line.get("x1") == line.get("x2")
    ]
    up = [
        (float(line.get("y1", 0)), tick.text or "")
        for line, tick in zip(grid, ticks, strict=True)
        if line.get("y1") == line.get("y2")
    ]
    lines = [
        [(float(x), float(y)) for x, y in (pair.split(",") for pair in one.get("points", "").split())]
        for one in drawing.iter("polyline")
    ]
    return across, up, lines


def scale(ticks: list[tuple[float, str]], log: bool) -> np.poly1d:
    """From pixels to numbers, by the ticks alone."""
    pixels, values = (np.array(part, dtype=float) for part in zip(*ticks, strict=True))
    return np.poly1d(np.polyfit(pixels, np.log10(values) if log else values, 1))


@pytest.mark.parametrize(("log_x", "log_y"), [(False, False), (False, True), (True, False), (True, True)])
@pytest.mark.parametrize(("low", "high"), [(1e-3, 0.9), (2.0, 5000.0), (0.11, 0.13)])
def test_points_are_where_the_ticks_say(log_x: bool, log_y: bool, low: float, high: float) -> None:
    x, y = np.geomspace(low, high, 7), np.geomspace(high, low, 7)
    chart = Chart("x [m]", "y [s]", log_x=log_x, log_y=log_y)
    chart.add(x, y, "line")
    across, up, (points,) = read(chart)
    assert min(len(across), len(up)) >= 2
    for ticks, log, given, seen in ((across, log_x, x, 0), (up, log_y, y, 1)):
        found = scale(ticks, log)(np.array(points)[:, seen])
        wanted = np.log10(given) if log else given
        np.testing.assert_allclose(found, wanted, atol=0.004 * np.ptp(wanted))


def test_both_axes_have_one_scale_where_shapes_count() -> None:
    chart = Chart("x", "y", equal=True)
    angle = np.linspace(0, 2 * np.pi, 50)
    chart.add(np.cos(angle), np.sin(angle))
    points = np.array(read(chart)[2][0])
    assert np.ptp(points[:, 0]) == pytest.approx(np.ptp(points[:, 1]), rel=0.01)


def test_long_lines_keep_their_peaks() -> None:
    y = np.zeros(100_000)
    y[54_321] = 1.0
    chart = Chart("x", "y")
    chart.add(np.arange(len(y)), y)
    (points,) = read(chart)[2]
    assert len(points) <= MOST_POINTS + 2
    heights = [y for _, y in points]
    assert sum(height < min(heights) + 1 for height in heights) == 1


def test_what_cannot_be_drawn_is_left_out() -> None:
    chart = Chart("x", "y", log_y=True)
    assert chart.empty
    chart.add([1, 2, 3, 4], [np.nan, 0.0, -1.0, 5.0])
    assert [len(points) for points in read(chart)[2]] == [1]
    constant = Chart("x", "y")
    constant.add([0, 1], [2.0, 2.0])
    assert all(np.isfinite(read(constant)[2][0]).ravel())
    assert "nan" not in Chart("x", "y").svg()


def test_names_stay_text() -> None:
    chart = Chart("<b>", '"y" & <i>', "</svg><script>", names=["</text>", "b"])
    chart.add([0, 1], [1, 2], "</figure>", bars=[0.1, 0.2], line=False, marks=True)
    text = chart.svg()
    assert "<script" not in text
    assert text.count("</figure>") == 1
    read(chart)  # XML
