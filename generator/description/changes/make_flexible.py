"""Makes a rigid link flexible: a part of its mass becomes a flexible body, the rest stays rigid on its hub or on the tip.

The link called ``upper`` becomes two: ``upper_hub``, rigid, in the frame that the link had, and ``upper``, the flexible body
in a frame of its own, clamped to the hub by a fixed joint ``upper_clamp``. Links further out sit on the tip, where they were.
Undeformed, the two have the mass, the centre and the inertia of the rigid link.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from pydantic import TypeAdapter, ValidationError

from elastogen.generator.description.changes.rest_of_link import Parts, rest_of_link
from elastogen.generator.description.file.changes_file import ChangedLink
from elastogen.generator.description.file.flexible_file import FlexibleSection
from elastogen.generator.description.file.kinds_of_values import translated
from elastogen.generator.description.flexible.assemble import flexible_body
from elastogen.generator.description.flexible.kinds import FLEXIBLE_KINDS, FlexibleField
from elastogen.generator.description.interfaces import seated
from elastogen.generator.description.section_values import SectionValues
from elastogen.generator.description.solids.mesh import MeshKind
from elastogen.generator.description.solids.mesh_file import MeshSection
from elastogen.generator.description.solids.mesh_links import MeshLink
from elastogen.generator.joints.kinds import FIXED
from elastogen.generator.robot import placement
from elastogen.generator.robot.bodies.flexible_body import TIP
from elastogen.generator.robot.location import Location, did_you_mean
from elastogen.generator.robot.robot import IDENTITY, Body, Joint, Link, Matrix, Point, Robot
from elastogen.generator.robot.tree import depth_first

HUB, CLAMP = "_hub", "_clamp"
_PARALLEL = 1e-6  # sine of the angle below which an axis says nothing about the directions across the beam


@dataclass(frozen=True)
class _Seat:
    """The place of the flexible body in the link, and its length if the joints determine it."""

    pose: Matrix
    length: float | None


def make_flexible(robot: Robot, change: ChangedLink, values: SectionValues, where: Location) -> Robot:
    """Return the robot with the link as a rigid hub and a flexible body."""
    link = robot.link(change.name)
    if link.flexible is not None:
        raise where.at("flexible").error("a flexible link", "a rigid link of the base description", "change it in its own file")
    _check_free_names(robot, link.name, where)
    children = [joint for joint in robot.joints if joint.parent == link.name]
    said: dict[str, str] = {}
    for key in ("on_hub", "on_tip", "along"):
        for name in getattr(change, key):
            if name not in [joint.name for joint in children]:
                fix = did_you_mean(name, [joint.name for joint in children], "name joints that sit on the link")
                raise where.at(key).error(name, f"a joint on {link.name}", fix)
            if said.setdefault(name, key) != key:
                raise where.at(key).error(name, f"a joint that is not in {said[name]}, too", "name it in one of the two")
    seat = _seat(robot, change, values, where)
    section = _section(change, seat, where.at("flexible"))
    made = _made(link, section, seat.pose, change, values, where)
    robot = _rebuilt(robot, link.name, made, seat.pose, change.on_hub, where)
    inside = where.at("along")
    places = {name: (values.scalar(x, inside.at(name)), inside.at(name)) for name, x in change.along.items()}
    joints = (replace(joint, interface=TIP) if joint.name in change.on_tip else joint for joint in robot.joints)
    return _where_they_were(seated(replace(robot, joints=tuple(joints)), places), link.name, seat.pose)


def is_mesh(change: ChangedLink) -> bool:
    """Whether a mesh makes the link flexible."""
    return change.flexible is not None and change.flexible.get("type") == MeshKind.name


def mesh_link(robot: Robot, change: ChangedLink, where: Location) -> MeshLink:
    """A link whose solid takes the place of its rigid body, in the link's own frame."""
    for key in ("rest", "frame", "end", "on_hub", "on_tip", "along"):
        if key in change.model_fields_set:
            raise where.at(key).error(key, f"no {key} for a link by a mesh", "remove it: flexible: {frame} places it")
    if robot.link(change.name).flexible is not None:
        raise where.at("flexible").error("a flexible link", "a rigid link of the base description", "change it in its own file")
    section = _section(change, _Seat(IDENTITY, None), where.at("flexible"))
    assert isinstance(section, MeshSection)
    return MeshLink(section, where.at("flexible"), replaces=True)


def _check_free_names(robot: Robot, name: str, where: Location) -> None:
    taken = {HUB: [link.name for link in robot.links], CLAMP: [joint.name for joint in robot.joints]}
    for ending, names in taken.items():
        if name + ending in names:
            raise where.error(
                name + ending, "a name that is free for the parts of the link", "rename it in the base description"
            )


def _seat(robot: Robot, change: ChangedLink, values: SectionValues, where: Location) -> _Seat:
    """The frame of the flexible body: given, or with x from the link's frame to the joint that the beam reaches."""
    kind = (change.flexible or {}).get("type")
    known = FLEXIBLE_KINDS.get(kind) if isinstance(kind, str) else None
    is_beam = known is not None and "length" in known.section.model_fields
    given = None if change.frame is None else values.frame(change.frame, where.at("frame"))
    if not is_beam:
        return _Seat(given or IDENTITY, None)
    needs_end = given is None or "length" not in (change.flexible or {})
    if not needs_end and change.end is None:
        return _Seat(given or IDENTITY, None)
    end = _end(robot, change, where)
    target = placement.translation_of(end.before)
    if given is not None:
        target = placement.translation_of(placement.product(placement.inverse(given), end.before))
    try:
        x, y, z = (float(entry) for entry in target)
    except TypeError:  # a parameter
        fix = "give frame: {xyz, rpy} and flexible: {length}"
        raise where.at("frame").error(f"{end.name} at {target}", "numbers for the place of the joint", fix) from None
    length = math.hypot(x, y, z) if given is None else x
    if length < 1e-6:
        expected = f"a beam of some length up to {end.name}"
        raise where.at("frame").error(
            f"{length:g} m along x", expected, "give frame: {xyz, rpy}, x along the beam, and its length"
        )
    return _Seat(given or _along((x, y, z), robot, change.name), length)


def _end(robot: Robot, change: ChangedLink, where: Location) -> Joint:
    """The joint that the beam reaches: the one named, or the only one that leads to something that moves."""
    carried = [joint for joint in robot.joints if joint.parent == change.name and joint.name not in change.on_hub]
    names = [joint.name for joint in carried]
    if change.end is not None:
        if change.end not in names:
            fix = did_you_mean(change.end, names, "name a joint on the link")
            raise where.at("end").error(change.end, f"a joint on the tip of {change.name}", fix)
        return carried[names.index(change.end)]
    leading = {joint.parent for joint in robot.joints if not joint.type.holds}
    for joint in reversed(robot.joints):
        if joint.child in leading:
            leading.add(joint.parent)
    onward = [joint for joint in carried if not joint.type.holds or joint.child in leading]
    chosen = onward if len(onward) == 1 else carried
    if len(chosen) != 1:
        given = f"{len(carried)} joints on the link: {', '.join(names) or 'none'}"
        raise where.at("end").error(given, "one joint that the beam reaches", "name it: end: <joint>, or give frame and length")
    return chosen[0]


def _along(target: tuple[float, float, float], robot: Robot, name: str) -> Matrix:
    """The frame in the link's origin with x towards the target; z is the axis of the link's joint, as far as it is across x."""
    x = np.array(target) / np.linalg.norm(target)
    joint = next((joint for joint in robot.joints if joint.child == name), None)
    axes = list(np.eye(3)[np.argsort(np.abs(x), kind="stable")])  # else the axis of the link that is farthest from x
    if joint is not None and all(isinstance(entry, (int, float)) for entry in joint.axis):
        back = placement.transposed(placement.rotation_of(joint.after))
        axes.insert(0, np.array(placement.rotate(back, joint.axis), dtype=float))
    across = next(axis for axis in axes if np.linalg.norm(np.cross(axis, x)) > _PARALLEL)
    z = across - (across @ x) * x
    z /= np.linalg.norm(z)
    rotation = np.column_stack([x, np.cross(z, x), z])
    rows = tuple(tuple(float(entry) for entry in row) for row in rotation)
    return placement.transform(placement.snapped_rotation(rows), (0, 0, 0))


def _section(change: ChangedLink, seat: _Seat, where: Location) -> FlexibleSection:
    data = dict(change.flexible or {})
    if seat.length is not None:
        data.setdefault("length", seat.length)
    try:
        section: FlexibleSection = TypeAdapter(FlexibleField).validate_python(data)
    except ValidationError as problem:
        raise translated(problem, data, where) from None
    return section


def _made(
    link: Link, section: FlexibleSection, pose: Matrix, change: ChangedLink, values: SectionValues, where: Location
) -> Link:
    """The flexible link: its body is the hub's, in the frame that the rigid link had."""
    inside = where.at("flexible")
    tip_body = values.body(section.tip, inside.at("tip"))
    flexible = flexible_body(values.described(section, tip_body, inside))
    rest = rest_of_link(Parts(link.body, flexible, tip_body, pose), change.rest, values.parameters, where)
    if rest.on_tip != tip_body:  # damping ratios and reductions are of the beam with its tip body
        flexible = flexible_body(values.described(section, rest.on_tip, inside))
    return Link(link.name, rest.on_hub, flexible, rest.on_tip)


def _rebuilt(robot: Robot, name: str, made: Link, pose: Matrix, on_hub: Sequence[str], where: Location) -> Robot:
    """The robot with the link as hub and flexible body; what sits on the body is still placed in the link's old frame."""
    hub, clamp = Link(name + HUB, made.body), Joint(name + CLAMP, FIXED, name + HUB, name, before=pose)
    links = {link.name: link for link in robot.links if link.name != name} | {hub.name: hub, name: replace(made, body=Body())}
    joints: list[Joint] = [clamp] if robot.links[0].name == name else []
    for joint in robot.joints:
        if joint.child == name:
            joints += [replace(joint, child=hub.name), clamp]
        elif joint.parent == name and joint.name in on_hub:
            joints.append(replace(joint, parent=hub.name))
        else:
            joints.append(joint)
    root, ordered = depth_first(list(links), joints, where)
    from_seat = placement.inverse(pose)

    def moved(point: Point) -> Point:
        return replace(point, pose=placement.product(from_seat, point.pose)) if point.link == name else point

    return replace(
        robot,
        links=(links[root], *(links[joint.child] for joint in ordered)),
        joints=tuple(ordered),
        points=tuple(moved(point) for point in robot.points),
    )


def _where_they_were(robot: Robot, name: str, pose: Matrix) -> Robot:
    """The robot with all that sits on a flexible body placed in its interfaces' frames instead of the link's old frame."""
    body = robot.link(name).flexible
    assert body is not None
    back = {place.name: placement.inverse(placement.product(pose, place.pose)) for place in body.interfaces}

    def moved(joint: Joint) -> Joint:
        return replace(joint, before=placement.product(back[joint.interface or TIP], joint.before))

    return replace(
        robot,
        joints=tuple(moved(joint) if joint.parent == name else joint for joint in robot.joints),
        tool=placement.product(back[TIP], robot.tool) if robot.tip == name else robot.tool,
    )
