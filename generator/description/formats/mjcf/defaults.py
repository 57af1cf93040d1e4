"""What an MJCF file says beside its bodies: compiler settings, default classes, included files."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from xml.etree.ElementTree import Element

import numpy as np

from elastogen.generator.description.files import MAX_INCLUDES, MAX_XML_BYTES, Files, decoded
from elastogen.generator.description.formats.mjcf.poses import Angles, Attributes
from elastogen.generator.description.formats.xml_elements import attribute, parsed
from elastogen.generator.robot.location import Location, did_you_mean

MAIN = "main"
_REFUSED = {  # settings of <compiler> that change bodies behind the file's back
    "settotalmass": "-1", "balanceinertia": "false", "boundmass": "0", "boundinertia": "0", "coordinate": "local",
}  # fmt: skip


@dataclass(frozen=True)
class Compiler:
    """Settings of ``<compiler>``."""

    angles: Angles = field(default_factory=Angles)
    from_geoms: str = "auto"  # inertiafromgeom
    groups: tuple[int, int] = (0, 5)  # geom groups that have mass


def with_includes(root: Element, path: Path, files: Files, where: Location) -> Element:
    """The tree with ``<include file='...'>`` replaced by what is in those files, relative to the main file."""
    count = 0
    stack = [root]
    while stack:
        element = stack.pop()
        for index, child in reversed(list(enumerate(element))):
            if child.tag != "include":
                continue
            count += 1
            if count > MAX_INCLUDES:
                expected = f"at most {MAX_INCLUDES} included files, not in a circle"
                raise where.at("include").error(child.get("file"), expected, "remove some")
            name = attribute(child, "file", where.at("include"))
            other = path.parent / name
            if not other.is_file():
                raise where.at("include").error(name, "a file beside the one that includes it", "correct the path")
            included = parsed(decoded(files.read(other, MAX_XML_BYTES), str(other)), "mujoco", Location(str(other)))
            element[index : index + 1] = list(included)
        stack.extend(element)
    return root


def read_compiler(root: Element, where: Location) -> Compiler:
    """The settings of all ``<compiler>`` elements; those that come later count."""
    settings: dict[str, str] = {}
    for element in root.findall("compiler"):
        settings |= element.attrib
    here = where.at("compiler")
    for key, neutral in _REFUSED.items():
        if settings.get(key, neutral) != neutral and not _zero(settings[key], neutral):
            raise here.at(key).error(settings[key], f"{key}='{neutral}'", "let MuJoCo write the compiled model: mj_saveLastXML")
    unit = settings.get("angle", "degree")
    if unit not in ("degree", "radian"):
        raise here.at("angle").error(unit, "degree or radian", "choose one")
    sequence = settings.get("eulerseq", "xyz")
    if len(sequence) != 3 or set(sequence.lower()) - set("xyz"):
        raise here.at("eulerseq").error(sequence, "three letters of x, y, z, X, Y, Z", "for example xyz")
    from_geoms = settings.get("inertiafromgeom", "auto")
    if from_geoms not in ("auto", "true", "false"):
        raise here.at("inertiafromgeom").error(from_geoms, "auto, true or false", "choose one")
    text = settings.get("inertiagrouprange", "0 5").split()
    if len(text) != 2 or not all(word.isdigit() for word in text):
        raise here.at("inertiagrouprange").error(" ".join(text), "two whole numbers", "for example 0 5")
    return Compiler(Angles(1.0 if unit == "radian" else np.pi / 180, sequence), from_geoms, (int(text[0]), int(text[1])))


def _zero(given: str, neutral: str) -> bool:
    try:
        return float(given) == float(neutral)
    except ValueError:
        return False


class Defaults:
    """Default classes: what an element of a kind has where it says nothing."""

    def __init__(self, root: Element, where: Location) -> None:
        self._where = where
        self._classes: dict[str, dict[str, Attributes]] = {MAIN: {}}
        for element in root.findall("default"):
            if element.get("class", MAIN) != MAIN:
                expected = "the class main around all others"
                raise where.at("default").error(element.get("class"), expected, "put it inside <default>")
            self._read(element, MAIN, {})

    def _read(self, element: Element, name: str, inherited: dict[str, Attributes]) -> None:
        own = {**self._classes.get(name, {}), **inherited} if name != MAIN else dict(self._classes[MAIN])
        for child in element:
            if child.tag != "default":
                own[child.tag] = {**own.get(child.tag, {}), **child.attrib}
        self._classes[name] = own
        for child in element.findall("default"):
            self._read(child, attribute(child, "class", self._where.at("default")), own)

    def of(self, element: Element, around: str | None) -> Attributes:
        """The attributes of an element with those of its class, or of the class of the bodies around it."""
        name = element.get("class") or around or MAIN
        if name not in self._classes:
            fix = did_you_mean(name, self._classes, "add it to <default>")
            raise self._where.at("default", name).error(name, "a default class of the file", fix)
        return {**self._classes[name].get(element.tag, {}), **element.attrib}
