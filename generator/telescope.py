"""Beams that slide through a joint on the previous link (P_b of seed 003): their elements and what they must be like."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

import sympy

from elastogen.generator.beam_integrals import Beam, beam_body
from elastogen.generator.check_flexible import check_body
from elastogen.generator.damping import moving_damping, nodal_damping
from elastogen.generator.elements_inside import indicator_symbol
from elastogen.generator.expressions import nominal, parse_scalar
from elastogen.generator.finite_elements import MAX_ELEMENTS, element_modes
from elastogen.generator.flexible_file import ElementsSection, FlexibleSection, PropertySection
from elastogen.generator.location import Location
from elastogen.generator.piecewise import Curve, exact, to_scalar
from elastogen.generator.reduction import nodal_values, reduced_body
from elastogen.generator.robot import Body, FlexibleBody, Matrix, Parameter, Robot, Scalar, Telescope

_FEWEST = 2  # one inside the joint, one outside


def telescopic_body(
    section: FlexibleSection, slide: str, tip_body: Body, parameters: Mapping[str, Parameter], where: Location
) -> FlexibleBody:
    """Return the standard data of a link on a telescopic joint.

    Nodal: all 2 n + 2 coordinates of 003 (7), of which those of the element inside the joint vanish. Smooth: the 2 n
    coordinates of the part outside, or its lowest modes, with shapes that stretch with it; the integrals are those with all of
    the beam outside.
    """
    if not isinstance(section, ElementsSection):
        raise where.at("type").error(section.type, "elements, for a link on a telescopic joint", "use type: elements")
    _check_plain(section, slide, where)
    if not _FEWEST <= section.elements <= MAX_ELEMENTS:
        raise where.at("elements").error(
            section.elements, f"{_FEWEST} to {MAX_ELEMENTS} elements on a telescopic joint", "3 to 10 are usual"
        )
    length = _above_zero(section.length, "length", "a length above zero [m]", parameters, where)
    mass = _uniform(section.mass_per_length, "mass_per_length", parameters, where)
    stiffness = section.EI or section.EI_z
    if stiffness is None:
        raise where.at("EI").error("nothing", "the bending stiffness EI [N m^2]", "add EI")
    EI = _uniform(stiffness, "EI", parameters, where)
    nodal = slide == "nodal"
    beam = Beam(
        exact(length),
        Curve.polynomial((exact(mass),)),
        {"y": Curve.polynomial((exact(EI),))},
        foreshortening=section.foreshortening and nodal,
    )
    moving = section.foreshortening and not nodal  # from the joint on: see moving_beam.py
    telescope = Telescope(to_scalar(beam.length), mass, EI, section.elements, nodal, moving)
    if section.reduce_to is not None:
        body, modes = reduced_body(beam, section, tip_body, parameters, where)
        telescope = replace(telescope, modes=nodal_values(modes))
    else:
        body = beam_body(beam, element_modes(section.elements, ("y",), beam.length, clamped=not nodal))
    body = replace(body, telescope=telescope)
    check_body(body, parameters, where)
    if nodal:
        constant, held = nodal_damping(section.damping, body, tip_body, parameters, where.at("damping"))
        return replace(body, damping=constant, telescope=replace(telescope, held_damping=held))
    constant, varying = moving_damping(section.damping, body, tip_body, parameters, where.at("damping"))
    return replace(body, damping=constant, telescope=replace(telescope, damping=varying))


def held_bodies(robot: Robot) -> dict[str, FlexibleBody | None]:
    """The flexible bodies by link, as their joints hold them."""
    found: dict[str, FlexibleBody | None] = {}
    for joint in robot.joints:
        body = robot.link(joint.child).flexible
        nodal = body is not None and body.telescope is not None and body.telescope.nodal
        found[joint.child] = held_by(body, joint.name) if nodal and body is not None else body
    return found


@lru_cache(maxsize=16)  # every layout of a robot asks for it
def held_by(body: FlexibleBody, joint: str) -> FlexibleBody:
    """A nodal telescopic body with an element inside the joint, where foreshortening begins.

    The fields of pairs of nodes behind the joint are shortened from the proximal end; measured from the joint, they are less
    by a constant shift along x, their displacement of the tip. Which nodes are behind it is told by the indicators.
    """
    assert body.telescope is not None
    shift: dict[int, Scalar] = {}
    for n, pair in enumerate(body.monomials):
        holding = [k for k in range(1, body.telescope.elements + 1) if max(pair) < 2 * k - 2]
        if len(pair) == 2 and holding:
            shift[n] = body.tip_displacements[n][0] * sympy.Add(*(indicator_symbol(joint, k) for k in holding))
    if not shift:
        return body

    def moved(n: int) -> Scalar:
        return shift.get(n, 0)

    def along_x(row: Sequence[Scalar], amount: Scalar) -> tuple[Scalar, Scalar, Scalar]:
        return (row[0] - amount, row[1], row[2])

    fields = range(len(body.monomials))
    integrals, mass, S = body.field_integrals, body.mass, body.first_moments
    line = body.centreline
    assert line is not None
    return replace(
        body,
        field_integrals=tuple(along_x(integrals[n], moved(n) * mass) for n in fields),
        field_position_integrals=tuple(
            (tuple(B[0][c] - moved(n) * S[c] for c in range(3)), *B[1:])
            for n, B in enumerate(body.field_position_integrals)
        ),
        field_field_integrals=tuple(
            tuple(_shifted(G, integrals[n], integrals[m], moved(n), moved(m), mass) for m, G in enumerate(row))
            for n, row in enumerate(body.field_field_integrals)
        ),
        tip_displacements=tuple(along_x(row, moved(n)) for n, row in enumerate(body.tip_displacements)),
        centreline=replace(
            line,
            pieces=tuple(
                tuple(((x[0] - moved(n), *x[1:]), y) for n, (x, y) in enumerate(piece)) for piece in line.pieces
            ),
        ),
    )


def _shifted(
    G: Matrix, first: Sequence[Scalar], second: Sequence[Scalar], a: Scalar, b: Scalar, mass: Scalar
) -> Matrix:
    """int (b_n - a e_x) (b_m - b e_x)^T dm from int b_n b_m^T dm, int b_n dm and int b_m dm."""
    rows = [list(row) for row in G]
    for i in range(3):
        rows[0][i] = rows[0][i] - a * second[i]
        rows[i][0] = rows[i][0] - b * first[i]
    rows[0][0] = rows[0][0] + a * b * mass
    return tuple(tuple(row) for row in rows)


def _check_plain(section: ElementsSection, slide: str, where: Location) -> None:
    """Refuse what the moving clamp is not derived for."""
    if slide == "nodal" and section.reduce_to is not None:
        raise where.at("reduce_to").error(
            section.reduce_to,
            "no reduction on a nodal telescopic joint: what is clamped, and with it the modes, changes with the element",
            "use slide: smooth, where the modes keep their shape",
        )
    plain = {
        "directions": (section.directions, ("y",)),
        "degree": (section.degree, 3),
        "rotary_inertia": (section.rotary_inertia, False),
        "rotation": (section.rotation, "exponential"),
    }
    for key, (given, expected) in plain.items():
        if given != expected:
            shown = list(expected) if isinstance(expected, tuple) else expected
            raise where.at(key).error(given, f"{shown} for a link on a {slide} telescopic joint", f"remove {key}")


def _uniform(
    section: PropertySection, key: str, parameters: Mapping[str, Parameter], where: Location
) -> Scalar:
    if section.expression is None:
        raise where.at(key).error("a table", "one value: a beam that slides through its joint is uniform", "give one number")
    return _above_zero(section.expression, key, "a value above zero", parameters, where)


def _above_zero(
    given: int | float | str, key: str, expected: str, parameters: Mapping[str, Parameter], where: Location
) -> Scalar:
    value = parse_scalar(given, parameters, where.at(key))
    if not nominal(value, parameters) > 0:
        raise where.at(key).error(given, expected, "check its sign and unit")
    return value
