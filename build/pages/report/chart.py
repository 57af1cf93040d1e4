"""Charts of pages: lines and points over two axes, drawn as SVG, which needs no script and no network."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

COLORS = ("#1971c2", "#d9480f", "#2f9e44", "#9c36b5", "#0c8599", "#f08c00", "#c2255c", "#495057")
DASHES = ("none", "7 3", "2 2", "9 3 2 3", "12 4", "4 4", "1 3", "14 3 2 3")  # lines differ without their colours, too
WIDTH, LEFT, RIGHT, TOP = 680, 70, 14, 12
LETTER = 6.2  # of a tick [px]
MOST_POINTS = 1200  # of a line: two for every pixel


@dataclass(frozen=True)
class Line:
    """One set of points."""

    name: str
    x: NDArray[np.float64]
    y: NDArray[np.float64]
    color: str
    dash: str
    line: bool
    marks: bool
    bars: NDArray[np.float64] | None = None  # half of the height of an error bar at each point


@dataclass
class Chart:
    """Points over two axes. ``names`` are the places 0, 1, ... of an x axis of words, ``equal`` gives both axes one scale."""

    x: str
    y: str
    title: str = ""
    height: int = 270
    log_x: bool = False
    log_y: bool = False
    equal: bool = False
    names: Sequence[str] = ()
    lines: list[Line] = field(default_factory=list)

    def add(
        self,
        x: Any,
        y: Any,
        name: str = "",
        *,
        color: str = "",
        line: bool = True,
        marks: bool = False,
        bars: Any = None,
    ) -> None:
        """Add a line, points, or both; what is not finite, or not positive on a logarithmic axis, is left out."""
        across, up = (np.asarray(values, dtype=float).ravel() for values in (x, y))
        used = np.isfinite(across) & np.isfinite(up) & (~self.log_x | (across > 0)) & (~self.log_y | (up > 0))
        k, chosen = len(self.lines), np.flatnonzero(used)
        if line and len(chosen) > MOST_POINTS:
            chosen = chosen[_extremes(up[chosen])]
        half = None if bars is None else np.asarray(bars, dtype=float).ravel()[chosen]
        shade, dash = color or COLORS[k % len(COLORS)], DASHES[k % len(DASHES)]
        self.lines.append(Line(name, across[chosen], up[chosen], shade, dash, line, marks, half))

    @property
    def left(self) -> int:
        """Where the plot begins [px]: names, which are tilted, end below their places."""
        return max([LEFT, *(int(len(name) * LETTER * 0.72) - 20 * k for k, name in enumerate(self.names))])

    @property
    def empty(self) -> bool:
        """Whether there is nothing to see."""
        return not any(len(one.x) for one in self.lines)

    def svg(self) -> str:
        """The chart as HTML."""
        letters = max((len(name) for name in self.names), default=0)
        bottom = 44 + (int(letters * LETTER * 0.72) if self.names else 0)
        across = _Axis([one.x for one in self.lines], self.log_x, (self.left, WIDTH - RIGHT), names=self.names)
        heights = [part for one in self.lines for part in _reach(one)]
        up = _Axis(heights, self.log_y, (self.height - bottom, TOP))
        if self.equal:
            _with_one_scale(across, up)
        parts = [*self._across(across, bottom), *self._up(up, bottom)]
        parts += [_drawn(one, across, up) for one in self.lines]
        head = f"<figcaption>{escape(self.title)}</figcaption>" if self.title else ""
        words = escape(
            ", ".join(filter(None, (self.title, f"{self.y} over {self.x}", *(one.name for one in self.lines)))), quote=True
        )
        drawing = f'<svg viewBox="0 0 {WIDTH} {self.height}" role="img" aria-label="{words}">{"".join(parts)}</svg>'
        return f'<figure class="chart">{head}{drawing}{self._legend()}</figure>'

    def _across(self, axis: _Axis, bottom: int) -> list[str]:
        floor, found = self.height - bottom, []
        for value, label in axis.ticks():
            place = f"{axis.place(value):.1f}"
            found.append(f'<line class="grid" x1="{place}" x2="{place}" y1="{TOP}" y2="{floor}"/>')
            tilted = f' transform="rotate(-45 {place} {floor + 14})"' if self.names else ""
            anchor = "end" if self.names else "middle"
            found.append(
                f'<text class="tick" x="{place}" y="{floor + 16}" text-anchor="{anchor}"{tilted}>{escape(label)}</text>'
            )
        middle = (self.left + WIDTH - RIGHT) // 2
        return [*found, f'<text class="axis" x="{middle}" y="{self.height - 6}" text-anchor="middle">{escape(self.x)}</text>']

    def _up(self, axis: _Axis, bottom: int) -> list[str]:
        found = []
        for value, label in axis.ticks():
            place = f"{axis.place(value):.1f}"
            found.append(f'<line class="grid" x1="{self.left}" x2="{WIDTH - RIGHT}" y1="{place}" y2="{place}"/>')
            found.append(
                f'<text class="tick" x="{self.left - 6}" y="{float(place) + 4:.1f}" text-anchor="end">{escape(label)}</text>'
            )
        middle = (TOP + self.height - bottom) // 2
        turned = f'transform="rotate(-90 14 {middle})"'
        return [*found, f'<text class="axis" x="14" y="{middle}" text-anchor="middle" {turned}>{escape(self.y)}</text>']

    def _legend(self) -> str:
        items = []
        for one in self.lines:
            if one.name and len(one.x):
                sample = (
                    f'<line x1="1" x2="25" y1="4" y2="4" stroke="{one.color}" stroke-width="2" stroke-dasharray="{one.dash}"/>'
                )
                dot = f'<circle cx="13" cy="4" r="3" fill="{one.color}"/>'
                shown = (sample if one.line else "") + (dot if one.marks else "")
                items.append(f'<li><svg class="sample" viewBox="0 0 26 8">{shown}</svg> {escape(one.name)}</li>')
        return f"<ul>{''.join(items)}</ul>" if items else ""


class _Axis:
    """From numbers to pixels, and where the ticks are."""

    def __init__(
        self, values: Sequence[NDArray[np.float64]], log: bool, pixels: tuple[float, float], names: Sequence[str] = ()
    ) -> None:
        self.log, self.pixels, self.names = log, pixels, names
        shown = np.concatenate([np.zeros(0), *values])
        shown = np.log10(shown) if log else shown
        low, high = (float(shown.min()), float(shown.max())) if len(shown) else (0.0, 1.0)
        if names:
            low, high = -0.5, len(names) - 0.5
        elif high - low <= 1e-12 * max(abs(low), abs(high), 1e-300):
            low, high = (low - 0.5, high + 0.5) if log or low == 0 else (low - 0.1 * abs(low), high + 0.1 * abs(high))
        room = 0.0 if names else 0.04 * (high - low)
        self.low, self.high = low - room, high + room

    def place(self, value: float) -> float:
        """Pixels of a number."""
        return float(self.places(np.array([value]))[0])

    def places(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Pixels of numbers."""
        start, end = self.pixels
        part = ((np.log10(values) if self.log else values) - self.low) / (self.high - self.low)
        return start + part * (end - start)

    def ticks(self) -> list[tuple[float, str]]:
        """Round numbers that are about 60 pixels or more apart, 36 where they are above each other, with their texts."""
        if self.names:
            return [(float(k), name) for k, name in enumerate(self.names)]
        span, room = (
            self.high - self.low,
            max(abs(self.pixels[1] - self.pixels[0]) / (60 if self.pixels[1] > self.pixels[0] else 36), 2.0),
        )
        if self.log and span > 1.5:
            every = max(1, int(np.ceil(span / room)))
            return [(10.0**k, f"{10.0**k:g}") for k in range(int(np.ceil(self.low)), int(np.floor(self.high)) + 1, every)]
        low, high = (10.0**self.low, 10.0**self.high) if self.log else (self.low, self.high)
        raw = (high - low) / room
        power = 10.0 ** np.floor(np.log10(raw))
        step = power * min(m for m in (1, 2, 5, 10) if m * power >= 0.999 * raw)
        digits = max(0, -int(np.floor(np.log10(step) + 1e-9)))
        numbers = step * np.arange(np.ceil(low / step - 1e-9), np.floor(high / step + 1e-9) + 1)
        plain = 1e-4 < max(abs(low), abs(high)) < 1e6
        return [(float(v), f"{v + 0.0:.{digits}f}" if plain else f"{v:.3g}") for v in numbers if not self.log or v > 0]


def _extremes(values: NDArray[np.float64]) -> NDArray[np.intp]:
    """Places of the least and the greatest number of every part of a long line."""
    edges = np.linspace(0, len(values), MOST_POINTS // 2 + 1).astype(np.intp)
    parts = list(pairwise(edges))
    ends = [start + find(values[start:end]) for start, end in parts for find in (np.argmin, np.argmax)]
    return np.unique(np.array([0, *ends, len(values) - 1], dtype=np.intp))


def _with_one_scale(across: _Axis, up: _Axis) -> None:
    """The axis with more pixels for a unit takes as many as the other."""
    per_unit = [(axis.high - axis.low) / abs(axis.pixels[1] - axis.pixels[0]) for axis in (across, up)]
    for axis, unit in zip((across, up), per_unit, strict=True):
        more = (max(per_unit) - unit) * abs(axis.pixels[1] - axis.pixels[0]) / 2
        axis.low, axis.high = axis.low - more, axis.high + more


def _reach(one: Line) -> list[NDArray[np.float64]]:
    return [one.y] if one.bars is None else [one.y - one.bars, one.y + one.bars]


def _drawn(one: Line, across: _Axis, up: _Axis) -> str:
    x, y = across.places(one.x), up.places(one.y)
    points, found = list(zip(x, y, strict=True)), ""
    if one.bars is not None:
        ends = zip(up.places(one.y - one.bars), up.places(one.y + one.bars), strict=True)
        path = "".join(f"M{a:.1f} {low:.1f}V{high:.1f}" for a, (low, high) in zip(x, ends, strict=True))
        found += f'<path d="{path}" fill="none" stroke="{one.color}" stroke-width="1.4"/>'
    if one.line:
        path = " ".join(f"{a:.1f},{b:.1f}" for a, b in points)
        style = f'fill="none" stroke="{one.color}" stroke-width="1.6" stroke-dasharray="{one.dash}"'
        found += f'<polyline points="{path}" {style}/>'
    if one.marks:
        dots, wide = "".join(f"M{a:.1f} {b:.1f}h0" for a, b in points), 6 if len(points) < 500 else 2.4
        found += f'<path d="{dots}" fill="none" stroke="{one.color}" stroke-width="{wide}" stroke-linecap="round"/>'
    return found
