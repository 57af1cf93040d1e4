"""An MJCF file and all that it includes as one text for MuJoCo's compiler, without what has no part in dynamics."""

from __future__ import annotations

import os
from pathlib import Path
from xml.etree.ElementTree import Element, indent, tostring

from elastogen.generator.description.files import MAX_INCLUDES, MAX_XML_BYTES, Files, decoded
from elastogen.generator.description.formats.xml_elements import MAX_DEPTH, MAX_ELEMENTS, attribute, parsed
from elastogen.generator.robot.location import Location

_SECTIONS = {"visual", "statistic", "size", "sensor", "keyframe", "custom", "contact", "extension"}  # below the root
_INSIDE = {"texture", "layer", "skin", "hfield", "camera", "light", "user", "text", "numeric"}  # wherever they are
_REFUSED = {"flexcomp", "flex", "composite", "plugin", "attach", "model"}  # they bend, run code, or read further models

_ACTUATORS = {
    "general", "motor", "position", "velocity", "intvelocity", "damper", "cylinder", "muscle", "adhesion", "dcmotor",
}  # fmt: skip


def one_text(text: str, path: Path, files: Files, where: Location) -> tuple[str, str, frozenset[str]]:
    """Return the name of the model, the text for the compiler, and the joints with actuators; ``files`` knows the included.

    As in MuJoCo, names of included files are relative to the main file, or else to the file that includes them; each file is
    included once, and its outermost element is dropped.
    """
    root = parsed(text, "mujoco", where)
    _include(root, path, files, where)
    _limit_copies(root, where)
    heavy = any(element.get(key) for element in root.iter() if element.tag in _ACTUATORS for key in ("armature", "damping"))
    driven = _driven(root)
    for group in root.findall("actuator"):
        for element in list(group):
            if element.tag == "plugin" or not heavy:  # laws of control, which are not ours to read
                group.remove(element)
    _reduce(root, where)
    indent(root, "")  # an element on each line: what MuJoCo says about lines is about elements
    return root.get("model", "MuJoCo Model"), tostring(root, encoding="unicode"), driven


def _driven(root: Element) -> frozenset[str]:
    """The joints that actuators act on, by themselves or by fixed tendons."""
    tendons = {
        fixed.get("name"): [joint.get("joint", "") for joint in fixed.findall("joint")]
        for group in root.findall("tendon")
        for fixed in group.findall("fixed")
    }
    found = set[str]()
    for actuator in (actuator for group in root.findall("actuator") for actuator in group):
        found |= {actuator.get(key, "") for key in ("joint", "jointinparent")} | set(tendons.get(actuator.get("tendon"), []))
    return frozenset(found - {""})


def _include(root: Element, path: Path, files: Files, where: Location) -> None:
    """Put the content of included files in place of ``<include>``."""
    seen = {path.resolve()}
    count = 0
    stack = [(root, path.parent, 1)]
    while stack:
        element, folder, depth = stack.pop()
        if depth > MAX_DEPTH:
            raise where.error("deeper nesting", f"at most {MAX_DEPTH} XML elements inside each other", "is this a robot?")
        children: list[tuple[Element, Path]] = [(child, folder) for child in element]
        k = 0
        while k < len(children):
            child, folder = children[k]
            if child.tag != "include":
                k += 1
                continue
            other = _found(attribute(child, "file", where.at("include")), path.parent, folder, seen, where.at("include"))
            inner = parsed(decoded(files.read(other, MAX_XML_BYTES), str(other)), None, Location(str(other)))
            count += sum(1 for _ in inner.iter())
            if count > MAX_ELEMENTS:
                raise where.at("include").error("more elements", f"at most {MAX_ELEMENTS} XML elements", "is this a robot?")
            children[k : k + 1] = [(inside, other.parent) for inside in inner]
        for child, place in children:
            if child.tag == "mesh" and child.get("file") and place != path.parent:
                child.set("file", _mesh_file(child.get("file", ""), path.parent, place))
        element[:] = [child for child, _ in children]
        stack.extend((child, place, depth + 1) for child, place in children)


def _limit_copies(root: Element, where: Location) -> None:
    """Refuse ``<replicate>`` that makes more elements than a file may have: MuJoCo would write them all out."""
    total, stack = 0, [(root, 1)]
    while stack:
        element, copies = stack.pop()
        if element.tag == "replicate":
            copies *= _count(element.get("count", "1"))
        total += copies
        if total > MAX_ELEMENTS:
            expected = f"at most {MAX_ELEMENTS} XML elements, copies of <replicate> included"
            raise where.at("replicate").error("more elements", expected, "is this a robot?")
        stack.extend((child, copies) for child in element)


def _count(text: str) -> int:
    """How often a text says; texts that are no whole number are left to MuJoCo, which refuses them."""
    try:
        return max(int(text[:30]), 1)
    except ValueError:
        return 1


def _mesh_file(name: str, main: Path, folder: Path) -> str:
    """A mesh of an included file: as MuJoCo, seen from the main file, else from the file that names it."""
    return name if (main / name).is_file() or not (folder / name).is_file() else os.path.relpath(folder / name, main)


def _found(name: str, main: Path, folder: Path, seen: set[Path], where: Location) -> Path:
    """The included file: seen from the main file, else from the file that includes it."""
    other = next((place / name for place in (main, folder) if (place / name).is_file()), None)
    if other is None:
        raise where.error(name, "a file, relative to the main one or to this", "correct the path")
    if other.resolve() in seen:
        raise where.error(name, "files that are included once, not in a circle", "remove this include")
    seen.add(other.resolve())
    if len(seen) > MAX_INCLUDES:
        raise where.error(name, f"at most {MAX_INCLUDES} included files", "join some")
    return other


def _reduce(root: Element, where: Location) -> None:
    """Remove what only draws or senses; refuse what no tree of rigid bodies has."""
    for child in list(root):
        if child.tag in _SECTIONS:
            root.remove(child)
    materials = {material.get("name") for material in root.iter("material")}
    for element in root.iter():
        if element.tag == "material":  # a colour: textures are not drawn
            element.attrib = {key: value for key, value in element.attrib.items() if key in ("name", "class", "rgba")}
        if element.tag != "geom" or element.get("material") not in materials:
            element.attrib.pop("material", None)
        for child in list(element):
            if child.tag in _INSIDE:
                element.remove(child)
            elif child.tag in _REFUSED:
                fix = "let MuJoCo write the bodies out (mj_saveLastXML), or leave it out"
                raise where.at(child.tag).error(f"<{child.tag}>", "rigid bodies, joints and geoms", fix)
