"""The ``loops:`` block of a robot file: cut joints that close the tree, and linear rows between coordinates.

loops:
- {name: pin, type: revolute, a: {link: coupler, xyz: [0.8, 0, 0]}, b: {link: rocker, xyz: [0.6, 0, 0]}, axis: [0, 0, 1]}
- {name: rod, type: distance, a: {link: crank, xyz: [0.1, 0, 0]}, b: {link: world, xyz: [0.5, 0, 0]}, length: 0.3}
- {name: belt, type: gear, coefficients: {motor: 1, arm: -20}, constant: 0}
"""

from __future__ import annotations

from pydantic import Field, field_validator, model_validator

from elastogen.generator.description.file.fields import (
    AnyName,
    FrameSection,
    NameField,
    ScalarField,
    Section,
    VectorField,
    exclusive,
    problem,
)
from elastogen.generator.robot.location import did_you_mean
from elastogen.generator.robot.loops.loop import TYPES

MAX_LOOPS = 200


class LoopEndSection(FrameSection):
    """A frame on a link; on a flexible link seen from its tip frame, or from the section at x."""

    link: AnyName = Field(description="the link that carries it, or world: the base frame")
    x: ScalarField | None = Field(default=None, description="flexible links: instead of xyz, place along the beam [m]")

    @model_validator(mode="after")
    def _one_place(self) -> LoopEndSection:
        exclusive(self, ("x",), ("xyz", "matrix"))
        return self


class LoopSection(Section):
    """A loop: it is closed where the free motion of its type brings a to b."""

    name: NameField | None = Field(default=None, description="default: loop1, loop2, ...")
    type: str = Field(description="kind of loop", json_schema_extra={"enum": list(TYPES)})
    a: LoopEndSection | None = Field(default=None, description="one frame")
    b: LoopEndSection | None = Field(default=None, description="the other frame")
    axis: VectorField | None = Field(default=None, description="in the axes of both frames, default [0, 0, 1]")
    axis2: VectorField | None = Field(default=None, description="universal: the axis in b, perpendicular to axis in a")
    length: ScalarField | None = Field(default=None, description="distance: between the origins [m]")
    coefficients: dict[str, ScalarField] | None = Field(default=None, description="gear: numbers by names of coordinates")
    constant: ScalarField | None = Field(default=None, description="gear: what their sum is, default 0")

    @field_validator("type")
    @classmethod
    def _is_a_type(cls, value: str) -> str:
        if value not in TYPES:
            raise problem(f"a type of loop: {', '.join(TYPES)}", did_you_mean(value, TYPES, "choose one of them"))
        return value

    @model_validator(mode="after")
    def _fits_its_type(self) -> LoopSection:
        kind = TYPES[self.type]
        for key in ("axis", "axis2", "length", "coefficients", "constant"):
            if getattr(self, key) is not None and key not in kind.keys:
                raise problem(f"no {key} for a {self.type} loop", f"remove {key}", at=key)
        needed = (*(("a", "b") if kind.between_frames else ()), *(key for key in kind.keys if key in ("axis2", "length")))
        for key in (*needed, *(("coefficients",) if not kind.between_frames else ())):
            if getattr(self, key) is None:
                raise problem(f"{key} of a {self.type} loop", f"add {key}", at=key)
        if not kind.between_frames and (self.a is not None or self.b is not None):
            raise problem("no a and b for a gear, which joins coordinates", "remove a and b")
        return self
