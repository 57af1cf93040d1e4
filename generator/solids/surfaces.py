"""Closed surfaces of triangles from files: read by trimesh, and what is wrong with them named with its place."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import Any

import numpy as np

from elastogen.generator.robot.location import Location
from elastogen.generator.solids.solid import Array, Indices

LONGEST = 20.0  # [m]: a longer link is one in millimetres
SHORTEST = 1e-3  # [m]
MOST_PAIRS = 4_000_000  # of an edge and a triangle that are tried for crossings


@dataclass(frozen=True)
class Surface:
    """Triangles, counterclockwise from outside: corners [m] in the link frame."""

    corners: Array
    triangles: Indices

    @property
    def volume(self) -> float:
        """Inside [m^3]; negative where the triangles face inward."""
        return _volume(self.corners, self.triangles)


def _volume(corners: Array, triangles: Indices) -> float:
    a, b, c = (corners[triangles[:, k]] for k in range(3))
    return float(np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6)


def read_surface(data: bytes, kind: str, where: Location) -> Surface:
    """The triangles of a file of that ending, as it has them; corners at one place become one."""
    import trimesh

    if kind == "dae" and b"<!ENTITY" in data:
        raise where.error("<!ENTITY", "a .dae file without entities, which grow without limit", "export it again")
    try:
        loaded: Any = trimesh.load(io.BytesIO(data), file_type=kind, force="mesh", process=True)
        loaded.merge_vertices(merge_norm=True, merge_tex=True)
        corners = np.asarray(loaded.vertices, dtype=np.float64).reshape(-1, 3)
        triangles = np.asarray(loaded.faces, dtype=np.int64).reshape(-1, 3)
    except Exception as problem:  # readers of foreign formats raise what they like
        raise where.error(f"{type(problem).__name__}: {problem}", f"a readable .{kind} file", "export it again") from None
    if not len(triangles) or not np.isfinite(corners).all():
        raise where.error("no triangles", "a surface of triangles with finite corners", "export the solid again")
    a, b, c = triangles.T
    return Surface(corners, triangles[(a != b) & (b != c) & (a != c)])


def check_size(corners: Array, where: Location) -> None:
    """Refuse a link that is hundreds of metres or less than a millimetre long."""
    bad = np.flatnonzero(~np.isfinite(corners).all(axis=1))
    if len(bad):
        given = f"{len(bad)} nodes that are not finite, the first is number {int(bad[0]) + 1} of those in use"
        raise where.error(given, "finite coordinates", "export the mesh again")
    size = np.ptp(corners, axis=0)
    longest = float(size.max())
    if not SHORTEST <= longest <= LONGEST:
        unit, factor = ("millimetres", 0.001) if longest > LONGEST else ("kilometres", 1000.0)
        raise where.error(
            f"a solid of {' x '.join(f'{x:.4g}' for x in size)} m",
            f"a link of {SHORTEST:g} to {LONGEST:g} m",
            f"if the file is in {unit}, give scale: {factor:g}",
        )


def check_closed(surface: Surface, where: Location) -> None:
    """Refuse surfaces that are open, face inward or both ways, or bound several solids."""
    edges = np.sort(np.concatenate([surface.triangles[:, [k, (k + 1) % 3]] for k in range(3)]), axis=1)
    unique, count = np.unique(edges, axis=0, return_counts=True)
    if (count == 1).any():
        loose = unique[count == 1]
        raise where.error(
            f"an open surface: {len(loose)} edges with one triangle, the first at {_middle(surface, loose[0])}",
            "a closed surface",
            "close the holes, or export the solid again (in CAD as a solid, not as faces)",
        )
    if (count > 2).any():
        raise where.error(
            f"an edge with {int(count.max())} triangles at {_middle(surface, unique[count > 2][0])}",
            "two triangles at every edge",
            "remove doubled or inner faces; parts that touch along an edge are several solids",
        )
    directed = np.concatenate([surface.triangles[:, [k, (k + 1) % 3]] for k in range(3)])
    _, same = np.unique(directed, axis=0, return_counts=True)
    if (same > 1).any():
        twice = np.unique(directed, axis=0)[same > 1][0]
        raise where.error(
            f"neighbouring triangles that face opposite sides at {_middle(surface, twice)}",
            "triangles that all face outward",
            "make the normals consistent (for example by trimesh.repair.fix_normals)",
        )
    _check_bodies(surface, where)


def _check_bodies(surface: Surface, where: Location) -> None:
    """One body outward; bodies inward inside of it are cavities."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    a, b = surface.triangles[:, [0, 0]].ravel(), surface.triangles[:, 1:].ravel()
    joined = coo_matrix((np.ones(len(a)), (a, b)), shape=(len(surface.corners),) * 2)
    labels = connected_components(joined, directed=False)[1][surface.triangles[:, 0]]
    outward, cavities, outer = [], [], np.zeros((0, 3), dtype=np.int64)
    for label in np.unique(labels):
        own = surface.triangles[labels == label]
        if _volume(surface.corners, own) > 0:
            outward.append(surface.corners[np.unique(own)].mean(axis=0))
            outer = own
        else:
            cavities.append(own)
    if not outward:
        raise where.error(
            f"a surface turned inside out (volume {surface.volume:.4g} m^3)",
            "triangles that face outward",
            "flip the normals in the program that wrote the file",
        )
    if len(outward) > 1:
        shown = "; ".join(np.array2string(place, precision=4, separator=", ") for place in outward[:4])
        raise where.error(
            f"{len(outward)} solids, with centres at {shown} m",
            "one solid",
            "join them in CAD, or export the one that carries the load",
        )
    for own in cavities:
        if _turns(surface.corners[own[0, 0]], surface.corners, outer) < 0.5:
            centre = np.array2string(surface.corners[np.unique(own)].mean(axis=0), precision=4, separator=", ")
            raise where.error(
                f"a part turned inside out beside the solid, with its centre at {centre} m",
                "one solid; inside of it, cavities may be turned",
                "flip its normals and join both in CAD, or remove it",
            )


def _turns(place: Array, corners: Array, triangles: Indices) -> float:
    """How often a closed surface winds around a place: 1 inside, 0 outside; by solid angles (van Oosterom and Strackee)."""
    a, b, c = (corners[triangles[:, k]] - place for k in range(3))
    la, lb, lc = (np.linalg.norm(side, axis=1) for side in (a, b, c))
    over = np.einsum("ij,ij->i", a, np.cross(b, c))
    pairs = [np.einsum("ij,ij->i", x, y) for x, y in ((a, b), (b, c), (c, a))]
    return float(np.arctan2(over, la * lb * lc + pairs[0] * lc + pairs[1] * la + pairs[2] * lb).sum() / (2 * np.pi))


def crossing(surface: Surface) -> Array | None:
    """A place where the surface goes through itself, if there is one: every edge against every triangle it may meet."""
    from scipy.spatial import cKDTree

    corners, triangles = surface.corners, surface.triangles
    edges = np.unique(np.sort(np.concatenate([triangles[:, [k, (k + 1) % 3]] for k in range(3)]), axis=1), axis=0)
    p, q = corners[edges[:, 0]], corners[edges[:, 1]]
    a, b, c = (corners[triangles[:, k]] for k in range(3))
    centre, reach = (a + b + c) / 3, np.max([np.linalg.norm(x - (a + b + c) / 3, axis=1) for x in (a, b, c)], axis=0)
    tree = cKDTree((p + q) / 2)
    half = float(np.linalg.norm(q - p, axis=1).max()) / 2
    tried = 0
    for k in range(len(triangles)):
        near = np.array(tree.query_ball_point(centre[k], reach[k] + half), dtype=np.int64)
        tried += len(near)
        if tried > MOST_PAIRS:
            return None
        near = near[~np.isin(edges[near], triangles[k]).any(axis=1)]
        found = _through(p[near], q[near], a[k], b[k], c[k])
        if found is not None:
            return found
    return None


def _through(p: Array, q: Array, a: Array, b: Array, c: Array) -> Array | None:
    """Where a segment goes through the inside of a triangle."""
    normal = np.cross(b - a, c - a)
    before, after = (p - a) @ normal, (q - a) @ normal
    through = before * after < 0
    if not through.any():
        return None
    share = before[through] / (before[through] - after[through])
    place = p[through] + share[:, None] * (q[through] - p[through])
    inside = np.ones(len(place), dtype=bool)
    for start, end in ((a, b), (b, c), (c, a)):
        inside &= np.cross(end - start, place - start) @ normal > 1e-9 * float(normal @ normal)
    return place[inside][0] if inside.any() else None


def _middle(surface: Surface, edge: Indices) -> str:
    place = surface.corners[edge].mean(axis=0)
    return "[" + ", ".join(f"{x:.4g}" for x in place) + "] m"
