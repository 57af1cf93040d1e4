"""URDF import: links with inertial data, joints with origin, axis, limits and dynamics, in the file's order.

Fixed joints are kept as such (they are merged when equations are derived). Of geometry the meshes to look at are kept, for
pictures; transmissions, sensors and other extensions are ignored. Mimic joints follow their leaders.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal
from xml.etree.ElementTree import Element

import sympy

from elastogen.generator.description.couplings import couple
from elastogen.generator.description.formats.xml_elements import attribute, first, number, only, optional, parsed, vector
from elastogen.generator.joints.coupled import leader
from elastogen.generator.joints.kinds import KINDS, PLANAR
from elastogen.generator.robot import placement
from elastogen.generator.robot.joint_kind import JointKind
from elastogen.generator.robot.location import Location
from elastogen.generator.robot.looks import Look
from elastogen.generator.robot.names import prefix_of
from elastogen.generator.robot.robot import Actuation, Body, Joint, Limits, Link, Matrix, Robot, Vector
from elastogen.generator.robot.tree import arm_tip, depth_first

if TYPE_CHECKING:
    from elastogen.generator.description.read_robot import Reading

_ZERO: Vector = (0, 0, 0)
_FROM_URDF = ("revolute", "continuous", "prismatic", "fixed", "floating", "planar", "spherical")  # as in robot files


def read(text: str, path: Path, shown: str, reading: Reading) -> Robot:
    """The robot of a file's text."""
    return read_urdf(text, shown, **reading.of_every_format)


def read_urdf(
    text: str,
    source: str,
    *,
    name: str | None = None,
    mimic: Literal["follow", "independent", "error"] = "follow",
    friction: bool = False,
) -> Robot:
    """Return the robot that a URDF text describes, not yet validated. ``source`` is named in messages.

    ``name`` replaces the robot's name; else characters that C does not take become ``_``.
    """
    where = Location(source)
    root = parsed(text, "robot", where)
    robot_name = name if name is not None else prefix_of(root.get("name", ""), where.at("robot", "name"))
    if not robot_name:
        raise where.at("robot", "name").error(root.get("name"), "a name for the robot", "give one: load(..., name='my_arm')")
    links = {}
    for element in root.findall("link"):
        link_name = attribute(element, "name", where.at("link"))
        here = where.at("links", link_name)
        if link_name in links:
            raise here.error(link_name, "link names that occur once", "rename one of the two")
        links[link_name] = Link(link_name, _body(element, here))
    if not links:
        raise where.at("robot").error("no <link>", "links and joints", "is this a URDF, and was xacro run?")
    joints = [_joint(element, where, friction) for element in root.findall("joint")]
    base, ordered = depth_first(list(links), joints, where)
    chain = tuple(ordered)
    robot = Robot(
        name=robot_name,
        links=(links[base], *(links[joint.child] for joint in chain)),
        joints=chain,
        tip=arm_tip(base, chain),
        source=source,
        looks=tuple(_looks(root, str(Path(source).resolve().parent))),
    )
    if mimic == "independent":
        return robot
    return couple(robot, _mimics(root, {joint.name for joint in chain if joint.type.moves}, mimic, where), where)


@dataclass(frozen=True)
class _Origin:
    xyz: Vector
    rpy: Vector

    @property
    def transform(self) -> Matrix:
        return placement.from_xyz_rpy(self.xyz, self.rpy)


def _looks(root: Element, folder: str) -> Iterator[Look]:
    """Meshes and primitives of the links. A wrong one concerns pictures only: it is skipped, and a line drawn."""
    named = {material.get("name"): material for material in root.findall("material")}
    for link in root.findall("link"):
        for visual in (*link.findall("visual"), *link.findall("collision")):
            origin, material = visual.find("origin"), visual.find("material")
            try:
                xyz, rpy = (_floats(None if origin is None else origin.get(key), "0 0 0") for key in ("xyz", "rpy"))
                found, color = _shape(visual), _color(material, named)
            except ValueError:
                continue
            if found is not None:
                pose = tuple(tuple(float(entry) for entry in row) for row in placement.from_xyz_rpy(xyz, rpy))
                shape, mesh, scale = found
                yield Look(link.get("name", ""), mesh, pose, scale, folder, visual.tag, shape, color)


def _shape(visual: Element) -> tuple[str, str, tuple[float, float, float]] | None:
    """Kind, mesh file and scale of what a <visual> has; None: nothing that can be drawn."""
    mesh, box, sphere = (visual.find(f"geometry/{kind}") for kind in ("mesh", "box", "sphere"))
    if mesh is not None and mesh.get("filename"):
        return "mesh", mesh.get("filename", ""), _floats(mesh.get("scale"), "1 1 1")
    if box is not None:
        return "box", "", _positive(*_floats(box.get("size"), "0 0 0"))
    if sphere is not None:
        radius = float(sphere.get("radius", "0"))
        return "sphere", "", _positive(radius, radius, radius)
    for kind in ("cylinder", "capsule"):
        round_one = visual.find(f"geometry/{kind}")
        if round_one is not None:
            radius, length = (float(round_one.get(key, "0")) for key in ("radius", "length"))
            return kind, "", _positive(radius, radius, length)
    return None


def _positive(x: float, y: float, z: float) -> tuple[float, float, float]:
    if not all(0.0 < value < math.inf for value in (x, y, z)):
        raise ValueError((x, y, z))
    return x, y, z


def _color(material: Element | None, named: Mapping[str | None, Element]) -> tuple[float, float, float, float] | None:
    """The colour of a material, its own or that of the robot's material of the same name."""
    if material is None:
        return None
    color = material.find("color")
    if color is None and material.get("name") in named:
        color = named[material.get("name")].find("color")
    if color is None:
        return None
    r, g, b, a = (min(max(float(word), 0.0), 1.0) for word in color.get("rgba", "").split())
    return r, g, b, a


def _floats(text: str | None, default: str) -> tuple[float, float, float]:
    x, y, z = (float(word) for word in (default if text is None else text).split())
    if not all(math.isfinite(value) for value in (x, y, z)):
        raise ValueError(text)
    return x, y, z


def _body(link: Element, where: Location) -> Body:
    inertial = first(link, "inertial", where)
    if inertial is None:
        return Body()
    here = where.at("inertial")
    mass_element, inertia_element = first(inertial, "mass", here), first(inertial, "inertia", here)
    if mass_element is None:
        raise here.error("no <mass>", "<mass value='...'/> in kg", "add it, or remove <inertial>")
    mass = number(mass_element, "value", here.at("mass"))
    origin = _origin(inertial, here)
    if inertia_element is None:
        return Body(mass, origin.xyz)
    xx, yy, zz, xy, xz, yz = (
        number(inertia_element, f"i{key}", here.at("inertia"), default=0.0 if key[0] != key[1] else None)
        for key in ("xx", "yy", "zz", "xy", "xz", "yz")
    )
    tensor: Matrix = ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))
    if origin.rpy != _ZERO:
        rotation = placement.rotation_of(origin.transform)
        tensor = placement.congruent(rotation, tensor)
    return Body(mass, origin.xyz, tensor)


def _joint(element: Element, robot: Location, friction: bool) -> Joint:
    name = attribute(element, "name", robot.at("joint"))
    where = robot.at("joints", name)
    kind = _type(element, where)
    ends = {}
    for role in ("parent", "child"):
        end = only(element, role, where)
        if end is None:
            raise where.at(role).error(f"no <{role}>", f"<{role} link='...'/>", "add it")
        ends[role] = attribute(end, "link", where.at(role))
    before = _origin(element, where).transform
    if not kind.moves or "axis" not in kind.takes:
        _check_normal(element, kind, where)
        return Joint(name, kind, ends["parent"], ends["child"], before=before)
    axis_element = first(element, "axis", where)
    axis = (1, 0, 0) if axis_element is None else vector(axis_element, "xyz", where.at("axis"), (1, 0, 0))
    return Joint(
        name,
        kind,
        ends["parent"],
        ends["child"],
        axis=placement.unit_axis(axis, where.at("axis")),
        before=before,
        limits=_limits(element, kind, where),
        actuation=_actuation(element, where) if friction else Actuation(),
    )


def _mimics(root: Element, moving: set[str], mimic: str, where: Location) -> dict[str, sympy.Expr]:
    """Positions of the joints that follow others: multiplier * leader + offset; a leader that is fixed stays at 0."""
    found: dict[str, sympy.Expr] = {}
    for element in root.findall("joint"):
        name = element.get("name", "")
        here = where.at("joints", name, "mimic")
        given = only(element, "mimic", where.at("joints", name))
        if given is None or name not in moving:
            continue
        followed = attribute(given, "joint", here)
        if mimic == "error":
            fix = "load(..., mimic='follow') for one coordinate of both, mimic='independent' for two"
            raise here.error(f"{name} mimics {followed}", "joints with coordinates of their own", fix)
        multiplier, offset = number(given, "multiplier", here, default=1.0), number(given, "offset", here, default=0.0)
        fixed = {joint.get("name") for joint in root.findall("joint")} - moving
        place = sympy.Integer(0) if followed in fixed else sympy.sympify(multiplier) * leader(followed)
        found[name] = place + sympy.sympify(offset)
    return found


def _type(element: Element, where: Location) -> JointKind:
    given = element.get("type")
    if given not in _FROM_URDF:
        raise where.at("type").error(
            given, ", ".join(_FROM_URDF), "choose one of them, or chain several of them with massless links"
        )
    return KINDS[given]


def _check_normal(element: Element, kind: JointKind, where: Location) -> None:
    """A planar joint moves in x and y of its frame; another normal than z is not rotated there silently."""
    axis = first(element, "axis", where)
    if kind is PLANAR and (axis is None or vector(axis, "xyz", where.at("axis"), (1, 0, 0)) != (0, 0, 1)):
        given = "none, which means 1 0 0" if axis is None else axis.get("xyz")
        raise where.at("axis").error(given, "0 0 1, the normal of the plane", "turn the joint's origin so that z is the normal")


def _limits(element: Element, kind: JointKind, where: Location) -> Limits:
    limit = first(element, "limit", where)
    if limit is None:
        return Limits()
    here = where.at("limit")
    ranged = kind.bounded and not (limit.get("lower") is None and limit.get("upper") is None)
    lower = number(limit, "lower", here, default=0.0) if ranged else None
    upper = number(limit, "upper", here, default=0.0) if ranged else None
    if lower is not None and upper is not None and lower > upper:  # what Bullet takes as none, and no dynamics look at
        expected = f"at most the upper limit {upper}: both are taken as no limit"
        here.at("lower").warn(lower, expected, "swap them, or leave them out")
        lower = upper = None
    return Limits(
        lower=lower,
        upper=upper,
        velocity=_magnitude(limit, "velocity", here),
        effort=_magnitude(limit, "effort", here),
    )


def _magnitude(limit: Element, key: str, where: Location) -> float | None:
    """A limit of velocity or effort; a negative one stands for none in many files."""
    value = optional(limit, key, where)
    if value is not None and value < 0:
        where.at(key).warn(value, "zero or more: it is taken as no limit", "leave it out")
        return None
    return value


def _actuation(element: Element, where: Location) -> Actuation:
    dynamics = first(element, "dynamics", where)
    if dynamics is None:
        return Actuation()
    here = where.at("dynamics")
    return Actuation(
        viscous=number(dynamics, "damping", here, default=0.0),
        coulomb=number(dynamics, "friction", here, default=0.0),
    )


def _origin(element: Element, where: Location) -> _Origin:
    origin = first(element, "origin", where)
    if origin is None:
        return _Origin(_ZERO, _ZERO)
    here = where.at("origin")
    rpy = vector(origin, "rpy", here, _ZERO)
    placement.warn_of_degrees(rpy, here.at("rpy"), "divide by 57.29578")
    return _Origin(vector(origin, "xyz", here, _ZERO), rpy)
