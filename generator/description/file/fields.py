"""The fields that a robot file is made of: scalars, vectors, matrices, inertias, frames, bodies; their JSON schemas."""

from __future__ import annotations

import numbers
from collections.abc import Mapping, Sequence
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

from elastogen.generator.robot.expressions import LARGEST
from elastogen.generator.robot.location import did_you_mean


def problem(expected: str, fix: str = "", **context: Any) -> PydanticCustomError:
    """Return the error for a validator to raise: what was expected and the fix."""
    return PydanticCustomError("robot_file", "{expected}", {"expected": expected, "fix": fix, **context})


def _scalar(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, (numbers.Real, str)):
        raise problem("a number or an expression", 'for example 0.3 or "l1 + 0.1"')
    if isinstance(value, str):
        return value
    if not bool(abs(value) <= LARGEST):  # type: ignore[operator]  # also NaN
        raise problem(
            f"a finite number of at most {LARGEST:g} in SI units", "check the unit, or replace it by the measured value"
        )
    return int(value) if isinstance(value, numbers.Integral) else float(value)


def listed(value: Any) -> Any:
    """Take numpy arrays from Python callers as lists."""
    return value.tolist() if hasattr(value, "tolist") else value


def _direction(value: Any) -> str:
    """The fix where the name of an axis was given: ``y`` or ``-z``."""
    text = value.strip().lower() if isinstance(value, str) else ""
    if text.lstrip("+-") not in ("x", "y", "z") or len(text) > 2:
        return ""
    sign = -1 if text.startswith("-") else 1
    return f"write {[sign if axis == text[-1] else 0 for axis in 'xyz']}"


def _gravity(value: Any) -> Any:
    if isinstance(value, numbers.Real) and not isinstance(value, bool):
        raise problem(
            "three numbers [x, y, z] in the base frame, m/s^2", f"write [0, 0, {-abs(float(value)):g}] if z points up"
        )
    return _vector(value)


def _vector(value: Any) -> Any:
    value = listed(value)
    if not isinstance(value, (list, tuple)) or len(value) != 3:
        raise problem("three numbers [x, y, z]", _direction(value) or "for example [0, 0, 0.1]")
    return value


def _matrix(value: Any) -> Any:
    value = listed(value)
    rows = value if isinstance(value, (list, tuple)) else ()
    if len(rows) != 4 or any(not isinstance(row, (list, tuple)) or len(row) != 4 for row in rows):
        raise problem(
            "four rows of four numbers",
            "for example [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0.3], [0, 0, 0, 1]]",
        )
    return value


def _inertia(value: Any) -> Any:
    """Bring the forms of an inertia tensor into three rows of three."""
    value = listed(value)
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


SCALAR_SCHEMA: dict[str, Any] = {"type": ["number", "string"]}
ROW3_SCHEMA: dict[str, Any] = {"type": "array", "items": SCALAR_SCHEMA, "minItems": 3, "maxItems": 3}
_ROW4_SCHEMA: dict[str, Any] = {"type": "array", "items": SCALAR_SCHEMA, "minItems": 4, "maxItems": 4}
_INERTIA_SCHEMA: dict[str, Any] = {
    "anyOf": [
        {
            "type": "object",
            "properties": dict.fromkeys(("xx", "yy", "zz", "xy", "xz", "yz"), SCALAR_SCHEMA),
            "additionalProperties": False,
        },
        {"type": "array", "items": SCALAR_SCHEMA, "minItems": 3, "maxItems": 3},
        {"type": "array", "items": SCALAR_SCHEMA, "minItems": 6, "maxItems": 6},
        {"type": "array", "items": ROW3_SCHEMA, "minItems": 3, "maxItems": 3},
    ]
}

ScalarField = Annotated[int | float | str, PlainValidator(_scalar), WithJsonSchema(SCALAR_SCHEMA)]
Row3 = tuple[ScalarField, ScalarField, ScalarField]
Row4 = tuple[ScalarField, ScalarField, ScalarField, ScalarField]
VectorField = Annotated[Row3, BeforeValidator(_vector), WithJsonSchema(ROW3_SCHEMA)]
GravityField = Annotated[Row3, BeforeValidator(_gravity), WithJsonSchema(ROW3_SCHEMA)]
MatrixField = Annotated[
    tuple[Row4, Row4, Row4, Row4],
    BeforeValidator(_matrix),
    WithJsonSchema({"type": "array", "items": _ROW4_SCHEMA, "minItems": 4, "maxItems": 4}),
]
InertiaField = Annotated[tuple[Row3, Row3, Row3], BeforeValidator(_inertia), WithJsonSchema(_INERTIA_SCHEMA)]
NameField = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_.-]*$", max_length=63)]
AnyName = Annotated[str, Field(min_length=1)]  # of a link or joint, which another format may have named


class Section(BaseModel):
    """A part of the robot file: no key that is not declared."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _known_keys(cls, data: Any) -> Any:
        return check_keys(data, tuple(cls.model_fields))


def check_keys(data: Any, known: Sequence[str]) -> Any:
    """Refuse what is not a mapping, and keys that are not known."""
    if not isinstance(data, Mapping):
        raise problem(f"a mapping with the keys {', '.join(known)}", "write `key: value` lines")
    for key in data:
        if key not in known:
            raise problem(
                f"one of the keys {', '.join(known)}", did_you_mean(str(key), known, "remove it"), unknown_key=str(key)
            )
    return data


def exclusive(section: Section, these: tuple[str, ...], others: tuple[str, ...]) -> None:
    """Refuse a section that sets a key of both groups."""
    here = [key for key in these if getattr(section, key) is not None]
    there = [key for key in others if getattr(section, key) is not None]
    if here and there:
        raise problem(f"either {here[0]} or {there[0]}, not both", f"remove {there[0]}")


class FrameSection(Section):
    """A frame by a 4x4 matrix or by xyz and rpy (Rz(yaw) Ry(pitch) Rx(roll), as in URDF)."""

    xyz: VectorField | None = Field(default=None, description="origin [m]")
    rpy: VectorField | None = Field(default=None, description="roll, pitch, yaw [rad]")
    rpy_deg: VectorField | None = Field(default=None, description="roll, pitch, yaw in degrees")
    matrix: MatrixField | None = Field(default=None, description="4x4, row by row")

    @model_validator(mode="after")
    def _one_form(self) -> FrameSection:
        exclusive(self, ("matrix",), ("xyz", "rpy", "rpy_deg"))
        exclusive(self, ("rpy",), ("rpy_deg",))
        return self


class BodySection(Section):
    """Mass, centre of mass and inertia in the axes of the link's (or the tip's) frame."""

    mass: ScalarField = Field(default=0, description="[kg]")
    com: VectorField = Field(default=(0, 0, 0), description="centre of mass [m]")
    inertia: InertiaField = Field(
        default=((0, 0, 0), (0, 0, 0), (0, 0, 0)),
        description="inertia tensor [kg m^2]; xy is -integral of x y dm, as in URDF",
    )
    inertia_about: Literal["com", "frame"] = Field(default="com", description="point the inertia refers to")
    accept_unphysical_inertia: bool = Field(
        default=False,
        description="published moments that no real body has (triangle inequality, no mass): do not warn",
    )
