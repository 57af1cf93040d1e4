"""``terms:`` of a robot file: own potentials, dissipation functions and forces."""

from __future__ import annotations

from pydantic import Field

from elastogen.generator.description.file.fields import NameField, ScalarField, Section
from elastogen.generator.robot.location import Location
from elastogen.generator.robot.own.term_expressions import parse_term
from elastogen.generator.robot.own.with_terms import with_terms
from elastogen.generator.robot.robot import Robot

MAX_TERMS = 200


class TermSection(Section):
    """A term of the equations of motion, as expressions in q('joint'), qd('joint'), position('frame', 'x'), t, parameters."""

    name: NameField
    potential: ScalarField = Field(default=0, description="V(q, t) [J]")
    dissipation: ScalarField = Field(default=0, description="Rayleigh's function R(q, qd, t) [W]")
    forces: dict[str, ScalarField] = Field(default_factory=dict, description="Q by coordinate [N m] or [N]")


def read_terms(sections: tuple[TermSection, ...], robot: Robot, where: Location) -> Robot:
    """The robot with the terms of its file."""
    for section in sections:
        here = where.at(section.name)
        forces = {name: parse_term(text, robot, here.at("forces", name)) for name, text in section.forces.items()}
        potential = parse_term(section.potential, robot, here.at("potential"))
        dissipation = parse_term(section.dissipation, robot, here.at("dissipation"))
        robot = with_terms(robot, name=section.name, potential=potential, dissipation=dissipation, forces=forces)
    return robot
