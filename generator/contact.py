"""Where a joint that slides along a beam is: seed 003 (1) with the P_a row of Table 2, and its smooth form (errata to 4.3)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from elastogen.generator.graph import Value
from elastogen.generator.joint_motion import monomial
from elastogen.generator.lowering import Lowering
from elastogen.generator.robot import Centreline, FlexibleBody, Telescope
from elastogen.generator.tip_motion import shortening
from elastogen.generator.vectors import Vec

Line: TypeAlias = "Callable[[Sequence[Value]], tuple[Vec, Value]]"
"""From the contact's coordinates to its place in the beam's frame and the angle of the beam there."""

HERMITE = ((1, 0, -3, 2), (0, 1, -2, 1), (0, 0, 3, -2), (0, 0, -1, 1))  # left and right node, by t = x / l_e


def fixed_line(lower: Lowering, body: FlexibleBody, k: int, nodal: bool) -> tuple[tuple[int, ...], Line]:
    """On piece k (from 1) of a beam's centre line: the body's coordinates that count there, and the line by (d, those)."""
    centreline = body.centreline
    assert centreline is not None
    piece = centreline.pieces[k - 1]
    fields = [n for n, components in enumerate(piece) if any(c != 0 for polynomial in components for c in polynomial)]
    used = tuple(sorted({j for n in fields for j in body.monomials[n]}))
    start, width = _ends(lower, centreline, k)

    def line(variables: Sequence[Value]) -> tuple[Vec, Value]:
        graph, d = lower.graph, variables[0]
        x = dict(zip(used, variables[1:], strict=True))
        t = graph.value(1) if nodal else (d - start) / width
        along, across, angle = d, graph.value(0), graph.value(0)
        for n in fields:
            coordinates = body.monomials[n]
            amplitude = monomial(graph, tuple(range(len(coordinates))), [x[j] for j in coordinates])
            first, second = ([lower.value(c) for c in polynomial] for polynomial in piece[n])
            along = along + amplitude * _horner(t, first)
            across = across + amplitude * _horner(t, second)
            if len(coordinates) == 1:
                angle = angle + amplitude * (_horner(t, _slope(second)) / width)
        return [along, across, graph.value(0)], angle

    return used, line


def moving_line(lower: Lowering, beam: Telescope, k: int, nodal: bool) -> tuple[tuple[int, ...], Line]:
    """On element k of the part outside of a beam that slides through its joint; k = 0 is the straight part behind it.

    The line depends on (d, d_b, nodal coordinates), d_b being the length outside; with foreshortening on all from the clamp on.
    """
    first = 2 * (k - 2)  # the left node's deflection among the coordinates; negative: the clamp
    used = tuple(j for j in range(0 if beam.foreshortening else first, first + 4) if j >= 0) if k else ()

    def line(variables: Sequence[Value]) -> tuple[Vec, Value]:
        graph, d = lower.graph, variables[0]
        along, across, angle = d, graph.value(0), graph.value(0)
        if k:
            outside = variables[1]
            h = outside / beam.elements
            t = graph.value(1) if nodal else (d - lower.value(beam.length) + outside) / h - (k - 1)
            for j, u in zip(used, variables[2:], strict=True):
                if j < first:
                    continue
                shape = [graph.value(c) for c in HERMITE[j - first]]
                scaled = u * h if (j - first) % 2 else u
                across = across + scaled * _horner(t, shape)
                angle = angle + scaled * _horner(t, _slope(shape)) / h
            if beam.foreshortening:
                along = along - shortening(variables[2:], h, k, t)
        return [along, across, graph.value(0)], angle

    return used, line


def _ends(lower: Lowering, line: Centreline, k: int) -> tuple[Value, Value]:
    length = lower.value(line.length)
    return length * line.breaks[k - 1], length * (line.breaks[k] - line.breaks[k - 1])


def _horner(t: Value, coefficients: Sequence[Value]) -> Value:
    total = t.graph.value(0)
    for c in reversed(coefficients):
        total = total * t + c
    return total


def _slope(coefficients: Sequence[Value]) -> list[Value]:
    return [k * c for k, c in enumerate(coefficients) if k]
