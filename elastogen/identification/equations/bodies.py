"""The bodies whose inertial parameters are estimated, and how they enter the columns of the regressor."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from elastogen.generator.functions.composed.payload_columns import carrier_names, payload_columns
from elastogen.generator.functions.regressor import PER_BODY
from elastogen.generator.robot.expressions import nominal
from elastogen.generator.robot.robot import Actuation, Body, Robot
from elastogen.identification.choices import Choice
from elastogen.identification.equations.pseudo_inertia import guess, is_described, of_body
from elastogen.identification.errors import IdentificationError
from elastogen.identification.measurements.read_table import Array

PAYLOAD = "payload"
VAGUE = 10.0


@dataclass(frozen=True)
class EstimatedBody:
    """A body: its parameters as described, where to start, and its part (columns, 10) of the regressor's parameters."""

    name: str  # of a link, or "payload"
    described: Array
    first: Array
    part: Array
    vague: float = 1.0  # times the uncertainty of the prior: larger for a body that nothing is known of


def without_drives(robot: Robot) -> Robot:
    """The robot's bodies alone: what its regressor multiplies are their inertial parameters."""
    return replace(robot, joints=tuple(replace(joint, actuation=Actuation()) for joint in robot.joints))


def check_open(robot: Robot) -> None:
    """No closed loops."""
    if robot.loops:
        raise IdentificationError(
            robot.source or robot.name, f"closed loops: {', '.join(loop.name for loop in robot.loops[:4])}", "an open tree",
            "identify its branches apart, each as a robot of its own",
        )  # fmt: skip


def check_rates(robot: Robot) -> None:
    """Every velocity is the rate of a coordinate, which a column of the data holds."""
    names = [joint.name for joint in robot.joints if joint.type.velocities != joint.type.coordinates]
    if names:
        raise IdentificationError(
            robot.source or robot.name, f"joints that turn by a quaternion: {', '.join(names[:4])}",
            "joints of one coordinate for each velocity",
            "describe a spherical joint by three revolute joints, or make it fixed",
        )  # fmt: skip


def check_supported(robot: Robot) -> None:
    """Every velocity is driven and measured, as the rate of a coordinate: no elastic ones, no free base, no loops."""
    check_open(robot)
    free = [velocity.name for velocity in robot.velocities if not velocity.driven]
    if free:
        raise IdentificationError(
            robot.source or robot.name, f"coordinates without a drive: {', '.join(free[:4])}", "a drive for every coordinate",
            "name elastic numbers, parameters=['EI'], take elastogen.rigid_robot(robot), or lock these joints",
        )  # fmt: skip
    check_rates(robot)


def estimated_bodies(robot: Robot, choice: Choice) -> list[EstimatedBody]:
    """The links that move, or the payload; what is fixed to a link stays as described and is not a part of its body."""
    names = carrier_names(without_drives(robot))
    size = PER_BODY * len(names)
    masses = [nominal(robot.link(name).body.mass, robot.parameters) for name in names]
    usual = float(np.mean([mass for mass in masses if mass > 0] or [1.0]))
    found = []
    if "inertia" in choice:
        for k, name in enumerate(names):
            own = _parameters(robot.link(name).body, robot)
            part = np.zeros((size, PER_BODY))
            part[PER_BODY * k : PER_BODY * (k + 1)] = np.eye(PER_BODY)
            found.append(EstimatedBody(name, own, guess(own, usual), part, 1.0 if is_described(own, usual) else VAGUE))
    if "payload" in choice:
        part = payload_columns(robot, names)
        own = _parameters(robot.payload, robot)
        found.append(EstimatedBody(PAYLOAD, own, guess(own, usual), part, 1.0 if is_described(own, usual) else VAGUE))
    return found


def _parameters(body: Body, robot: Robot) -> Array:
    values = [nominal(x, robot.parameters) for x in (body.mass, *body.com, *(x for row in body.inertia for x in row))]
    return of_body(values[0], np.array(values[1:4]), np.array(values[4:]).reshape(3, 3))
