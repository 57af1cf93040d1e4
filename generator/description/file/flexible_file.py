"""What the ``flexible:`` blocks of robot files have in common: fields, damping, the properties of a beam.

The keys of each ``type`` are in the file of its kind (generator/description/flexible). As in :mod:`robot_file`, only keys,
shapes and kinds of values are checked here; what the numbers mean is checked when the link is assembled.
"""

from __future__ import annotations

import numbers
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from elastogen.generator.description.file.fields import (
    ROW3_SCHEMA,
    SCALAR_SCHEMA,
    BodySection,
    FrameSection,
    Row3,
    ScalarField,
    Section,
    VectorField,
    listed,
    problem,
)

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


class RayleighSection(Section):
    """Damping alpha M + beta K of the clamped link with its tip body."""

    alpha: ScalarField = Field(default=0, description="[1/s]")
    beta: ScalarField = Field(default=0, description="[s]")


class DampingSection(Section):
    """Damping of the elastic coordinates: one of ratio, ratios, rayleigh, matrix."""

    ratio: ScalarField | None = Field(default=None, description="damping ratio of every clamped mode [-]")
    ratios: ListField | None = Field(default=None, description="damping ratios of the lowest clamped modes, lowest first [-]")
    rayleigh: RayleighSection | None = None
    matrix: SquareField | None = Field(default=None, description="coordinates x coordinates")

    @model_validator(mode="after")
    def _one_form(self) -> DampingSection:
        given = [key for key in ("ratio", "ratios", "rayleigh", "matrix") if getattr(self, key) is not None]
        if len(given) != 1:
            raise problem("exactly one of ratio, ratios, rayleigh, matrix", "for example {ratio: 0.01}")
        return self


class InterfaceSection(Section):
    """A place beside the tip that carries joints, of a body whose data come from elsewhere."""

    frame: FrameSection = Field(default=FrameSection(), description="undeformed, in the link frame")
    displacements: tuple[VectorField, ...] = Field(description="of its origin, one per mode in the order of `modes`")
    rotations: tuple[VectorField, ...] = Field(
        description="rotation vectors per unit coordinate, one per mode; of second-order fields none"
    )


class FlexibleSection(Section):
    """What every kind of flexible link has."""

    type: str = Field(description="kind of flexible link")
    tip: BodySection = Field(default=BodySection(), description="rigid body on the tip, in the tip frame")
    rotation: Literal["exponential", "linear"] = Field(
        default="exponential", description="of the tip: proper rotation exp{delta x}, or E + {delta x} as in 000 (66)"
    )
    damping: DampingSection | None = Field(default=None, description="default: none")


class BeamSection(FlexibleSection):
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
    rotary_inertia: bool = Field(default=False, description="sections rotate with the slope in bending (Rayleigh beam)")
    foreshortening: bool = Field(default=False, description="second-order shortening: geometric stiffening")
    shear: bool = Field(default=False, description="sections shear in bending (Timoshenko beam, with rotary_inertia)")
    GA: PropertySection | None = Field(default=None, description="shear stiffness k G A in both directions [N]")
    GA_y: PropertySection | None = Field(default=None, description="shear stiffness of bending in y [N]")
    GA_z: PropertySection | None = Field(default=None, description="shear stiffness of bending in z [N]")

    @model_validator(mode="after")
    def _one_each(self) -> BeamSection:
        given = [key for key in ("GA", "GA_y", "GA_z") if getattr(self, key) is not None]
        if given and not self.shear:
            raise problem(f"shear: true beside {given[0]}", f"add shear: true, or remove {given[0]}", at=given[0])
        pairs = (("EI", ("EI_y", "EI_z")), ("GA", ("GA_y", "GA_z")), ("polar_inertia_per_length", _SECTION_INERTIAS))
        for both, each in pairs:
            doubled = [key for key in each if getattr(self, key) is not None]
            if getattr(self, both) is not None and doubled:
                raise problem(f"either {both} or {doubled[0]}", f"remove {both} or {doubled[0]}")
        return self


_SECTION_INERTIAS = ("inertia_y_per_length", "inertia_z_per_length")
