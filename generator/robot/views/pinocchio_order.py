"""The order of a robot's coordinates in Pinocchio, whose URDF reader sorts the joints on a link by name.

The positions differ too: a continuous joint is cosine and sine there, and so is the angle of a planar joint.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    from elastogen.generator.robot.robot import Joint, Robot

_BY_COSINE = ("continuous", "planar")  # kinds whose last coordinate, an angle, is cosine and sine in Pinocchio


@dataclass(frozen=True)
class PinocchioOrder:
    """The joints of a robot, and their coordinates and velocities, as Pinocchio orders them when it reads the same URDF."""

    joints: tuple[str, ...]  # those with coordinates
    coordinates: tuple[int, ...]  # which of our q stand one after the other there
    velocities: tuple[int, ...]  # which of our qd: v = qd[..., list(velocities)]
    angles: tuple[int, ...]  # places in ``coordinates`` that become cosine and sine

    def q(self, q: ArrayLike) -> NDArray[np.float64]:
        """Our coordinates as Pinocchio's configuration."""
        given = np.asarray(q, dtype=float)[..., list(self.coordinates)]
        columns = []
        for place in range(given.shape[-1]):
            x = given[..., place]
            columns += [np.cos(x), np.sin(x)] if place in self.angles else [x]
        return np.stack(columns, axis=-1)

    def v(self, qd: ArrayLike) -> NDArray[np.float64]:
        """Our velocities, accelerations or forces in Pinocchio's order; rows and columns of matrices likewise, one by one.

        Planar joints have velocities in the moving frame there: they are not rotated here.
        """
        return np.asarray(qd, dtype=float)[..., list(self.velocities)]


def pinocchio_order(robot: Robot) -> PinocchioOrder:
    """The order of Pinocchio: depth first from the base, the joints on each link by name, without followers."""
    ordered = [joint for joint in _depth_first(robot) if joint.type.moves]
    in_q, in_v = _places(robot)
    coordinates: list[int] = []
    angles: list[int] = []
    for joint in ordered:
        coordinates += in_q[joint.name]
        if joint.type.name in _BY_COSINE:
            angles.append(len(coordinates) - 1)
    velocities = [place for joint in ordered for place in in_v[joint.name]]
    return PinocchioOrder(tuple(joint.name for joint in ordered), tuple(coordinates), tuple(velocities), tuple(angles))


def _depth_first(robot: Robot) -> list[Joint]:
    on_link: dict[str, list[Joint]] = {link.name: [] for link in robot.links}
    for joint in robot.joints:
        on_link[joint.parent].append(joint)

    def last_first(link: str) -> list[Joint]:
        return sorted(on_link[link], key=lambda joint: joint.name, reverse=True)

    found: list[Joint] = []
    waiting = last_first(robot.links[0].name)
    while waiting:
        joint = waiting.pop()
        found.append(joint)
        waiting += last_first(joint.child)
    return found


def _places(robot: Robot) -> tuple[dict[str, list[int]], dict[str, list[int]]]:
    """Places of the coordinates and of the velocities of each joint; deflections and modes of flexible robots are not there."""
    in_q = {coordinate.name: place for place, coordinate in enumerate(robot.coordinates)}
    in_v = {velocity.name: place for place, velocity in enumerate(robot.velocities)}
    return (
        {j.name: [in_q[c.name(j.name)] for c in j.type.coordinates] for j in robot.joints},
        {j.name: [in_v[c.name(j.name)] for c in j.type.velocities] for j in robot.joints},
    )
