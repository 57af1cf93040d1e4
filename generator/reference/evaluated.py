"""A description along a motion: poses of its frames, and its bodies as points P rho."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from elastogen.generator.program.numbers.jets import Jet
from elastogen.generator.reference.matrix_series import MatrixSeries

Array = npt.NDArray[np.float64]
ROUNDED = 1e-5  # of the length of a vector: a thousand roundings of it are 1e-9 of this


@dataclass(frozen=True)
class BodySeries:
    """Points P rho of a body, and G = int rho rho^T dm, or the masses of single points (then G is diagonal)."""

    P: MatrixSeries
    G: Array
    G_slope: Array | None = None  # of masses that change along the direction
    link: str = ""  # that it belongs to
    kind: str = "rigid"  # "rigid" on the link, "tip" of it, "flexible", or "payload"

    def weighted(self, P: Array) -> Array:
        """P G."""
        return P * self.G[..., None, :] if self.G_slope is not None else P @ self.G

    def magnitude(self, P: Array) -> Array:
        """P |G|."""
        return replace(self, G=np.abs(self.G)).weighted(P)


def extent(vectors: Array, axis: int = -1) -> Array:
    """The size of each component: at least a part of the length, since frames that are turned a little round them all."""
    found: Array = np.maximum(np.abs(vectors), ROUNDED * np.linalg.norm(vectors, axis=axis, keepdims=True))
    return found


@dataclass(frozen=True)
class Evaluated:
    """Poses (.., 4, 4) of links and of their ends, the tip, and the bodies."""

    links: dict[str, MatrixSeries]
    tip: MatrixSeries
    bodies: list[BodySeries]
    ends: dict[tuple[str, str], MatrixSeries]  # by link and interface
    seats: dict[str, MatrixSeries]  # of joints: where they sit, before they move
    q: Sequence[Jet]  # the coordinates along the motion
