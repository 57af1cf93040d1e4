"""Beams of finite elements, reduced to their lowest clamped modes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from elastogen.generator.beams.finite_elements import element_modes, mesh_errors, reduced_modes
from elastogen.generator.beams.integrals import Beam, Mode, beam_body
from elastogen.generator.beams.natural_frequencies import naming_heavy_tips
from elastogen.generator.robot.bodies.flexible_body import FlexibleBody, Reduction
from elastogen.generator.robot.location import Location
from elastogen.generator.robot.robot import Body, Parameter

if TYPE_CHECKING:
    from elastogen.generator.description.flexible.elements import ElementsSection

_COARSE = 0.01  # relative error of kept frequencies above which a mesh is called coarse


def reduced_body(
    beam: Beam, section: ElementsSection, tip_body: Body, parameters: Mapping[str, Parameter], where: Location
) -> tuple[FlexibleBody, list[Mode]]:
    """Return the standard data of the beam with the modes that ``reduce_to`` keeps, and these; warns of a coarse mesh."""
    count, degree = section.reduce_to, section.degree
    assert count is not None
    available = len(element_modes(section.elements, section.directions, beam.length, degree=degree))
    if count > available:
        raise where.at("reduce_to").error(
            count, f"at most the {available} coordinates of the elements", "use more elements or keep fewer modes"
        )
    link = (beam, section.elements, section.directions, count, tip_body, parameters, degree)
    with naming_heavy_tips(where):
        errors, modes = mesh_errors(*link), reduced_modes(*link)
    if max(errors) > _COARSE:
        where.at("elements").warn(
            f"{section.elements} elements, with which frequency {errors.index(max(errors)) + 1} of the {count} kept"
            f" is {100 * max(errors):.2g} % too high",
            f"kept frequencies within {100 * _COARSE:g} %",
            "use more elements: after reduction they cost nothing",
        )
    return replace(beam_body(beam, modes), reduction=Reduction(section.elements, tuple(errors))), modes


def nodal_values(modes: list[Mode]) -> tuple[tuple[float, ...], ...]:
    """Deflections and slopes dphi/deta of the modes (columns) at the ends of their elements, in turn: see robot.Telescope."""
    rows: list[tuple[float, ...]] = []
    elements = len(modes[0].shape.pieces)
    for e in range(elements):
        pieces = [[float(c) for c in mode.shape.pieces[e]] for mode in modes]
        rows.append(tuple(sum(piece) for piece in pieces))
        rows.append(tuple(elements * sum(k * c for k, c in enumerate(piece)) for piece in pieces))
    return tuple(rows)
