"""How far flexible links rotate from their undeformed state: shows whether small-deflection beams still hold."""

from __future__ import annotations

from dataclasses import dataclass

from elastogen.generator.beams.natural_frequencies import numeric
from elastogen.generator.robot.bodies.flexible_body import FlexibleBody
from elastogen.generator.robot.expressions import nominal
from elastogen.generator.robot.robot import Robot

PLACES = 8  # along a centre line, at least; the ends of elements are among them
DUST = 1e-9  # slopes below this part of the largest of a place are rounding errors


@dataclass(frozen=True)
class LinkSlopes:
    """Rotation vectors of places on a flexible link, linear in its elastic coordinates.

    ``places`` holds for each place pairs of an index in q and the rotation vector [rad] per unit of that coordinate; the tip is
    first. The modes of a telescopic link stretch with it: ``stretched`` is then the index in q of its length outside and the
    length for which the vectors are, else empty. ``by_series``: the tip's rotation is a series, exact to rounding up to 2 rad.
    """

    link: str
    places: tuple[tuple[tuple[int, tuple[float, ...]], ...], ...]
    stretched: tuple[tuple[int, float], ...]
    by_series: bool


def link_slopes(robot: Robot) -> tuple[LinkSlopes, ...]:
    """The slopes of all flexible links at the nominal values of their parameters, at the tip and along centre lines."""
    found = []
    for joint in robot.joints:
        body = robot.link(joint.child).flexible
        if body is None or not body.coordinates:
            continue
        start = robot.coordinate_names.index(f"{joint.child}.{body.coordinates[0]}")
        rotating = [numeric(place.rotations, robot.parameters) for place in body.interfaces]
        seats = [tuple((start + j, tuple(map(float, row))) for j, row in enumerate(turns) if row.any()) for turns in rotating]
        places = [*seats, *(_place(start, slopes) for slopes in _along(body, robot))]
        beam = body.telescope
        stretched = ((start - 1, nominal(beam.length, robot.parameters)),) if beam is not None and beam.modes else ()
        by_series = body.tip == "exponential" and any(int(turns.any(axis=0).sum()) > 1 for turns in rotating)
        found.append(LinkSlopes(joint.child, tuple(dict.fromkeys(place for place in places if place)), stretched, by_series))
    return tuple(found)


def _along(body: FlexibleBody, robot: Robot) -> list[list[float]]:
    """Slopes of the centre line by every coordinate, at places on all pieces."""
    line = body.centreline
    if line is None:
        return []
    length = nominal(line.length, robot.parameters)
    rows = []
    each = max(1, PLACES // len(line.pieces))
    for i, piece in enumerate(line.pieces):
        width = length * (line.breaks[i + 1] - line.breaks[i])
        across = {
            body.monomials[n][0]: [nominal(c, robot.parameters) for c in polynomials[1]]
            for n, polynomials in enumerate(piece)
            if len(body.monomials[n]) == 1
        }
        for place in range(1, each + 1):
            t = place / each
            slopes = [0.0] * len(body.coordinates)
            for j, polynomial in across.items():
                slopes[j] = sum(k * c * t ** (k - 1) for k, c in enumerate(polynomial) if k) / width
            rows.append(slopes)
    return rows


def _place(start: int, slopes: list[float]) -> tuple[tuple[int, tuple[float, ...]], ...]:
    largest = max(map(abs, slopes))
    return tuple((start + j, (0.0, 0.0, slope)) for j, slope in enumerate(slopes) if abs(slope) > DUST * largest)
