"""What a caller of ``load`` may choose beside the description. Imports nothing slow: a known model must start at once."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, get_args

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
    def checked(
        cls,
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
        loops: str | os.PathLike[str] | None = None,
        model: str | None = None,
    ) -> LoadOptions:
        """Refuse arguments of another kind, whatever the source: a wrong one would count as the usual one."""
        words = {"mimic": (mimic, get_args(Mimic)), "base": (base, (None, *get_args(Base)))}
        for key, (word, known) in words.items():
            if not (word is None or isinstance(word, str)) or word not in known:
                raise Location("load").at(key).error(word, " or ".join(map(repr, known)), "leave it out")
        if not (model is None or isinstance(model, str)):
            raise Location("load").at("model").error(model, "the name of a model of an SDF file", "model='arm'")
        if not (tip is None or isinstance(tip, str)):
            raise Location("load").at("tip").error(tip, "the name of a link", "tip='hand'")
        for key, flag in {"friction": friction, "snap": snap, "allow_xacro": allow_xacro}.items():
            if not isinstance(flag, bool):
                raise Location("load").at(key).error(flag, "True or False", "leave it out")
        for key, given in {"lock": lock, "arguments": arguments, "package_path": package_path}.items():
            if given is not None and not isinstance(given, Mapping):
                raise Location("load").at(key).error(given, "a mapping of names to values", f"{key}={{'name': 0.1}}")
            _check_keys(given or {}, Location("load").at(key))
        given_values = dict(lock or {}), dict(arguments or {})
        folders = _folders(package_path or {})
        if loops is not None and not isinstance(loops, (str, os.PathLike)):
            raise Location("load").at("loops").error(loops, "the path of a robot.yaml", "loops='robot.yaml'")
        closed = None if loops is None else os.path.abspath(os.fspath(loops))
        words_first = name, _patterns(live), tip, mimic, friction, snap, base
        return cls(*words_first, *given_values, allow_xacro, folders, closed, model)


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
