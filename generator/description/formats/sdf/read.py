"""SDF import: the links, joints and frames of one model, with poses relative to any of them, as SDFormat 1.5 and later say.

The link that no joint carries is the base; a joint on ``world`` hangs the model there. Geometry, sensors and plugins are
ignored. Models inside it, also included ones, become a part of it. A joint to a link that another one carries closes a loop.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element

import sympy

from elastogen.generator.description.couplings import couple
from elastogen.generator.description.files import Files
from elastogen.generator.description.formats.sdf.cut_loops import tree_and_loops
from elastogen.generator.description.formats.sdf.included import Included
from elastogen.generator.description.formats.sdf.one_model import MODEL, WORLD, one_model
from elastogen.generator.description.formats.xml_elements import attribute, only, parsed, parsed_number
from elastogen.generator.joints.coupled import leader
from elastogen.generator.joints.kinds import CONTINUOUS, FIXED, HELICAL, PRISMATIC, REVOLUTE, SPHERICAL, UNIVERSAL
from elastogen.generator.robot import placement
from elastogen.generator.robot.joint_kind import JointKind
from elastogen.generator.robot.location import Location, did_you_mean
from elastogen.generator.robot.names import prefix_of
from elastogen.generator.robot.robot import IDENTITY, Actuation, Body, Joint, Limits, Link, Matrix, Robot, Scalar, Vector
from elastogen.generator.robot.tree import arm_tip, depth_first

if TYPE_CHECKING:
    from elastogen.generator.description.read_robot import Reading

UNBOUNDED = 1e15  # limits beyond mean that there is none
_KINDS: dict[str, JointKind] = {
    "revolute": REVOLUTE, "continuous": CONTINUOUS, "prismatic": PRISMATIC, "ball": SPHERICAL, "universal": UNIVERSAL,
    "revolute2": UNIVERSAL, "screw": HELICAL, "fixed": FIXED,
}  # fmt: skip
_INERTIA = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")


def read(text: str, path: Path, shown: str, reading: Reading) -> Robot:
    """The robot of a file's text."""
    options = reading.of_every_format
    return read_sdf(text, path, shown, reading.files, reading.packages, model=reading.model, **options)


def read_sdf(
    text: str,
    path: Path,
    source: str,
    files: Files,
    packages: Mapping[str, str],
    *,
    model: str | None = None,
    name: str | None = None,
    mimic: str = "follow",
    friction: bool = False,
) -> Robot:
    """Return the robot that an SDF text describes, not yet validated; ``source`` is named in messages.

    ``model`` chooses one of several; ``packages`` are folders of models by their names, for ``<include>``.
    """
    where = Location(source)
    root = parsed(text, "sdf", where)
    chosen = one_model(root, Included(path, packages, files), model, where)
    reader = _Reader(chosen, where, friction)
    links, joints = reader.links(), reader.joints()
    if any(joint.parent == WORLD for joint in joints):
        links = {WORLD: Link(WORLD), **links}
    joints, loops = tree_and_loops(list(links), joints, reader.followers(), where)
    base, chain = depth_first(list(links), joints, where)
    robot_name = (
        name if name is not None else prefix_of(attribute(chosen, "name", where.at("model")), where.at("model", "name"))
    )
    world = root.find("world")
    gravity = "0 0 -9.81" if world is None else world.findtext("gravity") or "0 0 -9.8"  # SDFormat's default
    robot = Robot(
        name=robot_name,
        links=(links[base], *(links[joint.child] for joint in chain)),
        joints=tuple(chain),
        gravity=_vector(gravity, where.at("world", "gravity")),
        tip=arm_tip(base, chain),
        source=source,
        loops=loops,
    )
    return robot if mimic == "independent" else couple(robot, reader.mimics(mimic), where)


@dataclass(frozen=True)
class _Pose:
    """A pose as the file gives it: relative to another frame."""

    relative_to: str
    value: Matrix


class _Reader:
    """The parts of a model, and where they are in its frame."""

    def __init__(self, model: Element, where: Location, friction: bool) -> None:
        self.model, self.where, self.friction = model, where, friction
        self.poses: dict[str, _Pose] = {}
        self.attached: dict[str, str] = {}  # frames, and what they are fixed to
        self.children: dict[str, str] = {}  # of joints, whose frames are fixed to them
        self.found: dict[str, Matrix] = {MODEL: IDENTITY}
        for element in model.findall("link"):
            self._pose(element, MODEL, where.at("links"))
        for element in model.findall("joint"):
            name = self._pose(element, self._end(element, "child"), where.at("joints"))
            self.children[name] = self._end(element, "child")
        for element in model.findall("frame"):
            attached = element.get("attached_to", MODEL) or MODEL
            self.attached[self._pose(element, attached, where.at("frames"))] = attached
        first = model.find("link")
        if first is not None:  # the canonical link, to which the frame of the model is attached
            self.attached[MODEL] = model.get("canonical_link", first.get("name", ""))

    def _pose(self, element: Element, relative_to: str, where: Location) -> str:
        name = attribute(element, "name", where)
        if name in self.poses:
            raise where.at(name).error(name, "names of links, joints and frames that occur once", "rename one of them")
        self.poses[name] = _pose(element, relative_to, where.at(name))
        return name

    def place(self, name: str, where: Location) -> Matrix:
        """The pose of a link, joint or frame in the model's frame."""
        way: dict[str, None] = {}  # frames that are relative to the next one
        while name not in self.found:
            if name in way:
                expected = "poses that are not relative to each other in a circle"
                raise where.error(" -> ".join((*list(way)[-5:], name)), expected, "cut it")
            if name not in self.poses:
                fix = did_you_mean(name, self.poses, "name a link, joint or frame of the model")
                raise where.error(name, "a frame of the model", fix)
            way[name] = None
            name = self.poses[name].relative_to
        found = self.found[name]
        for other in reversed(way):
            found = self.found[other] = placement.product(found, self.poses[other].value)
        return found

    def links(self) -> dict[str, Link]:
        """The links with their inertia."""
        found = {}
        for element in self.model.findall("link"):
            name = attribute(element, "name", self.where.at("links"))
            found[name] = Link(name, _body(element, self.where.at("links", name)))
        if not found:
            raise self.where.at("model").error("no <link>", "links and joints", "is this a robot?")
        return found

    def joints(self) -> list[Joint]:
        """The joints, in the file's order."""
        return [self._joint(element) for element in self.model.findall("joint")]

    def _end(self, element: Element, role: str) -> str:
        here = self.where.at("joints", element.get("name", ""))
        text = (element.findtext(role) or "").strip()
        if not text:
            raise here.at(role).error("nothing", f"<{role}>, the name of a link", "add it")
        return text

    def _link_of(self, name: str, here: Location) -> str:
        """The link that a frame is fixed to; a joint's frame is fixed to its child."""
        seen: dict[str, None] = {}
        while name in self.attached or name in self.children:
            if name in seen:
                expected = "frames that are attached to a link"
                raise here.error(" -> ".join((*list(seen)[-5:], name)), expected, "cut the circle")
            seen[name] = None
            name = self.attached[name] if name in self.attached else self.children[name]
        return name

    def _joint(self, element: Element) -> Joint:
        name = attribute(element, "name", self.where.at("joints"))
        here = self.where.at("joints", name)
        given = attribute(element, "type", here)
        if given not in _KINDS:
            raise here.at("type").error(given, ", ".join(_KINDS), did_you_mean(given, _KINDS, "choose one of them"))
        kind = _KINDS[given]
        parent, child = (
            end if end == WORLD else self._link_of(end, here.at(role))
            for role, end in ((role, self._end(element, role)) for role in ("parent", "child"))
        )
        if child == WORLD:
            raise here.at("child").error(WORLD, "a link of the model", "exchange parent and child")
        at = self.place(name, here.at("pose"))
        model = _pose(self.model, "", self.where.at("model")).value
        on = placement.inverse(model) if parent == WORLD else self.place(parent, here.at("parent"))
        before = placement.product(placement.inverse(on), at)
        after = placement.product(placement.inverse(at), self.place(child, here.at("child")))
        joint = Joint(name, kind, parent, child, before=before, after=after)
        if kind in (FIXED, SPHERICAL):
            return joint
        axis = self._axis(element, "axis", at, here)
        details: dict[str, Scalar | Vector] = {}
        if kind is UNIVERSAL:
            details["axis2"] = self._axis(element, "axis2", at, here)
            return Joint(name, kind, parent, child, axis, before, after, details=details)
        if kind is HELICAL:
            details["pitch"] = _pitch(element, here)
        axis_element = element.find("axis")
        assert axis_element is not None
        limits = _limits(axis_element, kind, here.at("axis", "limit"))
        drive = _actuation(axis_element, here.at("axis", "dynamics")) if self.friction else Actuation()
        return Joint(name, kind, parent, child, axis, before, after, limits, drive, details=details)

    def _axis(self, element: Element, tag: str, at: Matrix, here: Location) -> Vector:
        """The axis in the joint's frame."""
        axis = only(element, tag, here)
        if axis is None:
            raise here.at(tag).error("nothing", f"<{tag}><xyz>", "add it")
        xyz = axis.find("xyz")
        inside = here.at(tag, "xyz")
        vector = (0, 0, 1) if xyz is None else _vector(xyz.text or "", inside)
        expressed_in = "" if xyz is None else xyz.get("expressed_in", "")
        if expressed_in:
            frame = self.place(expressed_in, inside.at("expressed_in"))
            back = placement.transposed(placement.rotation_of(at))
            vector = placement.rotate(back, placement.rotate(placement.rotation_of(frame), vector))
        return placement.unit_axis(vector, inside)

    def followers(self) -> frozenset[str]:
        """Names of the joints that follow others, and of those that lead them."""
        found = [(joint.get("name", ""), mimic.get("joint", "")) for joint in self.model.findall("joint")
                 for mimic in joint.findall("axis/mimic")]  # fmt: skip
        return frozenset(name for pair in found for name in pair)

    def mimics(self, mimic: str) -> dict[str, sympy.Expr]:
        """Positions of joints with ``<mimic>``: multiplier (leader - reference) + offset."""
        found: dict[str, sympy.Expr] = {}
        for element in self.model.findall("joint"):
            given = element.find("axis/mimic")
            if given is None:
                continue
            name = attribute(element, "name", self.where.at("joints"))
            here = self.where.at("joints", name, "mimic")
            followed = attribute(given, "joint", here)
            if mimic == "error":
                raise here.error(
                    f"{name} mimics {followed}", "joints with coordinates of their own", "load(..., mimic='follow')"
                )
            multiplier, offset, reference = (
                sympy.sympify(_number(given.findtext(tag), here.at(tag), 0 if tag != "multiplier" else 1))
                for tag in ("multiplier", "offset", "reference")
            )
            found[name] = multiplier * (leader(followed) - reference) + offset
        return found


def _pose(element: Element, relative_to: str, where: Location) -> _Pose:
    pose = only(element, "pose", where)
    if pose is None:
        return _Pose(relative_to, IDENTITY)
    here = where.at("pose")
    form, degrees = pose.get("rotation_format", "euler_rpy"), pose.get("degrees") in ("1", "true")
    values = [parsed_number(word, here) for word in (pose.text or "").split()]
    if len(values) != (7 if form == "quat_xyzw" else 6) or form not in ("euler_rpy", "quat_xyzw"):
        if not values:
            return _Pose(pose.get("relative_to") or relative_to, IDENTITY)
        raise here.error(pose.text, "x y z roll pitch yaw", "give six numbers, or seven with rotation_format='quat_xyzw'")
    xyz: Vector = (values[0], values[1], values[2])
    if form == "quat_xyzw":
        return _Pose(pose.get("relative_to") or relative_to, _of_quaternion(xyz, values[3:], here))
    roll, pitch, yaw = (math.radians(angle) if degrees else angle for angle in values[3:])
    placement.warn_of_degrees((roll, pitch, yaw), here, "write degrees='true'")
    return _Pose(pose.get("relative_to") or relative_to, placement.from_xyz_rpy(xyz, (roll, pitch, yaw)))


def _of_quaternion(xyz: Vector, values: list[int | float], where: Location) -> Matrix:
    x, y, z, w = values
    length = math.sqrt(x * x + y * y + z * z + w * w)
    if length < 1e-9:
        raise where.error(values, "a quaternion x y z w, not zero", "0 0 0 1 is the identity")
    sine = math.sqrt(x * x + y * y + z * z)
    turn = placement.from_axis_angle(placement.unit_axis((x, y, z), where), 2 * math.atan2(sine, w)) if sine > 0 else IDENTITY
    return placement.transform(placement.rotation_of(turn), xyz)


def _body(link: Element, where: Location) -> Body:
    inertial = only(link, "inertial", where)
    if inertial is None:
        return Body(1, (0, 0, 0), ((1, 0, 0), (0, 1, 0), (0, 0, 1)))  # what SDFormat says a link without it has
    here = where.at("inertial")
    if inertial.get("auto") in ("1", "true"):
        raise here.at("auto").error("true", "given inertia", "gz sdf -p --expand-auto-inertials file writes it out")
    given = _pose(inertial, "", here)
    if given.relative_to:
        raise here.at("pose").error(given.relative_to, "a pose in the link's frame", "remove relative_to")
    mass = _number(inertial.findtext("mass"), here.at("mass"), 1)
    inertia = only(inertial, "inertia", here)
    entries = {} if inertia is None else {key: inertia.findtext(key) for key in _INERTIA}
    xx, yy, zz, xy, xz, yz = (
        _number(entries.get(key), here.at("inertia", key), 1 if key[1] == key[2] else 0) for key in _INERTIA
    )
    tensor: Matrix = ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))
    rotation = placement.rotation_of(given.value)
    if rotation != placement.rotation_of(IDENTITY):
        tensor = placement.congruent(rotation, tensor)
    return Body(mass, placement.translation_of(given.value), tensor)


def _pitch(element: Element, here: Location) -> float:
    """Metres per radian: of metres per revolution, or of the older negative radians per metre."""
    old = element.findtext("thread_pitch")
    if element.find("screw_thread_pitch") is None and old is not None:
        value = _number(old, here.at("thread_pitch"), 1)
        if value == 0:
            raise here.at("thread_pitch").error(old, "a pitch that is not zero", "use a prismatic joint")
        return -1.0 / value
    return _number(element.findtext("screw_thread_pitch"), here.at("screw_thread_pitch"), 1) / (2 * math.pi)


def _limits(axis: Element, kind: JointKind, where: Location) -> Limits:
    limit = axis.find("limit")
    if limit is None:
        return Limits()

    def bound(tag: str) -> float | None:
        text = limit.findtext(tag) if limit is not None else None
        if text is None or text.strip().lstrip("+-").lower() in ("inf", "infinity"):
            return None
        value = float(parsed_number(text.strip(), where.at(tag)))
        return value if abs(value) < UNBOUNDED and not (tag in ("effort", "velocity") and value < 0) else None

    ranged = kind.bounded
    return Limits(bound("lower") if ranged else None, bound("upper") if ranged else None, bound("velocity"), bound("effort"))


def _actuation(axis: Element, where: Location) -> Actuation:
    dynamics = axis.find("dynamics")
    if dynamics is None:
        return Actuation()
    damping, friction = (_number(dynamics.findtext(tag), where.at(tag), 0) for tag in ("damping", "friction"))
    return Actuation(viscous=damping, coulomb=friction)


def _number(text: str | None, where: Location, default: float) -> float:
    return default if text is None else parsed_number(text.strip(), where)


def _vector(text: str, where: Location) -> Vector:
    parts = text.split()
    if len(parts) != 3:
        raise where.error(text, "three numbers separated by spaces", "write for example 0 0 1")
    x, y, z = (parsed_number(part, where) for part in parts)
    return (x, y, z)
