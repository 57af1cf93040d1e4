"""The payload in the regressor: which link carries it, and its parameters in that link's frame."""

from __future__ import annotations

import numpy as np

from elastogen.generator.functions.regressor import PER_BODY, carriers
from elastogen.generator.functions.variants import VariantFamily
from elastogen.generator.robot.errors import OutputError
from elastogen.generator.robot.expressions import nominal
from elastogen.generator.robot.robot import Matrix, Robot
from elastogen.generator.spatial.inertia import Array

_PAIRS = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))


def carrier_names(robot: Robot) -> list[str]:
    """Links whose bodies have columns of the regressor, in its order."""
    return [link.name for _, link in carriers(VariantFamily(robot).plain().mechanism)]


def payload_columns(robot: Robot, names: list[str]) -> Array:
    """(10 links, 10): parameters of links that ten parameters m, h, L of the payload in the tip frame add."""
    link, T = robot.tip, _numbers(robot.tool, robot)
    while link not in names:
        joint = next((joint for joint in robot.joints if joint.child == link), None)
        if joint is None or joint.type.moves:
            raise OutputError(
                f"payload: got a tip on {robot.tip}, which does not move, expected a tip that moves. Fix: set tip:"
            )
        T = _numbers(joint.before, robot) @ _numbers(joint.after, robot) @ T
        link = joint.parent
    part = np.zeros((PER_BODY * len(names), PER_BODY))
    first = PER_BODY * names.index(link)
    part[first : first + PER_BODY] = np.column_stack([_moved(unit, T) for unit in np.eye(PER_BODY)])
    return part


def _moved(pi: Array, T: Array) -> Array:
    """Ten parameters in another frame: pseudo-inertias go as T P T^T."""
    P, L = np.empty((4, 4)), np.empty((3, 3))
    for value, (i, j) in zip(pi[4:], _PAIRS, strict=True):
        L[i, j] = L[j, i] = value
    P[:3, :3] = 0.5 * np.trace(L) * np.eye(3) - L
    P[:3, 3] = P[3, :3] = pi[1:4]
    P[3, 3] = pi[0]
    P = T @ P @ T.T
    L = np.trace(P[:3, :3]) * np.eye(3) - P[:3, :3]
    return np.array([P[3, 3], *P[:3, 3], *(L[i, j] for i, j in _PAIRS)])


def _numbers(matrix: Matrix, robot: Robot) -> Array:
    return np.array([[nominal(x, robot.parameters) for x in row] for row in matrix])
