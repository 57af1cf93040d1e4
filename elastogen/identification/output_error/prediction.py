"""What a robot's sensors would read along a measured motion of its joints, with exact derivatives by the unknowns.

The joints move as measured, elastic coordinates follow by the emitted C (``<name>_elastic_states``); forces of the drives and
readings of points are functions of that state. Each sensor may lag: a critically damped low pass of second order, as amplifiers
of gauges have, whose delay at low frequency is ``lag``; it has an offset and perhaps a gain.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.signal import bilinear, lfilter, lfilter_zi

from elastogen.generator.robot.robot import Robot
from elastogen.identification.errors import IdentificationError
from elastogen.identification.measurements.read_table import Array
from elastogen.identification.measurements.signals import Motion
from elastogen.runtime import Model

FINE = 0.1  # [rad] of the cut-off frequency in one step of the integration, at most
SLOWEST_LAG = 1e-4  # [s] below it a sensor follows at once
FUNCTIONS = {"": "point_strains", "p": "point_positions", "a": "accelerometers", "w": "gyroscopes"}
"""By the first letter of a channel's kind; "p" stands for x, y, z."""
TAKES = {"point_strains": 1, "point_positions": 1, "accelerometers": 3, "gyroscopes": 2}
"""How many of q, qd, qdd a function takes."""


@dataclass(frozen=True)
class Channel:
    """One measured signal: a force ``F.<joint>`` or a reading ``point.<name>[.<kind>]``."""

    name: str
    function: str  # "" for forces
    index: int  # in its flattened output, of a force among the velocities


def channels_of(robot: Robot, motions: Sequence[Motion]) -> list[Channel]:
    """All signals that every motion has, forces first."""
    found: list[Channel] = []
    if all(motion.forced for motion in motions):
        driven = [k for k, velocity in enumerate(robot.velocities) if velocity.driven]
        found += [Channel(f"F.{robot.velocities[k].name}", "", k) for k in driven]
    common = [name for name in motions[0].points if all(name in motion.points for motion in motions)]
    found += [channel_named(robot, name) for name in common]
    if not found:
        raise IdentificationError("data", "no forces and no readings", "F.<joint> or point.<name>", "map them: columns={...}")
    return found


def channel_named(robot: Robot, name: str) -> Channel:
    """The channel of that name."""
    if name.startswith("F."):
        return Channel(name, "", [velocity.name for velocity in robot.velocities].index(name.removeprefix("F.")))
    point, _, kind = name.removeprefix("point.").partition(".")
    function = FUNCTIONS["" if not kind else "p" if kind in "xyz" else kind[0]]
    named = [p.name for p in robot.points if kind or p.strain is not None]
    return Channel(name, function, named.index(point) if not kind else 3 * named.index(point) + "xyz".index(kind[-1]))


def outputs_for(channels: Sequence[Channel]) -> list[str]:
    """Functions of the model that predict them."""
    functions = sorted({channel.function for channel in channels} - {""})
    return [name for function in functions for name in (function, f"{function}_sensitivity_by_parameters")]


@dataclass(frozen=True)
class Track:
    """A motion with all that does not change while unknowns are estimated."""

    model: Model
    motion: Motion
    channels: tuple[Channel, ...]

    @cached_property
    def elastic(self) -> list[int]:
        """Velocities without a drive."""
        return [k for k in range(self.model.nv) if k not in self.model.driven]

    @cached_property
    def substeps(self) -> int:
        """Steps of the integration in one of the motion."""
        if not self.elastic:
            return 1
        low_pass = self.motion.low_pass
        highest = 2 * np.pi * (low_pass.cutoff or 0.1 / low_pass.step)
        return max(1, int(np.ceil(low_pass.step * highest / FINE)))

    @cached_property
    def joints(self) -> tuple[Array, Array, Array]:
        """Motion of the joints at the steps of the integration (n, nv), zeros for elastic coordinates."""
        parts = _between(self.motion, self.substeps)
        found = []
        for part in parts:
            full = np.zeros((len(part), self.model.nv))
            full[:, list(self.model.driven)] = part
            found.append(full)
        return found[0], found[1], found[2]

    @cached_property
    def measured(self) -> Array:
        """(rows, channels): filtered signals of the rows that are compared."""
        columns, place = [], {f"F.{name}": k for k, name in enumerate(self._driven_names)}
        for channel in self.channels:
            whole = self.motion.F[:, place[channel.name]] if channel.name in place else self.motion.points[channel.name]
            columns.append(whole[self.motion.rows])
        return np.column_stack(columns)

    @cached_property
    def counts(self) -> Array:
        """(rows, channels): 0 for forces of joints that rest."""
        place = {f"F.{name}": k for k, name in enumerate(self._driven_names)}
        ones = np.ones(len(self.motion.rows))
        return np.column_stack([self.motion.counts[:, place[c.name]] if c.name in place else ones for c in self.channels])

    @property
    def _driven_names(self) -> list[str]:
        return [self.model.velocity_names[k] for k in self.model.driven]

    @property
    def starts(self) -> int:
        """Unknowns of the start: positions and velocities of the elastic coordinates."""
        return 2 * len(self.elastic)

    def predict(self, values: Array, start: Array) -> tuple[Array, Array]:
        """Readings (n, channels) before lag, gain and filter, and derivatives (n, channels, live parameters + starts)."""
        q, qd, qdd = (part.copy() for part in self.joints)
        count = len(self.elastic)
        q[0, self.elastic], qd[0, self.elastic] = start[:count], start[count:]
        names = list(self.model.parameters)
        given = dict(zip(names, values, strict=True))
        step = self.motion.low_pass.step / self.substeps
        found = self.model.elastic_states(step, q, qd, qdd, derivatives=True, parameters=given)
        part = slice(None, None, self.substeps)
        states = [array[part] for array in found[:3]]
        slopes = [array[part] for array in found[4:7]]
        readings = np.zeros((len(states[0]), len(self.channels)))
        derivatives = np.zeros((len(states[0]), len(self.channels), slopes[0].shape[2]))
        done: dict[str, tuple[Array, Array]] = {}
        for i, channel in enumerate(self.channels):
            if not channel.function:
                readings[:, i], derivatives[:, i] = found.F[part, channel.index], found.dF[part, channel.index]
                continue
            if channel.function not in done:
                done[channel.function] = self._function(channel.function, states, slopes, given)
            value, slope = done[channel.function]
            readings[:, i], derivatives[:, i] = value[:, channel.index], slope[:, channel.index]
        return readings, derivatives

    def _function(self, name: str, states: list[Array], slopes: list[Array], given: dict[str, float]) -> tuple[Array, Array]:
        """A function of the points along the states, flattened, and its total derivatives."""
        taken = TAKES[name]
        evaluate = self.model._evaluate
        value = np.asarray(evaluate(name, states[:taken], None, given)).reshape(len(states[0]), -1)
        J = np.asarray(evaluate(f"{name}_sensitivity_by_parameters", states[:taken], None, given))
        nv = self.model.nv
        total = np.zeros((len(value), value.shape[1], slopes[0].shape[2]))
        total[:, :, : len(given)] = J[:, :, taken * nv :]
        for k in range(taken):
            total += J[:, :, k * nv : (k + 1) * nv] @ slopes[k]
        return value, total


def _between(motion: Motion, substeps: int) -> tuple[Array, Array, Array]:
    """Positions, velocities, accelerations at ``substeps`` per step, by polynomials of degree five between the samples."""
    q, qd, qdd, h = motion.q, motion.qd, motion.qdd, motion.low_pass.step
    if substeps == 1:
        return q, qd, qdd
    s = (np.arange(substeps) / substeps)[None, :, None]
    a, b = slice(None, -1), slice(1, None)
    y = [q[a], h * qd[a], h * h * qdd[a] / 2]
    d = [q[b] - sum(y), h * qd[b] - y[1] - 2 * y[2], h * h * qdd[b] - 2 * y[2]]
    c = [*y, 10 * d[0] - 4 * d[1] + d[2] / 2, -15 * d[0] + 7 * d[1] - d[2], 6 * d[0] - 3 * d[1] + d[2] / 2]
    coefficients = [x[:, None, :] for x in c]
    found = []
    for order in range(3):
        powers = [np.prod(np.arange(k, k - order, -1)) * (s ** (k - order) if k >= order else 0 * s) for k in range(6)]
        inside = sum(x * p for x, p in zip(coefficients, powers, strict=True)) / h**order
        last = (q, qd, qdd)[order][-1:]
        found.append(np.concatenate([inside.reshape(-1, q.shape[1]), last]))
    return found[0], found[1], found[2]


def lagged(values: Array, lag: float, step: float) -> Array:
    """Signals (n, ...) behind a critically damped low pass of second order with that delay at low frequency [s]."""
    if lag < SLOWEST_LAG:
        return values
    b, a = bilinear([1.0], [lag**2 / 4, lag, 1.0], 1.0 / step)
    zi = lfilter_zi(b, a).reshape(-1, *(1,) * (values.ndim - 1)) * values[:1]
    return np.asarray(lfilter(b, a, values, axis=0, zi=zi)[0])


def lag_slope(values: Array, lag: float, step: float) -> Array:
    """Derivative of :func:`lagged` by the lag, by central differences of a smooth function."""
    h = 1e-4 * max(lag, 1e-3)
    return (lagged(values, lag + h, step) - lagged(values, max(lag - h, SLOWEST_LAG), step)) / (
        lag + h - max(lag - h, SLOWEST_LAG)
    )
