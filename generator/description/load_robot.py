"""Loading a robot: a built-in name, a file, a mapping or a Robot becomes a validated :class:`Robot`."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Union, get_args

from elastogen.generator.description.couplings import lock as lock_joints
from elastogen.generator.description.files import Files, builtin_names, existing_file
from elastogen.generator.description.free_base import Base, with_base
from elastogen.generator.description.read_robot import (
    Described,
    Mimic,
    Reading,
    read_builtin,
    read_content,
    read_file,
    read_structure,
)
from elastogen.generator.description.validate import validate
from elastogen.generator.robot.errors import RobotError, finite_arithmetic
from elastogen.generator.robot.live import make_live
from elastogen.generator.robot.location import Location, did_you_mean
from elastogen.generator.robot.robot import Robot

RobotSource = Union[Robot, str, "os.PathLike[str]", Mapping[str, Any]]


@dataclass(frozen=True)
class _Choices:
    """What the caller of ``load`` asks for, beside the description."""

    name: str | None = None
    live: tuple[str, ...] = ()
    tip: str | None = None
    base: Base | None = None
    lock: Mapping[str, float | Sequence[float]] = field(default_factory=dict)


def load(
    source: RobotSource,
    *,
    name: str | None = None,
    live: Iterable[str] = (),
    tip: str | None = None,
    mimic: Mimic = "follow",
    friction: bool = False,
    snap: bool = True,
    base: Base | None = None,
    lock: Mapping[str, float | Sequence[float]] | None = None,
    arguments: Mapping[str, str | float | bool] | None = None,
    allow_xacro: bool = False,
    package_path: Mapping[str, str | os.PathLike[str]] | None = None,
) -> Robot:
    """Return the validated robot of a built-in name, a path, a mapping like a robot file, or a Robot.

    ``name`` replaces the robot's name (the prefix in C), ``live`` adds live parameters (see
    :mod:`elastogen.generator.robot.live`), ``tip`` names the link of the tip frame. A URDF's mimic joints follow their leaders;
    ``mimic="independent"`` gives them coordinates of their own, ``mimic="error"`` refuses them. ``lock`` fixes joints at values
    of their coordinates [rad] or [m]. ``friction`` takes a URDF's
    <dynamics damping friction> into the equations of motion; other tools ignore it, and so does this by default.
    ``snap=False`` takes the numbers of a file's placements and axes literally; else those within 1e-11 of 0, 1 and -1 become
    exact (see :mod:`elastogen.generator.robot.placement`). ``base="floating"`` sets the robot free: a floating joint called
    ``base`` carries what was the base link; ``base="driven"`` gives it six drives. ``arguments`` are those of a xacro file.
    A xacro file runs Python: it is expanded only with ``allow_xacro=True``, also where another file names it.
    ``package_path`` gives folders of packages by their names, for ``$(find name)`` of xacro and ``model://name`` of SDF.
    Raises :class:`RobotError` naming file, field, value, expectation and fix; warns with :class:`RobotWarning`.
    """
    _check(
        {"mimic": (mimic, get_args(Mimic)), "base": (base, (None, *get_args(Base)))},
        {"friction": friction, "snap": snap, "allow_xacro": allow_xacro},
    )
    _check_mappings({"lock": lock, "arguments": arguments, "package_path": package_path})
    choices = _Choices(name, _patterns(live), tip, base, dict(lock or {}))
    if isinstance(source, Robot):
        warned = source.source not in ("", "python")  # it came from a file, and loading that has warned
        return _finish(Described(source, Location(source.source or "python"), source.source), choices, quiet=warned)
    reading = Reading(mimic, friction, snap, name, dict(arguments or {}), allow_xacro, _folders(package_path or {}))
    with finite_arithmetic(str(source) if isinstance(source, (str, os.PathLike)) else "python", ""):
        loaded = _finish(_described(source, reading), choices)
    return replace(loaded, files=tuple(reading.files.contents))


def _check(words: Mapping[str, tuple[object, Sequence[object]]], flags: Mapping[str, object]) -> None:
    """Refuse arguments of another kind, whatever the source: a wrong one would count as the usual one."""
    for name, (given, known) in words.items():
        if not (given is None or isinstance(given, str)) or given not in known:
            raise Location("load").at(name).error(given, " or ".join(map(repr, known)), "leave it out")
    for name, flag in flags.items():
        if not isinstance(flag, bool):
            raise Location("load").at(name).error(flag, "True or False", "leave it out")


def _check_mappings(mappings: Mapping[str, object]) -> None:
    for name, given in mappings.items():
        if given is not None and not isinstance(given, Mapping):
            raise Location("load").at(name).error(given, "a mapping of names to values", f"{name}={{'name': 0.1}}")


def _folders(package_path: Mapping[Any, Any]) -> dict[str, str]:
    """Folders of packages, which exist."""
    found = {}
    for name, folder in package_path.items():
        here = Location("load").at("package_path", str(name))
        if not isinstance(name, str) or not isinstance(folder, (str, os.PathLike)) or not os.path.isdir(folder):
            raise here.error(folder, "the folder of a package", "package_path={'arm_description': '/path/to/arm_description'}")
        found[name] = os.path.abspath(os.fspath(folder))
    return found


def _patterns(live: object) -> tuple[str, ...]:
    """What becomes live: one name, or several."""
    try:
        patterns = (live,) if isinstance(live, str) else tuple(live)  # type: ignore[arg-type]
    except TypeError:  # also what calls itself iterable and is not, such as numpy's scalars
        raise Location("load").at("live").error(live, "names of parameters", "live=['payload']") from None
    for i, pattern in enumerate(patterns):
        if not isinstance(pattern, str):
            raise Location("load").at("live", i).error(pattern, "the name of a parameter", "live=['payload']")
    return patterns


def _described(source: Any, reading: Reading) -> Described:
    if isinstance(source, Mapping):
        return read_structure(source, Location("python"), Path(), reading)
    if not isinstance(source, (str, os.PathLike)):
        raise Location("load").error(source, "a built-in name, a path, a mapping or a Robot", "pass for example 'puma560'")
    given = os.fspath(source)
    if isinstance(given, str) and isinstance(source, str) and given in builtin_names():
        return read_builtin(given, reading)
    return read_file(existing_file(Path(given), str(given)), str(given), reading)


def load_content(data: bytes, shown: str, path: Path, files: Files) -> Robot:
    """Return the robot of a file's content, as :func:`load` does.

    Messages call it ``shown``; files that it includes are relative to ``path``, and ``files`` knows them afterwards.
    """
    return _finish(read_content(data, path, shown, Reading(files=files)), _Choices())


def _finish(described: Described, choices: _Choices, quiet: bool = False) -> Robot:
    """The robot as it was asked for, checked."""
    try:
        return replace(_chosen(described, choices, quiet), source=described.source)
    except RobotError as problem:
        raise described.with_line(problem) from None


def _chosen(described: Described, choices: _Choices, quiet: bool) -> Robot:
    where, tip = described.where, choices.tip
    robot = lock_joints(described.robot, choices.lock, where)
    base = choices.base or described.base
    if base is not None:
        robot = with_base(robot, base, where)
    if choices.name is not None:
        robot = replace(robot, name=choices.name)
    if tip is not None:
        if not isinstance(tip, str) or tip not in {link.name for link in robot.links}:
            fix = did_you_mean(tip, [link.name for link in robot.links], "name one of the robot's links")
            raise where.at("tip").error(tip, "the name of a link", fix)
        robot = replace(robot, tip=tip)
    validate(robot, accepted_inertias=described.accepted, quiet=quiet)
    live = (*described.live, *choices.live)
    if live:
        robot = validate(make_live(robot, live), quiet=True)
    return robot
