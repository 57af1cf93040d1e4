"""A ground that frames touch: a plane with the force of Hunt and Crossley and regularized Coulomb friction.

A point, or a sphere of radius r about the origin of its frame, is at depth d = h + r - n . p below the plane n . x = h. The
normal force (Hunt and Crossley 1975) is

    N = k d^e (1 + c dd/dt), at least 0,

so that it begins and ends at 0, and the loss of an impact grows with its speed. The friction is
-mu N v / sqrt(|v|^2 + v_s^2), with v the velocity of the contact point along the plane: Coulomb's above a few v_s, viscous
below.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from math import isfinite
from numbers import Real
from typing import TYPE_CHECKING, Any

from elastogen.generator.robot.frames import frame_names
from elastogen.generator.robot.location import Location, did_you_mean
from elastogen.generator.robot.loops.contacts import unit_vector

if TYPE_CHECKING:
    from elastogen.generator.robot.robot import Robot

MOST_POINTS = 32
LEAST = {"stiffness": 0.0, "exponent": 1.0, "damping": 0.0, "friction": 0.0, "slip_speed": 0.0, "height": None}


@dataclass(frozen=True)
class Ground:
    """A plane, the frames that touch it with their radii, and the numbers of its forces."""

    points: tuple[tuple[str, float], ...]  # frame and radius [m]; 0: a point
    normal: tuple[float, float, float] = (0.0, 0.0, 1.0)  # away from the ground, in the base frame; a unit vector
    height: float = 0.0  # of the plane along the normal [m]
    stiffness: float = 1e5  # k [N/m^e]
    exponent: float = 1.5  # e: 1.5 for spheres (Hertz), 1 for flat springs
    damping: float = 0.5  # c [s/m]
    friction: float = 0.8  # mu
    slip_speed: float = 0.01  # v_s [m/s]


def with_ground(robot: Robot, points: Sequence[Any], numbers: Mapping[str, Any], where: Location | None = None) -> Robot:
    """The robot with forces of the ground on these frames."""
    where = where or Location(robot.source or "python", "ground")
    if robot.ground is not None:
        raise where.error("a second ground", "one ground", "list all points in one")
    if not points or len(points) > MOST_POINTS:
        expected = f"1 to {MOST_POINTS} points"
        raise where.at("points").error(len(points), expected, "for example ['foot', {'frame': 'wheel', 'radius': 0.1}]")
    listed = tuple(_point(robot, given, where.at("points", str(k))) for k, given in enumerate(points))
    twice = next((name for name, _ in listed if [n for n, _ in listed].count(name) > 1), None)
    if twice is not None:
        raise where.at("points").error(twice, "each frame once", "remove one of them")
    ground = Ground(listed, **_numbers(numbers, where))
    for name, radius in listed:
        robot = _touching(robot, ground, name, radius)
    return replace(robot, ground=ground)


def _point(robot: Robot, given: Any, where: Location) -> tuple[str, float]:
    if isinstance(given, str):
        given = {"frame": given}
    if not isinstance(given, Mapping) or not {"frame"} <= {*given} <= {"frame", "radius"}:
        raise where.error(given, "a frame, or a mapping with frame and radius", "for example {frame: wheel, radius: 0.1}")
    name, known = given["frame"], frame_names(robot)
    if not isinstance(name, str) or name not in known:
        fix = did_you_mean(str(name), known, f"known are {', '.join(known)}")
        raise where.at("frame").error(name, "a link, a point or tip", fix)
    return name, _number(given.get("radius", 0.0), 0.0, where.at("radius"))


def _number(given: Any, least: float | None, where: Location) -> float:
    if isinstance(given, bool) or not isinstance(given, Real) or not isfinite(given) or (least is not None and given < least):
        expected = "a finite number" if least is None else f"a finite number, at least {least:g}"
        raise where.error(given, expected, "give it in SI units")
    return float(given)


def _numbers(given: Mapping[str, Any], where: Location) -> dict[str, Any]:
    known = [field.name for field in fields(Ground) if field.name != "points"]
    found: dict[str, Any] = {}
    for name, value in given.items():
        if name not in known:
            raise where.at(str(name)).error(name, f"one of {', '.join(known)}", did_you_mean(str(name), known, "remove it"))
        found[name] = _unit(value, where.at(name)) if name == "normal" else _number(value, LEAST[name], where.at(name))
    for name in ("stiffness", "slip_speed"):
        if found.get(name, 1.0) == 0.0:
            raise where.at(name).error(0, "a number above 0", "give it in SI units")
    return found


def _unit(given: Any, where: Location) -> tuple[float, float, float]:
    found = unit_vector(given)
    if found is None:
        raise where.error(given, "three numbers that are not all zero", "for example [0, 0, 1]")
    return found


def _touching(robot: Robot, ground: Ground, name: str, radius: float) -> Robot:
    """The robot with the force on one frame."""
    import sympy

    from elastogen.generator.robot.own.terms import Symbols
    from elastogen.generator.robot.own.with_terms import with_terms

    s, n = Symbols(robot), sympy.Matrix(ground.normal)
    v, omega = sympy.Matrix(s.velocity(name)), sympy.Matrix(s.angular_velocity(name))
    depth = sympy.Max(ground.height + radius - n.dot(s.position(name)), 0)
    normal = sympy.Max(ground.stiffness * depth**ground.exponent * (1 - ground.damping * n.dot(v)), 0)
    slip = v - n * n.dot(v) - (radius * omega.cross(n) if radius else sympy.zeros(3, 1))
    rubbed = -ground.friction * normal * slip / sympy.sqrt(slip.dot(slip) + ground.slip_speed**2)
    force = normal * n + rubbed
    wrench = [*force, *(-radius * n).cross(rubbed)] if radius else [*force]
    return with_terms(robot, name=f"ground_{name}", forces={name: sympy.Matrix(wrench)})
