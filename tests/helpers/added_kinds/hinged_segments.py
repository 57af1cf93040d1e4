"""A kind of flexible body that elastogen does not have, as docs/own/adding-joints.md describes it: rigid segments in a row.

Segments along x of the link frame with a spring hinge about z before each of them, the first hinge at the clamp. For small
angles hinge j deflects everything beyond it: b_j(x) = (0, max(0, x - x_j), 0).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from pydantic import Field

from elastogen.generator.description.file.fields import ScalarField, Section
from elastogen.generator.description.file.flexible_file import FlexibleSection
from elastogen.generator.description.flexible.given_numbers import GivenNumbers
from elastogen.generator.description.flexible.kind import DescribedLink, FlexibleKind
from elastogen.generator.robot.bodies.flexible_body import FlexibleBody
from elastogen.generator.robot.robot import Matrix, Scalar


class SegmentSection(Section):
    """A rigid rod and the spring in the hinge before it."""

    length: ScalarField = Field(description="[m]")
    mass: ScalarField = Field(description="spread evenly [kg]")
    stiffness: ScalarField = Field(description="[N m/rad]")


class HingedSegmentsSection(FlexibleSection):
    """Rigid segments in a row, with small angles between them."""

    type: Literal["hinged_segments"]
    segments: tuple[SegmentSection, ...] = Field(min_length=1, max_length=20)


class HingedSegments(FlexibleKind[HingedSegmentsSection]):
    """Rigid rods along x with springs between them; the coordinates are the angles of the hinges [rad]."""

    name = "hinged_segments"
    section = HingedSegmentsSection

    def body(self, link: DescribedLink[HingedSegmentsSection]) -> FlexibleBody:
        read, segments = GivenNumbers(link.parameters), link.section.segments
        places = [link.where.at("segments", i) for i in range(len(segments))]
        lengths = [read.scalar(s.length, at.at("length")) for s, at in zip(segments, places, strict=True)]
        masses = [read.scalar(s.mass, at.at("mass")) for s, at in zip(segments, places, strict=True)]
        springs = [read.scalar(s.stiffness, at.at("stiffness")) for s, at in zip(segments, places, strict=True)]
        starts = [sum(lengths[:j]) for j in range(len(segments) + 1)]
        count = range(len(segments))

        def integral(first: Callable[[int], tuple[Scalar, Scalar]], second: Callable[[int], tuple[Scalar, Scalar]]) -> Scalar:
            """Of a product of functions that are linear on each segment, by their values at its ends."""
            total: Scalar = 0
            for i in count:
                (a, b), (c, d) = first(i), second(i)
                total += masses[i] * (2 * a * c + 2 * b * d + a * d + b * c) / 6
            return total

        def one(i: int) -> tuple[Scalar, Scalar]:
            return 1, 1

        def x(i: int) -> tuple[Scalar, Scalar]:
            return starts[i], starts[i + 1]

        def beyond(j: int) -> Callable[[int], tuple[Scalar, Scalar]]:
            return lambda i: (starts[i] - starts[j], starts[i + 1] - starts[j]) if i >= j else (0, 0)

        def only(row: int, column: int, entry: Scalar) -> Matrix:
            return tuple(tuple(entry if (r, c) == (row, column) else 0 for c in range(3)) for r in range(3))

        return FlexibleBody(
            coordinates=tuple(f"hinge{j + 1}" for j in count),
            units=("rad",) * len(segments),
            monomials=tuple((j,) for j in count),
            mass=integral(one, one),
            first_moments=(integral(one, x), 0, 0),
            second_moments=only(0, 0, integral(x, x)),
            field_integrals=tuple((0, integral(one, beyond(j)), 0) for j in count),
            field_position_integrals=tuple(only(1, 0, integral(beyond(j), x)) for j in count),
            field_field_integrals=tuple(tuple(only(1, 1, integral(beyond(j), beyond(k))) for k in count) for j in count),
            stiffness=tuple(tuple(springs[j] if j == k else 0 for k in count) for j in count),
            damping=tuple((0,) * len(segments) for _ in count),
            tip_pose=((1, 0, 0, starts[-1]), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1)),
            tip_displacements=tuple((0, starts[-1] - starts[j], 0) for j in count),
            tip_rotations=tuple((0, 0, 1) for _ in count),
            tip=link.section.rotation,
        )

    def check(self, link: DescribedLink[HingedSegmentsSection]) -> None:
        read = GivenNumbers({})
        for i, segment in enumerate(link.section.segments):
            here = link.where.at("segments", i, "length")
            if isinstance(segment.length, (int, float)) and read.scalar(segment.length, here) <= 0:
                raise here.error(segment.length, "a length above zero [m]", "leave the segment out")
