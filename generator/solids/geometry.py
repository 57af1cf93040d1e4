"""The geometry of a link in a file: a surface, a STEP solid or tetrahedra, with its scale and its pose in the link."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from elastogen.generator.robot.location import Location
from elastogen.generator.solids.mesher import check_extra, filled, of_step
from elastogen.generator.solids.solid import Array, Solid
from elastogen.generator.solids.surfaces import Surface, check_closed, check_size, read_surface

SURFACES = ("stl", "obj", "ply", "off", "dae")
SOLIDS = ("step", "stp")
MESHES = ("msh", "inp", "vtk", "vtu", "bdf")
KINDS = (*SURFACES, *SOLIDS, *MESHES)
PER_SIZE = 8.5  # tetrahedra of size h in a volume h^3, roughly
_KNOWN = {"tetra", "tetra10", "triangle", "triangle6", "line", "line3", "vertex"}  # blocks that a mesh of tetrahedra may have
FLATTEST = 1e-4  # volume of an element by that of a regular one with its longest edge


@dataclass(frozen=True)
class Geometry:
    """A file's content, its ending, and how its lengths become those of the link frame: x = R (scale X) + p."""

    data: bytes
    kind: str
    scale: tuple[float, float, float]
    pose: tuple[tuple[float, ...], ...]
    mesher: str = "netgen"
    where: Location = field(default=Location(""), compare=False)

    @property
    def plain(self) -> list[Any]:
        """What it is beside the content, as plain data."""
        return [self.kind, self.scale, self.pose, self.mesher]

    def _placed(self, corners: Array) -> Array:
        pose = np.array(self.pose, dtype=float)
        placed: Array = (corners * np.array(self.scale)) @ pose[:3, :3].T + pose[:3, 3]
        return placed

    @cached_property
    def surface(self) -> Surface:
        """The checked surface, of a file that has one."""
        raw = read_surface(self.data, self.kind, self.where)
        mirrored = np.prod(self.scale) < 0  # as of the other leg of a robot: what faced outward does again
        surface = Surface(self._placed(raw.corners), raw.triangles[:, ::-1] if mirrored else raw.triangles)
        check_size(surface.corners, self.where)
        check_closed(surface, self.where)
        return surface

    @cached_property
    def _mesh(self) -> Solid:
        """The tetrahedra of a file that has them."""
        import meshio

        form = {"inp": "abaqus", "msh": "gmsh", "bdf": "nastran"}.get(self.kind, self.kind)
        with tempfile.TemporaryDirectory(prefix="elastogen-mesh-") as folder:
            path = Path(folder) / f"mesh.{self.kind}"
            path.write_bytes(self.data)
            try:
                found: Any = meshio.read(path, form)
            except (Exception, SystemExit) as problem:  # readers of foreign formats raise what they like
                reason = f"{type(problem).__name__}: {problem}"[:200]
                fix = "export it again, for gmsh as version 4.1 or 2.2"
                raise self.where.error(reason, f"a readable .{self.kind} file", fix) from None
        cells = [block.data[:, :4] for block in found.cells if block.type in ("tetra", "tetra10")]
        others = sorted({block.type for block in found.cells} - _KNOWN)
        if not cells or others:
            given = ", ".join(others) or "no solid elements"
            raise self.where.error(given, "tetrahedra (C3D4, C3D10, tetra, tetra10)", "mesh the solid with tetrahedra")
        solid = Solid.of(self._placed(np.asarray(found.points, dtype=float)[:, :3]), np.concatenate(cells).astype(np.int64))
        check_size(solid.corners, self.where)
        doubled = solid.crowded_face
        if doubled is not None:
            place = ", ".join(f"{x:.4g}" for x in doubled)
            raise self.where.error(
                f"more than two elements at one face, at [{place}] m",
                "elements that do not cover each other",
                "remove doubled elements: the same part may be in the file twice",
            )
        if solid.smallest < FLATTEST:
            raise self.where.error(f"an element of quality {solid.smallest:.2g}", f"above {FLATTEST:g}", "mesh the solid again")
        return solid

    def size_for(self, count: int) -> float:
        """The size of elements [m] of which about so many fill the solid."""
        check_extra(self.where)
        if self.kind in SURFACES:
            volume = self.surface.volume
        elif self.kind in SOLIDS:
            volume = self.meshed(0.0, self.where).volume
        else:
            volume = self._mesh.volume
        return float((PER_SIZE * volume / count) ** (1 / 3))

    def meshed(self, size: float, where: Location, near: Sequence[tuple[float, ...]] = ()) -> Solid:
        """In elements of a size [m]; of 0: as large as they can be; a mesh is as it is. ``near``: see ``filled``."""
        check_extra(self.where)
        if self.kind in SURFACES:
            return filled(self.surface, size, where, near)
        if self.kind in SOLIDS:
            coarse = self._coarse
            return self._of_step(size) if size else coarse
        return self._mesh

    @cached_property
    def _coarse(self) -> Solid:
        """A STEP solid in the largest elements: one in millimetres is named before small ones fill it for hours."""
        solid = self._of_step(0.0)
        check_size(solid.corners, self.where)
        return solid

    def _of_step(self, size: float) -> Solid:
        unit = abs(float(np.prod(self.scale))) ** (1 / 3)
        raw = of_step(self.data, size / unit if size else 1e9, self.mesher, self.where)
        return Solid.of(self._placed(raw.corners), raw.tetrahedra)

    @property
    def diagonal(self) -> float:
        """Of the bounding box of a surface [m]; 0 for others, which are meshed as they are."""
        return float(np.linalg.norm(np.ptp(self.surface.corners, axis=0))) if self.kind in SURFACES else 0.0

    @property
    def is_mesh(self) -> bool:
        """Whether the elements are the file's."""
        return self.kind in MESHES
