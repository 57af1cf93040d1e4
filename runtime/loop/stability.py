"""The closed loop of a robot and its controller, linearized and sampled: whether it is stable, and with which gains.

About a configuration at rest, M dq'' + D dq' + K dq = dF. The loop reads the state, and holds its command until it reads
again: dF = -(Kq dq + Kv dq') of the last sample. The state goes from sample to sample by exp(A T); the eigenvalues of the
closed step tell how fast motions grow or decay.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elastogen.runtime.errors import ModelError
from elastogen.runtime.functions.linear_analysis import held_step
from elastogen.runtime.model.model import Model

Array = NDArray[np.float64]
Feedback = tuple[Array, Array]  # Kq, Kv, both (nv, nv), rows of what has no drive zero
TOLERATED = 0.05  # growth that counts as none [1/s]: of vibrations that nothing damps and no drive reaches
SINGULAR = 1e-14  # lowest eigenvalue of a mass matrix with a unit diagonal that is none
MARGIN = 2.0  # gains may be so many times greater
HALVINGS = 24  # of the squared bandwidth, until no loop is found
NEWTON_STEPS = 6  # to the deflection under weights
SLOWER = 10  # of them are worth it for motions that decay


@dataclass(frozen=True, eq=False)
class LinearRobot:
    """Mass, damping and stiffness about a configuration at rest, (nv, nv); ``gravity`` is dG/dq."""

    mass: Array
    damping: Array
    stiffness: Array
    gravity: Array
    names: tuple[str, ...]
    driven: tuple[int, ...]
    elastic: list[int]
    weights: Array = field(default_factory=lambda: np.zeros(0))  # G(q), (nv,)

    @property
    def passive(self) -> list[int]:
        """Indices of the velocities without a drive: elastic ones, and those of joints that have none."""
        return [k for k in range(len(self.names)) if k not in self.driven]

    @classmethod
    def _of_mechanism(cls, model: Model, q: NDArray[Any]) -> LinearRobot:
        """The drives of closed loops by their reduced mass matrix, without springs and weights; other joints stand alone."""
        assert model.loops is not None
        n, drives = model.nv, list(model.loops.independent)
        G, zero, mass = np.asarray(model.driven_map(q), dtype=float), np.zeros(n), np.eye(n)
        still = np.asarray(model.inverse_dynamics(q, zero, zero), dtype=float)
        mass[np.ix_(drives, drives)] = (np.asarray(model.inverse_dynamics(q, zero, G.T), dtype=float) - still)[:, drives].T
        none = np.zeros((n, n))
        return cls(mass, none, none, none, tuple(model.velocity_names), tuple(model.driven), [], still)

    @classmethod
    def of(cls, model: Model, q: NDArray[Any]) -> LinearRobot:
        """From the emitted inverse dynamics and gravity: differences, exact where they are linear.

        Friction of joints is left out: it would only help. Sliding joints are not moved, they may be at an end of their beam.
        """
        n, driven = model.nv, tuple(model.driven)
        if model.loops is not None:
            return cls._of_mechanism(model, q)
        sliding = {joint.coordinate for joint in model.metadata.sliding}
        zero, unit, step = np.zeros(n), np.eye(n), 1e-2 if model.dtype == np.float32 else 1e-5
        still = np.asarray(model.inverse_dynamics(q, zero, zero), dtype=float)
        mass = np.asarray(model.inverse_dynamics(q, zero, unit), dtype=float) - still
        if not np.isfinite(mass).all():
            raise ModelError(f"{model.name}: no finite mass matrix at q={np.asarray(q).tolist()}. Fix: start nearer to zero.")
        _check_mass(model, mass)
        moved, slow = step * unit, step * unit
        moved[sorted(sliding)] = 0.0
        slow[[k for k in range(n) if k not in model.elastic]] = 0.0

        def slope(function: Callable[[Array], Any], shift: Array) -> Array:
            difference = np.asarray(function(shift), dtype=float) - np.asarray(function(-shift), dtype=float)
            return np.ascontiguousarray(difference.T) / (2.0 * step)

        return cls(
            mass=np.ascontiguousarray(mass.T),
            damping=slope(lambda v: model.inverse_dynamics(q, v, zero), slow),
            stiffness=slope(lambda shift: model.inverse_dynamics(model.integrate(q, shift), zero, zero), moved),
            gravity=slope(lambda shift: model.gravity_vector(model.integrate(q, shift)), moved),
            weights=np.asarray(model.gravity_vector(q), dtype=float),
            names=tuple(model.velocity_names),
            driven=driven,
            elastic=list(model.elastic),
        )

    def lowest_frequency(self) -> float:
        """Of the elastic coordinates with the joints locked [rad/s]; infinite for a rigid robot."""
        elastic = self.elastic
        if not elastic:
            return float("inf")
        block = np.ix_(elastic, elastic)
        squares = np.linalg.eigvals(np.linalg.solve(self.mass[block], self.stiffness[block])).real
        return float(np.sqrt(max(squares.min(), 0.0)))


def settled(model: Model, q: NDArray[Any]) -> Array:
    """The configuration with these joints in which the links hang as their weights bend them: Newton's method."""
    result, zero = np.array(q, dtype=float), np.zeros(model.nv)
    for _ in range(NEWTON_STEPS):
        robot = LinearRobot.of(model, result)
        if not robot.elastic:
            break
        load = np.asarray(model.inverse_dynamics(result, zero, zero), dtype=float)[robot.elastic]
        step = np.zeros(model.nv)
        step[robot.elastic] = -np.linalg.solve(robot.stiffness[np.ix_(robot.elastic, robot.elastic)], load)
        result = np.asarray(model.integrate(result, step), dtype=float)
    return result


@dataclass(frozen=True)
class Growth:
    """Of the motion that grows fastest, or decays slowest, in a sampled closed loop."""

    rate: float  # [1/s]; negative: it decays
    coordinate: str  # whose drive gives the most power in it: the one with the wrong gains

    @property
    def is_stable(self) -> bool:
        """Whether nothing grows."""
        return self.rate <= TOLERATED


def growth(robot: LinearRobot, feedback: Feedback, period: float) -> Growth:
    """The eigenvalue of the closed step that is farthest out."""
    n, driven = len(robot.names), list(robot.driven)
    step, hold = sampled_steps(robot, period)
    values, vectors = np.linalg.eig(step - hold @ np.hstack(feedback))
    farthest = int(np.argmax(np.abs(values)))
    size = float(np.abs(values[farthest]))
    motion = vectors[:, farthest]
    speed = np.abs(motion[n:])[driven]
    power = np.abs(np.hstack(feedback) @ motion)[driven] * speed
    where = driven[int(np.argmax(power if power.any() else speed))]
    return Growth(float(np.log(max(size, 1e-300))) / period, robot.names[where])


def sampled_steps(robot: LinearRobot, period: float) -> tuple[Array, Array]:
    """The matrices of x+ = A x + B F for x = (dq, dq') from sample to sample, F held, (2 nv, 2 nv) and (2 nv, nv)."""
    n, inverse = len(robot.names), np.linalg.inv(robot.mass)
    A = np.block([[np.zeros((n, n)), np.eye(n)], [-inverse @ robot.stiffness, -inverse @ robot.damping]])
    step, held = held_step(A, np.vstack([np.zeros((n, n)), inverse]), period)
    return step.astype(np.float64, copy=False), held.astype(np.float64, copy=False)


def sampled_limit(robot: LinearRobot, period: float) -> Array:
    """Bandwidths (nv,) [rad/s] that sampling allows the joints: kd T may be half of the inertia that a sudden force meets.

    With kd = 2 M_ii w. Behind a joint without a motor, that inertia, 1 / (M^-1)_ii, is much less than M_ii: the flexible
    link follows later.
    """
    sudden = 1.0 / np.diag(np.linalg.inv(robot.mass))
    limit: Array = 0.25 * sudden / (np.abs(np.diag(robot.mass)) * period)
    return limit


def stable_bandwidth(
    robot: LinearRobot, feedback: Callable[[Array, float], Feedback], wanted: float, limit: Array, period: float
) -> Array | None:
    """The greatest bandwidths (nv,), up to ``wanted`` and ``limit``, whose loop is stable, also with MARGIN times its gains.

    Of those, the first whose motions decay at least a tenth as fast as the slowest bandwidth, where there is one: what
    nothing damps does not. ``feedback(bandwidths, factor)`` are a controller's matrices. None: not even a slow loop is stable.
    """
    stable: list[Array] = []
    for k in range(HALVINGS):
        bandwidths: Array = np.minimum(wanted, limit) / 2.0 ** (0.5 * k)
        rates = [growth(robot, feedback(bandwidths, factor), period).rate for factor in (1.0, MARGIN)]
        if max(rates) > TOLERATED:
            continue
        if k <= SLOWER and rates[0] < -0.1 * bandwidths[list(robot.driven)].min():
            return bandwidths
        stable.append(bandwidths)
    return stable[0] if stable else None


def feedforward_converges(robot: LinearRobot, there: LinearRobot) -> bool:
    """Whether Newton steps with the compliance of one configuration find the elastic equilibrium of another.

    What a step leaves of an error is 1 - K^-1 K_there; telescopic links grow stiffer as they slide in.
    """
    elastic = robot.elastic
    if not elastic:
        return True
    block = np.ix_(elastic, elastic)
    left = np.eye(len(elastic)) - np.linalg.solve(robot.stiffness[block], there.stiffness[block])
    return float(np.abs(np.linalg.eigvals(left)).max()) < 0.7


def _check_mass(model: Model, mass: Array) -> None:
    """Refuse a robot that its own mass matrix cannot move; in single precision only where nothing is moved at all."""
    scale = np.sqrt(np.maximum(np.diag(mass), 0.0))
    worst = int(np.argmin(scale))
    singular = bool(scale[worst] <= 0.0)
    if not singular and model.dtype == np.float64:
        values, vectors = np.linalg.eigh(mass / np.outer(scale, scale))
        singular, worst = bool(values[0] < SINGULAR), int(np.argmax(np.abs(vectors[:, 0])))
    if singular:
        raise ModelError(
            f"{model.name}: the mass matrix is singular here, a loop cannot move {model.velocity_names[worst]}. "
            "Fix: give the links that it moves mass and inertia."
        )
