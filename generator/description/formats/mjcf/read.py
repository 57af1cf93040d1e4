"""MJCF import: bodies with their joints, inertia and armature, in the file's order, which is MuJoCo's order of coordinates.

The world is the base link. A body with several joints becomes a chain with massless links, a body without one is fixed.
Actuators, sensors, contacts, sites, cameras and pictures are ignored. Constraints that close loops are refused; a joint that
another one drives by ``<equality><joint polycoef=...>`` follows it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

import numpy as np
import sympy

from elastogen.generator.description.couplings import couple
from elastogen.generator.description.files import Files
from elastogen.generator.description.formats.mjcf.defaults import Compiler, Defaults, read_compiler, with_includes
from elastogen.generator.description.formats.mjcf.geoms import body_of_geoms
from elastogen.generator.description.formats.mjcf.poses import Array, Attributes, number, numbers, placed, pose, rotation
from elastogen.generator.description.formats.xml_elements import attribute, only, parsed
from elastogen.generator.joints.coupled import leader
from elastogen.generator.joints.kinds import FIXED, FLOATING, PRISMATIC, REVOLUTE, SPHERICAL
from elastogen.generator.robot import placement
from elastogen.generator.robot.joint_kind import JointKind
from elastogen.generator.robot.location import Location, did_you_mean
from elastogen.generator.robot.names import to_identifier
from elastogen.generator.robot.robot import IDENTITY, Actuation, Body, Joint, Limits, Link, Matrix, Robot
from elastogen.generator.robot.tree import default_tip, depth_first

WORLD = "world"
_KINDS: Mapping[str, JointKind] = {"hinge": REVOLUTE, "slide": PRISMATIC, "ball": SPHERICAL, "free": FLOATING}
_REFUSED = ("replicate", "attach", "composite", "flexcomp", "flex", "deformable", "skin")
_SPRINGS = ("stiffness", "damping", "armature", "frictionloss")


def read_mjcf(
    text: str, path: Path, source: str, files: Files, *, name: str | None = None, mimic: str = "follow", friction: bool = False
) -> Robot:
    """Return the robot that an MJCF text describes, not yet validated; ``source`` is named in messages."""
    where = Location(source)
    root = with_includes(parsed(text, "mujoco", where), path, files, where)
    robot_name = name if name is not None else to_identifier(root.get("model", "MuJoCo Model"), "robot")
    reader = _Reader(root, where, friction)
    reader.read()
    base, chain = depth_first(list(reader.links), reader.joints, where)
    gravity = (0.0, 0.0, -9.81)
    for option in root.findall("option"):
        given = numbers(option.attrib, "gravity", 3, where.at("option"))
        gravity = gravity if given is None else (float(given[0]), float(given[1]), float(given[2]))
    robot = Robot(
        name=robot_name,
        links=(reader.links[base], *(reader.links[joint.child] for joint in chain)),
        joints=tuple(chain),
        gravity=gravity,
        tip=default_tip(base, chain),
        source=source,
    )
    return _constrained(robot, root, reader.references, mimic, where)


@dataclass(frozen=True)
class _Around:
    """What surrounds an element: the link that carries it, the pose of ``<frame>`` elements, the class for those inside."""

    link: str = WORLD
    pose: Matrix = IDENTITY
    children: str | None = None  # childclass


class _Reader:
    """Walks over the bodies, and collects links and joints."""

    def __init__(self, root: Element, where: Location, friction: bool) -> None:
        self.root, self.where, self.friction = root, where, friction
        self.compiler: Compiler = read_compiler(root, where)
        self.defaults = Defaults(root, where)
        self.links: dict[str, Link] = {WORLD: Link(WORLD)}
        self.joints: list[Joint] = []
        self.references: dict[str, float] = {}  # q at the configuration that the file draws
        self.count = 0

    def read(self) -> None:
        for tag in _REFUSED:
            if self.root.find(f".//{tag}") is not None:
                raise self.where.at(tag).error(f"<{tag}>", "bodies, joints and geoms", "write its bodies out: mj_saveLastXML")
        worlds = self.root.findall("worldbody")
        if not any(world.find(".//body") is not None for world in worlds):
            raise self.where.at("worldbody").error("no <body>", "bodies with joints", "is this a robot?")
        for world in worlds:
            self._inside(world, _Around())

    def _inside(self, element: Element, around: _Around) -> None:
        for child, here in self._framed(element, around):
            if child.tag == "body":
                self._body(child, here)

    def _framed(self, element: Element, around: _Around) -> Iterator[tuple[Element, _Around]]:
        """The elements inside, also those in frames, with what surrounds them."""
        for child in element:
            if child.tag == "frame":
                placed_here = placement.product(around.pose, pose(child.attrib, self.compiler.angles, self.where.at("frame")))
                yield from self._framed(
                    child, replace(around, pose=placed_here, children=child.get("childclass", around.children))
                )
            else:
                yield child, around

    def _body(self, element: Element, around: _Around) -> None:
        self.count += 1
        name = element.get("name") or f"body{self.count}"
        where = self.where.at("bodies", name)
        if name in self.links:
            raise where.error(name, "names of bodies that occur once", "rename one of them")
        children = element.get("childclass", around.children)
        place = placement.product(around.pose, pose(element.attrib, self.compiler.angles, where))
        inside = list(self._framed(element, _Around(name, children=children)))
        self._chain(
            name, around.link, place, [(child, near) for child, near in inside if child.tag in ("joint", "freejoint")], where
        )
        self.links[name] = Link(name, self._inertia(element, inside, where))
        for child, near in inside:
            if child.tag == "body":
                self._body(child, near)

    def _chain(self, body: str, parent: str, place: Matrix, joints: list[tuple[Element, _Around]], where: Location) -> None:
        """The joints of a body one after the other, massless links between them."""
        if not joints:
            self.joints.append(Joint(f"{body}.fixed", FIXED, parent, body, before=place))
            return
        for number_, (element, near) in enumerate(joints, start=1):
            given = {**self.defaults.of(element, near.children), **({"type": "free"} if element.tag == "freejoint" else {})}
            label = given.get("name") or (f"{body}.joint{number_}" if len(joints) > 1 else f"{body}.joint")
            child = body if number_ == len(joints) else f"{body}.{number_}"
            made = self._joint(
                given, label, (parent, child), place if number_ == 1 else IDENTITY, near.pose, where.at("joints", label)
            )
            if made.type is FLOATING and (len(joints) > 1 or parent != WORLD):
                raise where.at("joints", label).error(
                    "free", "a free joint alone, in the world", "use slide, hinge and ball joints"
                )
            self.joints.append(made)
            if child != body:
                self.links[child] = Link(child)
            parent = child

    def _joint(
        self, given: Attributes, label: str, ends: tuple[str, str], place: Matrix, near: Matrix, where: Location
    ) -> Joint:
        kind = _KINDS.get(given.get("type", "hinge"))
        if kind is None:
            raise where.at("type").error(given["type"], ", ".join(_KINDS), did_you_mean(given["type"], _KINDS, "choose one"))
        if kind in (FLOATING, SPHERICAL):
            for key in ("armature", "damping", "frictionloss", "stiffness"):
                if number(given, key, 0.0, where) != 0 and (key == "armature" or (self.friction and key != "stiffness")):
                    raise where.at(key).error(given[key], f"no {key} of a {given['type']} joint", f"set {key}='0' there")
        if kind is FLOATING:  # its position and quaternion are those in the world
            return Joint(label, kind, *ends)
        self._warn_of_springs(given, where)
        position = numbers(given, "pos", 3, where)
        anchor = placement.product(near, placed(np.eye(3), np.zeros(3) if position is None else position))
        anchor = placement.transform(placement.rotation_of(IDENTITY), placement.translation_of(anchor))
        joint = Joint(label, kind, *ends, before=placement.product(place, anchor), after=placement.inverse(anchor))
        if kind is SPHERICAL:
            return joint
        axis = numbers(given, "axis", 3, where)
        turned = placement.rotate(placement.rotation_of(near), (0, 0, 1) if axis is None else tuple(axis.tolist()))
        joint = replace(
            joint, axis=placement.unit_axis(turned, where.at("axis")), limits=self._limits(given, kind, where),
            actuation=self._actuation(given, where),
        )  # fmt: skip
        reference = number(given, "ref", 0.0, where) * (self.compiler.angles.unit if kind is REVOLUTE else 1.0)
        self.references[label] = reference
        return (
            joint
            if reference == 0
            else replace(
                joint, before=placement.product(joint.before, placement.by_screws(joint.type.screws(joint), (-reference,)))
            )
        )

    def _warn_of_springs(self, given: Attributes, where: Location) -> None:
        if number(given, "stiffness", 0.0, where) != 0:
            fix = "add it as a term of a robot file: base_description, and terms: [{potential: k/2*(q('joint') - q0)**2}]"
            where.at("stiffness").warn(given["stiffness"], "joints without springs: this one is left out", fix)

    def _limits(self, given: Attributes, kind: JointKind, where: Location) -> Limits:
        bounds = numbers(given, "range", 2, where)
        limited = given.get("limited", "auto")
        if bounds is None or limited == "false" or (limited == "auto" and bounds[0] == bounds[1]):
            return Limits()
        lower, upper = bounds * (self.compiler.angles.unit if kind is REVOLUTE else 1.0)
        return Limits(float(lower), float(upper))

    def _actuation(self, given: Attributes, where: Location) -> Actuation:
        armature = number(given, "armature", 0.0, where)
        if not self.friction:
            return Actuation(motor_inertia=armature)
        return Actuation(
            armature, viscous=number(given, "damping", 0.0, where), coulomb=number(given, "frictionloss", 0.0, where)
        )

    def _inertia(self, element: Element, inside: list[tuple[Element, _Around]], where: Location) -> Body:
        inertial = only(element, "inertial", where)
        if inertial is not None and self.compiler.from_geoms != "true":
            return _given_inertia(inertial, self.compiler, where.at("inertial"))
        if self.compiler.from_geoms == "false":
            return Body()
        geoms: list[tuple[Attributes, Location]] = []
        for child, near in inside:
            if child.tag == "geom":
                attributes = dict(self.defaults.of(child, near.children))
                group = int(number(attributes, "group", 0, where.at("geom")))
                if self.compiler.groups[0] <= group <= self.compiler.groups[1]:
                    here = where.at("geoms", child.get("name", str(len(geoms))))
                    geoms.append((self._seen(attributes, near.pose, here), here))
        return body_of_geoms(geoms, self.compiler.angles)

    def _seen(self, attributes: dict[str, Any], near: Matrix, where: Location) -> Attributes:
        """A geom of a frame in the frame of its body."""
        if near == IDENTITY:
            return attributes
        if "fromto" in attributes:
            raise where.at("fromto").error(
                attributes["fromto"], "geoms in a <frame> by pos and quat", "write it so, or <inertial>"
            )
        found = np.array(placement.product(near, pose(attributes, self.compiler.angles, where)), dtype=float)
        rest = {key: value for key, value in attributes.items() if key not in ("quat", "axisangle", "euler", "xyaxes", "zaxis")}
        axes = " ".join(repr(float(entry)) for entry in (*found[:3, 0], *found[:3, 1]))
        return {**rest, "pos": " ".join(repr(float(entry)) for entry in found[:3, 3]), "xyaxes": axes}


def _given_inertia(element: Element, compiler: Compiler, where: Location) -> Body:
    given = element.attrib
    centre = numbers(given, "pos", 3, where)
    if centre is None:
        raise where.at("pos").error("nothing", "pos='x y z', the centre of mass", "add it")
    mass = number({"mass": attribute(element, "mass", where)}, "mass", 0.0, where)
    full, diagonal = numbers(given, "fullinertia", 6, where), numbers(given, "diaginertia", 3, where)
    if (full is None) == (diagonal is None):
        raise where.error("both" if full is not None else "neither", "diaginertia or fullinertia", "give one of them")
    if diagonal is None:
        assert full is not None
        xx, yy, zz, xy, xz, yz = full
        tensor: Array = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    else:
        tensor = np.eye(3) * diagonal
        turn = rotation(given, compiler.angles, where)
        tensor = turn @ tensor @ turn.T
    rows = tuple(tuple(float(tensor[min(i, j), max(i, j)]) for j in range(3)) for i in range(3))
    return Body(mass, (float(centre[0]), float(centre[1]), float(centre[2])), rows)


def _constrained(robot: Robot, root: Element, references: Mapping[str, float], mimic: str, where: Location) -> Robot:
    """Joints that follow others; whatever else would close loops or pull is refused."""
    for tendon in (tendon for group in root.findall("tendon") for tendon in group):
        pulling = [key for key in _SPRINGS if number(tendon.attrib, key, 0.0, where.at("tendon")) != 0]
        if pulling:
            here = where.at("tendon", tendon.get("name", tendon.tag), pulling[0])
            raise here.error(tendon.get(pulling[0]), "tendons without forces of their own", "remove it, or add own terms")
    positions: dict[str, sympy.Expr] = {}
    for element in (element for group in root.findall("equality") for element in group):
        here = where.at("equality", element.get("name", element.tag))
        if element.get("active", "true") == "false":
            continue
        if element.tag != "joint" or mimic == "error":
            fix = "cut the loop (a robot is a tree), or set active='false' on the constraint"
            raise here.error(f"<{element.tag}>", "a tree without constraints", fix)
        if mimic == "follow":
            follower = attribute(element, "joint1", here)
            positions[follower] = _polynomial(element, robot, follower, references, here)
    return couple(robot, positions, where)


def _polynomial(element: Element, robot: Robot, follower: str, references: Mapping[str, float], here: Location) -> sympy.Expr:
    """Y - y0 = sum a_k (x - x0)^k, where x0 and y0 are where the file draws the joints."""
    followed = element.get("joint2")
    for name in (follower, followed):
        if name is not None and name not in references:
            fix = did_you_mean(name, references, "name a hinge or a slide")
            raise here.error(name, "a joint of the file with one coordinate", fix)
    coefficients = numbers({"polycoef": element.get("polycoef", "0 1 0 0 0")}, "polycoef", 5, here)
    assert coefficients is not None
    start = sympy.sympify(references[follower])
    if followed is None:
        return start + sympy.sympify(float(coefficients[0]))
    x = leader(followed) - sympy.sympify(references[followed])
    exact = [sympy.Integer(round(c)) if c == round(c) else sympy.Float(float(c)) for c in coefficients]
    return start + sum((a * x**k for k, a in enumerate(exact)), sympy.Integer(0))
