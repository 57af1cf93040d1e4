"""Beams that slide through a joint on the previous link (P_b of paper 003): their elements and what they must be like."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from elastogen.generator.beams.finite_elements import MAX_ELEMENTS, element_modes
from elastogen.generator.beams.integrals import Beam, beam_body
from elastogen.generator.beams.piecewise import Curve, as_fraction, to_scalar
from elastogen.generator.description.file.flexible_file import PropertySection
from elastogen.generator.description.flexible.check import check_body, check_products
from elastogen.generator.description.flexible.damping import moving_damped, nodal_damped
from elastogen.generator.description.flexible.reduction import nodal_values, reduced_body
from elastogen.generator.robot.bodies.flexible_body import FlexibleBody, Telescope
from elastogen.generator.robot.expressions import LARGEST, SMALLEST, nominal, parse_scalar
from elastogen.generator.robot.location import Location
from elastogen.generator.robot.robot import Body, Parameter, Scalar

if TYPE_CHECKING:
    from elastogen.generator.description.flexible.elements import ElementsSection

_FEWEST = 2  # one inside the joint, one outside


def telescopic_body(
    section: ElementsSection, slide: str, tip_body: Body, parameters: Mapping[str, Parameter], where: Location
) -> FlexibleBody:
    """Return the standard data of a link on a telescopic joint.

    Nodal: all 2 n + 2 coordinates of 003 (7), of which those of the element inside the joint vanish. Smooth: the 2 n
    coordinates of the part outside, or its lowest modes, with shapes that stretch with it; the integrals are those with all of
    the beam outside.
    """
    _check_plain(section, slide, where)
    if not _FEWEST <= section.elements <= MAX_ELEMENTS:
        raise where.at("elements").error(
            section.elements, f"{_FEWEST} to {MAX_ELEMENTS} elements on a telescopic joint", "3 to 10 are usual"
        )
    if section.foreshortening and slide == "nodal":  # smooth ones integrate no products here
        check_products([2 * section.elements], "use fewer elements, or slide: smooth", where)
    length = _above_zero(section.length, "length", "a length above zero [m]", parameters, where)
    mass = _uniform(section.mass_per_length, "mass_per_length", parameters, where)
    stiffness = section.EI or section.EI_z
    if stiffness is None:
        raise where.at("EI").error("nothing", "the bending stiffness EI [N m^2]", "add EI")
    EI = _uniform(stiffness, "EI", parameters, where)
    nodal = slide == "nodal"
    beam = Beam(
        as_fraction(length),
        Curve.polynomial((as_fraction(mass),)),
        {"y": Curve.polynomial((as_fraction(EI),))},
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
    damped = nodal_damped if nodal else moving_damped
    return damped(section.damping, body, tip_body, parameters, where.at("damping"))


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
        "shear": (section.shear, False),
        "rotation": (section.rotation, "exponential"),
    }
    for key, (given, expected) in plain.items():
        if given != expected:
            shown = list(expected) if isinstance(expected, tuple) else expected
            raise where.at(key).error(given, f"{shown} for a link on a {slide} telescopic joint", f"remove {key}")


def _uniform(section: PropertySection, key: str, parameters: Mapping[str, Parameter], where: Location) -> Scalar:
    if section.expression is None:
        raise where.at(key).error("a table", "one value: a beam that slides through its joint is uniform", "give one number")
    return _above_zero(section.expression, key, "a value above zero", parameters, where)


def _above_zero(
    given: int | float | str, key: str, expected: str, parameters: Mapping[str, Parameter], where: Location
) -> Scalar:
    value = parse_scalar(given, parameters, where.at(key))
    if not SMALLEST <= nominal(value, parameters) <= LARGEST:
        raise where.at(key).error(given, expected, "check its sign and unit")
    return value
