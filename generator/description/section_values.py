"""Reads the numbers of a robot file's sections: expressions in its parameters become scalars, frames, bodies, links."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import sympy

from elastogen.generator.description.file.drive_file import FrictionSection, LimitsSection, MotorSection
from elastogen.generator.description.file.fields import BodySection, FrameSection, ScalarField, VectorField
from elastogen.generator.description.file.flexible_file import FlexibleSection
from elastogen.generator.description.file.robot_file import (
    ElasticitySection,
    JointSection,
    LinkSection,
    ParameterSection,
)
from elastogen.generator.description.flexible.assemble import flexible_body
from elastogen.generator.description.flexible.kind import DescribedLink
from elastogen.generator.description.flexible.kinds import FLEXIBLE_KINDS
from elastogen.generator.robot import placement
from elastogen.generator.robot.expressions import LARGEST, parse_scalar
from elastogen.generator.robot.joint_kind import JointKind
from elastogen.generator.robot.location import Location
from elastogen.generator.robot.names import check_parameter_name, check_unit
from elastogen.generator.robot.robot import (
    IDENTITY,
    Actuation,
    Body,
    JointElasticity,
    Limits,
    Link,
    Matrix,
    Parameter,
    Scalar,
    Vector,
)
from elastogen.generator.robot.units.table import parse_unit

_AS_PARAMETER = "write {{value: {number}, unit: {unit}}}"  # what is said about a value that contains its unit


def read_parameters(sections: Mapping[str, ParameterSection], where: Location) -> dict[str, Parameter]:
    """The named numbers of a file, in SI units whatever units they were given in."""
    parameters = {}
    for name, section in sections.items():
        here = where.at(name)
        check_parameter_name(name, here)
        check_unit(section.unit, here.at("unit"))
        unit = parse_unit(section.unit)
        value = float(parse_scalar(section.value, {}, here.at("value"), _AS_PARAMETER))
        in_si = unit.in_si(value)
        if not (abs(in_si) <= LARGEST and (in_si != 0) == (value != 0)):
            raise here.at("value").error(f"{value:g} {section.unit}", f"at most {LARGEST:g} in SI units", "check the unit")
        parameters[name] = Parameter(name, in_si, section.unit if unit.is_si else unit.si, " ".join(section.doc.split()))
    return parameters


class SectionValues:
    """Values of the numbers and expressions in a file's sections, with its parameters."""

    def __init__(self, parameters: Mapping[str, Parameter]) -> None:
        self.parameters = parameters

    def details(self, section: JointSection, kind: JointKind, here: Location) -> dict[str, Scalar | Vector]:
        """The numbers that only joints of this kind have."""
        found: dict[str, Scalar | Vector] = {}
        for key in kind.numbers:
            given, inside = section.own.get(key.name, key.default), here.at(key.name)
            assert given is not None  # the section has checked it
            if isinstance(given, tuple):
                found[key.name] = placement.unit_axis(self.vector(given, inside), inside)
            else:
                found[key.name] = self.scalar(given, inside)
        return found

    def frame(self, section: FrameSection, here: Location) -> Matrix:
        """A frame by a matrix, or by xyz and rpy."""
        if section.matrix is not None:
            rows = tuple(
                tuple(self.scalar(entry, here.at("matrix", i, j)) for j, entry in enumerate(row))
                for i, row in enumerate(section.matrix)
            )
            return placement.from_matrix(rows, here.at("matrix"))
        if section.rpy_deg is not None:
            inside = here.at("rpy_deg")
            roll, pitch, yaw = (self.degrees(angle, inside.at(i)) for i, angle in enumerate(section.rpy_deg))
            rpy: Vector = (roll, pitch, yaw)
        else:
            rpy = self.vector(section.rpy or (0, 0, 0), here.at("rpy"))
            placement.warn_of_degrees(rpy, here.at("rpy"), "write rpy_deg")
        return placement.from_xyz_rpy(self.vector(section.xyz or (0, 0, 0), here.at("xyz")), rpy)

    def link(self, name: str, section: LinkSection | None, telescopic: str, here: Location) -> Link:
        """A link; ``telescopic`` says how a flexible one slides through its joint."""
        body = self.body(section, here)
        if section is None or section.flexible is None:
            return Link(name, body)
        given, inside = section.flexible, here.at("flexible")
        if FLEXIBLE_KINDS[given.type].needs_robot:
            return Link(name, body)
        tip_body = self.body(given.tip, inside.at("tip"))
        return Link(name, body, flexible_body(self.described(given, tip_body, inside), telescopic), tip_body)

    def described(self, given: FlexibleSection, tip_body: Body, here: Location) -> DescribedLink[Any]:
        """A flexible link with the frames that its file gives."""
        kind = FLEXIBLE_KINDS[given.type]
        frame = kind.tip_frame(given)
        tip_pose = IDENTITY if frame is None else self.frame(frame, here.at("tip_frame"))
        frames = kind.interface_frames(given).items()
        poses = {name: self.frame(section, here.at("interfaces", name, "frame")) for name, section in frames}
        return DescribedLink(given, tip_body, tip_pose, self.parameters, here, poses)

    def actuation(self, motor: MotorSection, friction: FrictionSection, here: Location) -> Actuation:
        """The drive of a joint."""
        return Actuation(
            motor_inertia=self.scalar(motor.inertia, here.at("motor", "inertia")),
            gear_ratio=self.scalar(motor.gear_ratio, here.at("motor", "gear_ratio")),
            **{key: self.scalar(getattr(friction, key), here.at("friction", key)) for key in FrictionSection.model_fields},
        )

    def elasticity(self, section: ElasticitySection | None, here: Location) -> JointElasticity | None:
        """The spring of a joint, if it has one."""
        if section is None:
            return None
        stiffness = self.scalar(section.stiffness, here.at("stiffness"))
        return JointElasticity(stiffness, self.scalar(section.damping, here.at("damping")))

    def body(self, section: BodySection | None, here: Location) -> Body:
        """A rigid body, its inertia about the centre of mass."""
        if section is None:
            return Body()
        mass = self.scalar(section.mass, here.at("mass"))
        com = self.vector(section.com, here.at("com"))
        inertia: Matrix = tuple(self.vector(row, here.at("inertia")) for row in section.inertia)
        if section.inertia_about == "frame":
            inertia = moved_to_com(inertia, mass, com)
        return Body(mass, com, inertia)

    def limits(self, section: LimitsSection, here: Location) -> Limits:
        """The range of a joint."""
        values: Mapping[str, float | None] = {
            key: None if getattr(section, key) is None else self.constant(getattr(section, key), here.at(key))
            for key in ("lower", "upper", "velocity", "effort")
        }
        return Limits(**values)

    def scalar(self, given: ScalarField, here: Location) -> Scalar:
        """A number, or an expression in parameters."""
        return parse_scalar(given, self.parameters, here)

    def degrees(self, given: ScalarField, here: Location) -> Scalar:
        """An angle that the file gives in degrees, in radians."""
        angle = self.scalar(given, here)
        if not isinstance(angle, sympy.Expr):
            return math.radians(angle)
        for parameter in self.parameters.values():
            if parameter.symbol in angle.free_symbols and parameter.unit not in ("", "-", "1"):
                shown = f"{given}, where {parameter.name} is in {parameter.unit}"
                raise here.error(shown, "a number of degrees", "write it under the key without _deg, or remove the unit")
        return angle * sympy.pi / 180

    def constant(self, given: ScalarField, here: Location) -> float:
        """A number that no parameter changes."""
        return float(parse_scalar(given, {}, here))

    def vector(self, given: VectorField, here: Location) -> Vector:
        """Three scalars."""
        x, y, z = (self.scalar(entry, here.at(i)) for i, entry in enumerate(given))
        return (x, y, z)


def moved_to_com(inertia: Matrix, mass: Scalar, com: Vector) -> Matrix:
    """Return the inertia about the centre of mass of one about the frame's origin (Steiner)."""
    square = com[0] * com[0] + com[1] * com[1] + com[2] * com[2]
    return tuple(
        tuple(inertia[i][j] - mass * ((square if i == j else 0) - com[i] * com[j]) for j in range(3)) for i in range(3)
    )
