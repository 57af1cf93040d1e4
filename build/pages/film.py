"""A recorded motion as a film, .gif or .mp4, drawn by matplotlib."""

from __future__ import annotations

import os
import shutil
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elastogen.build.pages.page_text import check_page
from elastogen.build.pages.skeleton import Skeleton
from elastogen.generator.robot.errors import BuildError

FILMS = (".gif", ".mp4")
PICTURES_PER_SECOND = 25
MOST_PICTURES = 750


def check_motion_file(path: str | os.PathLike[str]) -> None:
    """Refuse a file that no page or film can be written to, before a motion is computed for it."""
    check_page(path, FILMS)
    target = Path(path)
    if target.suffix.lower() not in FILMS:
        return
    if find_spec("matplotlib") is None:
        raise BuildError(f"{target}: films need matplotlib. Fix: pip install 'elastogen[plot]', or write a page, .html.")
    if target.suffix.lower() == ".mp4" and shutil.which("ffmpeg") is None:
        raise BuildError(f"{target}: films in .mp4 need ffmpeg. Fix: install it, or write a .gif or a page, .html.")


def film_times(times: NDArray[Any]) -> NDArray[np.float64]:
    """Moments of the pictures: in real time, fewer a second where the film would grow too long."""
    count = int(np.clip((times[-1] - times[0]) * PICTURES_PER_SECOND, 2, MOST_PICTURES))
    return np.linspace(float(times[0]), float(times[-1]), count)


def write_film(
    drawing: Skeleton, positions: NDArray[Any], ghost: NDArray[Any] | None, seconds: float, path: str | os.PathLike[str]
) -> Path:
    """Write nodes (pictures, nodes, 3) as a film that lasts so many seconds."""
    target = Path(path)
    from matplotlib.animation import FFMpegWriter, FuncAnimation, PillowWriter
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 4.8), layout="constrained")
    middle, radius = _box(positions)
    planar = float(np.ptp(positions[..., 2])) < 1e-9 * radius
    axes: Any = figure.add_subplot() if planar else figure.add_subplot(projection="3d")
    axes.set_aspect("equal")
    for k, axis in enumerate("xy" if planar else "xyz"):
        getattr(axes, f"set_{axis}lim")(middle[k] - radius, middle[k] + radius)
        getattr(axes, f"set_{axis}label")(f"{axis} [m]")
    artists = [_lines(axes, drawing, planar, nodes, color) for nodes, color in _layers(positions, ghost)]

    def draw(picture: int) -> list[Any]:
        for lines, (nodes, _) in zip(artists, _layers(positions, ghost), strict=True):
            for line, artist in zip(drawing.lines, lines, strict=True):
                places = nodes[picture][list(line.nodes)].T
                artist.set_data(places[0], places[1])
                if not planar:
                    artist.set_3d_properties(places[2])
        return [artist for lines in artists for artist in lines]

    rate = max(1, round((len(positions) - 1) / max(seconds, 1e-9)))
    writer = PillowWriter(fps=rate) if target.suffix.lower() == ".gif" else FFMpegWriter(fps=rate)
    FuncAnimation(figure, draw, frames=len(positions)).save(target, writer=writer)
    return target


def _layers(positions: NDArray[Any], ghost: NDArray[Any] | None) -> list[tuple[NDArray[Any], str]]:
    return ([] if ghost is None else [(ghost, "#c4ccd4")]) + [(positions, "")]


def _lines(axes: Any, drawing: Skeleton, planar: bool, nodes: NDArray[Any], color: str) -> list[Any]:
    colors = {"rigid": color or "#3b4a5a", "beam": color or "#1971c2"}
    empty: list[list[float]] = [[], []] if planar else [[], [], []]
    width = 2 if color else 4
    return [axes.plot(*empty, color=colors[line.kind], lw=width, solid_capstyle="round")[0] for line in drawing.lines]


def _box(positions: NDArray[Any]) -> tuple[NDArray[Any], float]:
    places = positions.reshape(-1, 3)
    low, high = np.nanmin(places, axis=0), np.nanmax(places, axis=0)
    return (low + high) / 2, max(0.55 * float((high - low).max()), 1e-9)
