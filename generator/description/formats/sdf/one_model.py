"""One model of an SDF file as one flat element: models inside it, and those that it includes, become links, joints and frames.

Names of what was in a model ``arm`` are ``arm::link``, as SDFormat has them; ``arm`` itself is a frame. With ``merge`` names
stay, and the frame is ``_merged__arm__model__``. Axes of versions before 1.5 are in the frame of their model.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, replace
from pathlib import Path
from xml.etree.ElementTree import Element, SubElement

from elastogen.generator.description.formats.sdf.included import Included, version_of
from elastogen.generator.description.formats.xml_elements import attribute
from elastogen.generator.robot.errors import RobotError
from elastogen.generator.robot.location import Location, did_you_mean

WORLD, MODEL = "world", "__model__"
MAX_MODELS = 30  # inside each other
_TRUE = ("1", "true")
_RENAME = "rename them, or keep one; then choose by load(..., model='name'), --model name"


@dataclass(frozen=True)
class Found:
    """A model where it stands: its element, the file, and what led there."""

    element: Element
    version: tuple[int, int]
    files: tuple[Path, ...]  # the last one holds it
    where: Location


def one_model(root: Element, included: Included, name: str | None, where: Location) -> Element:
    """Return the model of that name, or the only one with joints, without models inside."""
    here = Found(root, version_of(root, where), (included.path,), where)
    chosen = _chosen(here, included, name)
    flat = Element("model", {"name": chosen.element.get("name", "")})
    canonical = _canonical(chosen.element)
    if canonical:
        flat.set("canonical_link", canonical)
    pose = chosen.element.find("pose")
    if pose is not None:
        flat.append(pose)
    if chosen.element.get("placement_frame"):
        raise _no_placement(chosen.element, chosen.where)
    _Flat(flat, included).add(chosen, "", MODEL, 0)
    return flat


def _chosen(file: Found, included: Included, name: str | None) -> Found:
    where = file.where.at("model")
    places = [file.element, *file.element.findall("world")]
    models = [replace(file, element=model) for place in places for model in place.findall("model")]
    unknown = []
    for include in (include for place in places for include in place.findall("include")):
        label = (include.findtext("name") or include.findtext("uri") or "").strip()
        if name is not None and name not in (label, label.rpartition("/")[2]):
            continue
        try:
            models.append(_include(include, file, included))
        except RobotError as problem:
            unknown.append((label, problem))
    known = [str(model.element.get("name")) for model in models]
    if name is not None:
        named = [model for model, label in zip(models, known, strict=True) if label == name]
        if len(named) == 1:
            return named[0]
        if unknown:
            raise unknown[0][1]
        if named:
            raise where.error(f"{len(named)} models {name!r}", "names of models that occur once", _RENAME)
        raise where.error(name, f"the name of one model: {', '.join(known) or 'there is none'}", did_you_mean(name, known))
    robots = [model for model in models if _has_joints(model.element)] or models
    if len(robots) != 1:
        if unknown and not robots:
            raise unknown[0][1]
        shown = ", ".join(str(model.element.get("name")) for model in robots) or "no <model>"
        names = [model.element.get("name") for model in robots]
        fix = "choose one: load(..., model='name'), --model name" if len(set(names)) == len(names) else _RENAME
        raise where.error(shown, "one model with joints", fix)
    for label, missed in unknown:
        file.where.at("include").warn(label, f"models that are found; this one is left out: {missed.given}", missed.fix)
    return robots[0]


def _has_joints(model: Element) -> bool:
    return next(model.iter("joint"), None) is not None or next(model.iter("include"), None) is not None


def _include(include: Element, at: Found, included: Included) -> Found:
    """The model of an included file, with the name and the pose that the include gives it."""
    here = at.where.at("include")
    uri = (include.findtext("uri") or "").strip()
    if not uri:
        raise here.error("nothing", "<uri>, where the model is", "add it")
    root, path = included.root(uri, at.files[-1].parent, at.files, here.at("uri"))
    where = Location(str(path))
    models = root.findall("model")
    if len(models) != 1:
        shown = ", ".join(str(model.get("name")) for model in models) or "none"
        raise where.at("model").error(shown, "one model in a file that is included", "keep one of them in the file")
    model = deepcopy(models[0])
    name = (include.findtext("name") or "").strip()
    if name:
        model.set("name", name)
    pose = include.find("pose")
    if pose is not None:
        for old in model.findall("pose"):
            model.remove(old)
        model.insert(0, deepcopy(pose))
    if include.find("placement_frame") is not None or include.get("placement_frame"):
        raise _no_placement(model, here)
    if include.get("merge"):
        model.set("merge", include.get("merge", ""))
    return Found(model, version_of(root, where), (*at.files, path), where)


def _no_placement(model: Element, where: Location) -> RobotError:
    given = model.get("placement_frame") or "placement_frame"
    return where.at("model", model.get("name", ""), "placement_frame").error(
        given, "models that are placed by their own frame", "give the pose of the model itself"
    )


def _canonical(model: Element) -> str | None:
    """The link that the frame of a model is attached to, if it is one of its own."""
    link = model.find("link")
    return model.get("canonical_link") or (None if link is None else link.get("name"))


class _Flat:
    """The element that is filled."""

    def __init__(self, flat: Element, included: Included) -> None:
        self.flat, self.included = flat, included

    def add(self, model: Found, scope: str, frame: str, depth: int) -> None:
        """Add what is in a model; ``scope`` goes before its names, ``frame`` is what its own frame is called."""
        if depth > MAX_MODELS:
            raise model.where.at("model").error("deeper nesting", f"at most {MAX_MODELS} models inside each other", "join some")

        def named(name: str) -> str:
            return frame if name == MODEL else name if name == WORLD else scope + name

        for element in model.element:
            if element.tag == "model":
                self._inside(replace(model, element=element), named, frame, scope, depth)
            elif element.tag == "include":
                self._inside(_include(element, model, self.included), named, frame, scope, depth)
            elif element.tag in ("link", "joint", "frame"):
                self.flat.append(_renamed(element, named, frame, model.version))

    def _inside(self, model: Found, named: Callable[[str], str], outer: str, scope: str, depth: int) -> None:
        own = attribute(model.element, "name", model.where.at("model"))
        merged = model.element.get("merge") in _TRUE
        if model.element.get("placement_frame"):
            raise _no_placement(model.element, model.where)
        frame = f"{scope}_merged__{own}__model__" if merged else named(own)
        inner = scope if merged else f"{frame}::"
        made = self._frame(model.element, frame, inner, named, outer)
        before = len(self.flat)
        self.add(model, inner, frame, depth + 1)
        if not made.get("attached_to"):  # its first link is in a model inside it
            link = next((element for element in self.flat[before:] if element.tag == "link"), None)
            made.set("attached_to", MODEL if link is None else link.get("name", ""))

    def _frame(self, model: Element, frame: str, scope: str, named: Callable[[str], str], outer: str) -> Element:
        """The frame of a model: attached to its canonical link, where its pose says in the frame of what is around it."""
        canonical = _canonical(model)
        made = SubElement(self.flat, "frame", {"name": frame, "attached_to": f"{scope}{canonical}" if canonical else ""})
        pose = model.find("pose")
        given = SubElement(made, "pose", {} if pose is None else dict(pose.attrib))
        given.text = "0 0 0 0 0 0" if pose is None or not (pose.text or "").strip() else pose.text
        if pose is None or not (pose.text or "").strip():
            given.attrib.pop("rotation_format", None)
        relative_to = given.get("relative_to")
        given.set("relative_to", named(relative_to) if relative_to else outer)
        return made


def _renamed(element: Element, named: Callable[[str], str], frame: str, version: tuple[int, int]) -> Element:
    """A link, joint or frame with the names that it has and mentions in the flat model."""
    made = deepcopy(element)
    if made.get("name"):
        made.set("name", named(made.get("name", "")))
    for pose in made.findall("pose"):
        if pose.get("relative_to"):
            pose.set("relative_to", named(pose.get("relative_to", "")))
    if made.tag == "link":
        _placed(made, frame)
    elif made.tag == "frame":
        made.set("attached_to", named(made.get("attached_to") or MODEL))
    else:
        for end in (*made.findall("parent"), *made.findall("child")):
            end.text = named((end.text or "").strip()) if (end.text or "").strip() else end.text
        for axis in (*made.findall("axis"), *made.findall("axis2")):
            _rotated(axis, named, version)
    return made


def _placed(link: Element, frame: str) -> None:
    """Links are in the frame of their model where they do not say another one."""
    poses = link.findall("pose")
    if frame != MODEL and not poses:
        SubElement(link, "pose", {"relative_to": frame}).text = "0 0 0 0 0 0"
    for pose in poses:
        if not pose.get("relative_to"):
            pose.set("relative_to", frame)


def _rotated(axis: Element, named: Callable[[str], str], version: tuple[int, int]) -> None:
    xyz = axis.find("xyz")
    if xyz is not None and xyz.get("expressed_in"):
        xyz.set("expressed_in", named(xyz.get("expressed_in", "")))
    elif version < (1, 5) or (axis.findtext("use_parent_model_frame") or "").strip() in _TRUE:
        if xyz is None:
            xyz = SubElement(axis, "xyz")
            xyz.text = "0 0 1"
        xyz.set("expressed_in", named(MODEL))
    for mimic in axis.findall("mimic"):
        if mimic.get("joint"):
            mimic.set("joint", named(mimic.get("joint", "")))
