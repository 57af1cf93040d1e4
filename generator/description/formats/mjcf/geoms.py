"""Mass, centre and inertia of a body from its geoms: spheres, capsules, cylinders, ellipsoids and boxes of uniform density."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from elastogen.generator.description.formats.mjcf.poses import Angles, Array, Attributes, number, numbers, rotation, turn_of_z
from elastogen.generator.robot.location import Location
from elastogen.generator.robot.moments import Moments, moments, rigid_body
from elastogen.generator.robot.robot import Body

DENSITY = 1000.0  # [kg/m^3], MuJoCo's default
SHAPES = {"sphere": 1, "capsule": 2, "cylinder": 2, "ellipsoid": 3, "box": 3}  # and how many numbers their size has
WEIGHTLESS = ("plane", "hfield", "sdf")


@dataclass(frozen=True)
class _Solid:
    """A shape at the origin: its volume, and int x^2, y^2, z^2 dV / V."""

    volume: float
    spread: tuple[float, float, float]


def body_of_geoms(geoms: Sequence[tuple[Attributes, Location]], angles: Angles) -> Body:
    """The rigid body that the geoms of a body are together."""
    total: Moments = np.zeros((4, 4))
    for attributes, where in geoms:
        total = total + _moments(attributes, angles, where)
    return rigid_body(total)


def _moments(attributes: Attributes, angles: Angles, where: Location) -> Moments:
    shape = attributes.get("type", "sphere")
    given = attributes.get("mass")
    if shape in WEIGHTLESS or (given is not None and number(attributes, "mass", 0, where) == 0):
        return np.zeros((4, 4))
    if shape not in SHAPES:
        fix = "write <inertial pos= mass= diaginertia=> into the body (MuJoCo's mj_saveLastXML does), or give the geom mass='0'"
        raise where.at("type").error(shape, f"a shape with a closed form: {', '.join(SHAPES)}", fix)
    if attributes.get("shellinertia") == "true":
        raise where.at("shellinertia").error("true", "solid geoms", "write <inertial> into the body")
    size, turn, centre = _placed(shape, attributes, angles, where)
    solid = _solid(shape, size)
    density = number(attributes, "density", DENSITY, where)
    mass = density * solid.volume if given is None else number(attributes, "mass", 0, where)
    second = mass * (turn * solid.spread) @ turn.T + mass * np.outer(centre, centre)
    return moments(mass, mass * centre, second)


def _placed(shape: str, attributes: Attributes, angles: Angles, where: Location) -> tuple[Array, Array, Array]:
    """Size, rotation and centre."""
    ends = numbers(attributes, "fromto", 6, where)
    count = SHAPES[shape] - (ends is not None and shape != "sphere")
    text = attributes.get("size", "").split()
    sizes = numbers({"size": " ".join(text[:count])}, "size", count, where)
    assert sizes is not None
    if (sizes <= 0).any():
        raise where.at("size").error(attributes.get("size"), "sizes above zero", "sizes are radii and half lengths [m]")
    if ends is None:
        centre = numbers(attributes, "pos", 3, where)
        return sizes, rotation(attributes, angles, where), np.zeros(3) if centre is None else centre
    if shape == "sphere":
        raise where.at("fromto").error(attributes["fromto"], "a capsule, cylinder, ellipsoid or box", "give pos for a sphere")
    between = ends[3:] - ends[:3]
    half = float(np.linalg.norm(between)) / 2
    if half < 1e-12:
        raise where.at("fromto").error(attributes["fromto"], "two different points", "give pos and size")
    across = np.repeat(sizes[:1], 2) if shape in ("ellipsoid", "box") else sizes[:1]
    return np.array([*across, half]), turn_of_z(between / (2 * half)), (ends[:3] + ends[3:]) / 2


def _solid(shape: str, size: Array) -> _Solid:
    if shape in ("sphere", "ellipsoid"):
        a, b, c = (float(entry) for entry in (np.repeat(size, 3) if shape == "sphere" else size))
        return _Solid(4 / 3 * np.pi * a * b * c, (a * a / 5, b * b / 5, c * c / 5))
    if shape == "box":
        a, b, c = (float(entry) for entry in size)
        return _Solid(8 * a * b * c, (a * a / 3, b * b / 3, c * c / 3))
    r, h = float(size[0]), float(size[1])  # radius, half length
    tube = 2 * np.pi * r * r * h
    if shape == "cylinder":
        return _Solid(tube, (r * r / 4, r * r / 4, h * h / 3))
    ball = 4 / 3 * np.pi * r**3  # two halves, their centres 3 r / 8 from the ends of the tube
    along = tube * h * h / 3 + ball * (r * r / 5 + h * h + 3 / 4 * r * h)
    across = tube * r * r / 4 + ball * r * r / 5
    volume = tube + ball
    return _Solid(volume, (across / volume, across / volume, along / volume))
