"""The identified robot as a file in which only the identified numbers differ.

A YAML robot file is read with its comments and order, gets the new numbers, and stays otherwise as its author wrote it. On top
of any other description (URDF, MJCF, SDF, a built-in robot, a planar block) a new file says what is different. What is written
is read back, and must be the identified robot, before anything appears.
"""

from __future__ import annotations

import io
import os
import tempfile
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq

from elastogen.generator.description.files import builtin_names
from elastogen.generator.description.load_robot import load
from elastogen.generator.robot.expressions import nominal
from elastogen.generator.robot.robot import Actuation, Body, Robot
from elastogen.identification.equations.springs import TERM, potential_text, springs_of
from elastogen.identification.errors import IdentificationError
from elastogen.identification.results.estimates import rounded

if TYPE_CHECKING:
    from elastogen.identification.results.result import Identification

_SIX = (("xx", 0, 0), ("yy", 1, 1), ("zz", 2, 2), ("xy", 0, 1), ("xz", 0, 2), ("yz", 1, 2))
SAME = 1e-8  # relative: how near what is read back must be


def robot_text(found: Identification, target: Path, base: str | Path | None) -> str:
    """The text of the file; ``base`` is where the robot came from."""
    source = base if base is not None else found.source
    if isinstance(source, Robot):
        source = source.files[0] if source.files else source.source
        if not Path(source).is_file():
            raise IdentificationError(
                "save", f"a robot from {source!r}", "the file that it was read from", "save(path, base='robot.yaml')"
            )
    text = _edited(found, Path(source)) if _is_editable(str(source)) else _on_top(found, str(source), target)
    _check(found, text, target)
    return text


def _is_editable(source: str) -> bool:
    path = Path(source)
    if source in builtin_names() or path.suffix.lower() not in (".yaml", ".yml"):
        return False
    content = YAML(typ="safe", pure=True).load(path.read_text(encoding="utf-8"))
    return isinstance(content, dict) and "planar" not in content


def _yaml() -> YAML:
    writer = YAML()
    writer.preserve_quotes = True
    writer.width = 160
    return writer


def _text_of(content: Any) -> str:
    stream = io.StringIO()
    _yaml().dump(content, stream)
    return stream.getvalue()


def _edited(found: Identification, path: Path) -> str:
    """The user's file with other numbers."""
    content = _yaml().load(path.read_text(encoding="utf-8"))
    changed = _changed_names(found)
    on_top = "base_description" in content
    for link in changed["links"]:
        section = _named(content, "links", link, on_top)
        _set_body(section, found.robot.link(link).body, found.robot)
    for joint in changed["joints"]:
        _set_drive(_named(content, "joints", joint, on_top), found, joint)
    if changed["payload"]:
        section = content.setdefault("payload", CommentedMap())
        _set_body(section, found.robot.payload, found.robot)
    if changed["springs"]:
        _set_springs(content, found.robot)
    return _text_of(content)


def _set_springs(content: CommentedMap, robot: Robot) -> None:
    """The term of the springs, replaced or added; none where all are zero."""
    terms = content.setdefault("terms", CommentedSeq())
    own = next((term for term in terms if term.get("name") == TERM), None)
    text = potential_text(robot)
    if own is not None and text:
        own["potential"] = text
    elif own is not None:
        terms.remove(own)
    else:
        terms.append(CommentedMap(name=TERM, potential=text))


def _named(content: CommentedMap, key: str, name: str, may_add: bool) -> CommentedMap:
    """The section of a link or joint, which may be listed or not yet."""
    sections = content.setdefault(key, CommentedSeq())
    for section in sections:
        if section.get("name") == name:
            return section  # type: ignore[no-any-return]
    implied = [s.get("child") for s in content.get("joints", ())] if key == "links" else []
    if not may_add and name not in implied and key == "joints":
        raise IdentificationError("save", f"no {name} in {key}", "the file that the robot was read from", "name it: base=")
    section = CommentedMap(name=name)
    section.fa.set_flow_style()
    sections.append(section)
    return section


def _changed_names(found: Identification) -> dict[str, Any]:
    old, new = found.described, found.robot
    return {
        "links": [link.name for link in new.links if link.body != old.link(link.name).body],
        "joints": [a.name for a, b in zip(new.joints, old.joints, strict=True) if a.actuation != b.actuation],
        "payload": new.payload != old.payload,
        "springs": not np.array_equal(springs_of(new), springs_of(old)),
    }


def _set_body(section: CommentedMap, body: Body, robot: Robot) -> None:
    numbers = [nominal(x, robot.parameters) for x in (body.mass, *body.com, *(x for row in body.inertia for x in row))]
    mass, com, inertia = numbers[0], np.array(numbers[1:4]), np.array(numbers[4:]).reshape(3, 3)
    if section.get("inertia_about") == "frame":
        inertia = inertia + mass * (com @ com * np.eye(3) - np.outer(com, com))
    section["mass"] = rounded(mass)
    section["com"] = _flow([rounded(x) for x in com], section.get("com"))
    old = section.get("inertia")
    if isinstance(old, list) and old and isinstance(old[0], list):
        for i, row in enumerate(old):
            row[:] = [rounded(x) for x in inertia[i]]
    elif isinstance(old, list):
        section["inertia"] = _flow([rounded(inertia[i, j]) for _, i, j in _SIX], old)
    else:
        tensor = old if isinstance(old, CommentedMap) else CommentedMap()
        tensor.fa.set_flow_style()
        for key, i, j in _SIX:
            tensor[key] = rounded(inertia[i, j])
        section["inertia"] = tensor


def _flow(values: list[float], old: Any) -> CommentedSeq:
    """A list in one line, with the comments of the one that it replaces."""
    found = old if isinstance(old, CommentedSeq) else CommentedSeq()
    found[:] = values
    found.fa.set_flow_style()
    return found


def _set_drive(section: CommentedMap, found: Identification, name: str) -> None:
    """Numbers of the drive that differ, in sections that are added where there are none."""
    new = next(joint.actuation for joint in found.robot.joints if joint.name == name)
    old = next(joint.actuation for joint in found.described.joints if joint.name == name)
    friction: dict[str, Any] = {}
    for item in fields(Actuation):
        value = getattr(new, item.name)
        if value == getattr(old, item.name):
            continue
        if item.name == "motor_inertia":
            motor = section.setdefault("motor", CommentedMap())
            motor["inertia"] = rounded(nominal(value, found.robot.parameters))
        else:
            friction[item.name] = rounded(nominal(value, found.robot.parameters))
    if friction:
        section.setdefault("friction", CommentedMap()).update(friction)
    for key in ("motor", "friction"):
        if key in section and section[key].fa.flow_style() is None:
            section[key].fa.set_flow_style()


def _on_top(found: Identification, source: str, target: Path) -> str:
    """A new file on top of another description."""
    file = source
    if source not in builtin_names():
        file = os.path.relpath(Path(source).resolve(), target.resolve().parent)
    changed, new = _changed_names(found), found.robot
    links, joints = CommentedSeq(), CommentedSeq()
    for name in changed["links"]:
        section = CommentedMap(name=name)
        _set_body(section, new.link(name).body, new)
        links.append(section)
    for name in changed["joints"]:
        section = CommentedMap(name=name)
        _set_drive(section, found, name)
        joints.append(section)
    content = CommentedMap(elastogen=1, name=new.name, base_description=file)
    content.yaml_set_start_comment(f"Identified numbers of {new.name}; everything else is as {file} has it.")
    if links:
        content["links"] = links
    if joints:
        content["joints"] = joints
    if changed["payload"]:
        content["payload"] = CommentedMap()
        _set_body(content["payload"], new.payload, new)
    if changed["springs"]:
        _set_springs(content, new)
    return _text_of(content)


def _check(found: Identification, text: str, target: Path) -> None:
    """What was written, read back, is the identified robot."""
    folder = target.resolve().parent
    if not folder.is_dir():
        raise IdentificationError("save", str(target), "a file in a folder that exists", f"make {folder}")
    handle, name = tempfile.mkstemp(suffix=".yaml", prefix=".check-", dir=folder)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        back = load(name)
    finally:
        os.unlink(name)
    one, other = _numbers(back), _numbers(found.robot)
    if one.shape != other.shape or not np.allclose(one, other, rtol=SAME, atol=1e-12):
        raise IdentificationError(
            "save", "a robot that was loaded with other options, or is not that of its file", "the robot of the file",
            "give the file itself to identify, or put lock, base and mimic into a robot file",
        )  # fmt: skip


def _numbers(robot: Robot) -> Any:
    """All numbers of bodies, drives, placements and springs."""
    found: list[Any] = []
    for body in (*(link.body for link in robot.links), robot.payload):
        found += [body.mass, *body.com, *(x for row in body.inertia for x in row)]
    for joint in robot.joints:
        found += [getattr(joint.actuation, item.name) for item in fields(Actuation)]
        found += [x for matrix in (joint.before, joint.after) for row in matrix for x in row]
    return np.array([*(nominal(x, robot.parameters) for x in found), *springs_of(robot)])
