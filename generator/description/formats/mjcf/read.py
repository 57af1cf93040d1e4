"""MJCF import: the bodies and joints that MuJoCo's own compiler makes of a file, in its order of coordinates.

The world is the base link. A body with several joints becomes a chain with massless links, a body without one is fixed.
Masses, inertias, axes, armature and limits are those of the compiled model. Laws of actuators (their armature and damping
count), sensors, contacts and cameras are ignored; geoms are drawn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from elastogen.generator.description.files import Files
from elastogen.generator.description.formats.mjcf.compile import compiled
from elastogen.generator.description.formats.mjcf.equalities import constrained
from elastogen.generator.description.formats.mjcf.left_out import say_left_out
from elastogen.generator.description.formats.mjcf.looks import looks
from elastogen.generator.description.formats.mjcf.one_text import one_text
from elastogen.generator.description.formats.mjcf.places import placed, rotation
from elastogen.generator.description.formats.mjcf.reflected import reflected
from elastogen.generator.joints.kinds import FIXED, FLOATING, PRISMATIC, REVOLUTE, SPHERICAL
from elastogen.generator.robot import placement
from elastogen.generator.robot.joint_kind import JointKind
from elastogen.generator.robot.location import Location
from elastogen.generator.robot.names import prefix_of
from elastogen.generator.robot.robot import IDENTITY, Actuation, Body, Joint, Limits, Link, Matrix, Robot
from elastogen.generator.robot.tree import arm_tip, depth_first

if TYPE_CHECKING:
    from elastogen.generator.description.read_robot import Reading

WORLD = "world"
_KINDS: Mapping[str, JointKind] = {"hinge": REVOLUTE, "slide": PRISMATIC, "ball": SPHERICAL, "free": FLOATING}
Numbers = Mapping[str, Any]


def read(text: str, path: Path, shown: str, reading: Reading) -> Robot:
    """The robot of a file's text."""
    return read_mjcf(text, path, shown, reading.files, **reading.of_every_format)


def read_mjcf(
    text: str, path: Path, source: str, files: Files, *, name: str | None = None, mimic: str = "follow", friction: bool = False
) -> Robot:
    """Return the robot that an MJCF text describes, not yet validated; ``source`` is named in messages."""
    where = Location(source)
    title, xml, driven = one_text(text, path, files, where)
    model = compiled(xml, path, files, where)
    if not model["bodies"]:
        raise where.at("worldbody").error("no <body>", "bodies with joints", "is this a robot?")
    names = _body_names(model["bodies"], where)
    labels = _joint_names(model["joints"], names)
    say_left_out(model, labels, friction, where)
    links, joints = {WORLD: Link(WORLD)}, list[Joint]()
    drives = reflected(model["actuators"], friction, where)
    for i, body in enumerate(model["bodies"]):
        parent = WORLD if body["parent"] < 0 else names[body["parent"]]
        own = [
            (labels[j], {**joint, **{key: joint[key] + more for key, more in drives.get(j, {}).items()}})
            for j, joint in enumerate(model["joints"])
            if joint["body"] == i
        ]
        chain = _chain(names[i], parent, body, own, friction, where.at("bodies", names[i]))
        joints += chain
        links |= {joint.child: Link(joint.child) for joint in chain[:-1]}
        links[names[i]] = Link(names[i], _inertia(body))
    base, ordered = depth_first(list(links), joints, where)
    gravity = model["gravity"]
    robot = Robot(
        name=name if name is not None else prefix_of(title, where.at("model")),
        links=(links[base], *(links[joint.child] for joint in ordered)),
        joints=tuple(ordered),
        gravity=(gravity[0], gravity[1], gravity[2]),
        tip=arm_tip(base, ordered),
        source=source,
        looks=tuple(looks(model["looks"], names, WORLD, str(path.resolve().parent))),
    )
    return constrained(robot, model, names, labels, mimic, driven, where)


def _body_names(bodies: list[Numbers], where: Location) -> list[str]:
    """Names of bodies; those that have none are numbered."""
    found = [str(body["name"]) or f"body{i + 1}" for i, body in enumerate(bodies)]
    for name in found:
        if found.count(name) > 1:
            raise where.at("bodies", name).error(name, "names of bodies that occur once", "rename one of them")
    return found


def _joint_names(joints: list[Numbers], bodies: list[str]) -> list[str]:
    """Names of joints; those that have none are called after their bodies."""
    found = []
    for i, joint in enumerate(joints):
        same = [j for j, other in enumerate(joints) if other["body"] == joint["body"]]
        number = str(same.index(i) + 1) if len(same) > 1 else ""
        found.append(str(joint["name"]) or f"{bodies[joint['body']]}.joint{number}")
    return found


def _chain(
    name: str, parent: str, body: Numbers, own: Sequence[tuple[str, Numbers]], friction: bool, where: Location
) -> list[Joint]:
    """The joints of a body one after the other, massless links between them."""
    place = placed(rotation(body["quat"]), body["pos"])
    if not own:
        return [Joint(f"{name}.fixed", FIXED, parent, name, before=place)]
    found = []
    for number, (label, joint) in enumerate(own, start=1):
        child = name if number == len(own) else f"{name}.{number}"
        here = where.at("joints", label)
        found.append(_joint(label, joint, (parent, child), place if number == 1 else IDENTITY, friction, here))
        parent = child
    return found


def _joint(label: str, given: Numbers, ends: tuple[str, str], place: Matrix, friction: bool, where: Location) -> Joint:
    kind = _KINDS[given["type"]]
    if friction and any(given["dampingpoly"]):
        raise where.at("damping").error(given["dampingpoly"], "damping by one number", "give one, or friction=False")
    if kind in (FLOATING, SPHERICAL):
        for key in ("armature", "damping", "frictionloss"):
            if given[key] != 0 and (key == "armature" or friction):
                raise where.at(key).error(given[key], f"no {key} of a {given['type']} joint", f"set {key}='0' there")
    if kind is FLOATING:  # its position and quaternion are those in the world
        return Joint(label, kind, *ends)
    anchor = placed(np.eye(3), given["pos"])
    joint = Joint(label, kind, *ends, before=placement.product(place, anchor), after=placement.inverse(anchor))
    if kind is SPHERICAL:
        return joint
    x, y, z = given["axis"]
    lower, upper = given["range"] or (None, None)
    drive = Actuation(motor_inertia=given["armature"])
    if friction:
        drive = replace(drive, viscous=given["damping"], coulomb=given["frictionloss"])
    axis = placement.unit_axis((x, y, z), where.at("axis"))
    joint = replace(joint, axis=axis, limits=Limits(lower, upper), actuation=drive)
    if given["reference"] == 0:
        return joint
    back = placement.by_screws(joint.type.screws(joint), (-given["reference"],))
    return replace(joint, before=placement.product(joint.before, back))


def _inertia(body: Numbers) -> Body:
    """Mass, centre and inertia in the axes of the body, of principal moments and their axes."""
    turn = rotation(body["iquat"])
    tensor = (turn * np.array(body["inertia"])) @ turn.T
    rows = tuple(tuple(float(tensor[min(i, j), max(i, j)]) for j in range(3)) for i in range(3))
    x, y, z = body["ipos"]
    return Body(body["mass"], (x, y, z), rows)
