"""The array arguments that emitted functions take and give: one place for their names, shapes, units and meaning."""

from __future__ import annotations

from dataclasses import replace

from elastogen.runtime.interface.argument import Argument

MOTION = ("q", "qd", "qdd", "q3", "q4", "q5", "q6")  # coordinates and their time derivatives

_PER_COORDINATE = {
    "q": ("rad or m", "generalized coordinates"),
    "qd": ("rad/s or m/s", "generalized velocities"),
    "qdd": ("rad/s^2 or m/s^2", "generalized accelerations"),
    "q3": ("rad/s^3 or m/s^3", "third time derivatives of the coordinates"),
    "q4": ("rad/s^4 or m/s^4", "fourth time derivatives of the coordinates"),
    "q5": ("rad/s^5 or m/s^5", "fifth time derivatives of the coordinates"),
    "q6": ("rad/s^6 or m/s^6", "sixth time derivatives of the coordinates"),
    "q0": ("rad or m", "configuration"),
    "q1": ("rad or m", "another configuration"),
    "v": ("rad or m", "displacement: velocities times a time"),
    "x": ("rad or m", "displacement from q along a path"),
    "xd": ("rad/s or m/s", "its time derivative"),
    "xdd": ("rad/s^2 or m/s^2", "its second time derivative"),
    "x3": ("rad/s^3 or m/s^3", "its third time derivative"),
    "x4": ("rad/s^4 or m/s^4", "its fourth time derivative"),
    "u": ("1", "numbers between 0 and 1"),
    "F": ("N m or N", "generalized driving forces"),
    "b": ("N m or N", "right-hand side"),
    "weights": ("1", "constant weights w of the sum that is differentiated"),
}

_SWITCHES = {
    "delta_m": "which forces: -1 own and load, 0 load only, 1 own only",
    "delta_theta": "1 with motion, 0 at rest",
    "tau": "sign of the active forces of weight and load: -1 to balance them",
}  # of paper 002 (29), (30)


POSITIONS = ("q", "q0", "q1", "u")
"""The arguments with a number for each coordinate; the others have one for each velocity."""


def input_argument(name: str, nq: int, nv: int, points: int = 0, per: str = "point") -> Argument:
    """Return the input of that name for a robot with nq coordinates, nv velocities and this number of points, or frames."""
    if name == "wrenches":
        return Argument("wrenches", (points, 6), "N, N m", f"per {per}, force and moment on it, in base components")
    if name == "wrench":
        return Argument("wrench", (6,), "N, N m", "force and moment of the load on the tip, in tip components")
    if name in _SWITCHES:
        return Argument(name, (), "", _SWITCHES[name])
    if name.startswith("d"):  # of tangents
        argument = input_argument(name[1:], nq, nv, points)
        return replace(argument, name=name, doc=f"change of: {argument.doc}")
    unit, doc = _PER_COORDINATE[name]
    return Argument(name, (nq if name in POSITIONS else nv,), unit, doc)


def vector(name: str, size: int, unit: str, doc: str) -> Argument:
    """Return an output with one element per velocity, or per coordinate."""
    return Argument(name, (size,), unit, doc)


def matrix(name: str, rows: int, columns: int, unit: str, doc: str) -> Argument:
    """Return a matrix output, row-major."""
    return Argument(name, (rows, columns), unit, doc)


def scalar(name: str, unit: str, doc: str) -> Argument:
    """Return an output that is a single number."""
    return Argument(name, (), unit, doc)
