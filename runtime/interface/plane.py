"""The plane that points of a robot touch, in emitted code and in the runtime."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal


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


@dataclass(frozen=True)
class GroundEvent:
    """A point touches the ground, or lifts off."""

    time: float  # [s]
    frame: str
    kind: Literal["touch", "lift"]
    speed: float  # along the normal, away from the ground [m/s]
    motion: tuple[int, ...] = ()
    """Which motion of a batch."""
