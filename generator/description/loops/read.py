"""Loops from the structure of a robot file."""

from __future__ import annotations

from elastogen.generator.description.file.loops_file import LoopEndSection, LoopSection
from elastogen.generator.description.section_values import SectionValues
from elastogen.generator.robot.location import Location
from elastogen.generator.robot.loops.loop import WORLD, ClosedLoop, LoopEnd
from elastogen.generator.robot.placement import unit_axis
from elastogen.generator.robot.robot import Vector


def read_loops(sections: tuple[LoopSection, ...], values: SectionValues, where: Location) -> tuple[ClosedLoop, ...]:
    """The loops of a file; those without a name are called loop1, loop2, ..."""
    return tuple(_loop(section, section.name or f"loop{k}", values, where) for k, section in enumerate(sections, start=1))


def _loop(section: LoopSection, name: str, values: SectionValues, where: Location) -> ClosedLoop:
    here = where.at(name)

    def direction(given: Vector | None, key: str, otherwise: Vector) -> Vector:
        return unit_axis(values.vector(given or otherwise, here.at(key)), here.at(key))

    return ClosedLoop(
        name,
        section.type,
        _end(section.a, values, here.at("a")),
        _end(section.b, values, here.at("b")),
        direction(section.axis, "axis", (0, 0, 1)),
        direction(section.axis2, "axis2", (1, 0, 0)),
        values.scalar(section.length or 0, here.at("length")),
        {key: values.scalar(value, here.at("coefficients", key)) for key, value in (section.coefficients or {}).items()},
        values.scalar(section.constant or 0, here.at("constant")),
    )


def _end(section: LoopEndSection | None, values: SectionValues, here: Location) -> LoopEnd:
    if section is None:
        return LoopEnd(WORLD)
    x = None if section.x is None else values.scalar(section.x, here.at("x"))
    return LoopEnd(section.link, values.frame(section, here), x)
