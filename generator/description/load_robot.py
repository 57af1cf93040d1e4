"""Loading a robot: a built-in name, a .yaml or .urdf file or a mapping becomes a validated :class:`Robot`."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import resources
from pathlib import Path
from typing import Any, Literal, Union

from pydantic import ValidationError

from elastogen.generator.description.assemble_robot import assemble
from elastogen.generator.description.couplings import couple, read_followers
from elastogen.generator.description.couplings import lock as lock_joints
from elastogen.generator.description.file.experiment_file import read_experiment
from elastogen.generator.description.file.fields import BodySection
from elastogen.generator.description.file.kinds_of_values import in_our_words
from elastogen.generator.description.file.planar_file import PlanarSection, expand_planar
from elastogen.generator.description.file.read_yaml import line_of, read_yaml
from elastogen.generator.description.file.robot_file import RobotFile
from elastogen.generator.description.file.terms_file import read_terms
from elastogen.generator.description.free_base import Base, with_base
from elastogen.generator.description.urdf import read_urdf
from elastogen.generator.description.validate import PAYLOAD, validate
from elastogen.generator.robot.errors import RobotError
from elastogen.generator.robot.live import make_live
from elastogen.generator.robot.location import Location, did_you_mean
from elastogen.generator.robot.placement import snapping
from elastogen.generator.robot.robot import Robot

RobotSource = Union[Robot, str, "os.PathLike[str]", Mapping[str, Any]]
MAX_YAML_BYTES = 512 << 10  # about 1000 joints; the safe YAML reader needs seconds for this much
MAX_URDF_BYTES = 8 << 20
_SUFFIXES = (".yaml", ".yml", ".urdf")
_LABEL = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,62}")  # names that can stand in a dotted path


@dataclass(frozen=True)
class _Choices:
    """What the caller of ``load`` asks for, beside the description."""

    name: str | None = None
    live: tuple[str, ...] = ()
    tip: str | None = None
    base: Base | None = None
    lock: Mapping[str, float | Sequence[float]] = field(default_factory=dict)


def builtin_names() -> list[str]:
    """Return the names of the built-in robots."""
    folder = resources.files("elastogen.generator.description") / "robots"
    return sorted(entry.name.removesuffix(".yaml") for entry in folder.iterdir() if entry.name.endswith(".yaml"))


def load(
    source: RobotSource,
    *,
    name: str | None = None,
    live: Iterable[str] = (),
    tip: str | None = None,
    mimic: Literal["follow", "independent", "error"] = "follow",
    friction: bool = False,
    snap: bool = True,
    base: Base | None = None,
    lock: Mapping[str, float | Sequence[float]] | None = None,
) -> Robot:
    """Return the validated robot of a built-in name, a path, a mapping like a robot file, or a Robot.

    ``name`` replaces the robot's name (the prefix in C), ``live`` adds live parameters (see
    :mod:`elastogen.generator.robot.live`), ``tip`` names the link of the tip frame. A URDF's mimic joints follow their leaders;
    ``mimic="independent"`` gives them coordinates of their own, ``mimic="error"`` refuses them. ``lock`` fixes joints at values
    of their coordinates [rad] or [m]. ``friction`` takes a URDF's
    <dynamics damping friction> into the equations of motion; other tools ignore it, and so does this by default.
    ``snap=False`` takes the numbers of a file's placements and axes literally; else those within 1e-11 of 0, 1 and -1 become
    exact (see :mod:`elastogen.generator.robot.placement`). ``base="floating"`` sets the robot free: a floating joint called
    ``base`` carries what was the base link. Raises :class:`RobotError`
    naming file, field, value, expectation and fix; warns with :class:`RobotWarning`.
    """
    choices = _Choices(name, (live,) if isinstance(live, str) else tuple(live), tip, base, dict(lock or {}))
    if isinstance(source, Robot):
        warned = source.source not in ("", "python")  # it came from a file, and loading that has warned
        where = Location(source.source or "python")
        return _finish(lock_joints(source, choices.lock, where), where, choices, quiet=warned)
    if isinstance(source, Mapping):
        return _from_structure(source, Location("python"), choices, snap)
    if not isinstance(source, (str, os.PathLike)):
        raise Location("load").error(source, "a built-in name, a path, a mapping or a Robot", "pass for example 'puma560'")
    given = os.fspath(source)
    if isinstance(given, str) and isinstance(source, str) and given in builtin_names():
        entry = resources.files("elastogen.generator.description") / "robots" / f"{given}.yaml"
        return _from_yaml(entry.read_text(encoding="utf-8"), f"{given}.yaml", choices, snap)
    path = _existing_file(Path(given), str(given))
    if path.suffix.lower() == ".urdf":
        data = _read(path, MAX_URDF_BYTES)
        with snapping(snap):
            robot = read_urdf(_decoded(data, str(path)), str(path), name=name, mimic=mimic, friction=friction)
        robot = lock_joints(replace(robot, source=str(path)), choices.lock, Location(str(path)))
        return replace(_finish(robot, Location(str(path)), replace(choices, name=None)), source=path.name)
    text = _decoded(_read(path, MAX_YAML_BYTES), str(path))
    return replace(_from_yaml(text, str(path), choices, snap), source=path.name)


def load_content(data: bytes, shown: str, source: str) -> Robot:
    """Return the robot of a file's content, as :func:`load` does; messages name it ``shown``, the robot ``source``."""
    if Path(source).suffix.lower() == ".urdf":
        _check_size(data, MAX_URDF_BYTES, shown)
        with snapping(True):
            robot = replace(read_urdf(_decoded(data, shown), shown), source=shown)
        return replace(_finish(robot, Location(shown), _Choices()), source=source)
    _check_size(data, MAX_YAML_BYTES, shown)
    return replace(_from_yaml(_decoded(data, shown), shown, _Choices(), True), source=source)


def _existing_file(path: Path, given: str) -> Path:
    where = Location(given)
    try:
        if path.is_dir():
            raise where.error("a directory", "a .yaml or .urdf file", "name the file inside it")
        if not path.exists():
            known = builtin_names()
            beside = [entry.name for entry in path.parent.iterdir()] if path.parent.is_dir() else []
            fix = did_you_mean(path.name, [*known, *beside], f"built-in robots are {', '.join(known)}")
            raise where.error("no such file", "a built-in robot or a path to a .yaml or .urdf file", fix)
        if not path.is_file():
            raise where.error("not a regular file", "a .yaml or .urdf file", "copy its content into a file")
    except (OSError, ValueError) as problem:
        raise where.error(str(problem), "a path to a .yaml or .urdf file", "check the path") from None
    if path.suffix.lower() not in _SUFFIXES:
        fix = "expand it first: xacro robot.xacro > robot.urdf" if path.suffix == ".xacro" else "rename the file"
        raise where.error(path.suffix, "a file ending in .yaml, .yml or .urdf", fix)
    return path


def _read(path: Path, limit: int) -> bytes:
    try:
        with path.open("rb") as stream:
            data = stream.read(limit + 1)
    except OSError as problem:
        raise Location(str(path)).error(problem.strerror, "a readable file", "check its permissions") from None
    _check_size(data, limit, str(path))
    return data


def _check_size(data: bytes, limit: int, source: str) -> None:
    if len(data) > limit:
        raise Location(source).error("a larger file", f"at most {limit >> 10} KiB", "is this a robot description?")


def _decoded(data: bytes, source: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        line = data[: problem.start].count(b"\n") + 1
        shown = data[problem.start : problem.start + 8]
        raise Location(f"{source}:{line}").error(shown, "UTF-8 text", "save the file as UTF-8") from None


def _from_yaml(text: str, source: str, choices: _Choices, snap: bool) -> Robot:
    where = Location(source)
    data = read_yaml(text, where)
    try:
        return _from_structure(data, where, choices, snap)
    except RobotError as problem:
        line = line_of(text, problem.field) if problem.source == source else None
        if line is None:
            raise
        raise RobotError(f"{source}:{line}", problem.field, problem.given, problem.expected, problem.fix) from None


def _from_structure(data: Any, where: Location, choices: _Choices, snap: bool) -> Robot:
    if not isinstance(data, Mapping):
        raise where.error(data, "a mapping with the keys elastogen, name, joints, ...", "start with `elastogen: 1`")
    if "planar" in data:
        try:
            PlanarSection.model_validate(data["planar"])
        except ValidationError as problem:
            raise _translated(problem, data["planar"], where.at("planar")) from None
        data = expand_planar(data, where)
    try:
        file = RobotFile.model_validate(dict(data))
    except ValidationError as problem:
        raise _translated(problem, data, where) from None
    accepted = {link.name for link in file.links for body in (link, getattr(link.flexible, "tip", None)) if _accepts(body)}
    accepted |= {PAYLOAD} if file.payload.accept_unphysical_inertia else set()
    with snapping(snap and file.snap):
        robot = replace(assemble(file, where.source), source=where.source)
    robot = couple(robot, read_followers(file.joints, robot, where), where)
    robot = lock_joints(robot, {**file.lock, **choices.lock}, where)
    robot = read_terms(file.terms, robot, where.at("terms"))
    if file.simulation is not None:
        experiment = read_experiment(file.simulation, robot.parameters, where.at("simulation"))
        robot = replace(robot, experiment=experiment)
    return _finish(robot, where, replace(choices, live=(*file.live, *choices.live), base=choices.base or file.base), accepted)


def _accepts(body: BodySection | None) -> bool:
    return body is not None and body.accept_unphysical_inertia


def _finish(robot: Robot, where: Location, choices: _Choices, accepted: Collection[str] = (), quiet: bool = False) -> Robot:
    tip, live = choices.tip, choices.live
    if choices.base is not None:
        robot = with_base(robot, choices.base, where)
    if choices.name is not None:
        robot = replace(robot, name=choices.name)
    if tip is not None:
        if tip not in {link.name for link in robot.links}:
            fix = did_you_mean(tip, [link.name for link in robot.links], "name one of the robot's links")
            raise where.at("tip").error(tip, "the name of a link", fix)
        robot = replace(robot, tip=tip)
    validate(robot, accepted_inertias=accepted, quiet=quiet)
    if live:
        robot = validate(make_live(robot, live), quiet=True)
    return robot


def _translated(problem: ValidationError, data: Any, where: Location) -> RobotError:
    """Return the first error of pydantic in the words of elastogen."""
    first = problem.errors(include_url=False)[0]
    here, value = where, data
    for step in first["loc"]:
        if isinstance(step, int):
            value = value[step] if isinstance(value, (list, tuple)) and step < len(value) else None
            label = value.get("name") if isinstance(value, Mapping) else None
            here = here.at(label if isinstance(label, str) and _LABEL.fullmatch(label) else step)
        elif isinstance(value, Mapping):
            value = value.get(step)
            here = here.at(step)
        else:
            here = here.at(str(step))
    context = first.get("ctx", {})
    if first["type"] == "robot_file":
        if "unknown_key" in context:
            return here.at(context["unknown_key"]).error(context["unknown_key"], context["expected"], context["fix"])
        if "at" in context:  # a key that is missing or wrong beside others
            given = value.get(context["at"]) if isinstance(value, Mapping) else None
            return here.at(context["at"]).error("nothing" if given is None else given, context["expected"], context["fix"])
        return here.error(first["input"], context["expected"], context["fix"])
    if first["type"] == "missing":
        return here.error("nothing", "this required key", f"add `{first['loc'][-1]}:`")
    expected, fix = in_our_words(first["type"], context, first["input"])
    return here.error(first["input"], expected, fix)
