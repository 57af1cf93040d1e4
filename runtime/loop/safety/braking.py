"""Gains that bring a robot to rest at the rate of its loop: from the mass matrices of many configurations.

About each configuration, sampled with the period T and the force held in between, the damped robot goes from sample to sample
by a matrix; its powers tell whether it is stable, and how fast the joints are after the time of the stop.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elastogen.runtime.errors import ModelError
from elastogen.runtime.loop.controllers import PDGravity, default_gains
from elastogen.runtime.loop.stability import MARGIN, TOLERATED, LinearRobot, sampled_steps
from elastogen.runtime.model.model import Model

Array = NDArray[np.float64]
CONFIGURATIONS = 8  # at which M is looked at: the first one, and others within the limits
SPEED = 2.0  # of a joint without a limit, at the fault [rad/s, m/s]
SHARE = 0.5  # of the time in which the velocities should have fallen by damping
SHARES = {"damped": 0.6, "ramp": 0.6, "hold": 0.0}  # of the time, after which a robot is caught where it is: as in C
SUDDEN_SHARE = 0.5  # of the inertia that a sudden force meets: damping times the period
FASTER = 1.5  # from one trial of a damping to the next
TRIALS = 30
ROUNDING = 1e-6  # of eigenvalues
SETTLED = 0.8  # of the time, from which on the joints should be at rest
LOOKS = 8  # at their speeds from then on
LONGEST = 64  # times of the stop that are looked at for how long it takes


@dataclass(frozen=True, eq=False)
class Braking:
    """Gains (nv,) and what they lead to."""

    damping: Array  # [N m s/rad, N s/m]
    kp: Array  # [N m/rad, N/m]
    kd: Array  # [N m s/rad, N s/m]
    seconds: float  # until the joints are at rest, as linearized; infinite: not within 64 times of the wanted
    slowest: str  # the joint that takes longest


class BrakingDesign:
    """A robot about several configurations, and the gains of its stops."""

    def __init__(self, model: Model, q: NDArray[Any], period: float, gravity: bool) -> None:
        self._model, self._period, self._gravity = model, period, gravity
        self.driven = list(model.driven)
        self._robots = list(_linear_robots(model, q))
        self._first = self._robots[0]
        self._steps = [sampled_steps(robot, period) for robot in self._robots]
        masses = np.array([np.abs(np.diag(robot.mass)) for robot in self._robots])
        self.inertia: Array = masses.max(axis=0)
        sudden = np.array([1.0 / np.diag(np.linalg.inv(robot.mass)) for robot in self._robots])
        zero = np.zeros_like(self.inertia)
        alone = [
            np.abs(np.linalg.eigvals(step)).max() for step in self._closed(zero, zero)
        ]  # falls by itself, with a free base
        self._growth = [max(np.exp(TOLERATED * period), size * (1.0 + ROUNDING)) for size in alone]
        self._most: Array = SUDDEN_SHARE * sudden.min(axis=0) / period

    def is_stable(self, kp: Array, kd: Array, factor: float = 1.0) -> bool:
        """Whether nothing grows at any of the configurations that does not without them, with the gains times a factor."""
        steps = zip(self._growth, self._closed(factor * kp, factor * kd), strict=True)
        return all(np.abs(np.linalg.eigvals(step)).max() <= limit for limit, step in steps)

    def damping(self, seconds: float, speed: Array, rest: Array) -> Array:
        """The least damping that brings all joints to rest in the time, or the greatest that is stable with a margin."""
        zero = np.zeros_like(self.inertia)
        slope = np.log(max(float((speed / rest)[self.driven].max(initial=2.0)), 2.0)) / (SHARE * seconds)
        wanted = SHARES["damped"] * seconds
        best: Array | None = None
        for _ in range(TRIALS):
            damping = self._on_drives(np.minimum(slope * self.inertia, self._most))
            if not (self.is_stable(zero, damping) and self.is_stable(zero, damping, MARGIN)):
                if best is not None:
                    break
                slope /= FASTER
                continue
            was, best = best, damping
            if self.time(damping, wanted, speed, rest)[0] <= wanted:
                break
            if was is not None and np.array_equal(was, damping):  # sampling allows no more
                break
            slope *= FASTER
        return zero if best is None else best

    def hold(self) -> tuple[Array, Array]:
        """kp and kd that keep the robot where it is, stable at all configurations; none: zeros."""
        zero = np.zeros_like(self.inertia)
        try:
            kp, kd, _ = default_gains(PDGravity(), self._first, self._period)
        except ModelError:
            return zero, zero
        kp, kd = self._on_drives(kp), self._on_drives(kd)
        for _ in range(TRIALS):
            if self.is_stable(kp, kd):
                return kp, kd
            kp, kd = kp / 2.0, kd / np.sqrt(2.0)
        return zero, zero

    def time(self, damping: Array, seconds: float, speed: Array, rest: Array) -> tuple[float, str]:
        """Seconds until all joints are slower than at rest by damping alone, after any moved with its speed; the slowest."""
        zero = np.zeros_like(self.inertia)
        return self._until_rest(self._begins(speed), self._closed(zero, damping), 0, seconds, rest)

    def whole_time(
        self, braking: tuple[Array, Array, Array], stop: str, seconds: float, speed: Array, rest: Array
    ) -> tuple[float, str]:
        """The same of a whole stop by (damping, kp, kd): damped joints are caught where they are, after their share of it."""
        damping, kp, kd = braking
        n, zero = len(self.inertia), np.zeros_like(self.inertia)
        cycles = max(1, round(seconds / self._period))
        damped = int(SHARES[stop] * cycles)
        begins = []
        for step in self._closed(zero, damping):
            state = np.linalg.matrix_power(step, damped) @ self._begins(speed)[0]
            if damped:
                state[:n][self.driven] = 0.0  # of the place where they are caught
            if stop == "ramp":
                state[n:][self.driven] = 0.0  # as far as it follows the ramp
            begins.append(state)
        return self._until_rest(begins, self._closed(kp, kd), damped, seconds, rest)

    def _begins(self, speed: Array) -> list[Array]:
        """A state for each drive that moves alone, in the columns; the same at all configurations."""
        n = len(self.inertia)
        return [np.vstack([np.zeros((n, n)), np.diag(speed)])[:, self.driven]] * len(self._robots)

    def _until_rest(
        self, begins: list[Array], steps: list[Array], passed: int, seconds: float, rest: Array
    ) -> tuple[float, str]:
        cycles = max(1, round(seconds / self._period))
        names = [self._model.velocity_names[k] for k in self.driven]
        worst, joint = seconds, names[0] if names else ""
        for begin, step in zip(begins, steps, strict=True):
            power, factor = np.linalg.matrix_power(step, max(1, int(SETTLED * cycles) - passed)), 1
            some = np.linalg.matrix_power(step, max(1, round((1.0 - SETTLED) * cycles / LOOKS)))
            left = self._left(power, some, begin, rest)
            while left.max(initial=0.0) > 1.0 and factor < LONGEST:
                power, factor = power @ power, 2 * factor
                if factor * seconds > worst:
                    worst, joint = factor * seconds, names[int(np.argmax(left))]
                left = self._left(power, some, begin, rest)
            if left.max(initial=0.0) > 1.0:
                return np.inf, joint
        return worst, joint

    def _left(self, power: Array, some: Array, begin: Array, rest: Array) -> Array:
        """Speeds of the drives over those at rest, (drives,): the greatest of some looks, as what vibrates passes zero."""
        n, states = len(self.inertia), power @ begin
        left = np.zeros(len(self.driven))
        for _ in range(LOOKS):
            left = np.maximum(left, (np.abs(states[n:][self.driven]) / rest[self.driven, None]).max(axis=1, initial=0.0))
            states = some @ states
        return left

    def _closed(self, kp: Array, kd: Array) -> list[Array]:
        """The closed steps at all configurations; the weights on the drives are carried."""
        result = []
        for robot, (step, hold) in zip(self._robots, self._steps, strict=True):
            Kq = np.diag(kp)
            if self._gravity:
                Kq[self.driven] -= robot.gravity[self.driven]
            result.append(step - hold @ np.hstack([Kq, np.diag(kd)]))
        return result

    def _on_drives(self, gains: Array) -> Array:
        full = np.zeros_like(gains)
        full[self.driven] = gains[self.driven]
        return full

    def weights(self) -> Array:
        """The greatest of the weights that the drives carry at the configurations, (nv,) [N m, N]."""
        greatest: Array = np.array([np.abs(robot.weights) for robot in self._robots]).max(axis=0)
        return greatest


def _linear_robots(model: Model, q: NDArray[Any]) -> list[LinearRobot]:
    """The robot about its first configuration and about others; where its mass matrix is singular, there is none."""
    first = np.asarray(q, dtype=float)
    robots = [LinearRobot.of(model, first)]
    random = np.random.default_rng(1)
    lower, upper = model.position_limits
    sliding = {joint.coordinate for joint in model.metadata.sliding}
    moved = [k for k in model.driven_coordinates if k not in sliding and not _in_quaternion(model, k)]
    for _ in range(CONFIGURATIONS - 1):
        place = first.copy()
        for k in moved:
            least = lower[k] if np.isfinite(lower[k]) else first[k] - np.pi
            most = upper[k] if np.isfinite(upper[k]) else first[k] + np.pi
            place[k] = random.uniform(least, most)
        try:
            robots.append(LinearRobot.of(model, place))
        except (ModelError, np.linalg.LinAlgError):
            continue
    return robots


def _in_quaternion(model: Model, k: int) -> bool:
    return any(start <= k < start + 4 for start in model.metadata.quaternions)
