"""A robot file on top of another description: ``base_description:`` and what is to be different.

    base_description: panda.urdf
    links:
      - {name: panda_link3, flexible: {type: elements, mass_per_length: 4, EI: 900, elements: 2}}
    joints:
      - {name: panda_joint4, elasticity: {stiffness: 2.0e4}, motor: {inertia: 1.0e-4, gear_ratio: 100}}

Links and joints are found by their names; keys that are not given stay as they are.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, WithJsonSchema, model_validator

from elastogen.generator.description.file.drive_file import FrictionSection, LimitsSection, MotorSection
from elastogen.generator.description.file.fields import (
    AnyName,
    BodySection,
    FrameSection,
    GravityField,
    InertiaField,
    ScalarField,
    Section,
    VectorField,
    problem,
)
from elastogen.generator.description.file.robot_file import (
    AnyRobotFile,
    ElasticitySection,
    TipSection,
)

_FLEXIBLE = {"type": "object", "description": "as in any robot file; the length of a beam may be left out"}


class BaseSection(Section):
    """The other description, and how it is read; a bare name is the file."""

    file: str = Field(description="a path relative to this file, or a built-in name", max_length=1000)
    mimic: Literal["follow", "independent", "error"] | None = Field(
        default=None, description="what mimic joints of a URDF do (default: follow)"
    )
    friction: bool = Field(default=False, description="take its damping and friction into the equations")
    arguments: dict[str, str | float | bool] = Field(default={}, description="of a xacro file")

    @model_validator(mode="before")
    @classmethod
    def _bare_file(cls, data: Any) -> Any:
        return {"file": data} if isinstance(data, str) else data

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: Any, handler: Any) -> dict[str, Any]:
        """Publish that a bare path is a description, too."""
        return {"anyOf": [{"type": "string"}, handler.resolve_ref_schema(handler(core_schema))]}


class ChangedLink(Section):
    """A link of the other description, and what is different about it."""

    name: AnyName
    mass: ScalarField | None = Field(default=None, description="of all of it [kg]")
    com: VectorField | None = Field(default=None, description="centre of mass [m]")
    inertia: InertiaField | None = Field(default=None, description="inertia tensor [kg m^2]")
    inertia_about: Literal["com", "frame"] = Field(default="com", description="point the inertia refers to")
    accept_unphysical_inertia: bool = Field(default=False, description="do not warn of it")
    flexible: Annotated[dict[str, Any], WithJsonSchema(_FLEXIBLE)] | None = Field(
        default=None, description="makes the link flexible: a part of its mass becomes this body"
    )
    rest: Literal["hub", "tip", "none"] = Field(
        default="hub", description="where the rest of the link's mass goes: mass and centre are kept; none: it is dropped"
    )
    frame: FrameSection | None = Field(
        default=None, description="of the flexible body in the link; default: x from the link's frame to the next joint"
    )
    end: AnyName | None = Field(default=None, description="the joint that the beam reaches; default: the one that leads on")
    on_hub: tuple[AnyName, ...] = Field(default=(), description="joints that stay on the rigid hub instead of the tip")
    on_tip: tuple[AnyName, ...] = Field(default=(), description="joints that are meant to share the tip: no warning of it")
    along: dict[AnyName, ScalarField] = Field(
        default={}, description="joints that move with the beam at these places x [m] instead of the tip"
    )

    @model_validator(mode="after")
    def _only_of_flexible(self) -> ChangedLink:
        for key in ("rest", "frame", "end", "on_hub", "on_tip", "along"):
            if self.flexible is None and key in self.model_fields_set:
                raise problem(f"{key} beside flexible", f"remove {key}, or make the link flexible", at=key)
        if self.inertia is None and "inertia_about" in self.model_fields_set:
            raise problem("inertia_about beside inertia", "give the inertia, too", at="inertia_about")
        return self


class ChangedJoint(Section):
    """A joint of the other description, and what is different about it."""

    name: AnyName
    limits: LimitsSection | None = None
    motor: MotorSection | None = None
    friction: FrictionSection | None = None
    elasticity: ElasticitySection | None = Field(default=None, description="makes the joint flexible")
    driven: bool | None = Field(default=None, description="whether drives act on it")
    follows: ScalarField | None = Field(
        default=None, description="its position as an expression in q('other joint') and parameters: no coordinate of its own"
    )


class ChangesFile(AnyRobotFile):
    """A robot for elastogen that is another one with changes. SI units, radians."""

    base_description: BaseSection = Field(description="the robot that is changed: a file or a built-in name")
    gravity: GravityField | None = Field(default=None, description="in the base frame [m/s^2]")
    base: Literal["fixed", "floating", "driven"] | None = Field(
        default=None, description="floating: the base link is free; driven: with six drives"
    )
    links: tuple[ChangedLink, ...] = Field(default=(), description="links that are different")
    joints: tuple[ChangedJoint, ...] = Field(default=(), description="joints that are different")
    tip: TipSection | None = None
    payload: BodySection | None = Field(default=None, description="attached to the tip frame")
