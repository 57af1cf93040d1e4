"""Checks of loops: known frames, different links, directions, joints that loops can go through."""

from __future__ import annotations

import sympy

from elastogen.generator.robot import names
from elastogen.generator.robot.expressions import nominal
from elastogen.generator.robot.location import Location, did_you_mean
from elastogen.generator.robot.loops.loop import TYPES, WORLD, ClosedLoop, LoopEnd
from elastogen.generator.robot.robot import Robot, Vector
from elastogen.generator.robot.tree import unique_names

_ROUNDING = 1e-12  # of the place along a beam, relative to its length; of unit vectors


def check_loops(robot: Robot, where: Location) -> None:
    """Refuse impossible loops; whether they can be closed is found when the mechanism is analysed."""
    for number, loop in enumerate(robot.loops):
        if not isinstance(loop, ClosedLoop):
            raise where.at(number).error(
                loop, "an elastogen.ClosedLoop(name, type, a, b)", "with_loops(*loops) takes them one by one"
            )
        names.check_name(loop.name, where.at(str(loop.name), "name"))
    unique_names((loop.name for loop in robot.loops), where, "loop")
    for loop in robot.loops:
        here = where.at(loop.name)
        if loop.type not in TYPES:
            fix = did_you_mean(str(loop.type), TYPES, "choose one of them")
            raise here.at("type").error(loop.type, f"a type of loop: {', '.join(TYPES)}", fix)
        if loop.kind.between_frames:
            _check_frames(robot, loop, here)
        else:
            _check_gear(robot, loop, here)
    if robot.loops:
        _check_joints(robot, where)


def _check_frames(robot: Robot, loop: ClosedLoop, here: Location) -> None:
    for key, end in (("a", loop.a), ("b", loop.b)):
        _check_end(robot, end, here.at(key))
    root = robot.links[0].name
    a, b = (root if end.link == WORLD else end.link for end in (loop.a, loop.b))
    if a == b or _rigid_root(robot, a) == _rigid_root(robot, b):
        between = f"{loop.a.link} and {loop.b.link}" if a != b else loop.a.link
        raise here.error(between, "two links that move against each other", "name the two links that the loop joins in a and b")
    for key in ("axis", "axis2"):
        if key in loop.kind.keys:
            _check_unit(robot, getattr(loop, key), here.at(key))
    if "length" in loop.kind.keys and not nominal(loop.length, robot.parameters) > 0:
        given = nominal(loop.length, robot.parameters)
        raise here.at("length").error(given, "a length above 0 m", "points that meet are a spherical loop")


def _rigid_root(robot: Robot, name: str) -> str:
    """The innermost link that this one is part of: through fixed joints, not through flexible links."""
    by_child = {joint.child: joint for joint in robot.joints}
    while name in by_child and by_child[name].type.holds and robot.link(name).flexible is None:
        parent = by_child[name].parent
        if robot.link(parent).flexible is not None:
            break
        name = parent
    return name


def _check_end(robot: Robot, end: LoopEnd, here: Location) -> None:
    known = [WORLD, *(link.name for link in robot.links)]
    if not isinstance(end, LoopEnd):
        raise here.error(end, "an elastogen.LoopEnd(link, pose)", "for example LoopEnd('rocker')")
    if end.link not in known:
        fix = did_you_mean(str(end.link), known, f"one of {', '.join(known[:12])}{', ...' if len(known) > 12 else ''}")
        raise here.at("link").error(end.link, "the name of a link, or world", fix)
    if end.x is None:
        return
    body = None if end.link == WORLD else robot.link(end.link).flexible
    if body is None or body.beam is None:
        raise here.at("x").error(nominal(end.x, robot.parameters), "x on a flexible link that is a beam", "give xyz instead")
    place, length = nominal(end.x, robot.parameters), nominal(body.tip_pose[0][3], robot.parameters)
    if not -_ROUNDING * length <= place <= length * (1 + _ROUNDING):
        raise here.at("x").error(place, f"a place on the beam, 0 to {length:g} m", "x counts from the link's frame")


def _check_unit(robot: Robot, axis: Vector, here: Location) -> None:
    if any(isinstance(entry, sympy.Expr) and entry.free_symbols for entry in axis):
        raise here.error([str(entry) for entry in axis], "numbers", "turn the frames by rpy instead, which takes parameters")
    square = sum(float(entry) ** 2 for entry in axis)
    if abs(square - 1) > 1e-9:
        raise here.error([float(entry) for entry in axis], "a unit vector", "divide it by its length")


def _check_gear(robot: Robot, loop: ClosedLoop, here: Location) -> None:
    plain = [
        coordinate.name(joint.name)
        for joint in robot.joints
        if joint.type.coordinates == joint.type.velocities
        for coordinate in joint.type.coordinates
    ]
    if not any(nominal(value, robot.parameters) for value in loop.coefficients.values()):
        raise here.at("coefficients").error(
            dict(loop.coefficients), "at least one coefficient that is not 0", "for example {motor: 1, arm: -20}"
        )
    for name in loop.coefficients:
        if name not in plain:
            fix = did_you_mean(name, plain, f"one of {', '.join(plain[:12])}")
            raise here.at("coefficients", str(name)).error(name, "a coordinate of a joint, without quaternion", fix)


def _check_joints(robot: Robot, where: Location) -> None:
    """Joints that change their elements while they move, and tips that shear frames, cannot be in a robot with loops."""
    for joint in robot.joints:
        if joint.type.rides_parent or joint.type.feeds_child:
            reason = "no joints along beams beside loops: the element inside changes, and with it what a loop fixes"
            raise where.error(f"{joint.type.name} joint {joint.name}", reason, "use a prismatic joint on a rigid link")
    for link in robot.links:
        if link.flexible is not None and link.flexible.tip == "linear":
            reason = "tips that rotate: a linear tip shears the frame that a loop would hold"
            raise where.error(f"tip: linear of {link.name}", reason, "write tip: exponential")
