"""Random states of a robot over the ranges of its joints."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from elastogen.generator.robot.robot import Robot

ELASTIC = 0.02  # largest elastic coordinate: the linear theory of beams is for small ones


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
        found.append((-wide if lower is None else lower, wide if upper is None else upper))
    return np.array(found)


def random_states(robot: Robot, count: int, seed: int) -> dict[str, NDArray[Any]]:
    """Positions inside the ranges; velocities, accelerations, forces and right-hand sides of order 1; (count, nq) each."""
    rng = np.random.default_rng(seed)
    n, ends = len(robot.coordinates), ranges(robot)
    elastic = np.array([coordinate.elastic for coordinate in robot.coordinates])
    states = {name: rng.uniform(-1.0, 1.0, (count, n)) for name in ("qd", "qdd", "q3", "q4", "q5", "F", "b")}
    for name in ("qd", "qdd", "q3", "q4", "q5"):
        states[name][:, elastic] *= ELASTIC
    states["q"] = ends[:, 0] + (ends[:, 1] - ends[:, 0]) * rng.uniform(0.02, 0.98, (count, n))
    states["wrench"] = rng.uniform(-1.0, 1.0, (count, 6))
    for name in ("delta_m", "delta_theta", "tau"):
        states[name] = rng.choice([-1.0, 1.0], count)
    return states
