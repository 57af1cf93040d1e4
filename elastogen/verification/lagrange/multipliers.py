"""Lagrange's equations with multipliers: rows of loops from the frames of the second derivation, and what drives do alone.

The rows are those of the relative motion of the frames a and b that the loop's type does not leave free, by its meaning; forces
of the drives F follow from N^T F = N^T tau, where the columns of N are the motions that keep all loops closed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from elastogen.generator.robot.expressions import nominal
from elastogen.generator.robot.loops.loop import WORLD, ClosedLoop, LoopEnd
from elastogen.generator.robot.robot import Robot
from elastogen.verification.lagrange.numbers import NotCoveredError


def loop_rows(robot: Robot, frames: Any, x: Any, units: Any) -> NDArray[Any]:
    """Return the rows of all loops over the velocities: the rates that must vanish."""
    columns = []
    for unit in units:
        at = frames.at(x, unit)
        columns.append([value for loop in robot.loops for value in _column(robot, loop, at, unit)])
    rows: NDArray[Any] = np.array(columns, dtype=object).T
    return rows


def _end(robot: Robot, end: LoopEnd, at: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the pose of an end and its rate."""
    if end.x is not None:
        raise NotCoveredError("a loop that ends along a beam is not covered by the second derivation")
    flexible = end.link != WORLD and robot.link(end.link).flexible is not None
    base = end.link in (WORLD, robot.links[0].name)
    pair = (np.eye(4), np.zeros((4, 4))) if base else at[f"{end.link}.tip" if flexible else end.link]
    pose = np.array([[nominal(entry, robot.parameters) for entry in row] for row in end.pose], dtype=float)
    T, rate = pair
    return T @ pose, rate @ pose


def _column(robot: Robot, loop: ClosedLoop, at: Any, unit: Any) -> list[Any]:
    if not loop.kind.between_frames:
        names = robot.velocity_names
        return [sum(nominal(c, robot.parameters) * unit[names.index(n)] for n, c in loop.coefficients.items())]
    (A, A_rate), (B, B_rate) = (_end(robot, end, at) for end in (loop.a, loop.b))
    R = A[:3, :3]
    spin_a, spin_b = (_spin(T, rate) for T, rate in ((A, A_rate), (B, B_rate)))
    d = B[:3, 3] - A[:3, 3]
    linear = R.T @ (B_rate[:3, 3] - A_rate[:3, 3] - np.cross(spin_a, d))  # of b's origin, as a sees it
    angular = R.T @ (spin_b - spin_a)
    axis = np.array([float(component) for component in loop.axis])
    plane = np.linalg.svd(axis[None])[2][1:]
    if loop.kind.place == "length":
        return [R.T @ d @ linear]
    moved = linear if loop.kind.place == "all" else plane @ linear
    if loop.kind.turn == "perpendicular":
        second = R.T @ B[:3, :3] @ np.array([float(component) for component in loop.axis2])
        return [*moved, np.cross(axis, second) @ angular]
    rotated = {"nothing": np.empty(0), "across": plane @ angular, "all": angular}[loop.kind.turn]
    return [*moved, *rotated]


def _spin(T: NDArray[Any], rate: NDArray[Any]) -> NDArray[Any]:
    W = rate[:3, :3] @ T[:3, :3].T
    return np.array([W[2, 1], W[0, 2], W[1, 0]])


def drive_forces(J: NDArray[Any], forces: NDArray[Any], acting: list[int], least: list[int]) -> NDArray[Any]:
    """Return forces on the velocities ``acting`` equivalent to ``forces`` on all; those of ``least`` have the least squares."""
    _, sizes, V = np.linalg.svd(J)
    N = V[int((sizes > 1e-7 * sizes[0]).sum()) :].T
    weights = np.array([1.0 if k in least else 1e6 for k in acting])  # others are as they must be, at no cost
    found = np.zeros(len(forces))
    found[acting] = weights * np.linalg.lstsq(N[acting].T * weights, N.T @ forces, rcond=1e-12)[0]
    return found


def closed_accelerations(
    context: Any, J: NDArray[Any], bias: NDArray[Any], M: NDArray[Any], forces: NDArray[Any]
) -> NDArray[Any]:
    """Return the accelerations with J qdd + bias = 0 and M qdd = forces + J^T lambda, by the rows that are independent."""
    kept = _independent(J.astype(float))
    n, count = len(M), len(kept)
    both = context.matrix(n + count, n + count)
    for i in range(n):
        for j in range(n):
            both[i, j] = M[i, j]
        for k, row in enumerate(kept):
            both[i, n + k] = both[n + k, i] = J[row, i]
    right = context.matrix([*forces, *(-bias[kept])])
    return np.array(list(context.lu_solve(both, right))[:n], dtype=object)


def _independent(J: NDArray[Any]) -> list[int]:
    """Return rows that determine the others: the longest, then what is longest across those that were chosen."""
    left, found = J.copy(), list[int]()
    for _ in range(np.linalg.matrix_rank(J, 1e-7 * np.linalg.norm(J, 2))):
        found.append(int(np.argmax(np.linalg.norm(left, axis=1))))
        unit = left[found[-1]] / np.linalg.norm(left[found[-1]])
        left -= np.outer(left @ unit, unit)
    return found
