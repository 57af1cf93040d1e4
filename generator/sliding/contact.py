"""Where a joint that slides along a beam is: paper 003 (1) with the P_a row of Table 2, and its smooth form (errata to 4.3).

The place depends on d and on coordinates of the beam. On equal elements these are those of the two nodes next to the joint, a
window that moves along with it; else they are all of the beam's, with coefficients that change from piece to piece.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from elastogen.generator.beams.finite_elements import CUBIC
from elastogen.generator.bodies.elastic_tip import monomial
from elastogen.generator.program.graph import Value
from elastogen.generator.program.lowering import Lowering
from elastogen.generator.robot.bodies.flexible_body import Centreline, FlexibleBody, Telescope
from elastogen.generator.robot.robot import Scalar
from elastogen.generator.sliding.tip_motion import element_nodes, nodal_coordinates, shortening
from elastogen.generator.sliding.window import Window
from elastogen.generator.spatial.vectors import Vec

Line: TypeAlias = "Callable[[Sequence[Value]], tuple[Vec, Value]]"
"""From the contact's coordinates to its place in the beam's frame and the angle of the beam there."""
Inside: TypeAlias = "Mapping[int, Value]"
"""The indicator of every piece of the beam, by number."""

HERMITE = (*CUBIC.left, *CUBIC.right)  # of the left and the right node, by t = x / l_e


@dataclass(frozen=True)
class SlidingLine:
    """A line that depends on (d, the moving clamp's d if there is one, coordinates ``used``, slots of the ``window``).

    ``used`` and the window count the beam's coordinates from 0.
    """

    line: Line
    used: tuple[int, ...] = ()
    window: Window | None = None


def fixed_line(lower: Lowering, body: FlexibleBody, inside: Inside, nodal: bool) -> SlidingLine:
    """On the centre line of a beam that is fixed in its link."""
    return _element_line(lower, body, inside, nodal) or _general_line(lower, body, inside, nodal)


def _element_line(lower: Lowering, body: FlexibleBody, inside: Inside, nodal: bool) -> SlidingLine | None:
    """The line where on every piece the same functions of t belong to the nodes at its ends; None for other beams."""
    centreline = _centreline(body)
    shapes = [[_across(body, n, piece) for n in _fields(piece)] for piece in centreline.pieces]
    typical = shapes[-1]
    regular = len(shapes) > 1 and len(body.coordinates) > len(typical) and None not in typical
    if not regular or any(own != typical[len(typical) - len(own) :] for own in shapes):
        return None
    used = [[body.monomials[n][0] for n in _fields(piece)] for piece in centreline.pieces]
    window = Window(tuple((inside[k], (*([None] * (len(typical) - len(nodes))), *nodes)) for k, nodes in enumerate(used, 1)))
    start, width = _ends(lower, centreline, inside)

    def line(variables: Sequence[Value]) -> tuple[Vec, Value]:
        graph, d = lower.graph, variables[0]
        t = graph.value(1) if nodal else (d - start) / width
        across, angle = graph.value(0), graph.value(0)
        for shape, u in zip(typical, variables[1:], strict=True):
            assert shape is not None
            polynomial = [lower.value(c) for c in shape]
            across = across + u * _clean(_horner(t, polynomial))
            angle = angle + u * _clean(_horner(t, _slope(polynomial)) / width)
        return [d, across, graph.value(0)], angle

    return SlidingLine(line, window=window)


def _general_line(lower: Lowering, body: FlexibleBody, inside: Inside, nodal: bool) -> SlidingLine:
    """The line by all coordinates that count on some piece, with coefficients by piece."""
    centreline = _centreline(body)
    fields = sorted({n for piece in centreline.pieces for n in _fields(piece)})
    used = tuple(sorted({j for n in fields for j in body.monomials[n]}))
    start, width = _ends(lower, centreline, inside)

    def polynomial(n: int, component: int) -> list[Value]:
        rows = [piece[n][component] for piece in centreline.pieces]
        longest = max(len(row) for row in rows)
        filled = [(*row, *([0] * (longest - len(row)))) for row in rows]
        return [_choice(inside, {k: lower.value(row[power]) for k, row in enumerate(filled, 1)}) for power in range(longest)]

    def line(variables: Sequence[Value]) -> tuple[Vec, Value]:
        graph, d = lower.graph, variables[0]
        x = dict(zip(used, variables[1:], strict=True))
        t = graph.value(1) if nodal else (d - start) / width
        along, across, angle = d, graph.value(0), graph.value(0)
        for n in fields:
            coordinates = body.monomials[n]
            amplitude = monomial(graph, tuple(range(len(coordinates))), [x[j] for j in coordinates])
            first, second = polynomial(n, 0), polynomial(n, 1)
            along = along + amplitude * _horner(t, first)
            across = across + amplitude * _horner(t, second)
            if len(coordinates) == 1:
                angle = angle + amplitude * (_horner(t, _slope(second)) / width)
        return [along, across, graph.value(0)], angle

    return SlidingLine(line, used)


def moving_line(lower: Lowering, beam: Telescope, inside: Inside, nodal: bool) -> SlidingLine:
    """On the elements of the part outside of a beam that slides through its joint; element 0 is the straight part behind it.

    The line depends on (d, d_b, nodal coordinates), d_b being the length outside; with foreshortening on all nodes, and on all
    amplitudes where the beam is reduced to modes.
    """
    every = beam.foreshortening or bool(beam.modes)
    choices = []
    for k, indicator in inside.items():
        first = 2 * (k - 2)  # the left node's deflection among the coordinates; negative: the clamp
        nodes = tuple(j if k and j >= 0 else None for j in range(first, first + 4))
        choices.append((indicator, nodes))
    window = Window(tuple(choices))
    behind = _choice(inside, {k: lower.graph.value(k - 1) for k in inside})
    beyond = [[inside[k] for k in inside if k > e] for e in range(1, beam.elements + 1)]  # where all of element e counts

    def line(variables: Sequence[Value]) -> tuple[Vec, Value]:
        graph, d, outside = lower.graph, variables[0], variables[1]
        along, across, angle = d, graph.value(0), graph.value(0)
        u = nodal_coordinates(beam, outside, variables[2:])
        nodes = window.gather(u) if every else u
        h = outside / beam.elements
        t = graph.value(1) if nodal else (d - lower.value(beam.length) + outside) / h - behind
        for slot, value in enumerate(nodes):
            shape = [graph.value(float(c)) for c in HERMITE[slot]]
            scaled = value * h if slot % 2 else value
            across = across + scaled * _horner(t, shape)
            angle = angle + scaled * _horner(t, _slope(shape)) / h
        if beam.foreshortening:
            along = along - shortening(nodes, h, t)
            for own, indicators in zip(element_nodes(u), beyond, strict=True):
                if indicators:
                    along = along - sum(indicators[1:], indicators[0]) * shortening(own, h, graph.value(1))
        return [along, across, graph.value(0)], angle

    if every:
        return SlidingLine(line, used=tuple(range(len(beam.modes[0]) if beam.modes else 2 * beam.elements)))
    return SlidingLine(line, window=window)


def _centreline(body: FlexibleBody) -> Centreline:
    assert body.centreline is not None  # validated
    return body.centreline


def _fields(piece: Sequence[Sequence[Sequence[Scalar]]]) -> list[int]:
    """The fields that do not vanish on a piece."""
    return [n for n, components in enumerate(piece) if any(c != 0 for polynomial in components for c in polynomial)]


def _across(body: FlexibleBody, n: int, piece: Sequence[Sequence[Sequence[Scalar]]]) -> tuple[Scalar, ...] | None:
    """The polynomial of a field that one coordinate moves across the beam only; None for other fields."""
    along, across = piece[n]
    plain = len(body.monomials[n]) == 1 and all(c == 0 for c in along)
    return tuple(across) if plain else None


def _choice(inside: Inside, values: Mapping[int, Value]) -> Value:
    """The value of the piece that the joint is on; pieces of the same value share a product."""
    by_value: dict[int, list[int]] = {}
    for k, value in values.items():
        by_value.setdefault(value.ref, []).append(k)
    if len(by_value) == 1:
        return next(iter(values.values()))
    total = next(iter(values.values())).graph.value(0)
    for pieces in by_value.values():
        indicator = inside[pieces[0]]
        for k in pieces[1:]:
            indicator = indicator + inside[k]
        total = total + indicator * values[pieces[0]]
    return total


def _ends(lower: Lowering, line: Centreline, inside: Inside) -> tuple[Value, Value]:
    """Where the piece begins, and its length."""
    length = lower.value(line.length)
    starts = {k: length * line.breaks[k - 1] for k in inside}
    widths = {k: length * (line.breaks[k] - line.breaks[k - 1]) for k in inside}
    return _choice(inside, starts), _choice(inside, widths)


def _clean(value: Value) -> Value:
    """Without the rounding error of a number that is 0 or 1: what a node's own coordinates contribute at the node."""
    number = value.constant
    return value if number is None or abs(number - round(number)) > 1e-13 else value.graph.value(round(number))


def _horner(t: Value, coefficients: Sequence[Value]) -> Value:
    total = t.graph.value(0)
    for c in reversed(coefficients):
        total = total * t + c
    return total


def _slope(coefficients: Sequence[Value]) -> list[Value]:
    return [k * c for k, c in enumerate(coefficients) if k]
