"""Surfaces of boxes, cylinders, capsules and ellipsoids as triangles that face outward."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

ROUND = 32  # corners of a circle
HALF = 8  # rings from a pole to the equator

Surface = tuple[NDArray[np.float64], NDArray[np.uint32]]


def primitive_surface(shape: str, size: tuple[float, float, float]) -> Surface:
    """Vertices (n, 3) and triangles (m, 3) of a primitive amid the origin, its axis z; for sizes see ``Look`` [m]."""
    x, y, z = size
    if shape == "box":
        low, high = np.array([-x, -y, -z]) / 2, np.array([x, y, z]) / 2
        corners = np.array([[(low, high)[i >> k & 1][k] for k in range(3)] for i in range(8)])
        sides = [(0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)]
        return corners, np.array([t for a, b, c, d in sides for t in ((a, b, c), (a, c, d))], dtype=np.uint32)
    if shape == "cylinder":
        return _turned([(0.0, -z / 2), (x, -z / 2), (x, z / 2), (0.0, z / 2)], y / x)
    angles = np.linspace(0.0, np.pi / 2, HALF + 1)
    if shape == "capsule":
        lower = [(x * np.sin(a), -z / 2 - x * np.cos(a)) for a in angles]
        return _turned([*lower, *((r, -h) for r, h in reversed(lower))], y / x)
    whole = np.linspace(0.0, np.pi, 2 * HALF + 1)
    return _turned([(x * np.sin(a), -z * np.cos(a)) for a in whole], y / x)


def _turned(outline: list[tuple[Any, Any]], widened: float) -> Surface:
    """What an outline (radius, height), upward, makes when it rotates about z; ``widened`` along y."""
    around = np.linspace(0.0, 2.0 * np.pi, ROUND, endpoint=False)
    rings = [np.stack([r * np.cos(around), widened * r * np.sin(around), np.full(ROUND, h)], axis=-1) for r, h in outline]
    k, i = (part.ravel() for part in np.meshgrid(np.arange(len(outline) - 1), np.arange(ROUND), indexing="ij"))
    a, b = k * ROUND + i, k * ROUND + (i + 1) % ROUND
    c, d = a + ROUND, b + ROUND
    vertices, triangles = np.concatenate(rings), np.concatenate([np.stack([a, b, d], -1), np.stack([a, d, c], -1)])
    p, q, r = vertices[triangles].transpose(1, 0, 2)
    areas = np.linalg.norm(np.cross(q - p, r - p), axis=1)
    return vertices, triangles[areas > 1e-12 * areas.max()].astype(np.uint32)
