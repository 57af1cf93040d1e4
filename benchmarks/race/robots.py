"""The robots that are timed, as one description that all contenders read.

Friction is taken out (Pinocchio's algorithms have none) and the fingers of Panda are fixed. The peers get right angles
that are exact, as this project reads them: entries of a rotation within 1e-9 of 0, 1 or -1 are these numbers, so that
CasADi folds them as well.
"""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

import elastogen
from elastogen.generator.robot.robot import Robot

FILES = {
    "ur5": "ur_description/urdf/ur5_robot.urdf",
    "panda": "panda_description/urdf/panda.urdf",
    "talos": "talos_data/robots/talos_reduced.urdf",
}
FREE = {
    "solo12": "solo_description/robots/solo12.urdf",
    "talos": "talos_data/robots/talos_reduced.urdf",
    "g1": "g1_description/urdf/g1_29dof_rev_1_0.urdf",
}  # robots on a free base
TITLES = {"ur5": "UR5 (6)", "panda": "Panda (7)", "talos": "Talos (32)"}


class MissingPeerError(Exception):
    """Something that is not installed; the text says what and how to get it."""


@dataclass(frozen=True)
class Subject:
    """A robot in this project's data and as the text that the C++ programs of the peers read."""

    name: str
    robot: Robot
    peer_text: str


def packages_prefix() -> Path:
    """Where the packages of Pinocchio keep their headers and data."""
    spec = find_spec("pinocchio")
    if spec is None or spec.origin is None:
        raise MissingPeerError("Pinocchio is not installed (pip install pin)")
    return next(folder for folder in Path(spec.origin).parents if (folder / "include" / "pinocchio").is_dir())


def load_subject(name: str, work: Path, free: bool = False) -> Subject:
    """A robot of the package example-robot-data, without friction and with fixed fingers, on its base or on a free one."""
    data = packages_prefix() / "share" / "example-robot-data" / "robots" / (FREE if free else FILES)[name]
    if not data.is_file():
        raise MissingPeerError("the robot files are not installed (pip install example-robot-data)")
    text = re.sub(r"<dynamics\b[^>]*/>", "", data.read_text(encoding="utf-8"))
    text = re.sub(r"<mimic\b[^>]*/>", "", text)
    text = re.sub(r'(name="panda_finger_joint\d"\s+type=)"prismatic"', r'\1"fixed"', text)
    path = work / f"{name}.urdf"
    path.write_text(text, encoding="utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", elastogen.RobotWarning)
        robot = elastogen.load(str(path), name=name, base="floating" if free else "fixed")
    return Subject(f"{name}-free" if free else name, robot, _peer_text(path, robot, free))


def _peer_text(path: Path, robot: Robot, free: bool) -> str:
    """What ``pinocchio_model.hpp`` reads, from Pinocchio's own reading of the file, in this project's joint order."""
    import pinocchio

    model: Any = pinocchio.buildModelFromUrdf(str(path), *((pinocchio.JointModelFreeFlyer(),) if free else ()))
    place = {model.names[index]: number for number, index in enumerate(joint_order(model, robot))}
    gravity = [float(component) for component in robot.gravity]
    lines = [f"{model.njoints - 1} {_numbers(gravity)}"]
    for index in joint_order(model, robot):
        joint, inertia, placement = model.joints[index], model.inertias[index], model.jointPlacements[index]
        kind, axis = _motion(joint)
        parent = place.get(model.names[model.parents[index]], -1)
        tensor = np.asarray(inertia.inertia)[np.triu_indices(3)]
        rotation = np.asarray(placement.rotation).ravel()
        exact = np.where(np.abs(rotation - np.round(rotation)) < 1e-9, np.round(rotation), rotation)
        numbers = [*axis, *exact, *placement.translation]
        numbers += [inertia.mass, *inertia.lever, *tensor]
        lines.append(f"{model.names[index]} {parent} {kind} {_numbers(numbers)}")
    return "\n".join(lines) + "\n"


def _motion(joint: Any) -> tuple[str, Any]:
    if joint.nv == 6:
        return "F", np.zeros(3)
    data = joint.createData()
    joint.calc(data, np.eye(joint.nq)[0])
    linear, angular = np.asarray(data.S).ravel()[:3], np.asarray(data.S).ravel()[3:]
    return ("P", linear) if np.any(linear) else ("R", angular)


def joint_order(model: Any, robot: Robot) -> list[int]:
    """Pinocchio's joints in this project's order."""
    names = ["root_joint" if joint.type.name == "floating" else joint.name for joint in robot.moving_joints]
    return [model.getJointId(name) for name in names]


def _numbers(values: Any) -> str:
    return " ".join(repr(float(value)) for value in values)
