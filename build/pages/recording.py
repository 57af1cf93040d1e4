"""A recorded motion for the player of a page: where every node is in every picture, as base64 text."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

MOST_PICTURES = 1500
MOST_NUMBERS = 600_000  # of one array: 2.4 MB, 3.2 MB as text


@dataclass(frozen=True)
class Recording:
    """The variables of ``pages/player.html.j2`` and ``pages/player_start.js.j2``; arrays are base64 of 32-bit floats."""

    id: str
    scene: str  # JSON
    nodes: int
    times: str
    positions: str
    still: str  # without deformation, at the same joint coordinates; "": the same as the positions
    ghost: str  # "": the one without deformation, where there is a label
    ghost_label: str  # "": no ghost
    trace: str  # of the tip; "": none
    bends: bool
    factor: int  # of the deformation
    largest_factor: int
    speed: str
    frames: str = ""  # 3 rows of 4 of every frame in every picture; "": none
    frame_names: str = "[]"  # JSON
    frames_shown: bool = False  # at first
    points: str = ""  # places of points in every picture
    point_names: str = "[]"


def chosen_pictures(count: int, nodes: int) -> NDArray[np.intp]:
    """Which samples become pictures: all, or evenly chosen ones where a page would grow too large."""
    most = max(2, min(MOST_PICTURES, MOST_NUMBERS // (3 * max(nodes, 1))))
    if count <= most:
        return np.arange(count)
    return np.unique(np.round(np.linspace(0, count - 1, most)).astype(np.intp))


def text(array: NDArray[Any]) -> str:
    """Numbers as little-endian 32-bit floats in base64."""
    return base64.b64encode(np.ascontiguousarray(array, dtype="<f4").tobytes()).decode("ascii")
