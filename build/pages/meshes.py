"""Meshes of links for pages: found beside the description, read by trimesh (the extra ``meshes``), thinned for a page."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elastogen.build.pages.primitives import primitive_surface
from elastogen.generator.robot.looks import Look

GREY = (0.62, 0.67, 0.72, 1.0)
KINDS = (".stl", ".obj", ".dae")
MOST_BYTES = 100 << 20  # of one file
MOST_TRIANGLES = 60_000  # of a page: about 1.5 MB as text
FEWEST_TRIANGLES = 60  # that a mesh keeps
COARSER = 0.8  # cells along a mesh's longest side, from one trial to the next
EXTRA = "meshes need trimesh. Fix: pip install 'elastogen[meshes]'"


@dataclass(frozen=True)
class Mesh:
    """A thinned mesh in the frame of its link [m]."""

    link: str
    vertices: NDArray[np.float32]  # (n, 3)
    triangles: NDArray[np.uint32]  # (m, 3)
    color: tuple[float, ...] = GREY  # red, green, blue, opacity, 0 to 1

    def plain(self, nodes: Sequence[int]) -> dict[str, Any]:
        """For the viewer: the nodes are those at the frame's origin and one metre along y and z."""
        text = {"vertices": self.vertices.astype("<f4"), "triangles": self.triangles.astype("<u4")}
        return {
            "nodes": list(nodes),
            "color": list(self.color),
            **{key: base64.b64encode(array.tobytes()).decode() for key, array in text.items()},
        }


@dataclass(frozen=True)
class Meshes:
    """The meshes of a robot, and a sentence about those that are not drawn or not as they are."""

    found: tuple[Mesh, ...] = ()
    note: str = ""


def load_meshes(looks: Sequence[Look]) -> Meshes:
    """Read what can be found; a note names what cannot, and its link stays a line."""
    shapes = tuple(placed(look, *primitive_surface(look.shape, look.scale)) for look in looks if look.shape != "mesh")
    files = [look for look in looks if look.shape == "mesh"]
    if files and find_spec("trimesh") is None:
        return Meshes(shapes, f"Links are drawn as lines: {EXTRA}.")
    whole, missing = [], []
    for look in files:
        mesh = _read(look)
        if mesh is None:
            missing.append(look.mesh)
        else:
            whole.append(mesh)
    total = sum(len(mesh.triangles) for mesh in whole)
    thinned = tuple(_thinned(whole)) if total > MOST_TRIANGLES else tuple(whole)
    words = []
    if total > MOST_TRIANGLES:
        left = sum(len(mesh.triangles) for mesh in thinned)
        words.append(f"The meshes of {total} triangles are drawn with {left}, to keep the page small.")
    if missing:
        first = f"{missing[0]!r}" + (f" and {len(missing) - 1} more" if len(missing) > 1 else "")
        words.append(f"Drawn as lines, since no readable mesh was found: {first}.")
    return Meshes((*shapes, *thinned), " ".join(words))


def _read(look: Look) -> Mesh | None:
    """A whole mesh in its link's frame; None: not found, too large, or nothing that trimesh can read."""
    import trimesh

    path = look.path(KINDS)
    try:
        if path is None or path.stat().st_size > MOST_BYTES:
            return None
        data, kind = path.read_bytes(), path.suffix.lower().removeprefix(".")
        if kind == "dae" and b"<!ENTITY" in data:
            return None
        loaded: Any = trimesh.load(io.BytesIO(data), file_type=kind, force="mesh", process=False)
        vertices = np.asarray(loaded.vertices, dtype=np.float64).reshape(-1, 3)
        triangles = np.asarray(loaded.faces, dtype=np.uint32).reshape(-1, 3)
    except Exception:  # readers of foreign formats raise what they like; a picture is not worth a failure
        return None
    if not len(triangles) or not np.all(np.isfinite(vertices)):
        return None
    corners, numbers = np.unique(vertices, axis=0, return_inverse=True)  # an STL repeats every corner
    return placed(look, corners * look.scale, numbers.reshape(-1)[triangles])


def placed(look: Look, vertices: NDArray[Any], triangles: NDArray[Any]) -> Mesh:
    """A mesh [m] in the frame of its link."""
    pose = np.array(look.pose)
    moved = vertices @ pose[:3, :3].T + pose[:3, 3]
    return Mesh(look.link, moved.astype(np.float32), triangles.astype(np.uint32), look.color or GREY)


def _thinned(whole: Sequence[Mesh]) -> Iterator[Mesh]:
    """Meshes with no more triangles together than a page may have; large ones give up the most."""
    weights = np.sqrt([len(mesh.triangles) for mesh in whole])
    for mesh, share in zip(whole, weights / weights.sum(), strict=True):
        yield thinned(mesh, max(FEWEST_TRIANGLES, int(share * MOST_TRIANGLES)))


def thinned(mesh: Mesh, most: int) -> Mesh:
    """The mesh with about so many triangles: by quadric errors where fast-simplification is there, else on a grid."""
    if len(mesh.triangles) <= most:
        return mesh
    if find_spec("fast_simplification") is not None:
        from fast_simplification import simplify

        vertices, triangles = simplify(mesh.vertices, mesh.triangles.astype(np.int32), target_count=most)
        if 0 < len(triangles) <= 1.2 * most:
            return replace(mesh, vertices=vertices.astype(np.float32), triangles=triangles.astype(np.uint32))
    return merged(mesh, most)


def merged(mesh: Mesh, most: int) -> Mesh:
    """Vertices within one cell of a grid become one, at their mean; the grid is made coarser until few triangles are left."""
    low, side = mesh.vertices.min(axis=0), max(float(np.ptp(mesh.vertices, axis=0).max()), 1e-12)
    cells = 2.0 * np.sqrt(most)  # a square of so many cells has twice as many triangles as wanted
    while len(mesh.triangles) > most and cells >= 1:
        keys = np.floor((mesh.vertices - low) / (side / cells)).astype(np.int64)
        span = int(cells) + 2
        _, cell, count = np.unique(
            (keys[:, 0] * span + keys[:, 1]) * span + keys[:, 2], return_inverse=True, return_counts=True
        )
        moved = cell.reshape(-1)[mesh.triangles].astype(np.int64)
        a, b, c = moved.T
        moved = moved[(a != b) & (b != c) & (a != c)]
        _, first = np.unique((moved[:, 0] * len(count) + moved[:, 1]) * len(count) + moved[:, 2], return_index=True)
        if len(first) <= most:
            means = [np.bincount(cell.reshape(-1), weights=axis) / count for axis in mesh.vertices.T.astype(float)]
            return replace(mesh, vertices=np.stack(means, axis=-1).astype(np.float32), triangles=moved[first].astype(np.uint32))
        cells *= COARSER
    return mesh
