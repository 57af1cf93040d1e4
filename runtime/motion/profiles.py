"""Motion profiles from rest to rest with limits: trapezoidal, jerk-limited (S-curve) and bang-bang.

Every axis is as fast as its limits allow. ``synchronize`` then slows all axes down to the duration of the slowest by
stretching their time, which keeps every limit; else each axis stops when it has arrived. Of more than two points, each
is a stop. The inputs of :func:`bang_bang_input` are forces or other signals rather than motions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from itertools import pairwise
from math import factorial, sqrt
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from elastogen.runtime.choices import flag
from elastogen.runtime.errors import ModelError
from elastogen.runtime.motion.trajectory import Trajectory
from elastogen.runtime.real_numbers import finite

Array = NDArray[np.float64]
Phases = list[tuple[float, float]]  # (duration [s], value of the highest derivative), one after another


def trapezoidal(points: ArrayLike, *, velocity: ArrayLike, acceleration: ArrayLike, synchronize: bool = True) -> Trajectory:
    """Trapezoidal velocities through ``points`` (m, n), at rest at each: accelerate, cruise, decelerate."""

    def phases(distance: float, v: float, a: float) -> Phases:
        speed = min(v, sqrt(distance * a))
        ramp = speed / a
        return [(ramp, a), (max(distance / speed - ramp, 0.0), 0.0), (ramp, -a)]

    return _through(points, (velocity, acceleration), ("velocity", "acceleration"), 2, phases, synchronize)


def bang_bang(points: ArrayLike, *, acceleration: ArrayLike, synchronize: bool = True) -> Trajectory:
    """Full acceleration, then full deceleration, between the rows of ``points`` (m, n): the shortest time there is."""

    def phases(distance: float, a: float) -> Phases:
        ramp = sqrt(distance / a)
        return [(ramp, a), (ramp, -a)]

    return _through(points, (acceleration,), ("acceleration",), 2, phases, synchronize)


def s_curve(
    points: ArrayLike, *, velocity: ArrayLike, acceleration: ArrayLike, jerk: ArrayLike, synchronize: bool = True
) -> Trajectory:
    """Jerk-limited motion through ``points`` (m, n), at rest at each: up to seven segments of constant jerk."""

    def phases(distance: float, v: float, a: float, j: float) -> Phases:
        ramp, edge = _ramp(v, a, j)
        if distance >= v * ramp:
            cruise = distance / v - ramp
        else:  # v is not reached: without cruising, the distance is (speed reached) * ramp
            cruise = 0.0
            if distance >= 2 * a**3 / j**2:
                ramp, edge = _ramp(a / 2 * (sqrt((a / j) ** 2 + 4 * distance / a) - a / j), a, j)
            else:
                edge = float(np.cbrt(distance / (2 * j)))
                ramp = 2 * edge
        flat = max(ramp - 2 * edge, 0.0)
        return [(edge, j), (flat, 0.0), (edge, -j), (cruise, 0.0), (edge, -j), (flat, 0.0), (edge, j)]

    names = ("velocity", "acceleration", "jerk")
    return _through(points, (velocity, acceleration, jerk), names, 3, phases, synchronize)


def _ramp(speed: float, a: float, j: float) -> tuple[float, float]:
    """Return the time to reach a speed, and the time of constant jerk at the start and end of that."""
    if speed * j >= a * a:
        return a / j + speed / a, a / j
    return 2 * sqrt(speed / j), sqrt(speed / j)


def bang_bang_input(amplitude: ArrayLike, times: ArrayLike, signs: Sequence[float] = (1.0, -1.0)) -> Trajectory:
    """A signal: sign times ``amplitude`` (n,) between successive ``times`` (len(signs) + 1,), zero before and after."""
    amplitude, times = np.atleast_1d(finite("bang_bang_input: amplitude", amplitude)), finite("bang_bang_input: times", times)
    factors = np.atleast_1d(finite("bang_bang_input: signs", signs))
    if factors.ndim != 1 or amplitude.ndim != 1:
        shapes = f"signs of shape {factors.shape} and an amplitude of shape {amplitude.shape}"
        raise ModelError(f"bang_bang_input: got {shapes}, expected a row of numbers each.")
    if times.shape != (len(factors) + 1,):
        raise ModelError(f"bang_bang_input: got {times.size} times for {len(factors)} signs, expected one more.")
    return Trajectory(times, factors[:, None, None] * amplitude[None, :, None], hold=False)


# ---- from phases to trajectories


def _through(
    points: ArrayLike,
    limits: Sequence[ArrayLike],
    names: Sequence[str],
    order: int,
    phases: Callable[..., Phases],
    synchronize: bool,
) -> Trajectory:
    """Move from row to row of ``points``; ``phases`` plans one axis, ``order`` is that of the derivative it prescribes."""
    flag("trajectory: synchronize", synchronize)
    points = finite("trajectory: points", points)
    if points.ndim != 2 or len(points) < 2:
        raise ModelError(f"trajectory: got points of shape {points.shape}, expected finite numbers (m, n), m >= 2.")
    bounds: list[Array] = []
    for name, limit in zip(names, limits, strict=True):
        bound = finite(f"trajectory: {name}", limit, "positive numbers")
        if not (bound > 0).all() or bound.shape not in ((), points.shape[1:]):
            raise ModelError(f"trajectory: {name}={limit!r}, expected positive numbers, one or {points.shape[1]}.")
        bounds.append(np.broadcast_to(bound, points.shape[1:]))
    moved = [(a, b) for a, b in pairwise(points) if not np.array_equal(a, b)]
    moves = [_move(a, b, np.array(bounds), order, phases, synchronize) for a, b in moved]
    if not moves:
        raise ModelError("trajectory: all points are the same; there is nothing to move.")
    return reduce(Trajectory.then, moves)


def _move(start: Array, end: Array, bounds: Array, order: int, phases: Callable[..., Phases], synchronize: bool) -> Trajectory:
    axes = []
    for j, (a, b) in enumerate(zip(start, end, strict=True)):
        distance = abs(b - a)
        plan = phases(float(distance), *(float(x) for x in bounds[:, j])) if distance > 0 else []
        axes.append(_integrated(float(a), float(np.sign(b - a)), [phase for phase in plan if phase[0] > 0], order))
    longest = max(breaks[-1] for breaks, _ in axes)
    if synchronize:
        axes = [_slowed(breaks, c, longest / breaks[-1]) if len(c) else (breaks, c) for breaks, c in axes]
    return _merged(axes, start, longest, order)


def _integrated(start: float, sign: float, plan: Phases, order: int) -> tuple[Array, Array]:
    """Integrate the phases of constant derivative of one axis to breaks and coefficients."""
    state = np.zeros(order)  # position, velocity, ... at the start of a phase
    state[0] = start
    breaks, rows = [0.0], []
    for duration, value in plan:
        row = np.array([*(x / factorial(k) for k, x in enumerate(state)), sign * value / factorial(order)])
        rows.append(row)
        breaks.append(breaks[-1] + duration)
        polynomial = np.polynomial.Polynomial(row)
        state = np.array([polynomial.deriv(k)(duration) if k else polynomial(duration) for k in range(order)])
    return np.array(breaks), np.array(rows).reshape((-1, order + 1))


def _slowed(breaks: Array, coefficients: Array, factor: float) -> tuple[Array, Array]:
    return breaks * factor, coefficients * factor ** -np.arange(coefficients.shape[1], dtype=float)


def _merged(axes: Sequence[tuple[Array, Array]], start: Array, longest: float, order: int) -> Trajectory:
    """Merge the segments of all axes into one table; an axis that has arrived stands still."""
    every = np.unique(np.concatenate([*(breaks for breaks, _ in axes), [0.0, longest]]))
    kept = [0.0]
    for time in every[1:-1]:
        if kept[-1] + 1e-12 * longest < time < longest * (1 - 1e-12):
            kept.append(float(time))
    kept.append(longest)
    coefficients = np.zeros((len(kept) - 1, len(axes), order + 1))
    for j, (breaks, rows) in enumerate(axes):
        for s, (a, b) in enumerate(pairwise(kept)):
            middle: Any = (a + b) / 2
            index = int(np.searchsorted(breaks, middle, side="right")) - 1
            if not len(rows):
                coefficients[s, j, 0] = start[j]
            elif index >= len(rows):
                coefficients[s, j, 0] = np.polynomial.Polynomial(rows[-1])(breaks[-1] - breaks[-2])
            else:
                polynomial = np.polynomial.Polynomial(rows[index])
                for k in range(order + 1):
                    value = polynomial.deriv(k) if k else polynomial
                    coefficients[s, j, k] = value(a - breaks[index]) / factorial(k)
    return Trajectory(np.array(kept), coefficients)
