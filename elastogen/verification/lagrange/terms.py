"""The user's own terms: their potential, and dR/dqd - Q, from their expressions and the poses of frames."""

from __future__ import annotations

from typing import Any

import numpy as np

from elastogen.generator.robot.own.terms import AXES, MOMENTS, Symbols
from elastogen.generator.robot.robot import Robot
from elastogen.verification.lagrange.frames import Frames
from elastogen.verification.lagrange.numbers import Array, Numbers, Pair


class OwnTerms:
    """All terms of a robot."""

    def __init__(self, robot: Robot, numbers: Numbers, frames: Frames) -> None:
        self.robot, self.numbers, self.frames = robot, numbers, frames
        used = {s for term in robot.terms for s in term.free_symbols}
        self._meanings = {s: meaning for s, meaning in Symbols(robot).meanings.items() if s in used}
        self._names = {"q": robot.coordinate_names, "qd": robot.velocity_names}
        symbols = list(self._meanings)
        self._terms = [(term, numbers.function(symbols, list(term.expressions.values()))) for term in robot.terms]

    def _values(self, x: Array, xd: Array, frames: dict[str, Pair]) -> list[Any]:
        values = []
        state = {"q": self.frames.coordinates(x), "qd": xd}
        for meaning in self._meanings.values():
            if meaning.kind in ("q", "qd"):
                values.append(state[meaning.kind][self._names[meaning.kind].index(meaning.of)])
            else:
                pose, rate = frames[meaning.of]
                entries = {
                    "position": pose[:3, 3], "velocity": rate[:3, 3], "rotation": pose[:3, :3].ravel(),
                    "angular_velocity": _spin(pose, rate),
                }  # fmt: skip
                values.append(entries[meaning.kind][meaning.index])
        return values

    def potential(self, x: Array, frames: dict[str, Pair]) -> Any:
        """V."""
        total = self.numbers.zero
        if self._terms:
            values = self._values(x, x * 0, frames)
            for _, function in self._terms:
                total += function(*values)[0]
        return total

    def forces(self, x: Array, xd: Array, step: Any) -> Array:
        """dR/dqd - Q."""
        result = np.array([self.numbers.zero] * self.frames.size, dtype=object)
        if not self._terms:
            return result
        units = self.numbers.unit(self.frames.size)
        for k, unit in enumerate(units):
            ends = []
            for sign in (1, -1):
                moved = xd + sign * step * unit
                values = self._values(x, moved, self.frames.at(x, moved))
                ends.append(sum((function(*values)[1] for _, function in self._terms), self.numbers.zero))
            result[k] += (ends[0] - ends[1]) / (2 * step)
        values = self._values(x, xd, self.frames.at(x, xd))
        moved = {name: [self.frames.at(x, unit)[name] for unit in units] for name in self._loaded}
        columns = {
            name: [np.concatenate([rate[:3, 3], _spin(pose, rate)]) for pose, rate in each] for name, each in moved.items()
        }
        for term, function in self._terms:
            given = dict(zip(term.expressions, function(*values), strict=True))
            for name in term.forces:
                result[self._names["qd"].index(name)] -= given[f"forces.{name}"]
            for name in term.frame_forces:
                acting = [given.get(f"forces.{name}.{axis}", self.numbers.zero) for axis in (*AXES, *MOMENTS)]
                force = np.array(acting, dtype=object)
                result -= np.array([force.dot(column) for column in columns[name]], dtype=object)
        return result

    @property
    def _loaded(self) -> set[str]:
        """Frames that forces act at."""
        return {name for term, _ in self._terms for name in term.frame_forces}


def _spin(pose: Array, rate: Array) -> Array:
    """Angular velocity of a pose, {omega x} = dR/dt R^T."""
    turning = rate[:3, :3].dot(pose[:3, :3].T)
    return np.array([turning[2, 1], turning[0, 2], turning[1, 0]], dtype=object)
