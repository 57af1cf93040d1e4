"""The plane that points of a robot touch, in emitted code and in the runtime."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Plane:
    """The plane normal . x = height, and the points or spheres that touch it."""

    frames: tuple[str, ...]
    radii: tuple[float, ...]  # [m]
    normal: tuple[float, float, float]
    height: float  # [m]

    @classmethod
    def read(cls, data: Any) -> Plane:
        """Read the plane from the metadata of a model."""
        points, normal, height = data
        frames, radii = zip(*points, strict=True)
        return cls(tuple(frames), tuple(radii), tuple(normal), float(height))
