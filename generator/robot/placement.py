"""Placements of joints and frames: 4x4, xyz + rpy, standard and modified DH, screw axis at zero.

All functions take numbers and SymPy expressions. Numeric entries within ``ROUNDING`` = 1e-13 of 0, 1 and -1 are those integers
but for our own rounding errors, and become exact: zeros keep closed forms and generated code short.
While a file is read, ``snapping`` widens this to ``SNAP`` = 1e-11: robot files write pi/2 as 1.57079632679, whose cosine is
4.9e-12 instead of 0. A rotation, and a direction, is snapped as a whole or not at all: it stays a rotation.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

import numpy as np
import sympy

from elastogen.generator.robot.joint_kind import Screw
from elastogen.generator.robot.location import Location
from elastogen.generator.robot.robot import IDENTITY, Matrix, Scalar, Vector

ROUNDING = 1e-13  # numeric entries this near to 0, 1, -1 become exact
SNAP = 1e-11  # the same while a file is read whose right angles are rounded
_tolerance: ContextVar[float] = ContextVar("tolerance of snapping", default=ROUNDING)
ROUNDED = 4e-15  # more than this off a rotation is not a rounding error of a few products
ORTHONORMAL = 1e-12  # a rotation this good is left as it is
REPAIRABLE = 1e-5  # a rotation up to this bad was rounded and is re-orthonormalised; worse is an error


@dataclass(frozen=True)
class JointPlacement:
    """Where a joint sits: ``before`` the motion, its axis in the joint frame, ``after`` the motion."""

    before: Matrix = IDENTITY
    axis: Vector = (0, 0, 1)
    after: Matrix = IDENTITY


@contextmanager
def snapping(wanted: bool = True) -> Iterator[None]:
    """Take numbers within ``SNAP`` of 0, 1 and -1 as exact, as rounded right angles in files need it."""
    token = _tolerance.set(SNAP if wanted else ROUNDING)
    try:
        yield
    finally:
        _tolerance.reset(token)


def snap(scalar: Scalar) -> Scalar:
    """Return 0, 1 or -1 for a number that is near enough to it; constants become plain numbers, symbols stay."""
    if isinstance(scalar, sympy.Expr):
        if scalar.free_symbols:
            return scalar
        scalar = int(scalar) if scalar.is_Integer else float(scalar)
    nearest = round(scalar) if math.isfinite(scalar) else 2
    if abs(nearest) <= 1 and abs(scalar - nearest) <= _tolerance.get():
        return nearest
    return scalar


def snapped_direction(vector: Vector) -> Vector:
    """Snap the components of a unit vector, unless its length would suffer."""
    x, y, z = (snap(entry) for entry in vector)
    if _is_numeric((x, y, z)) and abs(_dot((x, y, z), (x, y, z)) - 1) > max(abs(_dot(vector, vector) - 1), ROUNDED):
        return vector
    return (x, y, z)


def snapped_rotation(rotation: Matrix) -> Matrix:
    """Snap the entries of a rotation, unless the result is farther from a rotation than before.

    Entry by entry, a tilt of 2e-11 about a skew axis could lose only one of its components.
    """
    snapped = tuple(tuple(snap(entry) for entry in row) for row in rotation)
    if not all(_is_numeric(row) for row in snapped):
        return snapped
    changes = (abs(a - b) for new, old in zip(snapped, rotation, strict=True) for a, b in zip(new, old, strict=True))
    if max(changes) > ROUNDED and _skewness(snapped) > max(_skewness(rotation), ROUNDED):
        return rotation
    return snapped


def _skewness(rotation: Matrix) -> float:
    """Largest entry of R R^T - E."""
    products = (_dot(a, b) - (i == j) for i, a in enumerate(rotation) for j, b in enumerate(rotation))
    return max(abs(float(entry)) for entry in products)


def _is_numeric(scalars: Sequence[Scalar]) -> bool:
    return all(isinstance(scalar, (int, float)) for scalar in scalars)


def warn_of_degrees(angles: Sequence[Scalar], where: Location, fix: str) -> None:
    """Warn of angles beyond two revolutions: nobody means them in radians."""
    numbers = [float(angle) for angle in angles if isinstance(angle, (int, float))]
    if any(abs(angle) > 4 * math.pi for angle in numbers):
        where.warn(list(angles), "angles in radians", f"if these are degrees, {fix}")


def product(left: Matrix, right: Matrix) -> Matrix:
    """Return the product of two rotations (3 x 3) or placements (4 x 4): the rotation snapped as a whole, and the position."""
    columns = range(len(right[0]))
    raw = tuple(tuple(_dot(row, [r[j] for r in right]) for j in columns) for row in left)
    rotation = snapped_rotation(rotation_of(raw))
    if len(raw) == 3:
        return rotation
    return (*((*row, snap(full[3])) for row, full in zip(rotation, raw[:3], strict=True)), (0, 0, 0, 1))


def _dot(left: Sequence[Scalar], right: Sequence[Scalar]) -> Scalar:
    total: Scalar = 0
    for a, b in zip(left, right, strict=True):
        if a != 0 and b != 0:
            total = total + a * b
    return total


def rotation_of(transform: Matrix) -> Matrix:
    """Return the upper left 3x3 block."""
    return tuple(row[:3] for row in transform[:3])


def translation_of(transform: Matrix) -> Vector:
    """Return the last column without its 1."""
    return (transform[0][3], transform[1][3], transform[2][3])


def transform(rotation: Matrix, translation: Vector) -> Matrix:
    """Return the 4x4 matrix of a rotation and a translation."""
    rows = tuple((*row[:3], snap(t)) for row, t in zip(rotation[:3], translation, strict=True))
    return (*rows, (0, 0, 0, 1))


def transposed(matrix: Matrix) -> Matrix:
    """Return the transposed matrix."""
    return tuple(zip(*matrix, strict=True))


def rotate(rotation: Matrix, vector: Vector) -> Vector:
    """Return the rotated vector, with snapped components."""
    x, y, z = (snap(component) for component in _rotated(rotation, vector))
    return (x, y, z)


def _rotated(rotation: Matrix, vector: Vector) -> Vector:
    x, y, z = (_dot(row[:3], vector) for row in rotation[:3])
    return (x, y, z)


def congruent(rotation: Matrix, tensor: Matrix) -> Matrix:
    """Return ``R I R^T``, a symmetric tensor in rotated axes; not snapped: moments of inertia can be tiny."""
    rotated = tuple(tuple(_dot(row, [r[j] for r in tensor]) for j in range(3)) for row in rotation)
    return tuple(tuple(_dot(rotated[min(i, j)], rotation[max(i, j)]) for j in range(3)) for i in range(3))


def inverse(placement: Matrix) -> Matrix:
    """Return the inverse of a rigid transformation."""
    rotation = transposed(rotation_of(placement))
    x, y, z = rotate(rotation, translation_of(placement))
    return transform(rotation, (-x, -y, -z))


def _cos_sin(angle: Scalar) -> tuple[Scalar, Scalar]:
    """Cosine and sine; a right angle as a whole: the cosine of 4e-6 is 1 but for 8e-12, and 4e-6 is not a right angle."""
    if isinstance(angle, sympy.Expr):
        c, s = sympy.cos(angle), sympy.sin(angle)
        if c.free_symbols or s.free_symbols:
            return snap(c), snap(s)
        exact = c.is_Integer and s.is_Integer
        c, s = (int(c), int(s)) if exact else (float(c), float(s))
    else:
        c, s = math.cos(angle), math.sin(angle)
    near = snap(s) == 0 or snap(c) == 0
    return (round(c), round(s)) if near else (c, s)


def rotation_x(angle: Scalar) -> Matrix:
    """Return the 3x3 rotation about x."""
    c, s = _cos_sin(angle)
    return ((1, 0, 0), (0, c, -s), (0, s, c))


def rotation_y(angle: Scalar) -> Matrix:
    """Return the 3x3 rotation about y."""
    c, s = _cos_sin(angle)
    return ((c, 0, s), (0, 1, 0), (-s, 0, c))


def rotation_z(angle: Scalar) -> Matrix:
    """Return the 3x3 rotation about z."""
    c, s = _cos_sin(angle)
    return ((c, -s, 0), (s, c, 0), (0, 0, 1))


def from_axis_angle(axis: Vector, angle: Scalar) -> Matrix:
    """The rotation by an angle about a unit vector: E + sin {k x} + (1 - cos) {k x}^2 (Rodrigues)."""
    c, s = _cos_sin(angle)
    x, y, z = axis
    skew: Matrix = ((0, -z, y), (z, 0, -x), (-y, x, 0))
    square = tuple(tuple(axis[r] * axis[k] - (1 if r == k else 0) for k in range(3)) for r in range(3))
    rows = tuple(tuple((1 if r == k else 0) + s * skew[r][k] + (1 - c) * square[r][k] for k in range(3)) for r in range(3))
    return transform(rows, (0, 0, 0))


def by_screws(screws: Sequence[Screw], values: Sequence[Scalar]) -> Matrix:
    """Screw after screw, each by its value."""
    total = IDENTITY
    for screw, value in zip(screws, values, strict=True):
        x, y, z = (component * screw.advance * value for component in screw.axis)
        total = product(total, from_xyz_rpy((x, y, z)))
        if screw.turns:
            total = product(total, from_axis_angle(screw.axis, value))
    return total


def from_xyz_rpy(xyz: Vector = (0, 0, 0), rpy: Vector = (0, 0, 0)) -> Matrix:
    """Return ``Trans(xyz) Rz(yaw) Ry(pitch) Rx(roll)``, the convention of URDF."""
    roll, pitch, yaw = rpy
    rotation = product(product(rotation_z(yaw), rotation_y(pitch)), rotation_x(roll))
    return transform(rotation, xyz)


def from_standard_dh(a: Scalar, alpha: Scalar, d: Scalar, theta: Scalar) -> JointPlacement:
    """Return ``Rz(theta + q) Tz(d + q) Tx(a) Rx(alpha)``: the motion stands between the z and the x part."""
    return JointPlacement(before=transform(rotation_z(theta), (0, 0, d)), after=transform(rotation_x(alpha), (a, 0, 0)))


def from_modified_dh(a: Scalar, alpha: Scalar, d: Scalar, theta: Scalar) -> JointPlacement:
    """Return ``Rx(alpha) Tx(a) Rz(theta + q) Tz(d + q)``: the motion comes last."""
    about_x = transform(rotation_x(alpha), (a, 0, 0))
    return JointPlacement(before=product(about_x, transform(rotation_z(theta), (0, 0, d))))


def from_screw(
    axis: Vector, point: Vector, parent_at_zero: Matrix, child_at_zero: Matrix | None, translates: bool
) -> JointPlacement:
    """Return the placement of a joint from its screw axis at the zero configuration.

    ``axis`` (a unit vector) and ``point`` are k_i0 and p_i0 of paper 001's matrix exponentials: the axis of
    the joint and a point on it, in the base frame, all coordinates being zero. ``parent_at_zero`` and
    ``child_at_zero`` are the link frames in the base frame at that configuration; a child that is not given
    is parallel to the base with its origin in ``point``.
    """
    child = child_at_zero if child_at_zero is not None else transform(rotation_of(IDENTITY), point)
    rotation, origin = rotation_of(child), translation_of(child)
    if translates or _is_parallel(axis, (origin[0] - point[0], origin[1] - point[1], origin[2] - point[2])):
        point = origin  # the child's origin is on the axis: the joint frame is the link frame
    back = transposed(rotation)
    offset = rotate(back, (origin[0] - point[0], origin[1] - point[1], origin[2] - point[2]))
    return JointPlacement(
        before=product(inverse(parent_at_zero), transform(rotation, point)),
        axis=snapped_direction(_rotated(back, axis)),
        after=transform(rotation_of(IDENTITY), offset),
    )


def _is_parallel(axis: Vector, offset: Vector) -> bool:
    (a, b, c), (x, y, z) = axis, offset
    cross = (b * z - c * y, c * x - a * z, a * y - b * x)
    return all(snap(sympy.expand(e) if isinstance(e, sympy.Expr) else e) == 0 for e in cross)


def from_matrix(rows: Matrix, where: Location) -> Matrix:
    """Return a checked 4x4: last row 0 0 0 1, rotation orthonormal (rounding is repaired), right-handed."""
    if any(snap(entry) != expected for entry, expected in zip(rows[3], (0, 0, 0, 1), strict=True)):
        raise where.error(rows[3], "last row 0 0 0 1", "give the matrix row by row, translation in the last column")
    block = rotation_of(rows)
    if all(isinstance(snap(entry), (int, float)) for row in block for entry in row):
        block = _orthonormal(np.array(block, dtype=float), where)
    return transform(snapped_rotation(block), translation_of(rows))


def _orthonormal(block: np.ndarray, where: Location) -> Matrix:
    deviation = float(np.max(np.abs(block @ block.T - np.eye(3))))
    if not deviation <= REPAIRABLE:
        raise where.error(
            block.tolist(),
            f"orthonormal rows to {REPAIRABLE:g} (they deviate by {deviation:.3g})",
            "use unit, mutually orthogonal rows, or give xyz and rpy",
        )
    if np.linalg.det(block) < 0:
        raise where.error(block.tolist(), "a rotation (determinant +1)", "this one mirrors: flip one column")
    if deviation > ORTHONORMAL:
        left, _, right = np.linalg.svd(block)
        block = left @ right
    return tuple(tuple(float(entry) for entry in row) for row in block)


def unit_axis(axis: Vector, where: Location) -> Vector:
    """Return the axis with unit length; one with parameters must have unit length whatever their values."""
    if any(isinstance(entry, sympy.Expr) and entry.free_symbols for entry in axis):
        if sympy.simplify(sum(entry**2 for entry in axis) - 1) != 0:
            raise where.error(
                [str(entry) for entry in axis],
                "unit length whatever the parameters are",
                "use sines and cosines of a parameter, or put the parameter into the placement's rpy",
            )
        return axis
    x, y, z = (float(entry) for entry in axis)
    length = math.sqrt(x * x + y * y + z * z)
    if not math.isfinite(length) or length < 1e-9:
        raise where.error([x, y, z], "a direction, not the zero vector", "for example axis: [0, 0, 1]")
    if abs(length - 1) > 1e-15:
        x, y, z = x / length, y / length, z / length
    return snapped_direction((x, y, z))
