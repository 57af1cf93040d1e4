"""Which column of a table is which signal of the robot.

A table that uses our names needs no map: ``time``, ``q.<joint>``, ``qd.<joint>``, ``qdd.<joint>``, ``F.<joint>``,
``current.<joint>``, or ``q``, ``qd``, ... with a column for every coordinate. A map says where they are in other tables::

    time: t                          # a name
    q: [j1, j2, j3]                  # names, one for each driven joint in the robot's order
    qd: 8-13                         # columns of a table without names, the first is 1
    current: {shoulder: i_shoulder}  # by joint
    time_unit: ms                    # s, ms, us or ns; seconds where nothing is said
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from elastogen.generator.robot.location import did_you_mean
from elastogen.generator.robot.robot import Robot
from elastogen.identification.errors import IdentificationError
from elastogen.identification.measurements.read_table import Array, Table

COMMANDS = ("F_command", "current_command")
SIGNALS = ("q", "qd", "qdd", "F", "current", *COMMANDS)
POINT_CHANNELS = {
    "": "what a strain gauge reads",
    **{axis: f"position {axis} in the base frame [m]" for axis in "xyz"},
    **{f"a{axis}": f"what an accelerometer reads along its {axis} axis [m/s^2]" for axis in "xyz"},
    **{f"w{axis}": f"what a gyroscope reads about its {axis} axis [rad/s]" for axis in "xyz"},
}
"""Channels of a point behind ``point.<name>.``; nothing behind the name: its strain."""
TIME_UNITS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
"""Of ``time_unit`` in a map of columns, in seconds."""
COMMANDED = "commanded"  # in place of gains: those with which the robot's own controller makes currents of forces


@dataclass(frozen=True)
class Run:
    """The signals of one motion: time [s] and arrays (samples, driven joints) in SI units and radians, as measured."""

    source: str
    time: Array
    q: Array
    qd: Array | None
    qdd: Array | None
    F: Array | None  # [N m] or [N]; None: not measured, and sensors of points are
    notes: tuple[str, ...] = ()
    points: Mapping[str, Array] = field(default_factory=dict)  # readings (samples,) by channel, see POINT_CHANNELS


def driven_names(robot: Robot) -> list[str]:
    """Names of the velocities with a drive, as columns use them."""
    return [velocity.name for velocity in robot.velocities if velocity.driven]


def match_columns(
    table: Table, robot: Robot, columns: Mapping[str, object] | None, gains: Mapping[str, float] | None, *, degrees: bool
) -> Run:
    """The run that a table holds."""
    joints = driven_names(robot)
    given = {} if columns is None else dict(columns)
    unknown = [key for key in given if key.split(".")[0] not in (*SIGNALS, "time", "time_unit", "point")]
    if unknown:
        fix = did_you_mean(unknown[0], [*SIGNALS, "time"], "the signals are " + ", ".join(("time", *SIGNALS)))
        raise IdentificationError("columns", repr(unknown[0]), "a signal of the robot", fix)
    found = {signal: _signal(table, signal, joints, given) for signal in SIGNALS}
    time = _time(table, given)
    for signal, value in found.items():
        if value is not None and len(value) != len(time):
            raise IdentificationError(
                f"{table.source}: {signal}", f"{len(value)} samples", f"{len(time)} as time has", "give all signals one length"
            )
    q = found["q"]
    if q is None:
        raise _missing(table, "q", joints)
    rotating = np.array([velocity.unit == "rad" for velocity in robot.velocities if velocity.driven])
    factor = np.where(rotating, np.pi / 180.0, 1.0) if degrees else np.ones(len(joints))
    rates = [None if found[key] is None else found[key] * factor for key in ("qd", "qdd")]  # type: ignore[operator]
    points = _points(table, robot, given)
    unforced = bool(points) and found["F"] is None and found["current"] is None
    F, notes = (None, ["no forces were measured"]) if unforced else _forces(table, found, gains, joints)
    return Run(table.source, time, q * factor, rates[0], rates[1], F, (*table.notes, *notes), points)


def _points(table: Table, robot: Robot, given: Mapping[str, object]) -> dict[str, Array]:
    """Readings of sensors, by their channels ``point.<name>`` or ``point.<name>.ax``."""
    named = {point.name: point for point in robot.points}
    mapped = {key: place for key, place in given.items() if key.startswith("point.")}
    mapped |= {name: name for name in table.columns if name.startswith("point.") and name not in mapped}
    found = {}
    for channel, place in mapped.items():
        name, _, kind = channel.removeprefix("point.").partition(".")
        if name not in named:
            fix = did_you_mean(name, list(named), "add it to `points:` of the robot, or leave the column out")
            raise IdentificationError(f"{table.source}: {channel}", f"no point {name!r}", "a point of the robot", fix)
        if kind not in POINT_CHANNELS or (not kind and named[name].strain is None):
            expected = ", ".join(f"point.{name}.{key}" if key else f"point.{name} (a strain)" for key in POINT_CHANNELS)
            raise IdentificationError(
                f"{table.source}: {channel}", repr(channel), expected, "name it so; a gauge is a point with strain:"
            )
        (found[channel],) = _columns_of(table, place, channel)
        if len(found[channel]) != len(_time(table, given)):
            raise IdentificationError(
                f"{table.source}: {channel}", f"{len(found[channel])} samples", "as many as time has", "give all one length"
            )
    return found


def _forces(
    table: Table, found: Mapping[str, Array | None], gains: Mapping[str, float] | None, joints: Sequence[str]
) -> tuple[Array, list[str]]:
    forces, currents = found["F"], found["current"]
    if forces is not None and (gains is None or currents is None):
        return forces, []
    if currents is None:
        raise _missing(table, "F", joints)
    if gains is None:
        raise IdentificationError(
            f"{table.source}: current", "currents without gains", "forces per ampere of every drive [N m/A]",
            f"gains={{{joints[0]!r}: ...}}, on the command line --gains {joints[0]}=...",
        )  # fmt: skip
    for name in gains:
        if name not in joints:
            fix = did_you_mean(name, joints, f"the driven joints are {', '.join(joints)}")
            raise IdentificationError("gains", repr(name), "a driven joint", fix)
    missing = [joint for joint in joints if joint not in gains]
    if missing:
        raise IdentificationError("gains", f"none for {missing[0]}", "one for every driven joint", f"add {missing[0]}=...")
    factors = np.array([float(gains[joint]) for joint in joints])
    if not np.all(np.isfinite(factors)) or np.any(factors == 0):
        raise IdentificationError("gains", factors.tolist(), "numbers other than zero [N m/A]", "check the drives' data sheet")
    return currents * factors, ["forces are currents times gains"]


def commanded_gains(table: Table, robot: Robot, columns: Mapping[str, object] | None) -> dict[str, float]:
    """Force per ampere of each drive as the robot's controller has it: its currents are forces over gains, and friction."""
    joints, given = driven_names(robot), dict(columns or {})
    force, current = (_signal(table, name, joints, given) for name in COMMANDS)
    q, time = _signal(table, "q", joints, given), _time(table, given)
    if force is None or current is None or q is None:
        expected = "columns F_command and current_command, as robots log what their controller wants"
        raise IdentificationError(f"{table.source}: gains", COMMANDED, expected, "map them, or give gains of the data sheet")
    times, first = np.unique(time, return_index=True)
    rate = np.gradient(q[first], times, axis=0)
    smooth = np.apply_along_axis(lambda x: np.convolve(x, np.ones(9) / 9, mode="same"), 0, rate)
    rotating = np.gradient(smooth, times, axis=0)
    gains = {}
    for k, joint in enumerate(joints):
        width = 0.01 * max(float(np.abs(smooth[:, k]).max()), 1e-9)
        others = [smooth[:, k], np.tanh(smooth[:, k] / width), rotating[:, k], np.ones(len(times))]
        A = np.column_stack([force[first, k], *others])
        slope = np.linalg.lstsq(A, current[first, k], rcond=None)[0][0]
        if not (np.isfinite(slope) and slope != 0):
            raise IdentificationError(f"{table.source}: F_command.{joint}", "no relation to its current", "one", "give gains")
        gains[joint] = float(1.0 / slope)
    return gains


def tells_gains(table: Table, robot: Robot, columns: Mapping[str, object] | None) -> bool:
    """Whether a table has currents and no forces, and what its robot's controller wanted: gains follow from that."""
    joints, given = driven_names(robot), dict(columns or {})
    has = {name: _signal(table, name, joints, given) is not None for name in ("F", "current", *COMMANDS)}
    return not has["F"] and all(has[name] for name in ("current", *COMMANDS))


def _missing(table: Table, signal: str, joints: Sequence[str]) -> IdentificationError:
    names = list(table.columns)
    shown = ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")
    example = f"{signal}.{joints[0]}"
    fix = did_you_mean(
        example, names, f"say where it is: columns={{'{signal}': [...]}}, on the command line --columns map.yaml"
    )
    expected = f"{example}, ... or {signal} for all of {', '.join(joints)}"
    return IdentificationError(f"{table.source}: columns", shown, expected, fix)


def _time(table: Table, given: Mapping[str, object]) -> Array:
    name, unit = given.get("time", "time"), given.get("time_unit", "s")
    if unit not in TIME_UNITS:
        raise IdentificationError("columns: time_unit", repr(unit), f"one of {', '.join(TIME_UNITS)}", "choose one of them")
    found = _columns_of(table, name, "time")
    if len(found) != 1:
        raise IdentificationError(f"{table.source}: time", f"{len(found)} columns", "one", "name one column")
    return np.asarray(found[0] * TIME_UNITS[str(unit)])


def _signal(table: Table, signal: str, joints: Sequence[str], given: Mapping[str, object]) -> Array | None:
    """(samples, joints), from one array, from a list of columns, or joint by joint; None: there is no such signal."""
    place = given.get(signal)
    by_joint = {joint: given[f"{signal}.{joint}"] for joint in joints if f"{signal}.{joint}" in given}
    if isinstance(place, Mapping):
        by_joint |= {str(joint): name for joint, name in place.items()}
        stray = [joint for joint in by_joint if joint not in joints]
        if stray:
            fix = did_you_mean(stray[0], joints, f"the driven joints are {', '.join(joints)}")
            raise IdentificationError(f"columns: {signal}", repr(stray[0]), "a driven joint", fix)
    elif place is not None:
        parts = _columns_of(table, place, signal)
        if len(parts) != len(joints):
            expected = f"{len(joints)}: {', '.join(joints)}"
            raise IdentificationError(f"columns: {signal}", f"{len(parts)} columns", expected, "name one column for each joint")
        return np.column_stack(parts)
    if not by_joint:
        if signal in table.columns:
            return _signal(table, signal, joints, {signal: signal})
        by_joint = {joint: f"{signal}.{joint}" for joint in joints}
        if not any(name in table.columns for name in by_joint.values()):
            return None
    absent = [joint for joint in joints if joint not in by_joint or by_joint[joint] not in table.columns]
    if absent:
        known = [name for name in table.columns if name.startswith(f"{signal}.")] or list(table.columns)
        fix = did_you_mean(f"{signal}.{absent[0]}", known, "record it, or lock the joint: load(..., lock={...})")
        raise IdentificationError(f"{table.source}: {signal}", f"no column for {absent[0]}", "one for every driven joint", fix)
    return np.column_stack([_columns_of(table, by_joint[joint], signal)[0] for joint in joints])


def _columns_of(table: Table, place: object, signal: str) -> list[Array]:
    """The columns that a name, a number, a range "2-7" or a list of them means."""
    if isinstance(place, (list, tuple)):
        return [column for part in place for column in _columns_of(table, part, signal)]
    name = str(place)
    span = re.fullmatch(r"(\d+)-(\d+)", name)
    if span is not None and name not in table.columns:
        return _columns_of(table, list(range(int(span[1]), int(span[2]) + 1)), signal)
    if name not in table.columns:
        names = list(table.columns)
        fix = did_you_mean(name, names, f"its columns are {', '.join(names[:12])}{', ...' if len(names) > 12 else ''}")
        raise IdentificationError(f"{table.source}: {signal}", f"no column {name!r}", "a column of the table", fix)
    value = table.columns[name]
    if value.ndim not in (1, 2):
        raise IdentificationError(f"{table.source}: {name}", f"shape {value.shape}", "one or two dimensions", "reshape it")
    return [value] if value.ndim == 1 else list(value.T)
