"""A recorded motion for the player of a page: where every node is in every picture, as base64 text."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

MOST_PICTURES = 1500
FEWEST_PICTURES = 40
MOST_NUMBERS = 180_000  # of all arrays together: 0.7 MB, 1 MB as text


@dataclass(frozen=True)
class Ghost:
    """A robot that is drawn so that others show through."""

    label: str
    positions: str = ""  # of its nodes; "": the robot without deformation


@dataclass(frozen=True)
class Recording:
    """The variables of ``pages/player.html.j2`` and ``pages/player_start.js.j2``; arrays are base64 of 32-bit floats."""

    id: str
    scene: str  # JSON
    nodes: int
    times: str
    positions: str
    still: str  # without deformation, at the same joint coordinates; "": the same as the positions
    ghosts: tuple[Ghost, ...]
    trace: str  # of the tip; "": none
    bends: bool
    factor: int  # of the deformation
    largest_factor: int
    speed: str
    skinned: bool = False  # whether links have meshes
    colours: str = ""  # what colours of flexible links show, in words
    strains: str = ""  # curvatures of the beams at their nodes, line after line [1/m]; "": nothing bends
    forces: str = ""  # of every velocity in every picture; "": unknown
    plots: str = "[]"  # JSON: what is plotted beside the motion
    frames_shown: bool = False  # at first
    points: str = ""  # places of points in every picture
    point_names: str = "[]"


def chosen_pictures(count: int, nodes: int, numbers: int = MOST_NUMBERS) -> NDArray[np.intp]:
    """Which samples become pictures: all, or evenly chosen ones where so many nodes would need more numbers."""
    most = max(FEWEST_PICTURES, min(MOST_PICTURES, numbers // (3 * max(nodes, 1))))
    if count <= most:
        return np.arange(count)
    return np.unique(np.round(np.linspace(0, count - 1, most)).astype(np.intp))


def text(array: NDArray[Any]) -> str:
    """Numbers as little-endian 32-bit floats in base64."""
    return base64.b64encode(np.ascontiguousarray(array, dtype="<f4").tobytes()).decode("ascii")
