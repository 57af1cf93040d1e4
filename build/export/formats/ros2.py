"""A ROS 2 package: a plugin of the base class of inverse_dynamics_solver, and a node, around the model's C."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from elastogen.build.export.choices import Choices
from elastogen.build.export.project import ExportContext, Files, Project
from elastogen.build.files.templating import fill
from elastogen.build.known_numbers import CHECK, known_numbers
from elastogen.generator.robot.errors import OutputError
from elastogen.generator.robot.robot import Robot

FUNCTIONS = ("mass_matrix", "coriolis_vector", "gravity_vector", "friction_forces", "inverse_dynamics")


@dataclass(frozen=True)
class LiveValue:
    """A live parameter in the parameter file."""

    name: str
    value: str
    unit: str


@dataclass(frozen=True)
class Ros2Context(ExportContext):
    """For the templates in ``export/ros2``."""

    package: str = ""
    joints: tuple[str, ...] = ()  # one for each coordinate
    live: tuple[LiveValue, ...] = ()
    symbols: Mapping[str, str] = field(default_factory=dict)  # by function: its name in C


def outputs(robot: Robot, frames: Sequence[str]) -> tuple[str, ...]:
    """What the interface asks for; robots whose state is more than positions and velocities of joints are refused."""
    kind = (
        "loops" if robot.loops
        else "quaternions" if robot.quaternions
        else "elastic coordinates" if any(link.flexible is not None for link in robot.links)
        else "friction that depends on loads" if robot.has_load_friction
        else ""
    )  # fmt: skip
    if kind:
        raise OutputError(
            f"format 'ros2': {robot.name} has {kind}, expected joints with one coordinate each: the interface takes their "
            "positions and velocities. Fix: format='cpp', or a rigid robot on a fixed base."
        )
    return FUNCTIONS


def files(project: Project, choices: Choices) -> Files:
    """All of its files but the README."""
    context, package, name = _context(project), f"{project.name}_dynamics", project.name
    return {
        f"include/{name}.h": project.c_files[f"{name}.h"],
        f"src/{name}.c": project.c_files[f"{name}.c"],
        f"include/{package}/solver.hpp": fill("export/ros2/solver.hpp.j2", context),
        "src/solver.cpp": fill("export/ros2/solver.cpp.j2", context),
        "src/node.cpp": fill("export/ros2/node.cpp.j2", context),
        "package.xml": fill("export/ros2/package.xml.j2", context),
        "CMakeLists.txt": fill("export/ros2/CMakeLists.txt.j2", context),
        f"{package}.xml": fill("export/ros2/plugin.xml.j2", context),
        f"launch/{package}.launch.py": fill("export/ros2/launch.py.j2", context),
        f"config/{package}.yaml": fill("export/ros2/parameters.yaml.j2", context),
        CHECK: known_numbers(project.derivation, project.context),
    }


def _context(project: Project) -> Ros2Context:
    manifest = project.manifest
    friction = manifest.function("friction_forces")
    if "q" in friction.depends_on:
        raise OutputError(
            f"format 'ros2': the friction of {project.name} depends on q, expected one of velocities alone, which is all that "
            "the interface gives. Fix: format='cpp'."
        )
    return Ros2Context(
        **{field.name: getattr(project.context, field.name) for field in dataclasses.fields(project.context)},
        package=f"{project.name}_dynamics",
        joints=manifest.coordinates,
        live=tuple(LiveValue(p["name"], _decimal(p["value"]), p["unit"]) for p in manifest.parameters),
        symbols={each: manifest.function(each).symbol for each in FUNCTIONS},
    )


def _decimal(value: float) -> str:
    """With a decimal point: 1e-05 is a text to readers of YAML 1.1."""
    text = repr(value)
    return text if "." in text else text.replace("e", ".0e")
