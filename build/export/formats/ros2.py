"""A ROS 2 package: a plugin of the base class of inverse_dynamics_solver, and a node, around the model's C."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from elastogen.build.export.choices import Choices
from elastogen.build.export.project import ExportContext, Files, Project
from elastogen.build.files.templating import fill
from elastogen.build.known_numbers import CHECK, known_numbers
from elastogen.generator.functions.derivation import ModelDerivation
from elastogen.generator.robot.errors import OutputError
from elastogen.generator.robot.robot import Robot
from elastogen.runtime.functions.sensing.kalman_filter import NOISE

UNKNOWN = 0.2  # [rad/s^2, m/s^2]: 2 % of what drives are made for, as in observers
RATE = ".rate"  # behind the name of a joint: its velocity
FUNCTIONS = ("mass_matrix", "coriolis_vector", "gravity_vector", "friction_forces", "inverse_dynamics")


@dataclass(frozen=True)
class LiveValue:
    """A live parameter in the parameter file."""

    name: str
    value: str
    unit: str


@dataclass(frozen=True)
class JointReading:
    """What a sensor reads of a joint, for the estimator."""

    name: str
    joint: int
    velocity: bool  # else the position
    noise: str  # standard deviation [rad, m; rad/s, m/s]


@dataclass(frozen=True)
class Ros2Context(ExportContext):
    """For the templates in ``export/ros2``."""

    package: str = ""
    joints: tuple[str, ...] = ()  # one for each coordinate
    live: tuple[LiveValue, ...] = ()
    symbols: Mapping[str, str] = field(default_factory=dict)  # by function: its name in C
    forces: tuple[str, ...] = ()  # standard deviations of unknown forces, by joint
    readings: tuple[JointReading, ...] = ()  # of the estimator; empty where there is none


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
    return (*FUNCTIONS, "estimation") if joint_readings(robot) else FUNCTIONS


def joint_readings(robot: Robot) -> tuple[JointReading, ...]:
    """What the robot's sensors read; empty where ``joint_states`` does not have all of it."""
    coordinates = list(robot.coordinate_names)
    found = []
    for channel in robot.sensors:
        joint = channel.name.removesuffix(RATE)
        if joint not in coordinates:
            return ()
        noise = _decimal(NOISE[channel.unit])
        found.append(JointReading(channel.name, coordinates.index(joint), channel.name != joint, noise))
    return tuple(found)


def files(project: Project, choices: Choices) -> Files:
    """All of its files but the README."""
    context, package, name = _context(project), f"{project.name}_dynamics", project.name
    estimator = {}
    if context.readings:
        estimator = {
            f"include/{name}_ekf.h": project.c_files[f"{name}_ekf.h"],
            f"src/{name}_ekf.c": project.c_files[f"{name}_ekf.c"],
            "src/estimator.cpp": fill("export/ros2/estimator.cpp.j2", context),
        }
    return {
        **estimator,
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
        forces=_unknown_forces(project.derivation),
        readings=joint_readings(project.derivation.robot),
        symbols={each: manifest.function(each).symbol for each in FUNCTIONS},
    )


def _unknown_forces(derivation: ModelDerivation) -> tuple[str, ...]:
    """Of the estimator: what accelerates the inertia of each joint at zero by UNKNOWN."""
    (mass,) = (function for function in derivation.functions if function.name == "mass_matrix")
    parameters = {parameter.name: parameter.value for parameter in derivation.robot.live_parameters}
    (M,) = mass.evaluate({"q": np.zeros(len(derivation.coordinate_names))}, parameters).values()
    n = len(derivation.velocity_names)
    return tuple(_decimal(float(f"{max(UNKNOWN * each, 1e-6):.2g}")) for each in np.reshape(M, (n, n)).diagonal())


def _decimal(value: float) -> str:
    """With a decimal point: 1e-05 is a text to readers of YAML 1.1."""
    text = repr(value)
    return text if "." in text else text.replace("e", ".0e")
