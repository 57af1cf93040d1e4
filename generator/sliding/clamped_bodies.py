"""Nodal telescopic bodies as their joints hold them: foreshortening begins at the element inside the joint."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

import sympy

from elastogen.generator.robot.bodies.flexible_body import FlexibleBody
from elastogen.generator.robot.robot import Matrix, Robot, Scalar
from elastogen.generator.sliding.elements_inside import indicator_symbol


def clamped_bodies(robot: Robot) -> dict[str, FlexibleBody | None]:
    """The flexible bodies by link, as their joints hold them."""
    found: dict[str, FlexibleBody | None] = {}
    for joint in robot.joints:
        body = robot.link(joint.child).flexible
        nodal = body is not None and body.telescope is not None and body.telescope.nodal
        found[joint.child] = clamped_by(body, joint.name) if nodal and body is not None else body
    return found


@lru_cache(maxsize=16)  # every frame assignment of a robot asks for it
def clamped_by(body: FlexibleBody, joint: str) -> FlexibleBody:
    """A nodal telescopic body with an element inside the joint, where foreshortening begins."""
    return clamped_part(body, body, joint)


def clamped_part(part: FlexibleBody, whole: FlexibleBody, joint: str) -> FlexibleBody:
    """A part of a nodal telescopic body as the joint holds the whole of it.

    The fields of pairs of nodes behind the joint are shortened from the proximal end; measured from the joint, they are less
    by a constant shift along x, their displacement of the tip. The indicators say which nodes are behind it.
    """
    assert whole.telescope is not None
    shift: dict[int, Scalar] = {}
    for n, pair in enumerate(whole.monomials):
        holding = [k for k in range(1, whole.telescope.elements + 1) if max(pair) < 2 * k - 2]
        if len(pair) == 2 and holding:
            shift[n] = whole.tip_displacements[n][0] * sympy.Add(*(indicator_symbol(joint, k) for k in holding))
    return _along(part, shift) if shift else part


def _along(body: FlexibleBody, shift: Mapping[int, Scalar]) -> FlexibleBody:
    """The body with its fields less by shifts along x."""

    def moved(n: int) -> Scalar:
        return shift.get(n, 0)

    def along_x(row: Sequence[Scalar], amount: Scalar) -> tuple[Scalar, Scalar, Scalar]:
        return (row[0] - amount, row[1], row[2])

    def displaced(rows: Matrix) -> Matrix:
        return tuple(along_x(row, moved(n)) for n, row in enumerate(rows))

    fields = range(len(body.monomials))
    integrals, mass, S = body.field_integrals, body.mass, body.first_moments
    line = body.centreline
    assert line is not None
    return replace(
        body,
        field_integrals=tuple(along_x(integrals[n], moved(n) * mass) for n in fields),
        field_position_integrals=tuple(
            (tuple(B[0][c] - moved(n) * S[c] for c in range(3)), *B[1:]) for n, B in enumerate(body.field_position_integrals)
        ),
        field_field_integrals=tuple(
            tuple(_shifted(G, integrals[n], integrals[m], moved(n), moved(m), mass) for m, G in enumerate(row))
            for n, row in enumerate(body.field_field_integrals)
        ),
        tip_displacements=displaced(body.tip_displacements),
        others=tuple(replace(place, displacements=displaced(place.displacements)) for place in body.others),
        centreline=replace(
            line,
            pieces=tuple(tuple(((x[0] - moved(n), *x[1:]), y) for n, (x, y) in enumerate(piece)) for piece in line.pieces),
        ),
    )


def _shifted(G: Matrix, first: Sequence[Scalar], second: Sequence[Scalar], a: Scalar, b: Scalar, mass: Scalar) -> Matrix:
    """int (b_n - a e_x) (b_m - b e_x)^T dm from int b_n b_m^T dm, int b_n dm and int b_m dm."""
    rows = [list(row) for row in G]
    for i in range(3):
        rows[0][i] = rows[0][i] - a * second[i]
        rows[i][0] = rows[i][0] - b * first[i]
    rows[0][0] = rows[0][0] + a * b * mass
    return tuple(tuple(row) for row in rows)
