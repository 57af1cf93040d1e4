"""Numbers of a robot file that are estimated: found by their paths, made live, and written back where they stood.

A path names a number as the file has it, ``links.boom.flexible.EI``, ``joints.elbow.elasticity.stiffness``, ``parameters.c1``;
``*`` stands for anything. A number becomes a live parameter of the model; where the file has an expression in named parameters,
these do. What the file does not say, but a robot has (friction, motors), is live by the same path.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from elastogen.generator.description.files import builtin_names
from elastogen.generator.description.load_robot import load
from elastogen.generator.robot.live import slots_of
from elastogen.generator.robot.location import did_you_mean
from elastogen.generator.robot.names import to_identifier
from elastogen.generator.robot.robot import Robot
from elastogen.identification.errors import IdentificationError
from elastogen.identification.output_error.names import PATHS, SECTIONS

LEAST = 0.01  # of its described value: a positive number stays above
MAY_VANISH = frozenset(("damping", "alpha", "beta", "viscous", "coulomb", "load", "stribeck"))
POSITIVE = frozenset(
    ("mass", "EI", "EI_y", "EI_z", "EA", "GJ", "mass_per_length", "stiffness", "damping", "alpha", "beta", "viscous", "coulomb",
     "length", "reflected_inertia")
)  # fmt: skip
"""Last words of paths whose numbers are never negative."""


@dataclass(frozen=True)
class Number:
    """One number: its path in the file, the live parameter that it is, its described value in SI units."""

    path: str
    live: str
    value: float
    unit: str
    least: float | None  # of its described value, at least; None: any number
    factor: float = 1.0  # of the file's unit


def content_of(source: object) -> tuple[dict[str, Any], Path]:
    """A robot file or mapping as plain data, and the folder of its files."""
    if isinstance(source, Mapping):
        return copy.deepcopy(dict(source)), Path()
    given = source
    if isinstance(source, Robot):
        given = source.files[0] if source.files else source.source
    path = Path(str(given))
    if str(given) in builtin_names():
        import elastogen

        path = Path(elastogen.__file__).parent / "generator" / "description" / "robots" / f"{given}.yaml"
    if path.suffix.lower() not in (".yaml", ".yml") or not path.is_file():
        return {"elastogen": 1, "base_description": str(given)}, Path()
    content = YAML(typ="safe", pure=True).load(path.read_text(encoding="utf-8"))
    return dict(content), path.parent


def leaves(content: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """All numbers and expressions with their paths; lists of named sections go by their names."""
    if isinstance(content, Mapping):
        for key, value in content.items():
            yield from leaves(value, f"{path}.{key}" if path else str(key))
    elif isinstance(content, list):
        for k, value in enumerate(content):
            name = value.get("name", value.get("child", k)) if isinstance(value, Mapping) else k
            yield from leaves(value, f"{path}.{name}")
    elif isinstance(content, (int, float, str)) and not isinstance(content, bool):
        yield path, content


def put(content: Any, path: str, value: object) -> None:
    """Set a number by its path; sections that are missing are made."""
    first, _, rest = path.partition(".")
    if isinstance(content, list):
        named = [item for item in content if isinstance(item, dict) and first in (item.get("name"), item.get("child"))]
        if named and rest:
            put(named[0], rest, value)
        elif first.isdigit():
            if rest:
                put(content[int(first)], rest, value)
            else:
                content[int(first)] = value
        else:
            content.append({"name": first})
            put(content[-1], rest, value)
    elif not rest:
        content[first] = value
    else:
        if first not in content:
            content[first] = [] if first in ("links", "joints") else {}
        put(content[first], rest, value)


def choose_numbers(source: object, wanted: Sequence[str]) -> tuple[Robot, list[Number], dict[str, Any]]:
    """The robot with the wanted numbers live, these numbers, and the content of its file."""
    content, folder = content_of(source)
    patterns = [path for name in wanted for path in PATHS.get(name, (name,))]
    named = set(content.get("parameters") or ())
    changed = copy.deepcopy(content)
    paths: dict[str, str] = {}  # live name -> path
    matched: set[str] = set()
    for path, value in list(leaves(content)):
        if path.partition(".")[0] not in SECTIONS:
            continue
        own = path.removesuffix(".value") if path.startswith("parameters.") else path
        hit = [pattern for pattern in patterns if fnmatchcase(own, pattern)]
        if not hit:
            continue
        if own.startswith("parameters."):
            if isinstance(value, (int, float)) or path != own:
                paths.setdefault(own.split(".")[1], own)
                matched |= set(hit)
        elif isinstance(value, (int, float)):
            live = to_identifier(own.replace(".", "_"), "number")
            put(changed, own, live)
            changed.setdefault("parameters", {})[live] = float(value)
            paths[live] = own
            matched |= set(hit)
        else:
            symbols = sorted(named & set(re.findall(r"[A-Za-z_]\w*", str(value))))
            for symbol in symbols:
                paths.setdefault(symbol, f"parameters.{symbol}")
            matched |= set(hit) if symbols else set()
    rest = [pattern for pattern in patterns if pattern not in matched]
    before = list(changed.get("live") or [])
    changed["live"] = [*before, *(name for name in paths if name not in before)]
    robot = _loaded(changed, folder, [])
    slots = {slot.path: slot.name for slot, _ in slots_of(robot)}
    for pattern in rest:
        hits = {path: name for path, name in slots.items() if fnmatchcase(path, pattern)}
        if not hits and not any(pattern in PATHS.get(name, ()) for name in wanted):
            known = [*slots, *(path for path, _ in leaves(content) if path.partition(".")[0] in SECTIONS)]
            raise IdentificationError(
                "parameters",
                repr(pattern),
                "the path of a number of the robot",
                did_you_mean(pattern, known, "see the robot file"),
            )
        paths |= {name: path for path, name in hits.items()}
    for name in wanted:
        if name in PATHS and not set(PATHS[name]) & matched and not any(fnmatchcase(p, q) for p in slots for q in PATHS[name]):
            raise IdentificationError(
                "parameters", repr(name), "a robot that has it", f"give it a first value: {PATHS[name][0]}"
            )
    slotted = [path for name, path in paths.items() if name not in robot_names(robot)]
    if slotted:
        robot = _loaded(changed, folder, slotted)
    known_live = {parameter.name: parameter for parameter in robot.live_parameters}
    missing = [path for name, path in paths.items() if name not in known_live]
    if missing:
        raise IdentificationError("parameters", missing[0], "a number that the motion depends on", "leave it out")
    found = [_number(path, known_live[name], content) for name, path in paths.items()]
    return robot, found, content


def robot_names(robot: Robot) -> set[str]:
    """Names of the live parameters."""
    return {parameter.name for parameter in robot.live_parameters}


def _number(path: str, parameter: Any, content: Mapping[str, Any]) -> Number:
    value, factor = float(parameter.value), 1.0
    if path.startswith("parameters."):
        stated = content["parameters"][path.split(".")[1]]
        raw = stated.get("value") if isinstance(stated, Mapping) else stated
        if isinstance(raw, (int, float)) and raw != 0 and value != 0:
            factor = value / float(raw)
    words = path.split(".")
    last = next((word for word in reversed(words) if not word.isdigit()), "")
    principal = "inertia" in words and words[-1] in ("inertia", "xx", "yy", "zz", "0", "1", "2")
    diagonal = "damping" in words and (words[-2:-1] == words[-1:] or not words[-1].isdigit())
    least = 0.0 if diagonal or last in MAY_VANISH else LEAST if principal or last in POSITIVE else None
    return Number(path, parameter.name, value, parameter.unit, least, factor)


def _loaded(content: Mapping[str, Any], folder: Path, live: Sequence[str]) -> Robot:
    """The robot of changed content, whose files are beside those of the user's own."""
    plain = copy.deepcopy(dict(content))
    base = plain.get("base_description")
    if base is not None and base not in builtin_names() and not Path(str(base)).is_absolute():
        plain["base_description"] = str((folder / str(base)).resolve())
    return load(plain, live=live)


def with_values(content: Mapping[str, Any], numbers: Sequence[Number], values: Sequence[float], *, edit: Any = None) -> Any:
    """The content with estimated numbers; ``edit`` is a file with comments, which is changed itself."""
    changed = copy.deepcopy(dict(content)) if edit is None else edit
    for number, value in zip(numbers, values, strict=True):
        shown = float(f"{value / number.factor:.10g}")
        if number.path.startswith("parameters."):
            name = number.path.split(".")[1]
            stated = changed["parameters"][name]
            if isinstance(stated, Mapping):
                stated["value"] = shown  # type: ignore[index]
            else:
                changed["parameters"][name] = shown
        else:
            put(changed, number.path, shown)
    return changed
