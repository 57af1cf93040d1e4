"""Tetrahedra from geometry: Netgen in a process of its own, or gmsh where it is installed as a program."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from elastogen.generator.robot.location import Location
from elastogen.generator.solids import netgen_process
from elastogen.generator.solids.solid import Solid
from elastogen.generator.solids.surfaces import Surface, crossing

SECONDS = 300.0
EXTRA = "pip install 'elastogen[mesh]'"
FILLED = 0.02  # relative: tetrahedra of another volume than their surface do not fill it
SMALLER = 1.6  # from one trial to the next, where large elements cut off too much of a round surface
TRIALS = 4


def check_extra(where: Location) -> None:
    """Refuse to go on without what meshes need."""
    for module, package in (("skfem", "scikit-fem"), ("scipy", "scipy"), ("trimesh", "trimesh"), ("meshio", "meshio")):
        if find_spec(module) is None:
            raise where.error(f"no {package}", "the packages that links by meshes need", EXTRA)


def filled(surface: Surface, size: float, where: Location, near: Sequence[tuple[float, ...]] = ()) -> Solid:
    """The inside of a closed surface in elements of a size [m]; ``near`` has points (x, y, z) and smaller sizes around them."""
    with tempfile.TemporaryDirectory(prefix="elastogen-mesh-") as folder:
        path = Path(folder) / "surface.stl"
        path.write_bytes(_binary_stl(surface))
        text = ""
        for trial in range(TRIALS):
            try:
                solid = _by_netgen(path, "stl", size / SMALLER**trial, Path(folder), where, near)
            except MeshingError as problem:
                text = str(problem)
                continue
            if abs(solid.volume / surface.volume - 1) <= FILLED:
                return solid
            text = f"tetrahedra of {solid.volume:.4g} m^3 in a surface of {surface.volume:.4g} m^3"
    raise _blamed(surface, text, where)


def of_step(data: bytes, size: float, mesher: str, where: Location) -> Solid:
    """The solid of a STEP file in elements of a size, in the file's lengths."""
    with tempfile.TemporaryDirectory(prefix="elastogen-mesh-") as folder:
        path = Path(folder) / "solid.step"
        path.write_bytes(data)
        try:
            make = _by_gmsh if mesher == "gmsh" else _by_netgen
            return make(path, "step", size, Path(folder), where)
        except MeshingError as problem:
            raise where.error(
                str(problem), "a STEP file with one solid", "check the solid in CAD, or give another size:"
            ) from None


class MeshingError(Exception):
    """What a mesher said."""


def _by_netgen(
    path: Path, kind: str, size: float, folder: Path, where: Location, near: Sequence[tuple[float, ...]] = ()
) -> Solid:
    if find_spec("netgen") is None:
        raise where.error("no netgen-mesher", "the mesher of the extra mesh", EXTRA)
    out = folder / "solid.npz"
    places = ";".join(",".join(repr(float(x)) for x in place) for place in near)
    _run([sys.executable, netgen_process.__file__, str(path), kind, repr(size), str(out), places], folder)
    with np.load(out, allow_pickle=False) as found:
        return Solid.of(found["corners"], found["cells"])


def _by_gmsh(path: Path, kind: str, size: float, folder: Path, where: Location) -> Solid:
    import meshio

    program = shutil.which("gmsh")
    if program is None:
        raise where.at("mesher").error("no program gmsh", "gmsh on the PATH", "install it, or remove mesher: gmsh")
    out = folder / "solid.msh"
    _run([program, str(path), "-3", "-format", "msh2", "-clmax", repr(size), "-v", "1", "-o", str(out)], folder)
    found = meshio.read(out)
    cells = [block.data for block in found.cells if block.type == "tetra"]
    if not cells:
        raise MeshingError("no tetrahedra")
    return Solid.of(found.points, np.concatenate(cells))


def _run(command: list[str], folder: Path) -> None:
    """Run a mesher; what it says last is the reason of its failure."""
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        raise MeshingError(f"no mesh after {SECONDS:g} s: give a larger size:") from None
    except OSError as problem:
        raise MeshingError(f"the mesher does not run ({problem.strerror})") from None
    if done.returncode:
        words = [line for line in (done.stderr or done.stdout).splitlines() if line.strip()]
        raise MeshingError(words[-1].strip()[:200] if words else f"the mesher ended with {done.returncode}")


def _blamed(surface: Surface, text: str, where: Location) -> Exception:
    """What is wrong with a surface that cannot be filled: a crossing, if there is one."""
    place = crossing(surface)
    if place is not None:
        shown = ", ".join(f"{x:.4g}" for x in place)
        return where.error(
            f"a surface that goes through itself at [{shown}] m", "a surface without crossings", "repair it in CAD"
        )
    return where.error(
        text, "a surface that can be filled with tetrahedra", "give another size:, or a mesh of your own (.msh, .inp)"
    )


def _binary_stl(surface: Surface) -> bytes:
    """The triangles as Netgen reads them."""
    record = np.zeros(len(surface.triangles), dtype=[("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("rest", "<u2")])
    record["corners"] = surface.corners[surface.triangles]
    normal = np.cross(record["corners"][:, 1] - record["corners"][:, 0], record["corners"][:, 2] - record["corners"][:, 0])
    record["normal"] = normal / np.maximum(np.linalg.norm(normal, axis=1), 1e-30)[:, None]
    found: bytes = bytes(80) + np.uint32(len(record)).tobytes() + record.tobytes()
    return found
