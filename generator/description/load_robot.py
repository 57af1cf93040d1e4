"""Loading a robot: a built-in name, a file, a mapping or a Robot becomes a validated :class:`Robot`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Union

from elastogen.generator.description.couplings import lock as lock_joints
from elastogen.generator.description.files import Files, builtin_names, existing_file
from elastogen.generator.description.free_base import with_base
from elastogen.generator.description.load_options import LoadOptions
from elastogen.generator.description.loops.gepetto import with_gepetto_loops
from elastogen.generator.description.read_robot import (
    Described,
    Reading,
    read_builtin,
    read_content,
    read_file,
    read_structure,
)
from elastogen.generator.description.validate import validate
from elastogen.generator.joints.follower_drives import reflect_drives
from elastogen.generator.robot.errors import RobotError, finite_arithmetic
from elastogen.generator.robot.live import make_live
from elastogen.generator.robot.location import Location, did_you_mean
from elastogen.generator.robot.robot import Robot

RobotSource = Union[Robot, str, "os.PathLike[str]", Mapping[str, Any]]


def load(source: RobotSource, **options: Any) -> Robot:
    """Return the validated robot of a built-in name, a path, a mapping like a robot file, or a Robot.

    ``options`` are the fields of :class:`LoadOptions`, as ``elastogen.load`` documents them. Raises :class:`RobotError`
    naming file, field, value, expectation and fix; warns with :class:`RobotWarning`.
    """
    return load_with(source, LoadOptions.checked(**options), Files())


def load_with(source: RobotSource, options: LoadOptions, files: Files) -> Robot:
    """Return the robot as :func:`load` does; ``files`` knows afterwards what was read."""
    if isinstance(source, Robot):
        warned = source.source not in ("", "python")  # it came from a file, and loading that has warned
        described = Described(source, Location(source.source or "python"), source.source)
        return _finish(_closed(described, options, files), options, quiet=warned)
    with finite_arithmetic(str(source) if isinstance(source, (str, os.PathLike)) else "python", ""):
        loaded = _finish(_closed(_described(source, Reading.of(options, files)), options, files), options)
    return replace(loaded, files=tuple(files.contents))


def _described(source: Any, reading: Reading) -> Described:
    if isinstance(source, Mapping):
        return read_structure(source, Location("python"), Path(), reading)
    if not isinstance(source, (str, os.PathLike)):
        raise Location("load").error(source, "a built-in name, a path, a mapping or a Robot", "pass for example 'puma560'")
    given = os.fspath(source)
    if isinstance(given, str) and isinstance(source, str) and given in builtin_names():
        return read_builtin(given, reading)
    return read_file(existing_file(Path(given), str(given)), str(given), reading)


def load_content(data: bytes, shown: str, path: Path, options: LoadOptions, files: Files) -> Robot:
    """Return the robot of a file's content, as :func:`load` does.

    Messages call it ``shown``; files that it includes are relative to ``path``, and ``files`` knows them afterwards.
    """
    with finite_arithmetic(shown, ""):
        return _finish(_closed(read_content(data, path, shown, Reading.of(options, files)), options, files), options)


def _closed(described: Described, options: LoadOptions, files: Files) -> Described:
    """With the loops of a robot.yaml, where one is named."""
    if options.loops is None:
        return described
    return replace(described, robot=with_gepetto_loops(described.robot, Path(options.loops), files))


def _finish(described: Described, choices: LoadOptions, quiet: bool = False) -> Robot:
    """The robot as it was asked for, checked."""
    try:
        return replace(_chosen(described, choices, quiet), source=described.source)
    except RobotError as problem:
        raise described.with_line(problem) from None


def _chosen(described: Described, choices: LoadOptions, quiet: bool) -> Robot:
    where, tip = described.where, choices.tip
    robot = lock_joints(described.robot, choices.lock, where)
    base = choices.base or described.base
    if base is not None:
        robot = with_base(robot, base, where)
    described_links = {link.name for link in robot.links}
    robot = reflect_drives(robot, where)
    wheels = {link.name for link in robot.links} - described_links  # rotors, which have inertia and no mass
    if choices.name is not None:
        robot = replace(robot, name=choices.name)
    if tip is not None:
        if not isinstance(tip, str) or tip not in {link.name for link in robot.links}:
            fix = did_you_mean(tip, links := [link.name for link in robot.links], f"known are {', '.join(links)}")
            raise where.at("tip").error(tip, "the name of a link", fix)
        robot = replace(robot, tip=tip)
    validate(robot, accepted_inertias={*described.accepted, *wheels}, quiet=quiet)
    live = (*described.live, *choices.live)
    if live:
        robot = validate(make_live(robot, live), quiet=True)
    return robot
