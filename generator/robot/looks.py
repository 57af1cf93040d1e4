"""How links look: mesh files that a description names. They shape no code."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Look:
    """A mesh of a link, as a URDF names it: ``package://...``, ``file://...`` or a path beside the description."""

    link: str
    mesh: str
    pose: tuple[tuple[float, ...], ...]  # 4x4, of the mesh in the link's frame
    scale: tuple[float, float, float]
    folder: str  # of the description
