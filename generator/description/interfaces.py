"""Joints on flexible links, by places along beams or interfaces by name, and their checks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from elastogen.generator.beams.sections import interface_at
from elastogen.generator.description.points import check_place_on_beam
from elastogen.generator.robot.bodies.flexible_body import TIP, FlexibleBody
from elastogen.generator.robot.location import Location, did_you_mean
from elastogen.generator.robot.robot import Joint, Link, Robot, Scalar


def seated(robot: Robot, places: Mapping[str, tuple[Scalar, Location]]) -> Robot:
    """The robot with its joints on the interfaces of flexible links.

    ``places`` are x along beams and where the file says so, by the names of the joints; at the very end that is the tip. A
    joint of which nothing is said sits on the interface that has its name, where there is one.
    """
    for name, (x, where) in places.items():
        joint = next(joint for joint in robot.joints if joint.name == name)
        link = robot.link(joint.parent)
        body = _with_place(link, joint, x, robot, where)
        interface = TIP if body is link.flexible else name
        robot = replace(
            robot,
            links=tuple(replace(other, flexible=body) if other is link else other for other in robot.links),
            joints=tuple(replace(other, interface=interface) if other is joint else other for other in robot.joints),
        )
    return replace(robot, joints=tuple(_by_name(joint, robot) for joint in robot.joints))


def _by_name(joint: Joint, robot: Robot) -> Joint:
    body = robot.link(joint.parent).flexible
    own = body is not None and any(place.name == joint.name for place in body.others) and not joint.type.rides_parent
    return replace(joint, interface=joint.name) if own and not joint.interface else joint


def _with_place(link: Link, joint: Joint, x: Scalar, robot: Robot, where: Location) -> FlexibleBody:
    body = link.flexible
    if body is None or body.beam is None:
        expected = "x only for a joint on a beam (a link with flexible: {type: modes or elements})"
        fix = "place the joint by placement: {xyz: [...]}"
        raise where.error(f"{x} on {link.name}", expected, fix)
    check_place_on_beam(robot, body, x, where)
    if x == body.tip_pose[0][3]:
        return body
    return replace(body, others=(*body.others, interface_at(body.beam, joint.name, x, robot.parameters)))


def check_interfaces(robot: Robot, where: Location, *, quiet: bool) -> None:
    """Refuse joints on unknown interfaces, and warn of several joints on one tip by default."""
    for link in robot.links:
        body = link.flexible
        on_link = [joint for joint in robot.joints if joint.parent == link.name and not joint.type.rides_parent]
        names = [] if body is None else [place.name for place in body.interfaces]
        for joint in on_link:
            if joint.interface and joint.interface not in names:
                expected = f"an interface of {link.name}: {', '.join(names)}" if names else "no interface: the parent is rigid"
                fix = did_you_mean(joint.interface, names, "remove it" if not names else "name one of them")
                raise where.at("joints", joint.name, "interface").error(joint.interface, expected, fix)
        if body is None:
            continue
        _check_names(names, where.at("links", link.name, "flexible", "interfaces"))
        for place in body.others:
            if place.x is not None:
                check_place_on_beam(robot, body, place.x, where.at("joints", place.name, "x"))
        unsaid = [joint.name for joint in on_link if not joint.interface]
        if len(unsaid) > 1 and not quiet:
            beam = body.beam is not None
            where.at("joints", unsaid[-1]).warn(
                f"{', '.join(unsaid)} all on the tip of {link.name}, and moving with it",
                "one joint on the tip of a flexible link, or a place for each",
                f"{'give x: along the beam' if beam else 'name another interface of the link'}, or say interface: tip; "
                "in a file on top of another: along, on_hub or on_tip of the link",
            )


def _check_names(names: list[str], where: Location) -> None:
    for name in names:
        if names.count(name) > 1:
            raise where.error(name, "names of interfaces that occur once, none but the tip called tip", "rename one of them")
