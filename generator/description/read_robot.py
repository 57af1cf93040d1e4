"""Reads a robot, not yet finished, from files of all formats, and from robot files on top of others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from elastogen.generator.description.assemble_robot import assemble
from elastogen.generator.description.changes.apply import apply_changes
from elastogen.generator.description.changes.make_flexible import HUB
from elastogen.generator.description.couplings import couple, read_followers
from elastogen.generator.description.couplings import lock as lock_joints
from elastogen.generator.description.file.changes_file import BaseSection, ChangesFile
from elastogen.generator.description.file.experiment_file import read_experiment
from elastogen.generator.description.file.fields import BodySection
from elastogen.generator.description.file.ground_file import read_ground
from elastogen.generator.description.file.kinds_of_values import translated
from elastogen.generator.description.file.nesting import check_nesting
from elastogen.generator.description.file.planar_file import PlanarSection, expand_planar
from elastogen.generator.description.file.read_yaml import line_of, read_yaml
from elastogen.generator.description.file.robot_file import AnyRobotFile, RobotFile
from elastogen.generator.description.file.terms_file import read_terms
from elastogen.generator.description.files import (
    MAX_INCLUDES,
    MAX_XML_BYTES,
    MAX_YAML_BYTES,
    Files,
    builtin_names,
    builtin_text,
    check_size,
    decoded,
    existing_file,
)
from elastogen.generator.description.formats.registry import format_of
from elastogen.generator.description.load_options import Base, LoadOptions, Mimic
from elastogen.generator.description.validate import PAYLOAD
from elastogen.generator.robot.errors import RobotError
from elastogen.generator.robot.location import Location
from elastogen.generator.robot.placement import snapping
from elastogen.generator.robot.robot import Robot

BASE_NAME = "base_description"  # of a robot whose own name does not count


@dataclass(frozen=True)
class Reading:
    """The options of reading, and the files read so far."""

    mimic: Mimic = "follow"
    friction: bool = False
    snap: bool = True
    name: str | None = None  # of a robot whose file has none
    arguments: Mapping[str, Any] = field(default_factory=dict)  # of xacro files
    allow_xacro: bool = False  # whether xacro files may be expanded, wherever they are named
    packages: Mapping[str, str] = field(default_factory=dict)  # folders of packages and models, by their names
    files: Files = field(default_factory=Files)
    model: str | None = None  # which of several models of an SDF file
    inside: tuple[Path, ...] = ()  # the files that led here, each by base_description of the one before

    @classmethod
    def of(cls, options: LoadOptions, files: Files) -> Reading:
        """How files are read for a caller of ``load``."""
        words = options.mimic, options.friction, options.snap, options.name, options.arguments
        return cls(*words, options.allow_xacro, options.package_path, files, options.model)

    @property
    def of_every_format(self) -> dict[str, Any]:
        """Options that every reader takes."""
        return {"name": self.name, "mimic": self.mimic, "friction": self.friction}


@dataclass(frozen=True)
class Described:
    """A robot as described, before its base is freed, its parameters become live and it is checked."""

    robot: Robot
    where: Location
    source: str  # what the finished robot says it came from
    live: tuple[str, ...] = ()
    base: Base | None = None
    accepted: frozenset[str] = frozenset()  # links whose unphysical inertia is accepted
    text: str = ""  # of a robot file, for the lines of what is found wrong later

    def with_line(self, problem: RobotError) -> RobotError:
        """The error, with the line of its field where that is known."""
        return _with_line(problem, self.text, self.where.source)


def read_builtin(name: str, reading: Reading) -> Described:
    """The robot of a built-in name."""
    path = Path(__file__).parent / "robots" / f"{name}.yaml"  # absolute: the working directory may be gone
    return read_content(builtin_text(name).encode(), path, path.name, reading)


def read_file(path: Path, shown: str, reading: Reading) -> Described:
    """The robot of a file that exists."""
    most = MAX_YAML_BYTES if format_of(path) is None else MAX_XML_BYTES
    return read_content(reading.files.read(path, most), path, shown, reading)


def read_content(data: bytes, path: Path, shown: str, reading: Reading) -> Described:
    """The robot of the content of a file; other files that it names are relative to its path, messages call it ``shown``."""
    form = format_of(path)
    check_size(data, MAX_YAML_BYTES if form is None else MAX_XML_BYTES, shown)
    text = decoded(data, shown)
    if form is None:
        return replace(_from_yaml(text, path, shown, reading), source=path.name)
    with snapping(reading.snap):
        _refuse_options(form.takes, reading, Location(shown))
        robot = form.read(text, path, shown, reading)
    return Described(replace(robot, source=shown), Location(shown), path.name)


def _refuse_options(taken: tuple[str, ...], reading: Reading, where: Location) -> None:
    """Refuse options of other formats."""
    if "model" not in taken:
        _refuse_model(reading, where)
    if "arguments" not in taken:
        _refuse_arguments(reading, where)


def _refuse_arguments(reading: Reading, where: Location) -> None:
    if reading.arguments:
        given = ", ".join(map(str, reading.arguments))
        raise where.at("arguments").error(given, "arguments for xacro files only", "leave them out, or name a xacro file")


def _refuse_model(reading: Reading, where: Location) -> None:
    if reading.model is not None:
        raise where.at("model").error(reading.model, "a model of an SDF file only", "leave it out")


def _from_yaml(text: str, path: Path, shown: str, reading: Reading) -> Described:
    where = Location(shown)
    data = read_yaml(text, where)
    try:
        inside = replace(reading, inside=(*reading.inside, path.absolute()))
        return replace(read_structure(data, where, path.parent, inside), text=text)
    except RobotError as problem:
        raise _with_line(problem, text, shown) from None


def _with_line(problem: RobotError, text: str, shown: str) -> RobotError:
    line = line_of(text, problem.field) if text and problem.source == shown else None
    if line is None:
        return problem
    return RobotError(f"{shown}:{line}", problem.field, problem.given, problem.expected, problem.fix)


def read_structure(data: Any, where: Location, folder: Path, reading: Reading) -> Described:
    """The robot of a mapping with the structure of a robot file; paths in it are relative to ``folder``."""
    if not isinstance(data, Mapping):
        raise where.error(data, "a mapping with the keys elastogen, name, joints, ...", "start with `elastogen: 1`")
    check_nesting(data, where)
    if "base_description" in data:
        return _changed(data, where, folder, reading)
    _refuse_arguments(reading, where)
    _refuse_model(reading, where)
    if "planar" in data:
        _checked(PlanarSection, data["planar"], where.at("planar"))
        data = expand_planar(data, where)
    file = _checked(RobotFile, dict(data), where)
    accepted = {link.name for link in file.links for body in (link, getattr(link.flexible, "tip", None)) if _accepts(body)}
    with snapping(reading.snap and file.snap):
        robot = replace(assemble(file, where.source, folder, reading.files), source=where.source)
    described = Described(robot, where, where.source, file.live, file.base, frozenset(accepted | _accepted(file.payload)))
    return _with_rest(described, file)


def _checked(kind: type[Any], data: Any, where: Location) -> Any:
    try:
        checked: BaseModel = kind.model_validate(data)
    except ValidationError as problem:
        try:
            mistake = translated(problem, data, where)
        except UnicodeEncodeError as half:
            text = str(half.object[half.start : half.end])
            raise where.error(text, "texts of whole characters: this is half of one", "remove it") from None
        raise mistake from None
    return checked


def _changed(data: Mapping[str, Any], where: Location, folder: Path, reading: Reading) -> Described:
    """The robot of a file on top of another description."""
    if "planar" in data:
        raise where.at("planar").error(
            "planar", "no planar beside base_description", "put the planar robot into a file of its own"
        )
    file: ChangesFile = _checked(ChangesFile, dict(data), where)
    reading = replace(reading, snap=reading.snap and file.snap)
    base = _base(file.base_description, folder, reading, where.at("base_description"))
    with snapping(reading.snap):
        robot = apply_changes(base.robot, file, where, folder, reading.files)
    accepted = base.accepted | {f"{name}{HUB}" for name in base.accepted} | _accepted(file.payload)
    accepted |= {link.name + ending for link in file.links if link.accept_unphysical_inertia for ending in ("", HUB)}
    live = (*base.live, *file.live)
    return _with_rest(Described(robot, where, where.source, live, file.base or base.base, frozenset(accepted)), file)


def _base(section: BaseSection, folder: Path, reading: Reading, where: Location) -> Described:
    """The robot that a file changes."""
    reading = replace(
        reading,
        mimic=section.mimic or reading.mimic,
        friction=section.friction or reading.friction,
        name=BASE_NAME,
        arguments={**section.arguments, **reading.arguments},
    )
    if section.file in builtin_names():
        return read_builtin(section.file, reading)
    path = existing_file(folder / section.file, section.file, where.at("file"))
    if path.resolve() in [other.resolve() for other in reading.inside]:
        circle = " -> ".join(other.name for other in (*reading.inside, path))
        raise where.at("file").error(circle, "files that are not based on each other in a circle", "name another file")
    if len(reading.inside) > MAX_INCLUDES:
        raise where.at("file").error("deeper nesting", f"at most {MAX_INCLUDES} files on top of each other", "join some")
    return read_file(path, str(path), reading)


def _with_rest(described: Described, file: AnyRobotFile) -> Described:
    """Couplings, locks, terms and the experiment, which every robot file may have."""
    robot, where = described.robot, described.where
    robot = couple(robot, read_followers(getattr(file, "joints", ()), robot, where), where)
    robot = lock_joints(robot, file.lock, where)
    robot = read_terms(file.terms, robot, where.at("terms"))
    robot = read_ground(file.ground, robot, where.at("ground"))
    if file.simulation is not None:
        experiment = read_experiment(file.simulation, robot.parameters, where.at("simulation"))
        robot = replace(robot, experiment=experiment)
    return replace(described, robot=robot)


def _accepted(payload: BodySection | None) -> set[str]:
    return {PAYLOAD} if _accepts(payload) else set()


def _accepts(body: BodySection | None) -> bool:
    return body is not None and body.accept_unphysical_inertia
