"""URDF import: links with inertial data, joints with origin, axis, limits and dynamics, in the file's order.

Fixed joints are kept as such (they are merged when equations are derived). Geometry, transmissions, sensors
and other extensions are ignored. Mimic joints follow their leaders.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal
from xml.etree.ElementTree import Element, ParseError

import sympy
from defusedxml import DefusedXmlException
from defusedxml.ElementTree import fromstring

from elastogen.generator.description.couplings import couple
from elastogen.generator.joints.coupled import leader
from elastogen.generator.joints.kinds import KINDS, PLANAR
from elastogen.generator.robot import placement
from elastogen.generator.robot.joint_kind import JointKind
from elastogen.generator.robot.location import Location
from elastogen.generator.robot.names import to_identifier
from elastogen.generator.robot.robot import Actuation, Body, Joint, Limits, Link, Matrix, Robot, Vector
from elastogen.generator.robot.tree import default_tip, depth_first

MAX_ELEMENTS = 200_000
_ZERO: Vector = (0, 0, 0)
_FROM_URDF = ("revolute", "continuous", "prismatic", "fixed", "floating", "planar", "spherical")  # as in robot files


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
    root = _parsed(text, where)
    robot_name = name if name is not None else to_identifier(root.get("name", ""), "robot")
    if not robot_name:
        raise where.at("robot", "name").error(root.get("name"), "a name for the robot", "give one: load(..., name='my_arm')")
    links = {}
    for element in root.findall("link"):
        link_name = _attribute(element, "name", where.at("link"))
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
        tip=default_tip(base, chain),
        source=source,
    )
    if mimic == "independent":
        return robot
    return couple(robot, _mimics(root, {joint.name for joint in chain if joint.type.moves}, mimic, where), where)


def _parsed(text: str, where: Location) -> Element:
    try:
        root: Element = fromstring(text, forbid_dtd=True)
    except DefusedXmlException as problem:
        raise where.error(
            type(problem).__name__,
            "XML without DTD and entities",
            "expand entities first; they are refused for safety",
        ) from None
    except ParseError as problem:
        line = problem.position[0]
        raise Location(f"{where.source}:{line}").error(str(problem), "well-formed XML", "correct it near that line") from None
    except (ValueError, RecursionError, MemoryError) as problem:
        raise where.error(str(problem), "well-formed XML in UTF-8", "correct the file") from None
    if root.tag != "robot":
        raise where.error(f"<{root.tag}>", "<robot> as the outermost element", "is this a URDF (not SDF, MJCF or xacro)?")
    if sum(1 for _ in _limited(root)) > MAX_ELEMENTS:
        raise where.error("more elements", f"at most {MAX_ELEMENTS} XML elements", "is this a robot description?")
    return root


def _limited(root: Element) -> Iterator[Element]:
    for i, element in enumerate(root.iter()):
        yield element
        if i > MAX_ELEMENTS:
            return


@dataclass(frozen=True)
class _Origin:
    xyz: Vector
    rpy: Vector

    @property
    def transform(self) -> Matrix:
        return placement.from_xyz_rpy(self.xyz, self.rpy)


def _body(link: Element, where: Location) -> Body:
    inertial = _only(link, "inertial", where)
    if inertial is None:
        return Body()
    here = where.at("inertial")
    mass_element, inertia_element = _only(inertial, "mass", here), _only(inertial, "inertia", here)
    if mass_element is None:
        raise here.error("no <mass>", "<mass value='...'/> in kg", "add it, or remove <inertial>")
    mass = _number(mass_element, "value", here.at("mass"))
    origin = _origin(inertial, here)
    if inertia_element is None:
        return Body(mass, origin.xyz)
    xx, yy, zz, xy, xz, yz = (
        _number(inertia_element, f"i{key}", here.at("inertia"), default=0.0 if key[0] != key[1] else None)
        for key in ("xx", "yy", "zz", "xy", "xz", "yz")
    )
    tensor: Matrix = ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))
    if origin.rpy != _ZERO:
        rotation = placement.rotation_of(origin.transform)
        tensor = placement.congruent(rotation, tensor)
    return Body(mass, origin.xyz, tensor)


def _joint(element: Element, robot: Location, friction: bool) -> Joint:
    name = _attribute(element, "name", robot.at("joint"))
    where = robot.at("joints", name)
    kind = _type(element, where)
    ends = {}
    for role in ("parent", "child"):
        end = _only(element, role, where)
        if end is None:
            raise where.at(role).error(f"no <{role}>", f"<{role} link='...'/>", "add it")
        ends[role] = _attribute(end, "link", where.at(role))
    before = _origin(element, where).transform
    if not kind.moves or "axis" not in kind.takes:
        _check_normal(element, kind, where)
        return Joint(name, kind, ends["parent"], ends["child"], before=before)
    axis_element = _only(element, "axis", where)
    axis = (1, 0, 0) if axis_element is None else _vector(axis_element, "xyz", where.at("axis"), (1, 0, 0))
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
        given = _only(element, "mimic", where.at("joints", name))
        if given is None or name not in moving:
            continue
        followed = _attribute(given, "joint", here)
        if mimic == "error":
            fix = "load(..., mimic='follow') for one coordinate of both, mimic='independent' for two"
            raise here.error(f"{name} mimics {followed}", "joints with coordinates of their own", fix)
        multiplier, offset = _number(given, "multiplier", here, default=1.0), _number(given, "offset", here, default=0.0)
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
    """A planar joint moves in x and y of its frame; another normal than z is not turned there silently."""
    axis = _only(element, "axis", where)
    if kind is PLANAR and (axis is None or _vector(axis, "xyz", where.at("axis"), (1, 0, 0)) != (0, 0, 1)):
        given = "none, which means 1 0 0" if axis is None else axis.get("xyz")
        raise where.at("axis").error(given, "0 0 1, the normal of the plane", "turn the joint's origin so that z is the normal")


def _limits(element: Element, kind: JointKind, where: Location) -> Limits:
    limit = _only(element, "limit", where)
    if limit is None:
        return Limits()
    here = where.at("limit")
    ranged = kind.bounded and not (limit.get("lower") is None and limit.get("upper") is None)
    return Limits(
        lower=_number(limit, "lower", here, default=0.0) if ranged else None,
        upper=_number(limit, "upper", here, default=0.0) if ranged else None,
        velocity=_optional(limit, "velocity", here),
        effort=_optional(limit, "effort", here),
    )


def _actuation(element: Element, where: Location) -> Actuation:
    dynamics = _only(element, "dynamics", where)
    if dynamics is None:
        return Actuation()
    here = where.at("dynamics")
    return Actuation(
        viscous=_number(dynamics, "damping", here, default=0.0),
        coulomb=_number(dynamics, "friction", here, default=0.0),
    )


def _origin(element: Element, where: Location) -> _Origin:
    origin = _only(element, "origin", where)
    if origin is None:
        return _Origin(_ZERO, _ZERO)
    here = where.at("origin")
    rpy = _vector(origin, "rpy", here, _ZERO)
    placement.warn_of_degrees(rpy, here.at("rpy"), "divide by 57.29578")
    return _Origin(_vector(origin, "xyz", here, _ZERO), rpy)


def _only(element: Element, tag: str, where: Location) -> Element | None:
    found = element.findall(tag)
    if len(found) > 1:
        raise where.at(tag).error(f"{len(found)} <{tag}> elements", "at most one", "remove the others")
    return found[0] if found else None


def _attribute(element: Element, key: str, where: Location) -> str:
    value = element.get(key)
    if not value:
        raise where.at(key).error(value, f"an attribute {key}='...' of <{element.tag}>", "add it")
    return value


def _optional(element: Element, key: str, where: Location) -> float | None:
    return None if element.get(key) is None else float(_number(element, key, where))


def _number(element: Element, key: str, where: Location, default: float | None = None) -> int | float:
    text = element.get(key)
    if text is None:
        if default is None:
            raise where.at(key).error("nothing", f"an attribute {key}='...' of <{element.tag}>", "add it")
        return int(default)
    return _parsed_number(text, where.at(key))


def _parsed_number(text: str, where: Location) -> int | float:
    try:
        value = float(text)
    except ValueError:
        raise where.error(text, "a number", "write for example 0.25") from None
    if not math.isfinite(value):
        raise where.error(text, "a finite number", "replace it by the measured value")
    return int(value) if value in (0, 1, -1) else value


def _vector(element: Element, key: str, where: Location, default: Vector) -> Vector:
    text = element.get(key)
    if text is None:
        return default
    parts = text.split()
    if len(parts) != 3:
        raise where.at(key).error(text, "three numbers separated by spaces", "write for example '0 0 0.1'")
    x, y, z = (_parsed_number(part, where.at(key)) for part in parts)
    return (x, y, z)
