"""One request names a model: the robot's description with the options of loading, and the options of the build.

The cache knows builds by their request, a ``Model`` holds the one it was built from, and loops are made from it. This
module imports nothing slow: a model that is known already must start at once.
"""

from __future__ import annotations

import copy
import os
import threading
import warnings
import weakref
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from elastogen.build.options import BuildOptions
from elastogen.build.stamps import PACKAGE
from elastogen.generator.description.formats.registry import format_of
from elastogen.generator.description.load_options import LoadOptions
from elastogen.generator.robot.errors import RobotWarning
from elastogen.generator.robot.robot import Robot

MOST_NESTING, MOST_BITS = 60, 1100  # of mappings and their integers, as load has it
MOST_BYTES = 8 << 20  # of a robot file that is looked at; the reader has limits of its own
_ORIGIN = "_described_by"  # in the __dict__ of a robot that is not read yet: its description
_ORIGINS: dict[int, tuple[weakref.ref[Robot], Description]] = {}  # of robots as they were loaded; a changed copy has none
_PLAIN = (str, int, float, bool, type(None))
_MATERIALIZING = threading.RLock()


@dataclass(frozen=True)
class Description:
    """A robot file or mapping as it was when it was asked for, with the options of ``load``; models are built from it."""

    data: bytes  # of the file; of a mapping, a text that no other mapping has
    path: Path  # files that are included are relative to its folder
    shown: str  # the file as messages name it
    options: LoadOptions = field(default_factory=LoadOptions)
    mapping: Mapping[str, Any] | None = None  # in place of a file
    included: dict[str, bytes] = field(default_factory=dict, compare=False)  # files that it is based on, by absolute paths

    @classmethod
    def read(cls, source: object, options: LoadOptions | None = None) -> Description | None:
        """The description of a built-in name, a path or a plain mapping; None: something else, or unreadable: load will say."""
        options = options or LoadOptions()
        if not (_is_plain(options.lock) and _is_plain(options.arguments)):
            return None
        if isinstance(source, dict):
            text = repr(source).encode(errors="surrogatepass") if _is_plain(source) else b""
            if not text or len(text) > MOST_BYTES:
                return None
            try:
                return cls(text, Path("python").absolute(), "python", options, copy.deepcopy(source))
            except FileNotFoundError:  # the working directory was removed
                return None
        if not isinstance(source, (str, os.PathLike)):
            return None
        given = os.fspath(source)
        if not isinstance(given, str):
            return None
        builtin = PACKAGE / "generator" / "description" / "robots" / f"{given}.yaml"
        is_builtin = isinstance(source, str) and given.isidentifier() and os.path.isfile(builtin)
        path = builtin if is_builtin else Path(given)
        form = format_of(path)
        if path.suffix.lower() not in (".yaml", ".yml") if form is None else not form.depends_on_text:
            return None
        try:
            with open(path, "rb") as stream:
                data = stream.read(MOST_BYTES + 1)
            absolute = path.absolute()
        except (OSError, ValueError):
            return None
        return cls(data, absolute, path.name if is_builtin else given, options) if len(data) <= MOST_BYTES else None

    @property
    def texts(self) -> tuple[str, ...]:
        """What no other description has."""
        return self.path.name, self.data.hex(), repr(self.options)

    def load(self) -> tuple[Robot, list[str]]:
        """The robot, and what was warned of, which is warned again."""
        robot, caught = self._loaded()
        for warning in caught:
            warnings.warn(warning.message, warning.category, stacklevel=5)
        return robot, [str(warning.message) for warning in caught if issubclass(warning.category, RobotWarning)]

    def _loaded(self) -> tuple[Robot, list[warnings.WarningMessage]]:
        from elastogen.generator.description.files import Files
        from elastogen.generator.description.load_robot import load_content, load_with

        files = Files(self.included)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            if self.mapping is not None:
                robot = load_with(copy.deepcopy(self.mapping), self.options, files)
            else:
                robot = load_content(self.data, self.shown, self.path, self.options, files)
        self.included.update(files.contents)
        own = () if self.mapping is not None or PACKAGE in self.path.parents else (str(self.path),)
        robot = replace(robot, files=(*own, *files.contents))
        _remember(robot, self)
        return robot, caught


class DeferredRobot(Robot):
    """A robot that was loaded before from the same description. The first look at it reads it and makes it a plain Robot.

    So ``build_model(load(...))`` of a known model needs neither SymPy nor the readers.
    """

    def __getattribute__(self, name: str) -> Any:
        with _MATERIALIZING:
            known = object.__getattribute__(self, "__dict__")
            if _ORIGIN in known:
                description = known.pop(_ORIGIN)
                known.update(description._loaded()[0].__dict__)
                object.__setattr__(self, "__class__", Robot)
                _remember(self, description)
        return object.__getattribute__(self, name)


def _remember(robot: Robot, description: Description) -> None:
    """Keep the description of a robot for as long as it lives."""
    key = id(robot)
    _ORIGINS[key] = (weakref.ref(robot, lambda _: _ORIGINS.pop(key, None)), description)


def deferred(description: Description) -> Robot:
    """The robot of a description that is known to load."""
    robot = object.__new__(DeferredRobot)
    object.__setattr__(robot, _ORIGIN, description)
    return robot


def description_of(source: object) -> Description | None:
    """The description of what a model is asked for with; None: it must be loaded to be known."""
    if isinstance(source, Robot):
        found = object.__getattribute__(source, "__dict__").get(_ORIGIN)
        if found is None and id(source) in _ORIGINS and _ORIGINS[id(source)][0]() is source:
            found = _ORIGINS[id(source)][1]
        return found if isinstance(found, Description) else None
    return Description.read(source)


@dataclass(frozen=True)
class BuildRequest:
    """A robot and how its model is built; ``robot`` is a Robot where no description says all of it."""

    robot: Description | Robot
    options: BuildOptions

    @classmethod
    def of(cls, source: Any, options: BuildOptions) -> BuildRequest:
        """The request for a Robot, a built-in name, a path or a mapping: a file as it is now."""
        described = description_of(source)
        if described is None:
            from elastogen.generator.description.load_robot import load

            return cls(load(source), options)
        return cls(described, options)

    def for_outputs(self, outputs: tuple[str, ...] | None, frames: tuple[str, ...] | None = None) -> BuildRequest:
        """The same robot for other functions; None: for the same frames."""
        return replace(self, options=self.options.with_outputs(outputs, frames))

    def loaded(self) -> Robot:
        """The robot."""
        return self.robot.load()[0] if isinstance(self.robot, Description) else self.robot


def _is_plain(value: object, depth: int = 0) -> bool:
    """Whether the text of a value says all about it; what is too deep or too long for a text is load's to refuse."""
    if depth > MOST_NESTING:
        return False
    if type(value) is dict:
        return all(type(key) is str and _is_plain(item, depth + 1) for key, item in value.items())
    if type(value) in (list, tuple):
        return all(_is_plain(item, depth + 1) for item in value)  # type: ignore[attr-defined]
    return type(value) in _PLAIN and not (isinstance(value, int) and value.bit_length() > MOST_BITS)
