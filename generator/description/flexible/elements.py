"""A beam by finite elements of equal length: ``type: elements``."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from elastogen.generator.beams.finite_elements import MAX_ELEMENTS, element_modes, nominal_beam
from elastogen.generator.beams.integrals import DIRECTIONS, Beam, beam_body
from elastogen.generator.beams.shear import shear_numbers
from elastogen.generator.description.file.fields import ScalarField
from elastogen.generator.description.file.flexible_file import BeamSection, DirectionField
from elastogen.generator.description.flexible import telescope
from elastogen.generator.description.flexible.along_beam import AlongBeam
from elastogen.generator.description.flexible.check import check_products
from elastogen.generator.description.flexible.kind import DescribedLink, FlexibleKind
from elastogen.generator.description.flexible.reduction import reduced_body
from elastogen.generator.robot.bodies.flexible_body import FlexibleBody


class ElementsSection(BeamSection):
    """A beam by finite elements of equal length; the coordinates are nodal deflections and slopes."""

    type: Literal["elements"]
    elements: int = Field(description="1 to 200")
    directions: tuple[DirectionField, ...] = Field(default=("y",), min_length=1, description="what the elements resist")
    degree: Literal[3, 5] = Field(
        default=3, description="of the polynomials in bending; 5: nodal curvatures are coordinates, too, for uniform stiffness"
    )
    reduce_to: int | None = Field(default=None, ge=1, description="keep only that many of the lowest clamped modes")


class ElementsKind(FlexibleKind[ElementsSection]):
    """A beam of finite elements; the coordinates are nodal, or the amplitudes of the modes it is reduced to."""

    # ---- 1. in a robot file

    name = "elements"
    section = ElementsSection

    def length(self, section: ElementsSection) -> ScalarField:
        """From the clamp to the tip [m]."""
        return section.length

    # ---- 2. coordinates and units, 3. standard data

    def body(self, link: DescribedLink[ElementsSection]) -> FlexibleBody:
        """Deflections [m], slopes [rad] and so on of the nodes; the integrals are those of the shapes between them."""
        section, beam = link.section, _beam(link)
        at_nominal, _ = nominal_beam(beam, link.parameters)
        sheared = {d: shear_numbers(at_nominal, d, section.elements, at_nominal.length) for d in beam.shear}
        modes = element_modes(section.elements, section.directions, beam.length, degree=section.degree, sheared=sheared)
        return beam_body(beam, modes)

    # ---- 4. reduction and convergence

    def reduced(self, link: DescribedLink[ElementsSection]) -> FlexibleBody | None:
        """The lowest clamped modes, where ``reduce_to`` says how many; warns where the mesh is too coarse for them."""
        if link.section.reduce_to is None:
            return None
        return reduced_body(_beam(link), link.section, link.tip_body, link.parameters, link.where)[0]

    # ---- 6. on a telescopic joint

    slides = True

    def telescopic_body(self, link: DescribedLink[ElementsSection], slide: str) -> FlexibleBody:
        """Uniform beams that bend in the plane x, y: P_b of paper 003."""
        return telescope.telescopic_body(link.section, slide, link.tip_body, link.parameters, link.where)

    # ---- 7. checks

    def check(self, link: DescribedLink[ElementsSection]) -> None:
        """Refuse numbers of elements out of range, and directions that are named twice."""
        section, where = link.section, link.where
        if not 1 <= section.elements <= MAX_ELEMENTS:
            raise where.at("elements").error(
                section.elements, f"1 to {MAX_ELEMENTS} elements", "3 to 10 elements are usual for a link"
            )
        if len(set(section.directions)) != len(section.directions):
            raise where.at("directions").error(
                list(section.directions), f"each of {', '.join(DIRECTIONS)} at most once", "remove doubles"
            )
        if section.shear and section.degree != 3:
            raise where.at("degree").error(
                section.degree, "degree 3 of elements that shear", "remove degree: use more elements"
            )
        if section.foreshortening and section.reduce_to is None:
            each = section.elements * (2 if section.degree == 3 else 3)  # about so many shapes in each bending direction
            check_products(
                [each for direction in section.directions if direction in ("y", "z")], "use fewer elements, or reduce_to", where
            )


def _beam(link: DescribedLink[ElementsSection]) -> Beam:
    return AlongBeam(link).beam(link.section.directions)
