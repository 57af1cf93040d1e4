"""Loops: a mechanism is a tree of joints, and loops that close it by cut joints or by linear rows between coordinates.

The loop is closed where the free motion of its type brings frame a to frame b. With d from a's origin to b's:

    type         rows  closed where
    spherical    3     d = 0
    revolute     5     d = 0, and ``axis`` has one direction in both frames
    universal    4     d = 0, and ``axis`` in a is perpendicular to ``axis2`` in b
    cylindrical  4     d is along ``axis`` of a, which has one direction in both frames
    prismatic    5     d is along ``axis`` of a, and both frames have the same directions
    fixed        6     both frames are one
    distance     1     |d| = ``length``
    gear         1     sum of ``coefficients`` times coordinates = ``constant``
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from elastogen.generator.robot.robot import Matrix, Scalar, Vector

WORLD = "world"  # the base frame, even where a link has this name
_HERE: Matrix = ((1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1))


@dataclass(frozen=True)
class LoopType:
    """What a type of loop fixes.

    ``place``: which parts of d vanish: "all", "across" the axis, its "length", or "nothing"; ``turn``: which rotations between
    the frames do: "all", those "across" the axis, that which makes two axes "perpendicular", or "nothing".
    """

    name: str
    rows: int
    place: str
    turn: str
    keys: tuple[str, ...] = ()  # keys of a file that this type takes beside name, type, a and b

    @property
    def between_frames(self) -> bool:
        """Whether it joins two frames; else coordinates."""
        return self.name != "gear"


TYPES: dict[str, LoopType] = {
    kind.name: kind
    for kind in (
        LoopType("spherical", 3, "all", "nothing"),
        LoopType("revolute", 5, "all", "across", ("axis",)),
        LoopType("universal", 4, "all", "perpendicular", ("axis", "axis2")),
        LoopType("cylindrical", 4, "across", "across", ("axis",)),
        LoopType("prismatic", 5, "across", "all", ("axis",)),
        LoopType("fixed", 6, "all", "all"),
        LoopType("distance", 1, "length", "nothing", ("length",)),
        LoopType("gear", 1, "nothing", "nothing", ("coefficients", "constant")),
    )
}


@dataclass(frozen=True)
class LoopEnd:
    """A frame on a link: ``pose`` in the link's frame, on a flexible link in its tip frame as joints that are placed there.

    With ``x`` it is in the section of the beam that is at x undeformed [m]. The link WORLD is the base frame.
    """

    link: str
    pose: Matrix = _HERE
    x: Scalar | None = None


@dataclass(frozen=True)
class ClosedLoop:
    """A cut joint between frames a and b, or a linear row between coordinates."""

    name: str
    type: str
    a: LoopEnd = LoopEnd(WORLD)
    b: LoopEnd = LoopEnd(WORLD)
    axis: Vector = (0, 0, 1)  # unit vector, in the axes of both frames; of a universal loop in a
    axis2: Vector = (1, 0, 0)  # unit vector of a universal loop, in b
    length: Scalar = 0  # of a distance [m]
    coefficients: Mapping[str, Scalar] = field(default_factory=dict, hash=False)  # of a gear, by names of coordinates
    constant: Scalar = 0  # of a gear

    @property
    def kind(self) -> LoopType:
        """What its type fixes."""
        return TYPES[self.type]
