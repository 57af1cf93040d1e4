"""The ``flexible:`` block of a link in the robot file: pydantic models of its structure, one class per ``type``.

As in :mod:`robot_file`, only keys, shapes and kinds of values are checked here; what the numbers mean is checked when
the link is assembled (:mod:`check_flexible`).
"""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BeforeValidator, Discriminator, Field, Tag, WithJsonSchema, model_validator

from elastogen.generator.description.file.fields import (
    ROW3_SCHEMA,
    SCALAR_SCHEMA,
    BodySection,
    FrameSection,
    NameField,
    Row3,
    ScalarField,
    Section,
    VectorField,
    listed,
    problem,
)
from elastogen.generator.robot.location import did_you_mean

MAX_MODES = 400
MAX_SAMPLES = 1000


def _scalars(value: Any) -> Any:
    value = listed(value)
    if not isinstance(value, (list, tuple)):
        raise problem("a list of numbers", "for example [0, 0.4, 0.8]")
    if len(value) > MAX_SAMPLES:
        raise problem(f"at most {MAX_SAMPLES} numbers", "sample more coarsely")
    return value


def _square(value: Any) -> Any:
    value = listed(value)
    rows = value if isinstance(value, (list, tuple)) else ()
    if not rows or any(not isinstance(row, (list, tuple)) or len(row) != len(rows) for row in rows):
        raise problem("a square matrix, row by row", "for example [[2, 0], [0, 3]]")
    return value


def _three_rows(value: Any) -> Any:
    value = listed(value)
    rows = value if isinstance(value, (list, tuple)) else ()
    if len(rows) != 3 or any(not isinstance(row, (list, tuple)) or len(row) != 3 for row in rows):
        raise problem("three rows of three numbers", "for example [[0, 0, 0], [0.1, 0, 0], [0, 0, 0]]")
    return value


_LIST_SCHEMA: dict[str, Any] = {"type": "array", "items": SCALAR_SCHEMA, "maxItems": MAX_SAMPLES}
ListField = Annotated[tuple[ScalarField, ...], BeforeValidator(_scalars), WithJsonSchema(_LIST_SCHEMA)]
SquareField = Annotated[
    tuple[tuple[ScalarField, ...], ...],
    BeforeValidator(_square),
    WithJsonSchema({"type": "array", "items": _LIST_SCHEMA, "minItems": 1}),
]
Matrix3Field = Annotated[
    tuple[Row3, Row3, Row3],
    BeforeValidator(_three_rows),
    WithJsonSchema({"type": "array", "items": ROW3_SCHEMA, "minItems": 3, "maxItems": 3}),
]
DirectionField = Literal["y", "z", "torsion", "extension"]


class PropertySection(Section):
    """A property along the beam: a number, an expression in x and L, or a table {x, value}, linear in between."""

    expression: ScalarField | None = Field(default=None, description="a number or an expression in x and L")
    x: ListField | None = Field(default=None, description="places from 0 to the length [m]")
    value: ListField | None = Field(default=None, description="values there")

    @model_validator(mode="before")
    @classmethod
    def _bare(cls, data: Any) -> Any:
        return {"expression": data} if isinstance(data, (numbers.Real, str)) and not isinstance(data, bool) else data

    @model_validator(mode="after")
    def _one_form(self) -> PropertySection:
        table = self.x is not None and self.value is not None
        if table == (self.expression is not None) or (self.x is None) != (self.value is None):
            raise problem("a number, an expression in x and L, or a table {x: [...], value: [...]}", "for example 0.35")
        return self

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: Any, handler: Any) -> dict[str, Any]:
        """Publish that a bare number or expression is a property, too."""
        return {"anyOf": [SCALAR_SCHEMA, handler.resolve_ref_schema(handler(core_schema))]}


class ShapeTable(Section):
    """A shape sampled along the beam, for example by a finite-element tool: cubic Hermite interpolation in between."""

    x: ListField = Field(description="places from 0 to the length [m], increasing")
    displacement: ListField = Field(description="phi at the places; the twist [rad] for torsion")
    slope: ListField | None = Field(default=None, description="dphi/dx there; default: those of the cubic spline")


class ModeSection(Section):
    """A mode: its direction and one of shape, eigenfunction, table."""

    name: NameField | None = Field(default=None, description="of the coordinate; default: y1, y2, z1, torsion1, ...")
    direction: DirectionField = Field(description="y, z: bending; torsion: about x; extension: along x")
    shape: ScalarField | None = Field(default=None, description='expression in x and L, for example "(x/L)**2"')
    eigenfunction: int | None = Field(
        default=None, ge=1, le=20, description="number of the clamped Euler-Bernoulli eigenfunction, phi(L) = 1"
    )
    table: ShapeTable | None = Field(default=None, description="sampled shape")

    @model_validator(mode="after")
    def _one_shape(self) -> ModeSection:
        given = [key for key in ("shape", "eigenfunction", "table") if getattr(self, key) is not None]
        if len(given) != 1:
            raise problem("exactly one of shape, eigenfunction, table", f"keep one of {', '.join(given) or 'them'}")
        if self.eigenfunction is not None and self.direction not in ("y", "z"):
            raise problem("eigenfunctions for bending in y or z", 'for torsion give shape: "sin(pi*x/(2*L))"')
        return self


class RayleighSection(Section):
    """Damping alpha M + beta K of the clamped link with its tip body."""

    alpha: ScalarField = Field(default=0, description="[1/s]")
    beta: ScalarField = Field(default=0, description="[s]")


class DampingSection(Section):
    """Damping of the elastic coordinates: one of ratio, ratios, rayleigh, matrix."""

    ratio: ScalarField | None = Field(default=None, description="damping ratio of every clamped mode [-]")
    ratios: ListField | None = Field(default=None, description="damping ratio per clamped mode, lowest first [-]")
    rayleigh: RayleighSection | None = None
    matrix: SquareField | None = Field(default=None, description="coordinates x coordinates")

    @model_validator(mode="after")
    def _one_form(self) -> DampingSection:
        given = [key for key in ("ratio", "ratios", "rayleigh", "matrix") if getattr(self, key) is not None]
        if len(given) != 1:
            raise problem("exactly one of ratio, ratios, rayleigh, matrix", "for example {ratio: 0.01}")
        return self


class _Flexible(Section):
    """What every kind of flexible link has."""

    tip: BodySection = Field(default=BodySection(), description="rigid body on the tip, in the tip frame")
    rotation: Literal["exponential", "linear"] = Field(
        default="exponential", description="of the tip: proper rotation exp{delta x}, or E + {delta x} as in 000 (66)"
    )
    damping: DampingSection | None = Field(default=None, description="default: none")


class BeamSection(_Flexible):
    """A straight beam along x of the link frame, clamped at x = 0, its tip frame at x = length."""

    length: ScalarField = Field(description="[m]")
    mass_per_length: PropertySection = Field(description="[kg/m]")
    EI: PropertySection | None = Field(default=None, description="bending stiffness in both directions [N m^2]")
    EI_y: PropertySection | None = Field(default=None, description="about y: resists bending in z [N m^2]")
    EI_z: PropertySection | None = Field(default=None, description="about z: resists bending in y [N m^2]")
    GJ: PropertySection | None = Field(default=None, description="torsional stiffness [N m^2]")
    EA: PropertySection | None = Field(default=None, description="axial stiffness [N]")
    polar_inertia_per_length: PropertySection | None = Field(
        default=None, description="of the sections about x [kg m]; half of it about y and about z"
    )
    inertia_y_per_length: PropertySection | None = Field(default=None, description="int z^2 dm per length [kg m]")
    inertia_z_per_length: PropertySection | None = Field(default=None, description="int y^2 dm per length [kg m]")
    rotary_inertia: bool = Field(default=False, description="sections turn with the slope in bending (Rayleigh beam)")
    foreshortening: bool = Field(default=False, description="second-order shortening: geometric stiffening")

    @model_validator(mode="after")
    def _one_each(self) -> BeamSection:
        for both, each in (("EI", ("EI_y", "EI_z")), ("polar_inertia_per_length", _SECTION_INERTIAS)):
            doubled = [key for key in each if getattr(self, key) is not None]
            if getattr(self, both) is not None and doubled:
                raise problem(f"either {both} or {doubled[0]}", f"remove {both} or {doubled[0]}")
        return self


_SECTION_INERTIAS = ("inertia_y_per_length", "inertia_z_per_length")


class ModesSection(BeamSection):
    """A beam by assumed modes."""

    type: Literal["modes"]
    modes: tuple[ModeSection, ...] = Field(min_length=1, max_length=MAX_MODES)
    eigenfunctions: Literal["free", "tip_mass"] = Field(
        default="free", description="eigenfunctions of the beam alone, or with the mass of `tip` at its end"
    )


class ElementsSection(BeamSection):
    """A beam by finite elements of equal length; the coordinates are nodal deflections and slopes."""

    type: Literal["elements"]
    elements: int = Field(description="1 to 200")
    directions: tuple[DirectionField, ...] = Field(default=("y",), min_length=1, description="what the elements resist")
    degree: Literal[3, 5] = Field(
        default=3, description="of the polynomials in bending; 5: nodal curvatures are coordinates, too, for uniform stiffness"
    )
    reduce_to: int | None = Field(default=None, ge=1, description="keep only that many of the lowest clamped modes")


class StandardModeSection(Section):
    """A shape field b(r) of a body from elsewhere, by its integrals; `of` makes it a second-order field."""

    name: NameField | None = Field(default=None, description="of the coordinate")
    of: tuple[NameField, NameField] | None = Field(
        default=None, description="second-order field: the two modes whose coordinates multiply it"
    )
    integral: VectorField = Field(description="int b dm")
    position_integral: Matrix3Field = Field(description="int b r^T dm, row: b, column: r")
    tip_displacement: VectorField = Field(description="b at the tip")
    tip_rotation: VectorField = Field(default=(0, 0, 0), description="rotation vector of the tip per unit coordinate")

    @model_validator(mode="after")
    def _named(self) -> StandardModeSection:
        if (self.name is None) == (self.of is None):
            raise problem("a name, or `of` with two modes for a second-order field", "for example name: bend1")
        return self


class ProductSection(Section):
    """The integral of a pair of fields."""

    fields: tuple[int, int] = Field(description="positions in `modes`, from 1")
    integral: Matrix3Field = Field(description="int b_i b_j^T dm, row: b_i, column: b_j")


class NodeSection(Section):
    """A lumped mass of a finite-element mesh and its displacement in every mode."""

    mass: ScalarField = Field(description="[kg]")
    position: VectorField = Field(description="undeformed, in the link frame [m]")
    displacements: tuple[VectorField, ...] = Field(description="one per mode")


class TipMotionSection(Section):
    """A mode of a body given by lumped masses: its name, and how the tip moves in it."""

    name: NameField
    tip_displacement: VectorField
    tip_rotation: VectorField = (0, 0, 0)


class StandardDataSection(_Flexible):
    """Any flexible body by its standard input data: mass integrals and modal matrices, about the link frame."""

    type: Literal["standard_data"]
    mass: ScalarField = Field(description="int dm [kg]")
    first_moments: VectorField = Field(description="int r dm [kg m]")
    second_moments: Matrix3Field = Field(description="int r r^T dm [kg m^2] (not the inertia tensor)")
    modes: tuple[StandardModeSection, ...] = Field(min_length=1, max_length=MAX_MODES)
    products: tuple[ProductSection, ...] = Field(description="one per pair of fields; missing pairs are zero")
    stiffness: SquareField = Field(description="modes x modes")
    tip_frame: FrameSection = Field(default=FrameSection(), description="undeformed tip in the link frame")


class LumpedSection(_Flexible):
    """Any flexible body by the lumped masses of a mesh and its mode shapes at them."""

    type: Literal["lumped_masses"]
    modes: tuple[TipMotionSection, ...] = Field(min_length=1, max_length=MAX_MODES)
    nodes: tuple[NodeSection, ...] = Field(min_length=1)
    stiffness: SquareField = Field(description="modes x modes")
    tip_frame: FrameSection = Field(default=FrameSection(), description="undeformed tip in the link frame")


FlexibleSection: TypeAlias = "ModesSection | ElementsSection | StandardDataSection | LumpedSection"
TYPES = ("modes", "elements", "standard_data", "lumped_masses")
TAG = "type: "  # how the steps of pydantic's locations start that stand for no key of the file


def _kind(value: Any) -> str | None:
    if isinstance(value, _Flexible):
        return f"{TAG}{value.type}"  # type: ignore[attr-defined]
    return f"{TAG}{value.get('type')}" if isinstance(value, Mapping) else None


def _with_type(value: Any) -> Any:
    if isinstance(value, _Flexible):
        return value
    kind = value.get("type") if isinstance(value, Mapping) else None
    if kind not in TYPES:
        raise problem(
            f"a mapping with type: {', '.join(TYPES)}",
            did_you_mean(str(kind), TYPES, "add `type: modes`, or another"),
        )
    return value


FlexibleField = Annotated[
    Annotated[ModesSection, Tag(f"{TAG}modes")]
    | Annotated[ElementsSection, Tag(f"{TAG}elements")]
    | Annotated[StandardDataSection, Tag(f"{TAG}standard_data")]
    | Annotated[LumpedSection, Tag(f"{TAG}lumped_masses")],
    Discriminator(_kind),
    BeforeValidator(_with_type),
]
