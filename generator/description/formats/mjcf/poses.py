"""Poses of MJCF elements: position and one of quat, axisangle, euler, xyaxes, zaxis, as ``<compiler>`` says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from elastogen.generator.description.formats.xml_elements import parsed_number
from elastogen.generator.robot import placement
from elastogen.generator.robot.location import Location
from elastogen.generator.robot.robot import Matrix

Array = NDArray[np.float64]
Attributes = Mapping[str, str]
ORIENTATIONS = ("quat", "axisangle", "euler", "xyaxes", "zaxis")
_SIZES = {"quat": 4, "axisangle": 4, "euler": 3, "xyaxes": 6, "zaxis": 3}


@dataclass(frozen=True)
class Angles:
    """What ``<compiler>`` says about angles."""

    unit: float = np.pi / 180  # of one unit [rad]
    sequence: str = "xyz"  # of Euler angles: small letters about moved axes, capital ones about fixed axes


def numbers(attributes: Attributes, key: str, count: int, where: Location) -> Array | None:
    """So many numbers of an attribute, if it is there."""
    text = attributes.get(key)
    if text is None:
        return None
    parts = text.split()
    if len(parts) != count:
        raise where.at(key).error(text, f"{count} numbers separated by spaces", "count them")
    return np.array([float(parsed_number(part, where.at(key))) for part in parts])


def number(attributes: Attributes, key: str, default: float, where: Location) -> float:
    """A number of an attribute, or the default."""
    text = attributes.get(key)
    return default if text is None else float(parsed_number(text, where.at(key)))


def pose(attributes: Attributes, angles: Angles, where: Location) -> Matrix:
    """The pose that the attributes of an element say."""
    position = numbers(attributes, "pos", 3, where)
    return placed(rotation(attributes, angles, where), np.zeros(3) if position is None else position)


def placed(turn: Array, position: Array) -> Matrix:
    """A rotation and a position as a placement with exact zeros and ones."""
    rows = tuple(tuple(placement.snap(float(entry)) for entry in row) for row in turn)
    x, y, z = (float(entry) for entry in position)
    return placement.transform(rows, (x, y, z))


def rotation(attributes: Attributes, angles: Angles, where: Location) -> Array:
    """The orientation that the attributes of an element say."""
    given = [key for key in ORIENTATIONS if key in attributes]
    if len(given) > 1:
        raise where.at(given[1]).error(attributes[given[1]], f"one orientation ({given[0]} is given)", "remove one of them")
    if not given:
        return np.eye(3)
    key = given[0]
    values = numbers(attributes, key, _SIZES[key], where)
    assert values is not None
    here = where.at(key)
    if key == "axisangle":
        return about(_unit(values[:3], here), float(values[3] * angles.unit))
    if key == "euler":
        return _of_euler(values * angles.unit, angles.sequence)
    found: Array = {"quat": _of_quaternion, "xyaxes": _of_axes, "zaxis": _of_z}[key](values, here)
    return found


def about(axis: Array, angle: float) -> Array:
    """The turn about a unit vector (Rodrigues)."""
    x, y, z = axis
    K: Array = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    turned: Array = np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K
    return turned


def _unit(vector: Array, where: Location) -> Array:
    length = float(np.linalg.norm(vector))
    if length < 1e-9:
        raise where.error(vector.tolist(), "a direction, not zero", "for example 0 0 1")
    return vector / length


def _of_quaternion(values: Array, where: Location) -> Array:
    """MuJoCo's order is w, x, y, z; it makes them unit."""
    w, x, y, z = _unit(values, where)
    return np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ])  # fmt: skip


def _of_axes(values: Array, where: Location) -> Array:
    """X, and y made perpendicular to it."""
    x = _unit(values[:3], where)
    y = _unit(values[3:] - (values[3:] @ x) * x, where)
    return np.column_stack([x, y, np.cross(x, y)])


def _of_z(values: Array, where: Location) -> Array:
    """The smallest turn of z = (0, 0, 1) to the given direction."""
    return turn_of_z(_unit(values, where))


def turn_of_z(z: Array) -> Array:
    """The smallest turn that brings (0, 0, 1) to a unit vector; half a turn about x where that is its opposite."""
    axis = np.cross((0, 0, 1), z)
    sine = float(np.linalg.norm(axis))
    if sine < 1e-15:
        return np.eye(3) if z[2] > 0 else np.diag([1.0, -1.0, -1.0])
    return about(axis / sine, float(np.arctan2(sine, z[2])))


def _of_euler(values: Array, sequence: str) -> Array:
    total = np.eye(3)
    for letter, angle in zip(sequence, values, strict=True):
        turn = about(np.eye(3)["xyz".index(letter.lower())], float(angle))
        total = total @ turn if letter.islower() else turn @ total
    return total
