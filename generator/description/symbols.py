"""The symbols that own terms and functions of a robot are written in."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from elastogen.generator.description.load_robot import load
from elastogen.generator.robot.own.terms import Symbols
from elastogen.generator.robot.robot import Robot


def symbols(robot: Robot | str | os.PathLike[str] | Mapping[str, Any]) -> Symbols:
    """The SymPy symbols of a robot: coordinates, velocities, time, parameters, positions and rotations of its frames."""
    return Symbols(robot if isinstance(robot, Robot) else load(robot))
