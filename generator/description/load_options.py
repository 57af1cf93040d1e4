"""What a caller of ``load`` may choose beside the description. Imports nothing slow: a known model must start at once."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias, get_args

from elastogen.generator.robot.errors import removed_directory
from elastogen.generator.robot.location import Location

Mimic: TypeAlias = Literal["follow", "independent", "error"]
Base: TypeAlias = Literal["fixed", "floating", "driven"]


MOST_BITS = 1100  # of whole numbers


@dataclass(frozen=True)
class LoadOptions:
    """The checked keyword arguments of ``load``; equal options on equal files give equal robots."""

    name: str | None = None  # replaces the robot's name
    live: tuple[str, ...] = ()  # parameters that become live
    tip: str | None = None  # link of the tip frame
    mimic: Mimic = "follow"
    friction: bool = False
    snap: bool = True
    base: Base | None = None
    lock: Mapping[str, float | Sequence[float]] = field(default_factory=dict)
    arguments: Mapping[str, Any] = field(default_factory=dict)  # of xacro files
    allow_xacro: bool = False  # whether xacro files may be expanded, wherever they are named
    package_path: Mapping[str, str] = field(default_factory=dict)  # absolute folders of packages and models, by their names
    loops: str | None = None  # absolute path of a robot.yaml that says where a URDF is closed
    model: str | None = None  # which of several models of an SDF file

    @classmethod
    def checked(cls, **given: Any) -> LoadOptions:
        """Options from the keyword arguments of ``load``, which has their signature and says what they mean.

        Values of the wrong type are refused, whatever the source.
        """
        asked = cls(**given)
        words = {"mimic": (asked.mimic, get_args(Mimic)), "base": (asked.base, (None, *get_args(Base)))}
        for key, (word, known) in words.items():
            if not (word is None or isinstance(word, str)) or word not in known:
                raise Location("load").at(key).error(word, " or ".join(map(repr, known)), "leave it out")
        if not (asked.model is None or isinstance(asked.model, str)):
            raise Location("load").at("model").error(asked.model, "the name of a model of an SDF file", "model='arm'")
        if not (asked.name is None or isinstance(asked.name, str)):
            raise Location("load").at("name").error(asked.name, "the name of a robot", "name='arm'")
        if not (asked.tip is None or isinstance(asked.tip, str)):
            raise Location("load").at("tip").error(asked.tip, "the name of a link", "tip='hand'")
        for key in ("friction", "snap", "allow_xacro"):
            flag = getattr(asked, key)
            if not isinstance(flag, bool):
                raise Location("load").at(key).error(flag, "True or False", "leave it out")
        mappings: dict[str, dict[str, Any]] = {}
        for key in ("lock", "arguments", "package_path"):
            values = getattr(asked, key)
            if values is not None and not isinstance(values, Mapping):
                raise Location("load").at(key).error(values, "a mapping of names to values", f"{key}={{'name': 0.1}}")
            mappings[key] = dict(values or {})
            _check_keys(mappings[key], Location("load").at(key))
        if asked.loops is not None and not isinstance(asked.loops, (str, os.PathLike)):
            raise Location("load").at("loops").error(asked.loops, "the path of a robot.yaml", "loops='robot.yaml'")
        try:
            closed = None if asked.loops is None else os.path.abspath(os.fspath(asked.loops))
        except FileNotFoundError:
            raise Location("load").at("loops").error(asked.loops, "a full path", removed_directory()) from None
        lock, arguments, folders = mappings["lock"], mappings["arguments"], _folders(mappings["package_path"])
        return replace(asked, live=_patterns(asked.live), lock=lock, arguments=arguments, package_path=folders, loops=closed)


def _check_keys(given: Mapping[Any, Any], where: Location) -> None:
    for key, value in given.items():
        if not isinstance(key, str):
            raise where.error(key, "names as keys", "write a text")
        if isinstance(value, int) and value.bit_length() > MOST_BITS:
            raise where.at(key).error(f"an integer of {value.bit_length()} bits", "a number of at most 1e300", "check the unit")


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
