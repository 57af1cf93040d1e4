"""The parts of a beam on both sides of a section: whose inertia and weight the section carries.

What is beyond a section of a clamped beam hangs on it. A beam that slides through its joint is held at the joint's mouth and
free on both sides: sections behind the mouth carry the part behind them instead.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import cached_property

from elastogen.generator.beams.place import Place
from elastogen.generator.beams.sections import part_beyond, part_of
from elastogen.generator.bodies.elastic_body import ElasticBody
from elastogen.generator.bodies.shaped_body import ShapedBody
from elastogen.generator.program.graph import Value
from elastogen.generator.program.lowering import Lowering
from elastogen.generator.robot.bodies.flexible_body import FlexibleBody
from elastogen.generator.robot.robot import Parameter, Scalar
from elastogen.generator.sliding.beam_functions import Scatter
from elastogen.generator.sliding.clamped_bodies import clamped_part
from elastogen.generator.sliding.moving_beam import MovingBeam, MovingState
from elastogen.generator.sliding.moving_shape import Field
from elastogen.generator.spatial.inertia import Inertia
from elastogen.generator.spatial.vectors import Symmetric


@dataclass(frozen=True)
class SectionParts:
    """The parts of a beam beyond a section and, of one that slides through its joint, behind it."""

    outer: ElasticBody
    inner: ElasticBody | None = None
    length: Value | None = None  # of a beam that slides through its joint
    joint: int = 0  # index in q of that joint's coordinate

    def mouth(self, q: Sequence[Value]) -> Value:
        """Where the joint holds the beam, from its rear end."""
        assert self.length is not None
        return self.length - q[self.joint]


def section_parts(
    lower: Lowering, body: FlexibleBody, whole: ElasticBody, x: Scalar, joint: str, parameters: Mapping[str, Parameter]
) -> SectionParts:
    """The parts of a flexible body at x; ``whole`` is the body in the mechanism, ``joint`` the one that carries it."""
    assert body.beam is not None  # validated
    place, first = lower.value(x), whole.coordinates[0]
    if isinstance(whole, MovingBeam):
        nothing = ShapedBody((), _bar(whole, lower.graph.value(0), place), (), [], [], [])
        return SectionParts(OuterBeam.of(whole, place), nothing, whole.length, first)
    section = Place.of(x, body.beam.beam.length, parameters)
    if body.telescope is None:
        return SectionParts(ShapedBody.lowered(lower, part_beyond(body.beam, section), whole.coordinates))
    s = section.fraction  # neither place nor length of such a beam are live
    both = (clamped_part(part_of(body.beam, *ends), body, joint) for ends in ((s, Fraction(1)), (Fraction(0), s)))
    beyond, behind = (ShapedBody.lowered(lower, part, whole.coordinates) for part in both)
    return SectionParts(beyond, behind, lower.value(body.telescope.length), first - 1)


def _bar(beam: MovingBeam, start: Value, end: Value) -> Inertia:
    """A straight part of the beam."""
    zero, mu = start.graph.value(0), beam.mass_per_length
    moments = [(end - start), (end * end - start * start) / 2, (end * end * end - start * start * start) / 3]
    m, S, P = (mu * moment for moment in moments)
    return Inertia(m, [S, zero, zero], Symmetric(P, zero, zero, zero, zero, zero))


@dataclass(frozen=True)
class OuterBeam(MovingBeam):
    """What of a beam that slides through its joint is beyond the place ``start``; asked for forces and moments only."""

    start: Value

    @staticmethod
    def of(beam: MovingBeam, start: Value) -> OuterBeam:
        """Of a whole beam."""
        plain = {field.name: getattr(beam, field.name) for field in fields(beam)}
        return OuterBeam(**{**plain, "rigid": _bar(beam, start, beam.length), "start": start})

    def deformed(self, x: Sequence[Value]) -> OuterState:
        """The part at (d, u)."""
        return OuterState(self, tuple(x), self.start)


class OuterState(MovingState):
    """The outer part in a deformed state: its integrals begin at the section, on whatever element that is."""

    def __init__(self, body: MovingBeam, x: tuple[Value, ...], start: Value) -> None:
        super().__init__(body, x)
        self._start = start

    @cached_property
    def _begins(self) -> list[Value]:
        """Where the part begins on every element: t between 0 and 1, the ends where it begins before or after it."""
        graph, n = self.graph, self.beam.elements
        eta = 1 - (self.beam.length - self._start) / self.d
        found = []
        for e in range(n):
            t = eta * n - e
            found.append(graph.choose(t, 0, graph.choose(t - 1, t, 1)))
        return found

    def _integral(self, lines: Sequence[Sequence[Value]]) -> Value:
        """int f deta over the part, of polynomials in t on every element."""
        total = self.graph.value(0)
        for begin, line in zip(self._begins, lines, strict=True):
            before, power = self.graph.value(0), begin
            for k, c in enumerate(line, 1):
                total = total + c * (1 / k)
                before = before + c * power * (1 / k)
                power = power * begin
            total = total - before
        return total * (1 / self.beam.elements)

    def _total(self, f: Scatter) -> Value:
        return self._scale * self._integral(self.space.polynomials(f))

    def _pair(self, f: Scatter, g: Scatter) -> Value:
        pairs = zip(self.space.polynomials(f), self.space.polynomials(g), strict=True)
        return self._scale * self._integral([_times(a, b) for a, b in pairs])

    def _along(self, f: Scatter) -> Value:
        n = self.beam.elements
        step = self.d * (1 / n)
        lines = [_times([self._behind + step * float(e), step], line) for e, line in enumerate(self.space.polynomials(f))]
        return self._scale * self._integral(lines)

    def _pulled(self, force: Field) -> list[Value]:
        """What a part does to the beam's coordinates is not asked for."""
        return []


def _times(a: Sequence[Value], b: Sequence[Value]) -> list[Value]:
    """The product of two polynomials."""
    if not a or not b:
        return []
    result = [a[0].graph.value(0)] * (len(a) + len(b) - 1)
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            result[i + j] = result[i + j] + x * y
    return result
