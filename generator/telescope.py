"""Beams that slide through a joint on the previous link (P_b of seed 003): their elements and what they must be like."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

from elastogen.generator.beam_integrals import Beam, beam_body
from elastogen.generator.check_flexible import check_body
from elastogen.generator.expressions import nominal, parse_scalar
from elastogen.generator.finite_elements import MAX_ELEMENTS, element_modes
from elastogen.generator.flexible_file import ElementsSection, FlexibleSection, PropertySection
from elastogen.generator.location import Location
from elastogen.generator.piecewise import Curve, exact, to_scalar
from elastogen.generator.robot import FlexibleBody, Parameter, Scalar, Telescope

_FEWEST = 2  # one inside the joint, one outside


def telescopic_body(
    section: FlexibleSection, slide: str, parameters: Mapping[str, Parameter], where: Location
) -> FlexibleBody:
    """Return the standard data of a link on a telescopic joint."""
    if not isinstance(section, ElementsSection):
        raise where.at("type").error(section.type, "elements, for a link on a telescopic joint", "use type: elements")
    _check_plain(section, where)
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
    return telescope(length, mass, EI, section.elements, nodal=slide == "nodal", where=where, parameters=parameters)


def telescope(
    length: Scalar,
    mass_per_length: Scalar,
    EI: Scalar,
    elements: int,
    *,
    nodal: bool,
    where: Location,
    parameters: Mapping[str, Parameter],
) -> FlexibleBody:
    """The standard data of a uniform beam of elements on a telescopic joint.

    Nodal: all 2 n + 2 coordinates of 003 (7), of which those of the element inside the joint vanish. Smooth: the 2 n
    coordinates of the part outside; the integrals are those with all of the beam outside.
    """
    beam = Beam(
        exact(length), Curve.polynomial((exact(mass_per_length),)), {"y": Curve.polynomial((exact(EI),))}
    )
    body = beam_body(beam, element_modes(elements, ("y",), beam.length * Fraction(1), first=0 if nodal else 1))
    body = replace(body, telescope=Telescope(to_scalar(beam.length), mass_per_length, EI, elements, nodal))
    check_body(body, parameters, where)
    return body


def _check_plain(section: ElementsSection, where: Location) -> None:
    """Refuse what the moving clamp is not derived for."""
    plain = {
        "directions": (section.directions, ("y",)),
        "reduce_to": (section.reduce_to, None),
        "foreshortening": (section.foreshortening, False),
        "rotary_inertia": (section.rotary_inertia, False),
        "rotation": (section.rotation, "exponential"),
        "damping": (section.damping, None),
    }
    for key, (given, expected) in plain.items():
        if given != expected:
            shown = list(expected) if isinstance(expected, tuple) else expected
            raise where.at(key).error(given, f"{shown} for a link on a telescopic joint", f"remove {key}")


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
