"""How the tip of a flexible link moves."""

from __future__ import annotations

from collections.abc import Sequence

from elastogen.generator.graph import Value
from elastogen.generator.joint_motion import Contact, ElasticTip, JointMotion, LinearTip
from elastogen.generator.lowering import Lowering
from elastogen.generator.robot import FlexibleBody
from elastogen.generator.vectors import Vec


def tip_motion(lower: Lowering, body: FlexibleBody, count: int) -> JointMotion:
    """Motion of the tip by so many coordinates: the body's, or before them that of the joint that moves the clamp."""
    if count > len(body.coordinates):
        return Contact(lower.graph, count, lambda variables: _moving_tip(body, variables), 0.0)
    shifts = [[lower.value(entry) for entry in row] for row in body.tip_displacements]
    turns = [[lower.value(entry) for entry in row] for row in body.tip_rotations]
    kind = LinearTip if body.tip == "linear" else ElasticTip
    return kind(lower.graph, body.monomials, shifts, turns)


def _moving_tip(body: FlexibleBody, variables: Sequence[Value]) -> tuple[Vec, Value]:
    """Displacement and angle of the tip of a shortened beam that slides through its joint, by (d, nodal coordinates)."""
    beam = body.telescope
    assert beam is not None
    d, u = variables[0], variables[1:]
    h, total = d / beam.elements, d.graph.value(0)
    for nodes in element_nodes(u):
        total = total + shortening(nodes, h, d.graph.value(1))
    return [-total, u[-2], d.graph.value(0)], u[-1]


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
