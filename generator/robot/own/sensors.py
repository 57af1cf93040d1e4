"""Sensors of a robot: readings of encoders, gauges, gyroscopes, accelerometers and tips as one function with derivatives.

y = h(q, qd, F) becomes the robot's own function ``measurement``, and dh/dq, dh/dqd, dh/dF become
``measurement_derivatives``: observers need both, in C and in Python.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import sympy

from elastogen.generator.robot.location import Location, did_you_mean
from elastogen.runtime.interface.channel import Channel

if TYPE_CHECKING:
    from elastogen.generator.robot.own.terms import Symbols
    from elastogen.generator.robot.robot import Point, Robot

FUNCTION = "measurement"
ENCODERS, TACHOMETERS, TIP = "encoders", "tachometers", "tip"
PARTS = {
    "strain": ("1", ("",)),
    "gyroscope": ("rad/s", (".x", ".y", ".z")),
    "accelerometer": ("m/s^2", (".x", ".y", ".z")),
    "position": ("m", (".x", ".y", ".z")),
}  # of a point: unit and components
MOST = 200  # channels


def with_sensors(robot: Robot, sensors: Iterable[str]) -> Robot:
    """See :meth:`Robot.with_sensors`."""
    from elastogen.generator.robot.own.functions import derivatives_of, with_function
    from elastogen.generator.robot.own.terms import Symbols

    where = Location(robot.source or "python", "sensors")
    if robot.sensors:
        raise where.error(", ".join(_names(robot.sensors)), "a robot without sensors", "name all of them in one call")
    asked = (sensors,) if isinstance(sensors, str) else sensors
    wanted = tuple(asked) if isinstance(asked, Iterable) else (asked,)
    chosen = wanted or all_sensors(robot)
    symbols = Symbols(robot)
    channels: list[Channel] = []
    values: list[sympy.Expr] = []
    for sensor in chosen:
        for channel, value in _read(robot, symbols, sensor, where):
            if channel.name in _names(channels):
                raise where.error(sensor, "each reading once", f"leave it out: {channel.name} is there already")
            channels.append(channel)
            values.append(value)
    if not 0 < len(values) <= MOST:
        raise where.error(len(values), f"1 to {MOST} readings", "name fewer sensors")
    nv = len(robot.velocities)
    accelerated = any(".accelerometer" in channel.name for channel in channels)
    listed = ", ".join(f"{channel.name} [{channel.unit}]" for channel in channels)
    doc = f"Readings of {len(channels)} sensors: {listed}."[:1000]
    made = with_function(robot, FUNCTION, {"F": nv} if accelerated else None, {"y": sympy.ImmutableMatrix(values)}, doc)
    own = made.functions[-1]
    made = derivatives_of(made, FUNCTION, [*(name for name in ("q", "qd") if name in own.state), *own.inputs])
    return replace(made, sensors=tuple(channels))


def all_sensors(robot: Robot) -> tuple[str, ...]:
    """The encoders, and every point: a strain where it has a gauge, else gyroscope and accelerometer."""
    encoders = (ENCODERS,) if _encoded(robot) else ()
    return (*encoders, *(point.name for point in robot.points)) or (TIP,)


def _names(channels: Iterable[Channel]) -> list[str]:
    return [channel.name for channel in channels]


def _encoded(robot: Robot) -> list[str]:
    """Joints with one coordinate and a drive."""
    found = []
    for joint in robot.moving_joints:
        if joint.has_drives and len(joint.type.velocities) == 1 == len(joint.type.coordinates):
            found.append(joint.type.coordinates[0].name(joint.name))
    return found


def _read(robot: Robot, s: Symbols, sensor: Any, where: Location) -> list[tuple[Channel, sympy.Expr]]:
    """The readings of a sensor by its name."""
    joints = _encoded(robot)
    units = {coordinate.name: coordinate.unit for coordinate in robot.coordinates}
    points = {point.name: point for point in robot.points}
    if sensor in (ENCODERS, TACHOMETERS) and not joints:
        raise where.error(sensor, "a robot whose joints have drives", "name points of the robot instead")
    if sensor == ENCODERS or sensor in joints:
        named = joints if sensor == ENCODERS else [sensor]
        return [(Channel(name, units[name], sensor), s.coordinate(name)) for name in named]
    if sensor == TACHOMETERS:
        return [(Channel(f"{name}.rate", f"{units[name]}/s", sensor), s.velocity_of(name)) for name in joints]
    if sensor in (TIP, f"{TIP}.position") and TIP not in points:
        return _components("tip.position", "m", (".x", ".y", ".z"), s.f.forward_kinematics(s.q)[-1][:3, 3], sensor)
    name, _, part = str(sensor).partition(".")
    point = points.get(name)
    if not isinstance(sensor, str) or point is None or (part and part not in PARTS):
        known = [*((ENCODERS, TACHOMETERS) if joints else ()), TIP, *joints, *points]
        known += [f"{point}.{kind}" for point in points for kind in PARTS]
        fix = did_you_mean(str(sensor), known, f"points: names places of sensors; known are {', '.join(known[:8])}")
        raise where.error(sensor, "a sensor of the robot", fix)
    if part == "strain" and point.strain is None:
        raise where.error(sensor, "a point with a gauge", f"strain: {{direction: y, offset: ...}} in the point {name}")
    parts = (part,) if part else ("strain",) if point.strain is not None else ("gyroscope", "accelerometer")
    return [reading for each in parts for reading in _point_readings(robot, s, point, each, sensor)]


def _components(
    name: str, unit: str, endings: tuple[str, ...], values: Iterable[sympy.Expr], sensor: str
) -> list[tuple[Channel, sympy.Expr]]:
    return [(Channel(name + end, unit, sensor), value) for end, value in zip(endings, values, strict=True)]


def _point_readings(robot: Robot, s: Symbols, point: Point, part: str, sensor: str) -> list[tuple[Channel, sympy.Expr]]:
    unit, endings = PARTS[part]
    place = robot.points.index(point)
    if part == "strain":
        gauges = [other for other in robot.points if other.strain is not None]
        values = [list(s.f.point_strains(s.q))[gauges.index(point)]]
    elif part == "position":
        values = list(s.f.point_positions(s.q)[place, :])
    elif part == "gyroscope":
        values = list(s.f.gyroscopes(s.q, s.qd)[place, :])
    else:
        from elastogen.generator.robot.own.functions import input_symbols

        F = input_symbols("F", len(robot.velocities))
        values = list(s.f.accelerometers(s.q, s.qd, s.f.forward_dynamics(s.q, s.qd, F))[place, :])
    return _components(f"{point.name}.{part}", unit, endings, values, sensor)
