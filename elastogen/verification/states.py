"""Random states of a robot over the ranges of its joints, and random values of whatever else its functions take."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elastogen.generator.functions.function import Function
from elastogen.generator.loops.analysis import analysis_of
from elastogen.generator.robot.robot import Robot

ELASTIC = 0.02  # largest elastic coordinate: the linear theory of beams is for small ones
SWITCHES = ("delta_m", "delta_theta", "tau")


def ranges(robot: Robot) -> NDArray[Any]:
    """Lower and upper ends of every coordinate, (nq, 2); angles without limits go round, lengths to 1 m either way."""
    found: list[tuple[float, float]] = []
    joints = {joint.name: joint for joint in robot.joints}
    for coordinate in robot.coordinates:
        if coordinate.elastic:
            found.append((-ELASTIC, ELASTIC))
            continue
        joint = joints.get(coordinate.name) or joints.get(coordinate.name.rsplit(".", 1)[0])
        wide = np.pi if coordinate.unit == "rad" else 1.0
        lower, upper = (joint.limits.lower, joint.limits.upper) if joint is not None else (None, None)
        selector = joint.type.selector(robot, joint) if joint is not None else None
        if selector is not None:  # on a beam
            lower, upper = max(lower or 0.0, 0.0), min(upper or selector.upper, selector.upper)
        found.append((-wide if lower is None else lower, wide if upper is None else upper))
    return np.array(found).reshape(-1, 2)


def random_states(robot: Robot, count: int, seed: int, functions: Iterable[Function] = ()) -> dict[str, NDArray[Any]]:
    """Positions inside the ranges, quaternions of length 1; velocities, forces and other inputs of order 1; (count, ...)."""
    rng = np.random.default_rng(seed)
    elastic = np.array([velocity.elastic for velocity in robot.velocities], dtype=bool)
    states = {name: rng.uniform(-1.0, 1.0, (count, len(elastic))) for name in ("qd", "qdd", "q3", "q4", "q5", "F", "b")}
    for name in ("qd", "qdd", "q3", "q4", "q5"):
        states[name][:, elastic] *= ELASTIC
    states["q"] = _positions(robot, count, rng)
    if robot.loops:  # what is closed stays so
        samples = analysis_of(robot).samples
        chosen = [samples[k * len(samples) // count] for k in range(count)]
        states |= {name: np.array([motion[k] for motion in chosen]) for k, name in enumerate(("q", "qd", "qdd"))}
    for argument in (argument for function in functions for argument in function.inputs):
        if argument.name in ("q0", "q1"):
            states[argument.name] = _positions(robot, count, rng)
        elif argument.name in SWITCHES:
            states[argument.name] = rng.choice([-1.0, 1.0], count)
        elif argument.name not in states:
            lowest = 0.0 if argument.name == "u" else -1.0  # numbers that stand for chances
            states[argument.name] = rng.uniform(lowest, 1.0, (count, *argument.shape))
    return states


def _positions(robot: Robot, count: int, rng: np.random.Generator) -> NDArray[Any]:
    ends = ranges(robot)
    q: NDArray[Any] = ends[:, 0] + (ends[:, 1] - ends[:, 0]) * rng.uniform(0.02, 0.98, (count, len(ends)))
    start = 0
    for joint in robot.joints:
        size = len(joint.type.coordinates)
        if joint.type.velocities != joint.type.coordinates:
            quaternion = q[:, start + size - 4 : start + size]
            quaternion /= np.linalg.norm(quaternion, axis=1, keepdims=True)
        start += size + (joint.elasticity is not None)
        flexible = robot.link(joint.child).flexible
        start += 0 if flexible is None else len(flexible.coordinates)
    return q
