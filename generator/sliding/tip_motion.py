"""How the tip of a flexible link moves."""

from __future__ import annotations

from collections.abc import Sequence

from elastogen.generator.bodies.elastic_tip import ElasticTip, LinearTip
from elastogen.generator.joints.frame_motion import FrameMotion, MotionPlan
from elastogen.generator.joints.on_beams.sliding import Contact
from elastogen.generator.program.graph import Value
from elastogen.generator.program.lowering import Lowering
from elastogen.generator.robot.bodies.flexible_body import TIP, FlexibleBody, Interface, Telescope
from elastogen.generator.sliding.mode_functions import ModeFunctions
from elastogen.generator.spatial.vectors import Rotation, Vec


class TipPlan(MotionPlan):
    """The tip of a flexible body, by the body's coordinates; where it moves with the clamp, that of the joint comes before."""

    def __init__(self, body: FlexibleBody) -> None:
        self.body, self.size = body, len(body.coordinates)

    def build(self, lower: Lowering, rotation: Rotation) -> tuple[FrameMotion, Rotation]:
        """The motion; the undeformed tip frame is parallel to the link frame."""
        return _tip_motion(lower, self.body), Rotation(())


def _tip_motion(lower: Lowering, body: FlexibleBody) -> FrameMotion:
    if body.tip_moves:
        return Contact(lower.graph, 1 + len(body.coordinates), lambda variables: _moving_tip(body, variables), 0.0)
    return material_motion(lower, body, body.interface(TIP))


def material_motion(lower: Lowering, body: FlexibleBody, place: Interface) -> ElasticTip:
    """The motion of an interface by the coordinates of its body; the frame is parallel to the link frame at first."""
    shifts = [[lower.value(entry) for entry in row] for row in place.displacements]
    turns = [[lower.value(entry) for entry in row] for row in place.rotations]
    kind = LinearTip if body.tip == "linear" else ElasticTip
    return kind(lower.graph, body.monomials, shifts, turns)


def _moving_tip(body: FlexibleBody, variables: Sequence[Value]) -> tuple[Vec, Value]:
    """Displacement and angle of the tip of a beam that slides through its joint, by (d, elastic coordinates)."""
    beam = body.telescope
    assert beam is not None
    d, zero, one = variables[0], variables[0].graph.value(0), variables[0].graph.value(1)
    u = nodal_coordinates(beam, d, variables[1:])
    total = zero
    if beam.foreshortening and beam.modes:
        total = ModeFunctions(d.graph, beam.elements, beam.modes).squared_slopes(variables[1:]) * 0.5 / d
    elif beam.foreshortening:
        for nodes in element_nodes(u):
            total = total + shortening(nodes, d / beam.elements, one)
    return [-total, u[-2], zero], u[-1]


def nodal_coordinates(beam: Telescope, d: Value, x: Sequence[Value]) -> list[Value]:
    """Deflections and slopes at the nodes of a beam that slides through its joint, by its elastic coordinates."""
    if not beam.modes:
        return list(x)
    zero = d.graph.value(0)
    c = [sum((number * amplitude for number, amplitude in zip(row, x, strict=True)), zero) for row in beam.modes]
    return [value / d if k % 2 else value for k, value in enumerate(c)]


def element_nodes(u: Sequence[Value]) -> list[list[Value]]:
    """Deflection and slope of the left and the right node of every element; the first left one is clamped."""
    zero = u[0].graph.value(0)
    nodes = [zero, zero, *u]
    return [nodes[start : start + 4] for start in range(0, len(u), 2)]


def shortening(nodes: Sequence[Value], h: Value, t: Value) -> Value:
    """1/2 int w'^2 dx on an element of length h, up to its part t, by its nodes' deflections and slopes."""
    left, left_slope, right, right_slope = nodes
    rise, start, end = 6 * (right - left), left_slope * h, right_slope * h
    a, b, c = start, rise - 4 * start - 2 * end, 3 * (start + end) - rise  # dw/dt = a + b t + c t^2
    squares = [a * a, a * b, (2 * a * c + b * b) * (1 / 3), b * c * 0.5, c * c * 0.2]  # of its integral
    part = t.graph.value(0)
    for coefficient in reversed(squares):
        part = part * t + coefficient
    return part * t * 0.5 / h
