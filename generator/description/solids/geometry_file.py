"""The geometry that a link by a mesh names: a file beside the robot's, or the link's own mesh in another description."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from elastogen.generator.beams.natural_frequencies import numeric
from elastogen.generator.description.files import Files
from elastogen.generator.description.section_values import SectionValues
from elastogen.generator.description.solids.mesh_file import MeshSection
from elastogen.generator.robot.expressions import nominal
from elastogen.generator.robot.location import Location, did_you_mean
from elastogen.generator.robot.robot import Robot
from elastogen.generator.solids.geometry import KINDS, SOLIDS, Geometry
from elastogen.generator.solids.given.matrices import Matrices
from elastogen.generator.solids.given.matrix_files import MATRICES, NODES
from elastogen.generator.solids.given.results import GivenResults

MOST_BYTES = 100 << 20
_ANSYS = "Ansys: ansys-mapdl-reader writes matrices: (Matrix Market) in the lines of docs/robots/meshes.md"
_CAD = "export the part as STEP"
FOREIGN = {
    "rst": _ANSYS, "full": _ANSYS, "cdb": _ANSYS, "frd": "results of CalculiX are given as results: {file: job.frd, units: SI}",
    "odb": "Abaqus: write *MATRIX GENERATE and *MATRIX OUTPUT, FORMAT=MATRIX INPUT, and give matrices:",
    "op2": "Nastran: give matrices: {nodes: job.bdf, stiffness: job.op2, mass: job.op2, units: SI}",
    "op4": "Nastran: give matrices: {nodes: job.bdf, stiffness: k.op4, mass: m.op4, units: SI}",
    "sid_fem": "give standard_input: {file: arm.SID_FEM, units: SI}", "mtx": "give matrices: {nodes, stiffness, mass, units}",
    **dict.fromkeys(("igs", "iges", "sldprt", "prt", "ipt", "catpart", "x_t", "fcstd", "f3d", "3mf", "dwg", "brep"), _CAD),
}  # fmt: skip
"""What is said of files of other programs, by their endings."""
OWN = ("visual", "collision")  # meshes of another description


def geometry(
    section: MeshSection, robot: Robot, link: str, values: SectionValues, folder: Path, files: Files, where: Location
) -> Geometry:
    """The content of the file, with its scale and its pose in the link frame."""
    scale, pose = _scale(section, values, where.at("scale")), numeric(values.frame(section.frame, where.at("frame")), {})
    here = where.at("file")
    if section.file is None or section.file in OWN:
        meshes = [look for look in robot.looks if look.shape == "mesh"]
        looks = [look for look in meshes if look.link == link and section.file in (None, look.role)]
        if section.file is None and any(look.role == "collision" for look in looks):
            looks = [look for look in looks if look.role == "collision"]
        if len(looks) != 1:
            shown = ", ".join(look.mesh for look in looks) or "none"
            raise here.error(f"{len(looks)} meshes of {link} ({shown})", "one mesh in the base description", "name a file")
        path = looks[0].path([f".{kind}" for kind in KINDS])
        if path is None:
            raise here.error(looks[0].mesh, "a mesh that is found", "name the file, or set ROS_PACKAGE_PATH")
        scale = scale * np.array(looks[0].scale)
        pose = np.array(looks[0].pose) @ pose
    else:
        path = beside(folder, section.file, here)
    if section.mesher == "gmsh" and path.suffix.lower().removeprefix(".") not in SOLIDS:
        raise where.at("mesher").error(f"gmsh for a {path.suffix} file", "gmsh for STEP files alone", "remove mesher: gmsh")
    data = files.read(path, MOST_BYTES)
    rows = tuple(tuple(float(entry) for entry in row) for row in pose)
    x, y, z = (float(entry) for entry in scale)
    return Geometry(data, path.suffix.lower().removeprefix("."), (x, y, z), rows, section.mesher, here)


def matrices(section: MeshSection, values: SectionValues, folder: Path, files: Files, where: Location) -> Matrices:
    """The contents of the files with nodes, stiffness and mass."""
    given = section.matrices
    assert given is not None
    here, rows = where.at("matrices"), numeric(values.frame(section.frame, where.at("frame")), {})

    def content(name: str, endings: tuple[str, ...]) -> tuple[bytes, str]:
        path = beside(folder, getattr(given, name), here.at(name), endings)
        return files.read(path, MOST_BYTES), path.suffix.lower().removeprefix(".")

    pose = tuple(tuple(float(entry) for entry in row) for row in rows)
    stiffness, mass, nodes = content("stiffness", MATRICES), content("mass", MATRICES), content("nodes", NODES)
    freedoms = content("freedoms", ("dof",))[0] if given.freedoms is not None else b""
    endings = (stiffness[1], mass[1], nodes[1])
    return Matrices(stiffness[0], mass[0], nodes[0], given.units, pose, here, endings, freedoms)


def results(section: MeshSection, values: SectionValues, folder: Path, files: Files, where: Location) -> GivenResults:
    """The content of the file of results."""
    given, here = section.results, where.at("results")
    assert given is not None
    path = beside(folder, given.file, here.at("file"), ("frd",))
    rows = numeric(values.frame(section.frame, where.at("frame")), {})
    pose = tuple(tuple(float(entry) for entry in row) for row in rows)
    return GivenResults(files.read(path, MOST_BYTES), given.units, pose, here)


def _scale(section: MeshSection, values: SectionValues, where: Location) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    given = section.scale if isinstance(section.scale, tuple) else (section.scale,) * 3
    found = np.array([nominal(values.scalar(entry, where), values.parameters) for entry in given])
    if not (np.isfinite(found).all() and (found != 0).all()):
        raise where.error(found.tolist(), "numbers that are not zero", "0.001 for a file in millimetres")
    return found


def beside(folder: Path, name: str, where: Location, kinds: tuple[str, ...] = KINDS) -> Path:
    """A file relative to the robot's, with one of these endings."""
    path = folder / name
    endings = ", ".join(f".{kind}" for kind in kinds)
    try:
        if not path.is_file():
            beside = [entry.name for entry in path.parent.iterdir()] if path.parent.is_dir() else []
            raise where.error(
                f"no file {name}", "a path relative to the robot's file", did_you_mean(path.name, beside, "check it")
            )
    except (OSError, ValueError) as problem:
        raise where.error(str(problem), "a path relative to the robot's file", "check the path") from None
    ending = path.suffix.lower().removeprefix(".")
    if ending not in kinds:
        fix = FOREIGN.get(ending, "export it in one of them")
        raise where.error(path.suffix or name, f"a file with one of the endings {endings}", fix)
    return path
