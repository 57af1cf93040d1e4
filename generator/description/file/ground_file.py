"""``ground:`` of a robot file: a plane that frames touch."""

from __future__ import annotations

from pydantic import Field

from elastogen.generator.description.file.fields import Section, VectorField
from elastogen.generator.robot.location import Location
from elastogen.generator.robot.own.ground import MOST_POINTS, with_ground
from elastogen.generator.robot.robot import Robot


class GroundPointSection(Section):
    """A sphere about the origin of a frame."""

    frame: str = Field(description="a link, a point or tip")
    radius: float = Field(default=0.0, ge=0, description="[m]; 0: a point")


class GroundSection(Section):
    """A plane with Hunt and Crossley's normal force and regularized Coulomb friction."""

    points: tuple[str | GroundPointSection, ...] = Field(min_length=1, max_length=MOST_POINTS, description="what touches it")
    normal: VectorField = Field(default=(0, 0, 1), description="away from the ground, in the base frame")
    height: float = Field(default=0.0, description="of the plane along the normal [m]")
    stiffness: float = Field(default=1e5, gt=0, description="k of N = k d^e (1 + c dd/dt) [N/m^e]")
    exponent: float = Field(default=1.5, ge=1, description="e: 1.5 for spheres, 1 for flat springs")
    damping: float = Field(default=0.5, ge=0, description="c [s/m]")
    friction: float = Field(default=0.8, ge=0, description="Coulomb's coefficient")
    slip_speed: float = Field(default=0.01, gt=0, description="below it friction is viscous [m/s]")


def read_ground(section: GroundSection | None, robot: Robot, where: Location) -> Robot:
    """The robot on the ground of its file."""
    if section is None:
        return robot
    points = [each if isinstance(each, str) else {"frame": each.frame, "radius": each.radius} for each in section.points]
    numbers = {name: getattr(section, name) for name in type(section).model_fields if name != "points"}
    return with_ground(robot, points, numbers, where)
