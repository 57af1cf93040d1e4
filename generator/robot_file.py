"""The robot file: pydantic models of its YAML structure, and the JSON schema that editors complete it with.

Only the structure is checked here (keys, shapes, kinds of values); what the numbers mean is checked on the
assembled robot. A *scalar* is a number or an expression in the file's parameters. SI units and radians unless
a key ends in ``_deg``.
"""

from __future__ import annotations

import json
import math
import numbers
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainValidator,
    WithJsonSchema,
    model_validator,
)
from pydantic_core import PydanticCustomError

from elastogen.generator.location import did_you_mean

FORMAT_VERSION = 1
MAX_JOINTS = 1000


def problem(expected: str, fix: str = "", **context: Any) -> PydanticCustomError:
    """Return the error for a validator to raise: what was expected and the fix."""
    return PydanticCustomError("robot_file", "{expected}", {"expected": expected, "fix": fix, **context})


def _scalar(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, (numbers.Real, str)):
        raise problem("a number or an expression", 'for example 0.3 or "l1 + 0.1"')
    if isinstance(value, str):
        return value
    if not math.isfinite(value):
        raise problem("a finite number", "replace it by the measured value")
    return int(value) if isinstance(value, numbers.Integral) else float(value)


def _listed(value: Any) -> Any:
    """Take numpy arrays from Python callers as lists."""
    return value.tolist() if hasattr(value, "tolist") else value


def _vector(value: Any) -> Any:
    value = _listed(value)
    if not isinstance(value, (list, tuple)) or len(value) != 3:
        raise problem("three numbers [x, y, z]", "for example [0, 0, 0.1]")
    return value


def _matrix(value: Any) -> Any:
    value = _listed(value)
    rows = value if isinstance(value, (list, tuple)) else ()
    if len(rows) != 4 or any(not isinstance(row, (list, tuple)) or len(row) != 4 for row in rows):
        raise problem(
            "four rows of four numbers",
            "for example [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0.3], [0, 0, 0, 1]]",
        )
    return value


def _inertia(value: Any) -> Any:
    """Bring the forms of an inertia tensor into three rows of three."""
    value = _listed(value)
    forms = problem(
        "an inertia tensor: {xx, yy, zz, xy, xz, yz}, [xx, yy, zz], [xx, yy, zz, xy, xz, yz] or 3 rows of 3",
        "for example {xx: 0.1, yy: 0.1, zz: 0.02}",
    )
    if isinstance(value, Mapping):
        unknown = [key for key in value if key not in ("xx", "yy", "zz", "xy", "xz", "yz")]
        if unknown:
            raise forms
        xx, yy, zz, xy, xz, yz = (value.get(key, 0) for key in ("xx", "yy", "zz", "xy", "xz", "yz"))
        return ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))
    if not isinstance(value, (list, tuple)) or len(value) not in (3, 6):
        raise forms
    if any(isinstance(row, (list, tuple)) for row in value):
        if len(value) != 3 or any(not isinstance(row, (list, tuple)) or len(row) != 3 for row in value):
            raise forms
        return value
    xx, yy, zz, xy, xz, yz = (*value, 0, 0, 0) if len(value) == 3 else value
    return ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))


_SCALAR_SCHEMA: dict[str, Any] = {"type": ["number", "string"]}
_ROW3: dict[str, Any] = {"type": "array", "items": _SCALAR_SCHEMA, "minItems": 3, "maxItems": 3}
_ROW4: dict[str, Any] = {"type": "array", "items": _SCALAR_SCHEMA, "minItems": 4, "maxItems": 4}
_INERTIA_SCHEMA: dict[str, Any] = {
    "anyOf": [
        {
            "type": "object",
            "properties": dict.fromkeys(("xx", "yy", "zz", "xy", "xz", "yz"), _SCALAR_SCHEMA),
            "additionalProperties": False,
        },
        {"type": "array", "items": _SCALAR_SCHEMA, "minItems": 3, "maxItems": 3},
        {"type": "array", "items": _SCALAR_SCHEMA, "minItems": 6, "maxItems": 6},
        {"type": "array", "items": _ROW3, "minItems": 3, "maxItems": 3},
    ]
}

ScalarField = Annotated[int | float | str, PlainValidator(_scalar), WithJsonSchema(_SCALAR_SCHEMA)]
Row3 = tuple[ScalarField, ScalarField, ScalarField]
Row4 = tuple[ScalarField, ScalarField, ScalarField, ScalarField]
VectorField = Annotated[Row3, BeforeValidator(_vector), WithJsonSchema(_ROW3)]
MatrixField = Annotated[
    tuple[Row4, Row4, Row4, Row4],
    BeforeValidator(_matrix),
    WithJsonSchema({"type": "array", "items": _ROW4, "minItems": 4, "maxItems": 4}),
]
InertiaField = Annotated[tuple[Row3, Row3, Row3], BeforeValidator(_inertia), WithJsonSchema(_INERTIA_SCHEMA)]
NameField = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_.-]*$", max_length=63)]


class Section(BaseModel):
    """A part of the robot file: no key that is not declared."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _known_keys(cls, data: Any) -> Any:
        if not isinstance(data, Mapping):
            known = ", ".join(cls.model_fields)
            raise problem(f"a mapping with the keys {known}", "write `key: value` lines")
        for key in data:
            if key not in cls.model_fields:
                known = ", ".join(cls.model_fields)
                raise problem(
                    f"one of the keys {known}",
                    did_you_mean(str(key), cls.model_fields, "remove it"),
                    unknown_key=str(key),
                )
        return data


class ParameterSection(Section):
    """A named number, or just the number."""

    value: ScalarField = Field(description="nominal value, SI units; a number or a constant expression")
    unit: str = Field(default="", description="for the generated documentation, for example m or kg m^2")
    doc: str = Field(default="", description="what it is, for the generated documentation")

    @model_validator(mode="before")
    @classmethod
    def _bare_number(cls, data: Any) -> Any:
        return (
            {"value": data} if isinstance(data, (numbers.Real, str)) and not isinstance(data, bool) else data
        )

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: Any, handler: Any) -> dict[str, Any]:
        """Publish that a bare number is a parameter, too."""
        return {"anyOf": [_SCALAR_SCHEMA, handler.resolve_ref_schema(handler(core_schema))]}


class DhSection(Section):
    """A row of a Denavit-Hartenberg table; the coordinate adds to theta (revolute) or d (prismatic)."""

    a: ScalarField = Field(default=0, description="along x [m]")
    alpha: ScalarField = Field(default=0, description="about x [rad]")
    d: ScalarField = Field(default=0, description="along z [m]")
    theta: ScalarField = Field(default=0, description="about z [rad]")
    alpha_deg: ScalarField | None = Field(default=None, description="alpha in degrees")
    theta_deg: ScalarField | None = Field(default=None, description="theta in degrees")

    @model_validator(mode="after")
    def _one_unit(self) -> DhSection:
        for angle in ("alpha", "theta"):
            if {angle, f"{angle}_deg"} <= self.model_fields_set:
                raise problem(f"either {angle} or {angle}_deg", f"remove {angle} or {angle}_deg")
        return self


class FrameSection(Section):
    """A frame by a 4x4 matrix or by xyz and rpy (Rz(yaw) Ry(pitch) Rx(roll), as in URDF)."""

    xyz: VectorField | None = Field(default=None, description="origin [m]")
    rpy: VectorField | None = Field(default=None, description="roll, pitch, yaw [rad]")
    rpy_deg: VectorField | None = Field(default=None, description="roll, pitch, yaw in degrees")
    matrix: MatrixField | None = Field(default=None, description="4x4, row by row")

    @model_validator(mode="after")
    def _one_form(self) -> FrameSection:
        _exclusive(self, ("matrix",), ("xyz", "rpy", "rpy_deg"))
        _exclusive(self, ("rpy",), ("rpy_deg",))
        return self


class ScrewSection(Section):
    """The joint's axis at the zero configuration, in the base frame (k_i0, p_i0 of matrix exponentials)."""

    axis: VectorField = Field(description="direction in the base frame")
    point: VectorField = Field(default=(0, 0, 0), description="a point on the axis, in the base frame [m]")
    frame: FrameSection | None = Field(
        default=None,
        description="the child's frame at zero, in the base frame; default: parallel to the base, in `point`",
    )


class PlacementSection(FrameSection):
    """Where the joint sits on its parent link: one of xyz/rpy, matrix, dh, mdh, screw."""

    dh: DhSection | None = Field(default=None, description="standard DH: Rz(theta) Tz(d) Tx(a) Rx(alpha)")
    mdh: DhSection | None = Field(default=None, description="modified DH: Rx(alpha) Tx(a) Rz(theta) Tz(d)")
    screw: ScrewSection | None = Field(default=None, description="screw axis at the zero configuration")

    @model_validator(mode="after")
    def _one_placement(self) -> PlacementSection:
        forms = [form for form in ("matrix", "dh", "mdh", "screw") if getattr(self, form) is not None]
        if forms:
            _exclusive(self, (forms[0],), ("xyz", "rpy", "rpy_deg", *forms[1:]))
        return self


def _exclusive(section: Section, these: tuple[str, ...], others: tuple[str, ...]) -> None:
    here = [key for key in these if getattr(section, key) is not None]
    there = [key for key in others if getattr(section, key) is not None]
    if here and there:
        raise problem(f"either {here[0]} or {there[0]}, not both", f"remove {there[0]}")


class LimitsSection(Section):
    """Range of a joint's motion."""

    lower: ScalarField | None = Field(default=None, description="[rad] or [m]")
    upper: ScalarField | None = Field(default=None, description="[rad] or [m]")
    velocity: ScalarField | None = Field(default=None, description="[rad/s] or [m/s]")
    effort: ScalarField | None = Field(default=None, description="[N m] or [N]")


class MotorSection(Section):
    """The joint's motor: it adds gear_ratio^2 * inertia to the joint."""

    inertia: ScalarField = Field(default=0, description="of the rotor, motor side [kg m^2]")
    gear_ratio: ScalarField = Field(
        default=1, description="motor turns per joint turn, or [rad/m] for a prismatic joint"
    )


class FrictionSection(Section):
    """Friction on the joint side: viscous qd + coulomb tanh(qd / coulomb_velocity)."""

    viscous: ScalarField = Field(default=0, description="[N m s/rad] or [N s/m]")
    coulomb: ScalarField = Field(default=0, description="[N m] or [N]")
    coulomb_velocity: ScalarField = Field(
        default=0.01, description="width of the smoothed sign [rad/s] or [m/s]"
    )


class JointSection(Section):
    """A joint and the link it carries."""

    name: NameField
    type: Literal["revolute", "continuous", "prismatic", "fixed"]
    parent: NameField | None = Field(
        default=None, description="default: the child of the joint before, or the base"
    )
    child: NameField | None = Field(
        default=None, description="default: the next link of `links`, or link1, link2, ..."
    )
    axis: VectorField | None = Field(
        default=None, description="in the joint frame, default [0, 0, 1]; made unit length"
    )
    placement: PlacementSection = PlacementSection()
    limits: LimitsSection = LimitsSection()
    motor: MotorSection = MotorSection()
    friction: FrictionSection = FrictionSection()


class BodySection(Section):
    """Mass, centre of mass and inertia in the axes of the link's (or the tip's) frame."""

    mass: ScalarField = Field(default=0, description="[kg]")
    com: VectorField = Field(default=(0, 0, 0), description="centre of mass [m]")
    inertia: InertiaField = Field(
        default=((0, 0, 0), (0, 0, 0), (0, 0, 0)),
        description="inertia tensor [kg m^2]; xy is -integral of x y dm, as in URDF",
    )
    inertia_about: Literal["com", "frame"] = Field(default="com", description="point the inertia refers to")


class LinkSection(BodySection):
    """A link and its inertial data."""

    name: NameField
    accept_unphysical_inertia: bool = Field(
        default=False,
        description="published moments that no real body has (triangle inequality, no mass): do not warn",
    )


class TipSection(FrameSection):
    """The tip frame and the link it is fixed to."""

    link: NameField | None = Field(default=None, description="default: the end of the longest chain")


class RobotFile(Section):
    """A robot for elastogen. SI units, radians."""

    elastogen: Literal[1] = Field(description="version of this format")
    name: str = Field(
        description="prefix of every C symbol and file: a C identifier of at most 31 characters"
    )
    description: str = ""
    gravity: VectorField = Field(default=(0, 0, -9.81), description="in the base frame [m/s^2]")
    parameters: dict[str, ParameterSection] = Field(
        default_factory=dict, description="named numbers for expressions"
    )
    live: tuple[str, ...] = Field(
        default=(), description="parameters, and paths with *, that stay inputs of the generated C"
    )
    links: tuple[LinkSection, ...] = Field(default=(), description="the base link first if it is listed")
    joints: tuple[JointSection, ...] = Field(max_length=MAX_JOINTS)
    tip: TipSection = TipSection()
    payload: BodySection = Field(default=BodySection(), description="attached to the tip frame")


def json_schema() -> str:
    """Return the JSON schema of a robot file, as published in ``robot.schema.json``."""
    schema = RobotFile.model_json_schema()
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": "elastogen-robot", **schema}
    return json.dumps(schema, indent=1, sort_keys=True) + "\n"


if __name__ == "__main__":  # python -m elastogen.generator.robot_file > generator/robot.schema.json
    print(json_schema(), end="")
