"""The robot file: pydantic models of its YAML structure, and the JSON schema that editors complete it with.

Only the structure is checked here (keys, shapes, kinds of values); what the numbers mean is checked on the
assembled robot. A *scalar* is a number or an expression in the file's parameters. SI units and radians unless
a key ends in ``_deg``.
"""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field, TypeAdapter, ValidationError, field_validator, model_validator
from pydantic.json_schema import SkipJsonSchema

from elastogen.generator.description.file.drive_file import FrictionSection, LimitsSection, MotorSection
from elastogen.generator.description.file.experiment_file import SimulationSection
from elastogen.generator.description.file.fields import (
    SCALAR_SCHEMA,
    AnyName,
    BodySection,
    FrameSection,
    GravityField,
    NameField,
    ScalarField,
    Section,
    VectorField,
    check_keys,
    exclusive,
    problem,
)
from elastogen.generator.description.file.ground_file import GroundSection
from elastogen.generator.description.file.loops_file import MAX_LOOPS, LoopSection
from elastogen.generator.description.file.points_file import PointSection
from elastogen.generator.description.file.terms_file import MAX_TERMS, TermSection
from elastogen.generator.description.flexible.kinds import FlexibleField
from elastogen.generator.joints.kinds import KINDS
from elastogen.generator.robot.joint_kind import COMMON_KEYS, Key
from elastogen.generator.robot.location import did_you_mean
from elastogen.generator.robot.tree import MAX_JOINTS


class ParameterSection(Section):
    """A named number, or just the number."""

    value: ScalarField = Field(description="nominal value in its unit; a number or a constant expression")
    unit: str = Field(default="", description="for example mm, kg m^2, GPa, deg; default: SI, whatever it is")
    doc: str = Field(default="", description="what it is, for the generated documentation")

    @model_validator(mode="before")
    @classmethod
    def _bare_number(cls, data: Any) -> Any:
        return {"value": data} if isinstance(data, (numbers.Real, str)) and not isinstance(data, bool) else data

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: Any, handler: Any) -> dict[str, Any]:
        """Publish that a bare number is a parameter, too."""
        return {"anyOf": [SCALAR_SCHEMA, handler.resolve_ref_schema(handler(core_schema))]}


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
            exclusive(self, (forms[0],), ("xyz", "rpy", "rpy_deg", *forms[1:]))
        return self


class ElasticitySection(Section):
    """A spring and a damper between the drive and the link: one more coordinate, the joint's deflection."""

    stiffness: ScalarField = Field(description="[N m/rad] or [N/m]")
    damping: ScalarField = Field(default=0, description="[N m s/rad] or [N s/m]")


def own_value(key: Key, value: Any) -> Any:
    """The value of a key that only one kind has, or the error that says what it must be; what is written the kind reads."""
    if key.shape == "written":
        return value
    wanted: Any = VectorField if key.shape == "direction" else ScalarField
    try:
        return TypeAdapter(wanted).validate_python(value)
    except ValidationError:
        shown = "a direction, three numbers" if key.shape == "direction" else f"a number [{key.unit}] or an expression"
        raise problem(shown, f"{key.name}: {key.doc}", at=key.name) from None


class JointSection(Section):
    """A joint and the link it carries."""

    name: NameField
    type: str = Field(description="kind of joint", json_schema_extra={"enum": list(KINDS)})
    parent: NameField | None = Field(default=None, description="default: the child of the joint before, or the base")
    child: NameField | None = Field(default=None, description="default: the next link of `links`, or link1, link2, ...")
    axis: VectorField | None = Field(default=None, description="in the joint frame, default [0, 0, 1]; made unit length")
    placement: PlacementSection = PlacementSection()
    x: ScalarField | None = Field(
        default=None, description="on a beam: where it sits, along the beam from its clamp [m]; default: on the tip"
    )
    interface: NameField | None = Field(
        default=None, description="on a flexible link: the interface it sits on, by name; default: its own name's, or the tip"
    )
    limits: LimitsSection = LimitsSection()
    motor: MotorSection = MotorSection()
    friction: FrictionSection = FrictionSection()
    elasticity: ElasticitySection | None = Field(default=None, description="makes the joint flexible")
    gamma: ScalarField | None = Field(
        default=None,
        description="sliding, telescopic: angle about z between the parent beam and the child; "
        "prismatic: of the child behind the motion [rad]",
    )
    slide: Literal["smooth", "nodal"] = Field(
        default="smooth", description="sliding, telescopic: at the joint's very place, or by nodes as paper 003 prints it"
    )

    follows: ScalarField | None = Field(
        default=None, description="its position as an expression in q('other joint') and parameters: no coordinate of its own"
    )

    driven: bool | None = Field(
        default=None,
        description="whether drives act on it; default: true, but false for a floating joint and for `base: floating`",
    )

    own: SkipJsonSchema[dict[str, Any]] = Field(default_factory=dict, description="keys that only joints of this kind have")

    @model_validator(mode="before")
    @classmethod
    def _known_keys(cls, data: Any) -> Any:
        """The keys of all kinds, and those of this one."""
        common = [key for key in cls.model_fields if key != "own"]
        if isinstance(data, JointSection):
            return data
        given = data.get("type") if isinstance(data, Mapping) else None
        kind = KINDS.get(given) if isinstance(given, str) else None
        if kind is None:  # a type that is not a kind is refused below, whatever its keys
            return check_keys(data, common if given is None else [*common, *map(str, data)])
        check_keys(data, [*common, *(key.name for key in kind.keys)])
        own = {key.name: own_value(key, data[key.name]) for key in kind.keys if key.name in data}
        return {**{key: value for key, value in data.items() if key not in own}, "own": own}

    @field_validator("type")
    @classmethod
    def _is_a_kind(cls, value: str) -> str:
        if value not in KINDS:
            raise problem(f"a kind of joint: {', '.join(KINDS)}", did_you_mean(value, KINDS, "choose one of them"))
        return value

    @model_validator(mode="after")
    def _fits_its_kind(self) -> JointSection:
        kind = KINDS[self.type]
        if self.driven is not None and (not kind.moves or self.follows is not None):
            raise problem("no driven for a joint without a coordinate of its own", "remove driven", at="driven")
        exclusive(self, ("x",), ("interface",))
        for key in ("x", "interface"):
            if kind.rides_parent and getattr(self, key) is not None:
                raise problem(f"no {key} for a {self.type} joint, which slides along its parent", f"remove {key}", at=key)
        for key in ("gamma", "slide", *COMMON_KEYS):
            value = getattr(self, key) if key in self.model_fields_set else None
            given = value.model_fields_set if isinstance(value, Section) else value is not None
            if given and key not in kind.takes:
                others = ", ".join(name for name, other in KINDS.items() if key in other.takes)
                raise problem(f"no {key} for a {self.type} joint; {others} joints take it", f"remove {key}", at=key)
            if not given and key in kind.needs:
                raise problem(f"{key} of a {self.type} joint", f"add {key}: 0, or what it is", at=key)
        for own in kind.keys:
            if own.default is None and own.name not in self.own:
                raise problem(f"{own.name} of a {self.type} joint: {own.doc}", f"add {own.name}", at=own.name)
        return self


class LinkSection(BodySection):
    """A link and its inertial data."""

    name: NameField
    flexible: FlexibleField | None = Field(
        default=None, description="makes the link flexible; mass, com and inertia are then those of its rigid hub"
    )


class TipSection(FrameSection):
    """The tip frame and the link it is fixed to."""

    link: AnyName | None = Field(default=None, description="default: the end of the longest chain")


class AnyRobotFile(Section):
    """What every robot file has. SI units, radians."""

    elastogen: Literal[1] = Field(description="version of this format")
    name: str = Field(description="prefix of every C symbol and file: a C identifier of at most 31 characters")
    description: str = ""
    parameters: dict[str, ParameterSection] = Field(default_factory=dict, description="named numbers for expressions")
    live: tuple[str, ...] = Field(default=(), description="parameters, and paths with *, that stay inputs of the generated C")
    points: tuple[PointSection, ...] = Field(default=(), description="sensors, gauges, places where forces act")
    loops: tuple[LoopSection, ...] = Field(
        default=(), max_length=MAX_LOOPS, description="cut joints that close the tree, and linear rows between coordinates"
    )
    snap: bool = Field(default=True, description="numbers of placements within 1e-11 of 0, 1 and -1 are taken as exact")
    terms: tuple[TermSection, ...] = Field(
        default=(), max_length=MAX_TERMS, description="own potentials, dissipation functions and forces"
    )
    ground: GroundSection | None = Field(default=None, description="a plane that frames touch in simulations")
    lock: dict[str, float | list[float]] = Field(default={}, description="joints that are fixed at these values [rad] or [m]")
    simulation: SimulationSection | None = Field(default=None, description="what `elastogen simulate` shows by default")


class RobotFile(AnyRobotFile):
    """A robot for elastogen. SI units, radians."""

    gravity: GravityField = Field(default=(0, 0, -9.81), description="in the base frame [m/s^2]")
    base: Literal["fixed", "floating", "driven"] = Field(
        default="fixed",
        description="floating: the base link is free, on a floating joint called base; driven: with six drives on that joint",
    )
    links: tuple[LinkSection, ...] = Field(default=(), description="the base link first if it is listed")
    joints: tuple[JointSection, ...] = Field(max_length=MAX_JOINTS)
    tip: TipSection = TipSection()
    payload: BodySection = Field(default=BodySection(), description="attached to the tip frame")
