"""Sums of joint angles: rotations about parallel axes add up.

``Rot(a, q2) Q Rot(b, q3) = Rot(a, q2 + q3) Q`` if ``Q b = a`` for the constant rotation ``Q`` between the joints.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import sympy

from elastogen.generator.closed_form.exact_numbers import rotation_entry
from elastogen.generator.closed_form.trigonometry import Weights
from elastogen.generator.robot.robot import Matrix, Robot

_TOLERANCE = 1e-12  # on the components of unit vectors that are given as rounded numbers


@dataclass(frozen=True)
class Orientation:
    """``R = R_start . Rot(axis, angle) . constant``; ``angle`` sums the coordinates of parallel axes."""

    start: Orientation | None
    axis: sympy.ImmutableMatrix
    angle: Weights
    constant: sympy.ImmutableMatrix

    def rotated(self, transform: Matrix) -> Orientation:
        """The orientation of a frame that is fixed to this one."""
        rotation = sympy.ImmutableMatrix(3, 3, lambda row, column: rotation_entry(transform[row][column]))
        return replace(self, constant=(self.constant * rotation).applyfunc(sympy.expand))

    def moved(self, axis: sympy.ImmutableMatrix, coordinate: Weights) -> Orientation:
        """The orientation after a joint's rotation; angles about parallel axes add up."""
        seen = (self.constant * axis).applyfunc(sympy.expand)  # the axis before the constant rotation
        for sign in (1, -1):
            if self.start is not None and _is_zero(seen - sign * self.axis):
                total = tuple(a + sign * b for a, b in zip(self.angle, coordinate, strict=True))
                return replace(self, angle=total)
        return Orientation(self, axis, coordinate, sympy.ImmutableMatrix(sympy.eye(3)))

    def angles(self) -> Iterator[Weights]:
        """The angles of all rotations from the base to this frame."""
        if self.start is not None:
            yield from self.start.angles()
        if any(self.angle):
            yield self.angle


def sums_of_angles(robot: Robot) -> list[Weights]:
    """Return the sums of joint angles by which links are rotated, over all coordinates, in the order of the joints."""
    names = robot.coordinate_names
    none: Weights = (0,) * len(names)
    no_axis, identity = sympy.ImmutableMatrix([0, 0, 1]), sympy.ImmutableMatrix(sympy.eye(3))
    orientations = {robot.links[0].name: Orientation(None, no_axis, none, identity)}
    found: dict[Weights, None] = {}
    for joint in robot.joints:
        moved = orientations[joint.parent].rotated(joint.before)
        for coordinate, screw in zip(joint.type.coordinates, joint.type.screws(joint), strict=True):
            if screw.turns:
                axis = sympy.ImmutableMatrix([rotation_entry(component) for component in screw.axis])
                name = coordinate.name(joint.name)
                moved = moved.moved(axis, tuple(int(k in (name, f"{joint.name}.deflection")) for k in names))
        found.update(dict.fromkeys(moved.angles()))
        orientations[joint.child] = moved.rotated(joint.after)
    return list(found)


def _is_zero(vector: sympy.ImmutableMatrix) -> bool:
    """Whether a constant vector vanishes: exactly if it has symbols, up to rounding if it is numeric."""
    return all(abs(float(x)) < _TOLERANCE if x.is_number else sympy.expand(x) == 0 for x in vector)
