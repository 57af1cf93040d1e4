"""A section of a beam, which carries points: its motion against its undeformed place, and how the beam bends there."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from elastogen.generator.beams.sections import CrossSection, section_at
from elastogen.generator.bodies.elastic_tip import ElasticTip, LinearTip
from elastogen.generator.joints.frame_motion import FrameMotion
from elastogen.generator.joints.on_beams.sliding import Contact
from elastogen.generator.program.differentiate import directional
from elastogen.generator.program.graph import Value
from elastogen.generator.program.lowering import Lowering
from elastogen.generator.program.substitute import replacing, substitute
from elastogen.generator.robot.bodies.flexible_body import FlexibleBody, Telescope
from elastogen.generator.robot.robot import Parameter, Scalar
from elastogen.generator.sliding.contact import moving_line
from elastogen.generator.spatial.vectors import Vec, combination


@dataclass(frozen=True)
class Bending:
    """Curvatures w'' of the axis in y and in z [1/m] and the stretch u' along it."""

    y: Value
    z: Value
    stretch: Value

    def strain(self, direction: str, offset: Value) -> Value:
        """What a gauge at that distance from the neutral line reads."""
        return self.stretch - offset * (self.y if direction == "y" else self.z)


class BeamSection(ABC):
    """The section at a fixed place of the material; its coordinates are those that deform the beam."""

    motion: FrameMotion

    @abstractmethod
    def bending(self, x: Sequence[Value]) -> Bending:
        """How the beam bends at the section."""


class ShapedSection(BeamSection):
    """Of a beam with constant shapes; it rotates by the tip's rule."""

    def __init__(self, lower: Lowering, body: FlexibleBody, held: FlexibleBody, section: CrossSection) -> None:
        """``held`` is the body as its joint holds it: with nodal clamps, displacements along x begin at the joint."""
        shifts = [[lower.value(entry) for entry in row] for row in section.displacements]
        for n, row in enumerate(shifts):
            row[0] = row[0] - (lower.value(body.tip_displacements[n][0]) - lower.value(held.tip_displacements[n][0]))
        turns = [[lower.value(entry) for entry in row] for row in section.rotations]
        kind = LinearTip if body.tip == "linear" else ElasticTip
        self.motion = kind(lower.graph, body.monomials, shifts, turns)
        rows = zip(section.curvatures, section.stretches, strict=True)
        self._rates: list[Vec] = [[lower.value(y), lower.value(z), lower.value(u)] for (y, z), u in rows]
        self._graph = lower.graph

    def bending(self, x: Sequence[Value]) -> Bending:
        """Linear in the coordinates."""
        return Bending(*combination(self._graph, x, self._rates))


class MovingSection(BeamSection):
    """Of a beam that slides through its joint, x from its rear end: the element it is in changes with d, the length outside."""

    def __init__(self, lower: Lowering, beam: Telescope, x: Scalar, count: int) -> None:
        self._graph = lower.graph
        self._place = lower.graph.input("section")  # replaced wherever it is used
        self._x = lower.value(x)
        variables = [lower.graph.input(f"contact[{k}]") for k in range(count)]
        self._slope = _angle_at(lower, beam, self._place, variables)
        self._variables = variables
        self.motion = Contact(lower.graph, count, lambda given: _displaced(lower, beam, self._x, given), 0.0)

    def bending(self, x: Sequence[Value]) -> Bending:
        """w'' is the derivative of the slope along the beam."""
        graph = self._graph
        bent = directional(graph, [self._slope], {self._place.ref >> 1: graph.one})
        known = replacing([self._place, *self._variables], [self._x, *x])
        return Bending(substitute(graph, bent, known)[0], graph.value(0), graph.value(0))


def beam_section(
    lower: Lowering, body: FlexibleBody, held: FlexibleBody, x: Scalar, count: int, parameters: Mapping[str, Parameter]
) -> BeamSection:
    """The section at x of a beam that so many coordinates deform: a joint that moves the clamp comes first."""
    assert body.beam is not None  # validated
    if body.telescope is not None and count > len(body.coordinates):
        return MovingSection(lower, body.telescope, x, count)
    return ShapedSection(lower, body, held, section_at(body.beam, x, parameters))


def _line(lower: Lowering, beam: Telescope, x: Value, variables: Sequence[Value]) -> tuple[Vec, Value]:
    """Place and angle of the material point x by (d, elastic coordinates): that of a joint P_a held there (see moving_line)."""
    graph, d = lower.graph, variables[0]
    behind = d + x - lower.value(beam.length)  # from the clamp to the point, negative behind the joint
    beyond = [graph.choose(d * (k / beam.elements) - behind, graph.value(1), graph.value(0)) for k in range(beam.elements)]
    inside = {k: (beyond[k - 1] if k else 1) - (beyond[k] if k < beam.elements else 0) for k in range(beam.elements + 1)}
    found = moving_line(lower, beam, {k: graph.value(0) + value for k, value in inside.items()}, nodal=False)
    nodes = [variables[1 + j] for j in found.used] if found.window is None else found.window.gather(variables[1:])
    return found.line([x, d, *nodes])


def _displaced(lower: Lowering, beam: Telescope, x: Value, variables: Sequence[Value]) -> tuple[Vec, Value]:
    place, angle = _line(lower, beam, x, variables)
    return [place[0] - x, *place[1:]], angle


def _angle_at(lower: Lowering, beam: Telescope, x: Value, variables: Sequence[Value]) -> Value:
    return _line(lower, beam, x, variables)[1]
