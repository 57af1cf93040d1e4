"""Meshes of links for pages: found beside the description, read by trimesh (the extra ``meshes``), thinned for a page."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elastogen.build.pages.primitives import primitive_surface
from elastogen.generator.robot.looks import Look

Color = tuple[float, float, float, float]
Surface = tuple[NDArray[Any], NDArray[Any]]
GREY = (0.62, 0.67, 0.72, 1.0)
KINDS = (".stl", ".obj", ".dae", ".ply")
MOST_BYTES = 256 << 20  # of one file
MOST_MATERIAL = 1 << 20  # bytes of a material file
MOST_READ = 300_000  # triangles of one file that are kept for thinning
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
    color: Color = GREY  # red, green, blue, opacity, 0 to 1

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
    whole, missing, unread, large, total = list[Mesh](), list[str](), list[str](), list[str](), 0
    known: dict[tuple[Path, tuple[float, ...], Color | None], tuple[list[Mesh], int]] = {}  # a file of two links is read once
    for look in files:
        path = look.path(KINDS)
        if path is not None and path.stat().st_size > MOST_BYTES:
            large.append(look.mesh)
            continue
        found, count = list[Mesh](), 0
        if path is not None:
            key = (path, tuple(look.scale), look.color)
            if key not in known:
                known[key] = _read(look, path)
            found, count = known[key]
        whole += (placed(look, mesh.vertices, mesh.triangles, mesh.color) for mesh in found)
        total += count
        if not found:
            (missing if path is None else unread).append(look.mesh)
    thin = sum(len(mesh.triangles) for mesh in whole) > MOST_TRIANGLES
    drawn = tuple(_thinned(whole)) if thin else tuple(whole)
    left, words = sum(len(mesh.triangles) for mesh in drawn), []
    if left < total:
        words.append(f"The meshes of {total} triangles are drawn with {left}, to keep the page small.")
    if missing:
        words.append(f"Drawn as lines, since no file was found: {_first(missing)}.")
    if unread:
        collada = any(name.lower().endswith(".dae") for name in unread) and find_spec("collada") is None
        fix = " .dae files need pycollada. Fix: pip install 'elastogen[meshes]'." if collada else ""
        words.append(f"Drawn as lines, since they could not be read: {_first(unread)}.{fix}")
    if large:
        words.append(f"Drawn as lines, since files above {MOST_BYTES >> 20} MiB are not read: {_first(large)}.")
    return Meshes((*shapes, *drawn), " ".join(words))


def _first(names: Sequence[str]) -> str:
    return f"{names[0]!r}" + (f" and {len(names) - 1} more" if len(names) > 1 else "")


def _read(look: Look, path: Path) -> tuple[list[Mesh], int]:
    """The parts of a file in its own frame, one for each colour, and its number of triangles; none: nothing to be read."""
    import trimesh

    try:
        data, kind = path.read_bytes(), path.suffix.lower().removeprefix(".")
        if kind == "dae" and b"<!ENTITY" in data:
            return [], 0
        scene: Any = trimesh.load(io.BytesIO(data), file_type=kind, process=False, resolver=_materials(path))
        parts = scene.dump() if isinstance(scene, trimesh.Scene) else [scene]
        surfaces = [_surface(part) for part in parts if isinstance(part, trimesh.Trimesh) and len(part.faces)]
    except Exception:  # readers of foreign formats raise what they like; a picture is not worth a failure
        return [], 0
    if not surfaces or not all(np.all(np.isfinite(vertices)) for vertices, _, _ in surfaces):
        return [], 0
    colors = {color for _, _, color in surfaces if color is not None}
    own = len(colors) > 1 or look.color is None  # the description's colour is for files that have none, or one
    groups: dict[Color | None, list[Surface]] = {}
    for vertices, triangles, color in surfaces:
        groups.setdefault(color if own else look.color, []).append((vertices, triangles))
    found = [Mesh(look.link, *_joined(group, look.scale), color or GREY) for color, group in groups.items()]
    return found, sum(len(triangles) for _, triangles, _ in surfaces)


def _materials(path: Path) -> dict[str, bytes]:
    """The material files beside a mesh, by name: all that its reader may open."""
    if path.suffix.lower() != ".obj":
        return {}
    files = [file for file in path.parent.iterdir() if file.suffix.lower() == ".mtl" and file.is_file()]
    return {file.name: file.read_bytes() for file in files if file.stat().st_size <= MOST_MATERIAL}


def _surface(part: Any) -> tuple[NDArray[Any], NDArray[Any], Color | None]:
    """Vertices, triangles and the colour of one part of a file; None where its material has a picture, or there is none."""
    vertices, triangles = np.asarray(part.vertices, dtype=float), np.asarray(part.faces, dtype=np.int64)
    visual = part.visual
    material = getattr(visual, "material", None) if visual.defined else None
    if material is None or getattr(material, "image", None) is not None:
        return vertices, triangles, None
    if type(material).__name__ == "SimpleMaterial" and not material.name:  # an .obj without its material file
        return vertices, triangles, None
    r, g, b, a = (round(float(value) / 255, 3) for value in material.main_color)
    return vertices, triangles, (r, g, b, a if a > 0 else 1.0)  # writers of COLLADA disagree on what 0 means


def _joined(group: Sequence[Surface], scale: Sequence[float]) -> Surface:
    """Parts as one, each corner once, and small enough for what follows."""
    starts = np.cumsum([0, *(len(vertices) for vertices, _ in group)])
    vertices = np.concatenate([vertices for vertices, _ in group]) * scale
    triangles = np.concatenate([triangles + start for (_, triangles), start in zip(group, starts, strict=False)])
    if len(triangles) > MOST_READ:
        coarse = merged(Mesh("", vertices.astype(np.float32), triangles.astype(np.uint32)), MOST_READ)
        return coarse.vertices, coarse.triangles
    corners, numbers = np.unique(vertices, axis=0, return_inverse=True)  # an STL repeats every corner
    return corners, numbers.reshape(-1)[triangles]


def placed(look: Look, vertices: NDArray[Any], triangles: NDArray[Any], color: Color | None = None) -> Mesh:
    """A mesh [m] in the frame of its link, in the description's colour unless one is given."""
    pose = np.array(look.pose)
    moved = vertices @ pose[:3, :3].T + pose[:3, 3]
    return Mesh(look.link, moved.astype(np.float32), triangles.astype(np.uint32), color or look.color or GREY)


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
