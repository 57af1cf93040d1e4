"""Surfaces of links by meshes for pages: they bend with the nodes of the drawing, and their strains are their colours.

Nodes of the drawing are points of the robot. Three that the link's own joint holds carry its frame, nearly; these and some
others, whose displacements tell all elastic coordinates apart, give frame and coordinates by least squares in the page, and
with them every corner of the surface.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elastogen.generator.solids.drawn_surface import DrawnSurface
from elastogen.generator.solids.interfaces import rigid_motions
from elastogen.generator.solids.request import Found

LEAST_HELD = 6  # nodes of a face
LEAST_MOVED = 40
MORE = 2  # nodes beyond as many as there are coordinates
Array = NDArray[np.float64]


@dataclass(frozen=True)
class ElasticSkin:
    """The surface of a link, and which places of it are nodes of the drawing."""

    surface: DrawnSurface
    places: Array  # (3 + n, 3) [m] in the frame of the link: of the frame's nodes, then of those that bend
    shapes: Array  # (3 + n, 3, k): their displacements by every coordinate

    def plain(self, nodes: Sequence[int]) -> dict[str, Any]:
        """For the viewer; ``nodes`` are those of the places."""
        moved = np.hstack([rigid_motions(self.places), self.shapes.reshape(-1, self.shapes.shape[2])])
        numbers = {
            "vertices": self.surface.vertices,
            "displacements": self.surface.displacements,
            "strains": self.surface.strains,
            "places": self.places,
            "solution": np.linalg.pinv(moved),
        }
        text = {key: base64.b64encode(np.ascontiguousarray(a, dtype="<f4").tobytes()).decode() for key, a in numbers.items()}
        triangles = base64.b64encode(self.surface.triangles.astype("<u4").tobytes()).decode()
        return {"nodes": list(nodes), "modes": self.shapes.shape[2], "triangles": triangles, **text}


def elastic_skin(solid: Found) -> ElasticSkin | None:
    """The skin of a solid; None of matrices, which have no surface."""
    surface = solid.drawn
    if surface is None:
        return None
    sizes = np.linalg.norm(solid.shapes, axis=1).max(axis=1)
    held = np.flatnonzero(sizes <= 1e-9 * sizes.max())
    if len(held) < LEAST_HELD:  # a joint that holds the mean of its nodes
        held = np.argsort(sizes, kind="stable")[:LEAST_MOVED]
    frame = held[_spread(solid.nodes[held])]
    found = [*frame, *_telling(solid.shapes)]
    return ElasticSkin(surface, solid.nodes[found], solid.shapes[found])


def _spread(points: Array) -> list[int]:
    """Three points that are far from each other and not on one line."""
    first = int(np.argmax(np.linalg.norm(points - points.mean(axis=0), axis=1)))
    second = int(np.argmax(np.linalg.norm(points - points[first], axis=1)))
    return [
        first,
        second,
        int(np.argmax(np.linalg.norm(np.cross(points - points[first], points[second] - points[first]), axis=1))),
    ]


def _telling(shapes: Array) -> list[int]:
    """Nodes of which one after the other moves most by what the ones before leave unknown."""
    left, found = shapes.copy(), list[int]()
    for _ in range(shapes.shape[2]):
        node = int(np.argmax(np.linalg.norm(left, axis=(1, 2))))
        if not np.any(left[node]):
            break
        found.append(node)
        known = np.linalg.qr(left[node].T)[0]  # directions of the coordinates
        left = left - (left @ known) @ known.T
        if np.linalg.norm(left) < 1e-9 * np.linalg.norm(shapes):
            break
    for node in np.argsort(-np.linalg.norm(shapes, axis=(1, 2)), kind="stable"):
        if len(found) >= shapes.shape[2] + MORE:
            break
        if node not in found:
            found.append(int(node))
    return found
