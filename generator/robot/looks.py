"""Looks of links: meshes and primitives of a description, for pictures and for links made flexible by meshes."""

from __future__ import annotations

import os
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Look:
    """A mesh of a link, as a URDF names it: ``package://...``, ``file://...`` or a path beside the description; or a primitive.

    A primitive has no mesh: its ``shape`` is box (``scale``: its sides), cylinder or capsule (radius, radius, length along z
    without the round ends) or sphere (radius thrice; an ellipsoid with three of its own) [m].
    """

    link: str
    mesh: str
    pose: tuple[tuple[float, ...], ...]  # 4x4, of the mesh in the link's frame
    scale: tuple[float, float, float]
    folder: str  # of the description
    role: str = "visual"  # or "collision"
    shape: str = "mesh"
    color: tuple[float, float, float, float] | None = None  # red, green, blue, opacity, 0 to 1

    def path(self, endings: Collection[str]) -> Path | None:
        """The file that the name stands for: beside the description, or in a package above it or on ROS_PACKAGE_PATH."""
        name, folder = self.mesh, Path(self.folder)
        if name.startswith("package://"):
            package, _, inside = name.removeprefix("package://").partition("/")
            above = [folder, *folder.parents]
            roots = [root for root in above if root.name == package] + [root / package for root in above]
            roots += [Path(root) / package for root in os.environ.get("ROS_PACKAGE_PATH", "").split(os.pathsep) if root]
            places = [root / inside for root in roots]
        else:
            places = [folder / name.removeprefix("file://")]
        return next((place for place in places if place.suffix.lower() in endings and place.is_file()), None)
