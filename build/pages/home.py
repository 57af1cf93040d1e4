"""Where a robot is shown: a place to start from, and the ranges of its driven coordinates."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from elastogen.generator.loops.analysis import analysis_of
from elastogen.generator.robot.neutral import neutral
from elastogen.generator.robot.robot import Robot
from elastogen.generator.sliding.elements_inside import selectors
from elastogen.runtime import Model


def home(robot: Robot, model: Model) -> NDArray[np.float64]:
    """Where the robot starts: as its experiment does, else unmoved or amid its limits, sliding joints amid their beams.

    A mechanism starts where its loops are closed.
    """
    given = robot.experiment.q0 if robot.experiment is not None else {}
    start = np.array([given.get(name, zero) for name, zero in zip(model.coordinate_names, neutral(robot), strict=True)])
    for joint in robot.moving_joints:
        lower, upper = joint.limits.lower, joint.limits.upper
        if joint.name in model.coordinate_names and joint.name not in given and lower is not None and upper is not None:
            k = model.coordinate_names.index(joint.name)
            start[k] = start[k] if lower <= start[k] <= upper else (lower + upper) / 2
    for slide in selectors(robot):
        if slide.joint not in given:
            start[slide.coordinate] = 0.5 * slide.upper
    if robot.loops:
        return np.asarray(model.close_loops(start), dtype=float) if given else np.array(analysis_of(robot).start)
    return start


def drives(robot: Robot) -> dict[int, int]:
    """Index in the velocities of every position that a drive can hold: those of joints, but for quasi-velocities.

    Joints of a mechanism that have no drive are not held: loops move them.
    """
    rates = {velocity.name: k for k, velocity in enumerate(robot.velocities) if velocity.driven or not robot.loops}
    driven = ((k, rates.get(c.name)) for k, c in enumerate(robot.coordinates) if not c.elastic)
    return {k: rate for k, rate in driven if rate is not None}


def joint_ranges(robot: Robot, start: NDArray[np.float64]) -> list[tuple[int, float, float]]:
    """Index and range of every driven position: its limits, else all around, or a metre to both sides."""
    limits = {joint.name: joint.limits for joint in robot.moving_joints}
    slides = {slide.joint: slide.upper for slide in selectors(robot)}
    found = []
    for k in drives(robot):
        coordinate = robot.coordinates[k]
        span = np.pi if coordinate.unit == "rad" else 1.0
        low, high = float(start[k]) - span, float(start[k]) + span
        if coordinate.name in slides:
            low, high = 0.02 * slides[coordinate.name], 0.98 * slides[coordinate.name]
        elif coordinate.name in limits:
            given = limits[coordinate.name]
            low, high = low if given.lower is None else given.lower, high if given.upper is None else given.upper
        found.append((k, low, high))
    return found
