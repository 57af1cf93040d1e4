"""Squared distances between frames of the user, computed from the joints between them only."""

from __future__ import annotations

from collections.abc import Sequence

from elastogen.generator.algorithms.newton_euler import Placed
from elastogen.generator.mechanism.mechanism import LinkFrame, Mechanism
from elastogen.generator.program.differentiate import jacobian, pulled_back
from elastogen.generator.program.graph import Graph, Op, Value
from elastogen.generator.program.polynomials import multiplied_out
from elastogen.generator.spatial.vectors import Vec, add, sub

BASE = -1


def squared_distance(
    mechanism: Mechanism, placed: Sequence[Placed], ends: tuple[LinkFrame | None, LinkFrame | None], q: Sequence[Value]
) -> Value:
    """|p_a - p_b|^2 of two frames (None: the base), seen from the last frame that moves both [m^2].

    As the sum of squares, or multiplied out, whichever needs fewer operations together with its derivatives by q.
    """
    lines = [[*([] if end is None else mechanism.ancestors(end.frame)), BASE] for end in ends]
    common = next(index for index in lines[0] if index in lines[1])
    first, second = (_position(mechanism, placed, end, common) for end in ends)
    graph = mechanism.graph
    apart = sub(first, second)
    value = apart[0] * apart[0] + apart[1] * apart[1] + apart[2] * apart[2]
    shorter = None if graph.literal else multiplied_out(graph, value)
    if shorter is None:
        return value
    return min((shorter, value), key=lambda one: _operations(graph, [one, *slopes(graph, one, graph.value(1), q)]))


def slopes(graph: Graph, value: Value, weight: Value, q: Sequence[Value]) -> list[Value]:
    """Weight times the derivatives of a smooth value by q, forward or backward, whichever needs fewer operations."""
    backward = pulled_back(graph, [value], [weight], q)
    forward = [weight * slope for slope in jacobian(graph, [value], q)[0]]
    return min((forward, backward), key=lambda one: _operations(graph, one))


def _position(mechanism: Mechanism, placed: Sequence[Placed], end: LinkFrame | None, common: int) -> Vec:
    """The position of a frame, in components of one of its ancestors."""
    if end is None:
        return [mechanism.graph.value(0)] * 3
    p, index = list(end.position), end.frame
    while index != common:
        p = add(placed[index].position, placed[index].rotation.outward(p))
        index = mechanism.frames[index].parent
    return p


def _operations(graph: Graph, values: Sequence[Value]) -> int:
    return sum(graph.op[node] in (Op.ADD, Op.MUL, Op.DIV) for node in graph.cone(value.ref for value in values))
