"""Whether the units of a robot's parameters fit where the parameters are used."""

from __future__ import annotations

from elastogen.generator.robot.live import slots_of
from elastogen.generator.robot.location import Location
from elastogen.generator.robot.robot import Matrix, Robot
from elastogen.generator.robot.units.dimensions import check_dimension
from elastogen.generator.robot.units.table import parse_unit


def check_units(robot: Robot, where: Location) -> None:
    """Refuse parameters in other units than SI, which only files convert, and of another dimension than their field."""
    for parameter in robot.parameters.values():
        unit = parse_unit(parameter.unit)
        if not unit.is_si:
            fix = f"Parameter({parameter.name!r}, {unit.in_si(parameter.value):.15g}, {unit.si!r})"
            raise where.at("parameters", parameter.name, "unit").error(parameter.unit, "an SI unit", f"write {fix}")
    if not any(parameter.unit for parameter in robot.parameters.values()):
        return
    for slot, value in slots_of(robot):
        check_dimension(value, slot.unit, robot.parameters, where.at(*slot.path.split(".")))
    placed: dict[tuple[str, ...], Matrix] = {("tip",): robot.tool}
    placed |= {("joints", joint.name, "placement"): joint.before for joint in robot.joints}
    placed |= {("points", point.name): point.pose for point in robot.points}
    for path, pose in placed.items():
        for row in pose:
            for entry in row[:3]:
                check_dimension(entry, "", robot.parameters, where.at(*path))
    for point in robot.points:
        for entry in (row[3] for row in point.pose[:3]):
            check_dimension(entry, "m", robot.parameters, where.at("points", point.name))
