"""A beam by assumed modes: ``type: modes``."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from elastogen.generator.beams import shapes as beam_shapes
from elastogen.generator.beams import shear
from elastogen.generator.beams.finite_elements import nominal_beam
from elastogen.generator.beams.integrals import Beam, Mode, beam_body
from elastogen.generator.beams.piecewise import Curve
from elastogen.generator.description.file.fields import NameField, ScalarField, Section, problem
from elastogen.generator.description.file.flexible_file import MAX_MODES, BeamSection, DirectionField, ListField
from elastogen.generator.description.flexible.along_beam import AlongBeam
from elastogen.generator.description.flexible.check import MOST_DENSE_PRODUCTS, check_clamped, check_products
from elastogen.generator.description.flexible.kind import DescribedLink, FlexibleKind
from elastogen.generator.robot.bodies.flexible_body import FlexibleBody
from elastogen.generator.robot.expressions import nominal
from elastogen.generator.robot.location import Location


class ShapeTable(Section):
    """A shape sampled along the beam, for example by a finite-element tool: cubic Hermite interpolation in between."""

    x: ListField = Field(description="places from 0 to the length [m], increasing")
    displacement: ListField = Field(description="phi at the places; the twist [rad] for torsion")
    slope: ListField | None = Field(default=None, description="dphi/dx there; default: those of the cubic spline")
    rotation: ListField | None = Field(default=None, description="with shear: of the sections there; default: the slope")


class ModeSection(Section):
    """A mode: its direction and one of shape, eigenfunction, table."""

    name: NameField | None = Field(default=None, description="of the coordinate; default: y1, y2, z1, torsion1, ...")
    direction: DirectionField = Field(description="y, z: bending; torsion: about x; extension: along x")
    shape: ScalarField | None = Field(default=None, description='expression in x and L, for example "(x/L)**2"')
    rotation: ScalarField | None = Field(
        default=None, description="with shear and shape: rotation of the sections in x and L; default: the slope dphi/dx"
    )
    eigenfunction: int | None = Field(
        default=None, ge=1, le=20, description="number of the clamped beam's eigenfunction, phi(L) = 1; with shear Timoshenko's"
    )
    table: ShapeTable | None = Field(default=None, description="sampled shape")

    @model_validator(mode="after")
    def _one_shape(self) -> ModeSection:
        given = [key for key in ("shape", "eigenfunction", "table") if getattr(self, key) is not None]
        if len(given) != 1:
            raise problem("exactly one of shape, eigenfunction, table", f"keep one of {', '.join(given) or 'them'}")
        if self.eigenfunction is not None and self.direction not in ("y", "z"):
            raise problem("eigenfunctions for bending in y or z", 'for torsion give shape: "sin(pi*x/(2*L))"')
        if self.rotation is not None and (self.shape is None or self.direction not in ("y", "z")):
            raise problem("rotation beside the shape of a bending mode", "remove rotation", at="rotation")
        return self


class ModesSection(BeamSection):
    """A beam by assumed modes."""

    type: Literal["modes"]
    modes: tuple[ModeSection, ...] = Field(min_length=1, max_length=MAX_MODES)
    eigenfunctions: Literal["free", "tip_mass"] = Field(
        default="free", description="eigenfunctions of the beam alone, or with the mass of `tip` at its end"
    )

    @model_validator(mode="after")
    def _shears(self) -> ModesSection:
        for i, mode in enumerate(self.modes):
            rotated = mode.rotation is not None or (mode.table is not None and mode.table.rotation is not None)
            if rotated and not self.shear:
                raise problem(
                    f"no rotation of mode {i + 1}: sections rotate with the slope", "add shear: true, or remove rotation"
                )
        return self


class ModesKind(FlexibleKind[ModesSection]):
    """A beam whose deformation is a sum of given shapes; the coordinates are their amplitudes."""

    # ---- 1. in a robot file

    name = "modes"
    section = ModesSection

    def length(self, section: ModesSection) -> ScalarField:
        """From the clamp to the tip [m]."""
        return section.length

    # ---- 2. coordinates and units, 3. standard data

    def body(self, link: DescribedLink[ModesSection]) -> FlexibleBody:
        """Amplitudes of the modes, with the units of their directions; the integrals are those of the shapes."""
        along = AlongBeam(link)
        if link.section.foreshortening:
            bending = [sum(mode.direction == direction for mode in link.section.modes) for direction in ("y", "z")]
            check_products(bending, "use fewer modes", link.where, MOST_DENSE_PRODUCTS)
        beam = along.beam({mode.direction for mode in link.section.modes})
        return beam_body(beam, _modes(along, link, beam))


def _modes(along: AlongBeam, link: DescribedLink[ModesSection], beam: Beam) -> list[Mode]:
    """The modes, with the names y1, y2, z1, ... where the file gives none."""
    counts: dict[str, int] = {}
    modes: list[Mode] = []
    for i, given in enumerate(link.section.modes):
        here = link.where.at("modes", i)
        counts[given.direction] = counts.get(given.direction, 0) + 1
        name = given.name or f"{given.direction}{counts[given.direction]}"
        if name in {mode.name for mode in modes}:
            raise here.at("name").error(name, "names of modes that occur once", "rename one of them")
        modes.append(_mode(name, given, along, link, beam, here))
        check_clamped(modes[-1], link.parameters, here)
    return modes


def _mode(
    name: str, given: ModeSection, along: AlongBeam, link: DescribedLink[ModesSection], beam: Beam, here: Location
) -> Mode:
    """With the rotation of the sections, where the beam shears."""
    direction = given.direction
    if given.eigenfunction is not None and direction in beam.shear:
        tip = nominal(link.tip_body.mass, link.parameters) if link.section.eigenfunctions == "tip_mass" else 0.0
        at_nominal, length = nominal_beam(beam, link.parameters)
        try:
            shape, turned = shear.eigenfunction(given.eigenfunction, shear.uniform(at_nominal, direction, length, tip))
        except ArithmeticError:
            expected, fix = "a frequency that is apart from its neighbours", "use type: elements with reduce_to"
            raise here.at("eigenfunction").error(given.eigenfunction, expected, fix) from None
        return Mode(name, direction, shape, psi=turned.scaled(1 / beam.length))
    psi = None
    if given.rotation is not None:
        psi = beam_shapes.from_expression(along.expression(given.rotation, here.at("rotation")), here.at("rotation"))
    if given.table is not None and given.table.rotation is not None:
        at = here.at("table", "rotation")
        places = along.places(given.table.x, here.at("table", "x"))
        psi = beam_shapes.from_table(places, along.numbers(given.table.rotation, len(places), at), None, clamped_slope=False)
    return Mode(name, direction, _shape(given, along, link, here), psi=psi)


def _shape(mode: ModeSection, along: AlongBeam, link: DescribedLink[ModesSection], here: Location) -> Curve:
    if mode.shape is not None:
        return beam_shapes.from_expression(along.expression(mode.shape, here.at("shape")), here.at("shape"))
    if mode.eigenfunction is not None:
        ratio = 0.0
        if link.section.eigenfunctions == "tip_mass":
            ratio = nominal(link.tip_body.mass, link.parameters) / along.nominal_mass()
        return beam_shapes.eigenfunction(mode.eigenfunction, ratio)
    assert mode.table is not None  # exactly one of the three, by the file's structure
    table, here = mode.table, here.at("table")
    places = along.places(table.x, here.at("x"))
    values = along.numbers(table.displacement, len(places), here.at("displacement"))
    slopes = None
    if table.slope is not None:
        slopes = [along.nominal_length * m for m in along.numbers(table.slope, len(places), here.at("slope"))]
    return beam_shapes.from_table(places, values, slopes, clamped_slope=mode.direction in ("y", "z"))
