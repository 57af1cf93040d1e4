"""Points of a robot file, and the checks of any robot's points."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from math import isfinite

import numpy as np
import sympy

from elastogen.generator.description.file.fields import FrameSection
from elastogen.generator.description.file.points_file import PointSection
from elastogen.generator.robot import names
from elastogen.generator.robot.bodies.flexible_body import FlexibleBody
from elastogen.generator.robot.expressions import nominal, parse_scalar
from elastogen.generator.robot.location import Location, did_you_mean
from elastogen.generator.robot.placement import from_xyz_rpy, product
from elastogen.generator.robot.robot import Gauge, Matrix, Parameter, Point, Robot, Scalar
from elastogen.generator.robot.tree import unique_names
from elastogen.generator.solids.material_points import FAR, point_on
from elastogen.generator.solids.request import Found

Frame = Callable[[FrameSection, Location], Matrix]
"""Reads a frame of the file."""
_ROUNDING = 1e-12  # of the place along a beam, relative to its length


def read_points(
    sections: tuple[PointSection, ...], frame: Frame, parameters: Mapping[str, Parameter], where: Location
) -> tuple[Point, ...]:
    """The points of a file; those without a name are called point1, point2, ..."""
    found = []
    for number, section in enumerate(sections, start=1):
        name = section.name or f"point{number}"
        here = where.at(name)
        pose = frame(section, here)
        if section.x is not None:
            along = parse_scalar(section.x, parameters, here.at("x"))
            pose = product(from_xyz_rpy((along, 0, 0), (0, 0, 0)), pose)
        gauge = None
        if section.strain is not None:
            given = section.strain.offset
            offset = None if given is None else parse_scalar(given, parameters, here.at("strain", "offset"))
            gauge = Gauge(section.strain.direction, offset)
        found.append(Point(name, section.link or "", section.joint or "", pose, gauge))
    return tuple(found)


def on_nodes(robot: Robot, points: tuple[Point, ...], sections: tuple[PointSection, ...], where: Location) -> tuple[Point, ...]:
    """The points with those that are given by nodes of a mesh in the middle of these."""
    found = []
    for point, section in zip(points, sections, strict=True):
        if section.nodes is not None:
            here = where.at(point.name, "nodes")
            body = next((link.flexible for link in robot.links if link.name == point.link), None)
            if body is None or body.solid is None:
                raise here.error(point.link, "a link by a mesh", "give the place by xyz")
            missing = [node for node in section.nodes if node not in body.solid.numbers]
            if missing:
                expected = f"numbers of corners of elements, up to {int(body.solid.numbers.max())}"
                raise here.error(missing[:5], expected, "take the file's own numbers of nodes")
            x, y, z = body.solid.nodes[: len(body.solid.numbers)][np.isin(body.solid.numbers, section.nodes)].mean(axis=0)
            point = replace(point, pose=product(from_xyz_rpy((float(x), float(y), float(z)), (0, 0, 0)), point.pose))
        found.append(point)
    return tuple(found)


def check_all_are_points(robot: Robot, where: Location) -> None:
    """Refuse anything that is not a Point."""
    for number, point in enumerate(robot.points):
        if not isinstance(point, Point):
            raise where.at(number).error(
                point, "an elastogen.Point(name, link, ...)", "with_points(*points) takes them one by one, not as a list"
            )


def check_points(robot: Robot, where: Location) -> None:
    """Refuse points on unknown links, beyond the ends of beams, and gauges on rigid links.

    Their frames are checked with all other placements.
    """
    for point in robot.points:
        names.check_name(point.name, where.at(str(point.name), "name"))
    unique_names((point.name for point in robot.points), where, "point")
    links, joints = [link.name for link in robot.links], [joint.name for joint in robot.joints]
    for point in robot.points:
        here = where.at(point.name)
        for key, given in (("link", point.link), ("joint", point.joint)):
            if not isinstance(given, str):
                raise here.at(key).error(given, f"the name of a {key}, or ''", "give its name as a string")
        if bool(point.link) == bool(point.joint):
            raise here.error(point.link or "nothing", "either a link or a joint", "name the one that carries the point")
        if point.joint and point.joint not in joints:
            raise here.at("joint").error(
                point.joint, "the name of a joint", did_you_mean(point.joint, joints, f"one of {', '.join(joints)}")
            )
        if point.link and point.link not in links:
            raise here.at("link").error(
                point.link, "the name of a link", did_you_mean(point.link, links, f"one of {', '.join(links)}")
            )
        body = robot.link(point.link).flexible if point.link else None
        if body is not None:
            _check_on_beam(robot, point, body, here)
        if point.strain is not None:
            _check_gauge(robot, point, point.strain, body, here.at("strain"))


def _check_on_beam(robot: Robot, point: Point, body: FlexibleBody, here: Location) -> None:
    if body.solid is not None:
        _check_on_solid(robot, point, body, here)
        return
    if body.beam is None:
        raise here.at("link").error(
            point.link,
            "a rigid link, a beam (modes, elements) or a mesh",
            "a body of integrals is not known point by point",
        )
    check_place_on_beam(robot, body, point.pose[0][3], here.at("x"))


def check_place_on_beam(robot: Robot, body: FlexibleBody, x: Scalar, here: Location) -> None:
    """Refuse places beyond the ends of a beam, and live ones on a beam of several elements."""
    assert body.beam is not None
    length = body.tip_pose[0][3]
    place, end = nominal(x, robot.parameters), nominal(length, robot.parameters)
    if not -_ROUNDING * end <= place <= end * (1 + _ROUNDING):
        raise here.error(place, f"a place on the beam, 0 to {end:g} m", "x counts from the origin of the link's frame")
    pieces = max(len(mode.shape.pieces) for mode in body.beam.modes)
    if pieces > 1 and (_is_live(robot, x) or _is_live(robot, length)):
        raise here.error(
            str(x), "a place that is not live, on a beam of several elements", "remove it (and the beam's length) from `live`"
        )


def _check_on_solid(robot: Robot, point: Point, body: FlexibleBody, here: Location) -> None:
    if any(_is_live(robot, entry) for row in point.pose for entry in row):
        raise here.at("xyz").error(
            "a place or axes that are live", "numbers: the solid is reduced once", "remove their parameters from `live`"
        )
    place = np.array([nominal(row[3], robot.parameters) for row in point.pose[:3]])
    nearest = point_on(body, place).place
    distance = float(np.linalg.norm(nearest - place))
    assert body.solid is not None
    if distance > FAR * float(np.linalg.norm(np.ptp(body.solid.nodes, axis=0))):
        shown = ", ".join(f"{x:.4g}" for x in nearest)
        raise here.at("xyz").error(
            f"{distance:.4g} m outside of {point.link}", "a point of the solid", f"a point of it is at [{shown}] m"
        )


def _check_solid_gauge(point: Point, gauge: Gauge, solid: Found, here: Location) -> None:
    if gauge.direction not in ("x", "y", "z"):
        raise here.at("direction").error(gauge.direction, "x, y or z of the point's frame", "turn the point by rpy")
    if not len(solid.tetrahedra):
        raise here.error(point.link, "a solid with elements", "matrices alone do not tell strains; give the mesh")


def _check_gauge(robot: Robot, point: Point, gauge: Gauge, body: FlexibleBody | None, here: Location) -> None:
    if body is None or (body.beam is None and body.solid is None):
        raise here.error(point.link or point.joint, "a strain gauge on a beam", "remove strain, or name a flexible link")
    if not isinstance(gauge, Gauge):
        raise here.error(gauge, "an elastogen.Gauge(direction, offset)", "for example elastogen.Gauge('y', 0.002)")
    if body.beam is None:
        assert body.solid is not None
        _check_solid_gauge(point, gauge, body.solid, here)
        return
    bends = sorted({mode.direction for mode in body.beam.modes if mode.direction in ("y", "z")})
    if not isinstance(gauge.direction, str) or gauge.direction not in bends:
        shown = ", ".join(bends) or "none"
        raise here.at("direction").error(gauge.direction, f"a direction in which {point.link} bends ({shown})", "choose one")
    if isinstance(gauge.offset, sympy.Expr):
        strange = gauge.offset.free_symbols - {parameter.symbol for parameter in robot.parameters.values()}
        if strange:
            raise here.at("offset").error(str(gauge.offset), "symbols of the robot's parameters", "use Parameter(...).symbol")
    elif not isinstance(gauge.offset, (int, float)) or isinstance(gauge.offset, bool) or not isfinite(gauge.offset):
        raise here.at("offset").error(gauge.offset, "a finite number [m]", "the distance from the neutral line")


def _is_live(robot: Robot, scalar: Scalar) -> bool:
    live = {parameter.symbol for parameter in robot.live_parameters}
    return isinstance(scalar, sympy.Expr) and bool(scalar.free_symbols & live)
