"""Instrumental variables by the simulated model (IDIM-IV; Janot, Vandanjon, Gautier 2014).

Noise of the positions, differentiated twice, makes the columns of the regressor noisy, and least squares biased. Columns of a
simulated motion have none of that noise. The identified robot is simulated under the measured forces, with a slow loop that
keeps it near the measured positions: above the loop's bandwidth its motion follows from the forces alone. Equations are then
projected onto the simulated columns (two-stage least squares); standard errors are those of the projected equations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from elastogen.generator.robot.robot import Robot
from elastogen.identification.equations.problem import Problem
from elastogen.identification.errors import IdentificationError
from elastogen.identification.measurements.read_table import Array
from elastogen.identification.measurements.signals import Motion
from elastogen.runtime import Model

BANDWIDTH = 0.1  # of the low pass: that of the loop that keeps the simulated robot near the measured one
LOST = 1.0  # of the measured range: a simulated robot farther away follows from wrong numbers


def simulated_model(robot: Robot) -> Model:
    """The compiled forward dynamics of an identified robot."""
    import elastogen

    return elastogen.build_model(replace(robot, functions=()), outputs=["forward_dynamics"])


def with_instruments(problem: Problem, model: Model, regressors: Model, z: Array) -> Problem:
    """The problem with columns of simulated motions; ``model`` is the identified robot's."""
    simulated = [simulate(motion, model) for motion in problem.motions]
    other = problem.along(simulated, regressors)
    return replace(problem, instruments=tuple(other.slopes(z)))


def simulate(motion: Motion, model: Model) -> Motion:
    """The motion of a model under the measured forces, kept near the measured one; fourth order steps."""
    step = motion.low_pass.step
    w = 2 * np.pi * BANDWIDTH * (motion.low_pass.cutoff or 0.05 / step)
    middle = [_halfway(x) for x in (motion.q, motion.qd, motion.F)]
    states = np.empty((3, *motion.q.shape))
    q, v = motion.q[0].copy(), motion.qd[0].copy()

    def rate(q: Array, v: Array, where: Sequence[Array]) -> Array:
        near = w * w * (where[0] - q) + 2 * w * (where[1] - v)
        return np.asarray(model.forward_dynamics(q, v, where[2])) + near

    for k in range(len(motion.time)):
        here = (motion.q[k], motion.qd[k], motion.F[k])
        a1 = rate(q, v, here)
        states[:, k] = q, v, a1
        if k == len(motion.time) - 1:
            break
        half, end = [x[k] for x in middle], (motion.q[k + 1], motion.qd[k + 1], motion.F[k + 1])
        a2 = rate(q + step / 2 * v, v + step / 2 * a1, half)
        a3 = rate(q + step / 2 * (v + step / 2 * a1), v + step / 2 * a2, half)
        a4 = rate(q + step * (v + step / 2 * a2), v + step * a3, end)
        q, v = q + step * (v + step / 6 * (a1 + a2 + a3)), v + step / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
    away = np.abs(states[0] - motion.q).max(axis=0)
    if not np.all(np.isfinite(states)) or np.any(away > LOST * np.maximum(np.ptp(motion.q, axis=0), 1e-3)):
        raise IdentificationError(
            f"{motion.source}: instruments", "a simulated robot that leaves the measured motion", "numbers near the true ones",
            "use method='least_squares', a lower cut-off, or a longer motion",
        )  # fmt: skip
    return replace(motion, q=states[0], qd=states[1], qdd=states[2])


def _halfway(x: Array) -> Array:
    """Values between the samples, by cubic interpolation."""
    if len(x) < 4:
        return np.asarray((x[1:] + x[:-1]) / 2)
    found = (x[1:] + x[:-1]) / 2
    found[1:-1] = (9 * (x[1:-2] + x[2:-1]) - x[:-3] - x[3:]) / 16
    return np.asarray(found)
