"""Joint trajectories: control functions (paper 002 (6)) and motion profiles as piecewise polynomials in time.

    through given configurations     cubic (3-3-..-3), four_three_four (4-3-..-3-4), quintic, septic
    from rest to rest, with limits   trapezoidal, s_curve (7 segments), bang_bang: see elastogen.runtime.motion.profiles
    inputs                           bang_bang_input: there too

Each returns a :class:`Trajectory`, which gives positions, velocities, accelerations and jerks at any times and can be
emitted as C (``elastogen.build.files.trajectory``). Units are those of the coordinates, [rad] or [m], and seconds.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import factorial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from elastogen.runtime.choices import flag
from elastogen.runtime.errors import ModelError
from elastogen.runtime.interface.error import shortened
from elastogen.runtime.real_numbers import finite, real_array

Array = NDArray[np.float64]
_MOST_SAMPLES = 10**8  # beyond any memory with their four derivatives, and before whole numbers overflow
_ORDERS = ("position", "velocity", "acceleration", "jerk")


class Samples(NamedTuple):
    """A trajectory at times t (k,): q, qd, qdd and jerk are (k, n)."""

    t: Array
    q: Array
    qd: Array
    qdd: Array
    jerk: Array


@dataclass(frozen=True, eq=False)
class Trajectory:
    """Piecewise polynomials of n coordinates.

    On segment s, from breaks[s] to breaks[s + 1], coordinate j is sum_k coefficients[s, j, k] (t - breaks[s])^k. Before
    the first break and after the last one all derivatives are zero and the coordinates those of the nearest end, or zero
    without ``hold``.
    """

    breaks: Array  # (segments + 1,), ascending [s]
    coefficients: Array  # (segments, n, degree + 1)
    hold: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "breaks", np.atleast_1d(finite("trajectory: breaks", self.breaks)))
        object.__setattr__(self, "coefficients", finite("trajectory: coefficients", self.coefficients))
        flag("trajectory: hold", self.hold)
        shape = self.coefficients.shape
        if len(shape) != 3 or len(self.breaks) != shape[0] + 1 or shape[0] < 1 or shape[1] < 1 or shape[2] < 1:
            raise ModelError(f"trajectory: {len(self.breaks)} breaks and coefficients of shape {shape} do not fit.")
        if self.breaks.ndim != 1 or not (np.diff(self.breaks) > 0).all():
            raise ModelError("trajectory: times must ascend.")

    @property
    def size(self) -> int:
        """Return the number of coordinates."""
        return int(self.coefficients.shape[1])

    @property
    def degree(self) -> int:
        """Return the highest power of time."""
        return int(self.coefficients.shape[2]) - 1

    @property
    def duration(self) -> float:
        """Return the time from the first break to the last [s]."""
        return float(self.breaks[-1] - self.breaks[0])

    def __call__(self, t: ArrayLike, derivative: int = 0) -> Array:
        """Return positions, or their derivative of an order, at times t (...): (..., n)."""
        t = _moments(t)
        _check_order(derivative)
        inside = (t >= self.breaks[0]) & (t <= self.breaks[-1])
        clamped = np.where(t >= self.breaks[0], np.minimum(t, self.breaks[-1]), self.breaks[0])
        last = len(self.coefficients) - 1
        segment = np.clip(np.searchsorted(self.breaks, clamped, side="right") - 1, 0, last)
        u = (clamped - self.breaks[segment])[..., None]
        c = self.coefficients[segment]
        values: list[Any] = [c[..., self.degree], *([np.zeros(c.shape[:-1])] * derivative)]
        for k in range(self.degree - 1, -1, -1):  # Horner for the polynomial and its derivatives over k!
            for order in range(derivative, 0, -1):
                values[order] = values[order] * u + values[order - 1]
            values[0] = values[0] * u + c[..., k]
        result = np.asarray(values[derivative] * factorial(derivative))
        return result if derivative == 0 and self.hold else np.where(inside[..., None], result, 0.0)

    def at(self, t: ArrayLike) -> Samples:
        """Return positions and derivatives at given times."""
        t = _moments(t)
        return Samples(t, self(t), self(t, 1), self(t, 2), self(t, 3))

    def sample(self, rate: float) -> Samples:
        """Sample the trajectory at a loop's rate [1/s], from the first break until the last one is reached."""
        _check_positive("rate", rate, "a positive number of samples per second")
        count = int(np.ceil(self.duration * rate - 1e-9)) + 1
        if count > _MOST_SAMPLES:
            raise ModelError(f"trajectory: rate={rate!r} over {self.duration:g} s, expected at most {_MOST_SAMPLES:g} samples.")
        return self.at(self.breaks[0] + np.arange(count) / rate)

    def peaks(self, derivative: int) -> Array:
        """Return the largest absolute value of a derivative, (n,): at the breaks and where the next derivative is zero."""
        _check_order(derivative)
        found = np.zeros(self.size)
        factors = [factorial(k) / factorial(k - derivative) for k in range(derivative, self.degree + 1)]
        for s, length in enumerate(np.diff(self.breaks)):
            for j in range(self.size):
                row = self.coefficients[s, j, derivative:] * factors if factors else np.zeros(1)
                polynomial = np.polynomial.Polynomial(row)
                roots = polynomial.deriv().roots() if polynomial.degree() > 1 else np.array([])
                real = roots.real[(np.abs(roots.imag) < 1e-9) & (roots.real > 0) & (roots.real < length)]
                values = polynomial(np.concatenate([[0.0, length], real]))
                found[j] = max(found[j], float(np.max(np.abs(values))))
        return found

    def stretched(self, factor: float) -> Trajectory:
        """Return the same path in ``factor`` times the time: velocities are divided by it, accelerations by its square, ..."""
        _check_positive("factor", factor, "a positive number")
        powers = float(factor) ** -np.arange(self.degree + 1, dtype=float)
        return replace(
            self, breaks=self.breaks[0] + (self.breaks - self.breaks[0]) * factor, coefficients=self.coefficients * powers
        )

    def then(self, other: Trajectory) -> Trajectory:
        """Append another trajectory of the same coordinates."""
        if not isinstance(other, Trajectory) or other.size != self.size:
            given = f"one of {other.size}" if isinstance(other, Trajectory) else repr(other)
            raise ModelError(f"trajectory.then: got {given}, expected a Trajectory of {self.size} coordinates.")
        width = max(self.degree, other.degree) + 1
        parts = [np.pad(part.coefficients, ((0, 0), (0, 0), (0, width - part.degree - 1))) for part in (self, other)]
        breaks = np.concatenate([self.breaks, self.breaks[-1] + np.cumsum(np.diff(other.breaks))])
        return Trajectory(breaks, np.concatenate(parts), self.hold)


def _moments(t: ArrayLike) -> Array:
    """Return the times; NaN among them means the start, as in C."""
    try:
        return real_array(t)
    except (TypeError, ValueError) as error:
        raise ModelError(f"trajectory: t: got {t!r}, expected times [s].") from error


def _check_order(derivative: object) -> None:
    if isinstance(derivative, bool) or not isinstance(derivative, (int, np.integer)) or derivative < 0:
        raise ModelError(f"trajectory: derivative={derivative!r}, expected its order, a whole number from 0.")


def _check_positive(what: str, given: object, expected: str) -> None:
    real = isinstance(given, (int, float, np.integer, np.floating)) and not isinstance(given, bool)
    if not (real and 0 < given <= sys.float_info.max):  # type: ignore[operator]
        raise ModelError(f"trajectory: {what}={shortened(given)}, expected {expected}.")


# ---- through given configurations


def cubic(
    points: ArrayLike,
    times: ArrayLike,
    *,
    start_velocity: ArrayLike = 0.0,
    end_velocity: ArrayLike = 0.0,
    start_acceleration: ArrayLike | None = None,
    end_acceleration: ArrayLike | None = None,
) -> Trajectory:
    """Cubic polynomials 3-3-..-3 through ``points`` (m, n) at ``times`` (m,), accelerations continuous (002 (6)).

    Boundary accelerations follow from the velocities. If they are given (both), two more knots are put into the middle of
    the first and the last segment, whose positions the conditions determine.
    """
    points, times = _configurations(points, times)
    if start_acceleration is None and end_acceleration is None:
        return _interpolated(points, times, [3] * (len(times) - 1), [start_velocity], [end_velocity], 2)
    if start_acceleration is None or end_acceleration is None:
        raise ModelError("cubic: give both boundary accelerations or none.")
    first, last = (times[0] + times[1]) / 2, (times[-2] + times[-1]) / 2
    if len(times) == 2:
        first, last = times[0] + (times[1] - times[0]) / 3, times[0] + (times[1] - times[0]) * 2 / 3
    free = np.full((1, points.shape[1]), np.nan)
    points = np.concatenate([points[:1], free, points[1:-1], free, points[-1:]])
    times = np.concatenate([times[:1], [first], times[1:-1], [last], times[-1:]])
    start, end = [start_velocity, start_acceleration], [end_velocity, end_acceleration]
    return _interpolated(points, times, [3] * (len(times) - 1), start, end, 2)


def four_three_four(
    points: ArrayLike,
    times: ArrayLike,
    *,
    start_velocity: ArrayLike = 0.0,
    end_velocity: ArrayLike = 0.0,
    start_acceleration: ArrayLike = 0.0,
    end_acceleration: ArrayLike = 0.0,
) -> Trajectory:
    """Polynomials of degree 4-3-..-3-4 through ``points`` (m, n), m >= 3, accelerations continuous (002 (6)).

    Four points make the classic 4-3-4: lift-off, transfer, set-down, with boundary velocities and accelerations.
    """
    points, times = _configurations(points, times, least=3)
    degrees = [4, *[3] * (len(times) - 3), 4]
    start, end = [start_velocity, start_acceleration], [end_velocity, end_acceleration]
    return _interpolated(points, times, degrees, start, end, 2)


def quintic(
    points: ArrayLike,
    times: ArrayLike,
    *,
    start_velocity: ArrayLike = 0.0,
    end_velocity: ArrayLike = 0.0,
    start_acceleration: ArrayLike = 0.0,
    end_acceleration: ArrayLike = 0.0,
) -> Trajectory:
    """Quintic polynomials through ``points`` (m, n): from point to point, or with via points, snap continuous there."""
    points, times = _configurations(points, times)
    start, end = [start_velocity, start_acceleration], [end_velocity, end_acceleration]
    return _interpolated(points, times, [5] * (len(times) - 1), start, end, 4)


def septic(
    points: ArrayLike,
    times: ArrayLike,
    *,
    start_velocity: ArrayLike = 0.0,
    end_velocity: ArrayLike = 0.0,
    start_acceleration: ArrayLike = 0.0,
    end_acceleration: ArrayLike = 0.0,
    start_jerk: ArrayLike = 0.0,
    end_jerk: ArrayLike = 0.0,
) -> Trajectory:
    """Polynomials of degree 7 through ``points`` (m, n), with boundary jerks; the sixth derivative is continuous."""
    points, times = _configurations(points, times)
    start, end = [start_velocity, start_acceleration, start_jerk], [end_velocity, end_acceleration, end_jerk]
    return _interpolated(points, times, [7] * (len(times) - 1), start, end, 6)


def _configurations(points: ArrayLike, times: ArrayLike, least: int = 2) -> tuple[Array, Array]:
    points, times = finite("trajectory: points", points), finite("trajectory: times", times)
    if points.ndim != 2 or times.shape != points.shape[:1] or len(times) < least:
        raise ModelError(
            f"trajectory: got points of shape {points.shape} at times of shape {times.shape}, "
            f"expected (m, n) at (m,) with m >= {least}."
        )
    if not (np.diff(times) > 0).all():
        raise ModelError(f"trajectory: got times={times.tolist()}, times must ascend.")
    return points, times


def _boundary(given: Any, order: int, size: int) -> Array:
    """Return a derivative at the start or the end: one number for all coordinates, or one for each."""
    what, expected = f"trajectory: boundary {_ORDERS[order]}", f"a finite number, or {size} of them"
    value = finite(what, given, expected)
    if value.shape not in ((), (size,)):
        raise ModelError(f"{what}: got shape {value.shape}, expected {expected}.")
    return value


def _interpolated(
    points: Array, times: Array, degrees: Sequence[int], start: Sequence[Any], end: Sequence[Any], smooth: int
) -> Trajectory:
    """Solve for all coefficients; a point of nan is a free knot, where the position is continuous but not given.

    Segments are polynomials of u = (t - t_s) / h_s in [0, 1], and conditions are scaled by powers of the mean h, which
    keeps the system well conditioned. Derivatives up to ``smooth`` are continuous at inner knots.
    """
    h, n = np.diff(times), points.shape[1]
    unit = float(np.mean(h))
    columns = np.concatenate([[0], np.cumsum([degree + 1 for degree in degrees])])
    rows: list[Array] = []
    right: list[Array] = []

    def derivative(s: int, order: int, at_end: bool) -> Array:
        """Return the row of the scaled derivative of segment s at one of its ends."""
        row = np.zeros(columns[-1])
        for k in range(order, degrees[s] + 1):
            if at_end or k == order:
                row[columns[s] + k] = factorial(k) / factorial(k - order) * (unit / h[s]) ** order
        return row

    def demand(row: Array, value: Any) -> None:
        rows.append(row)
        right.append(np.broadcast_to(np.asarray(value, dtype=float), (n,)))

    for s in range(len(degrees)):
        for knot, at_end in ((s, False), (s + 1, True)):
            if not np.isnan(points[knot]).any():
                demand(derivative(s, 0, at_end), points[knot])
        if s:
            first = 0 if np.isnan(points[s]).any() else 1
            for order in range(first, smooth + 1):
                demand(derivative(s - 1, order, True) - derivative(s, order, False), 0.0)
    for order, (first_value, last_value) in enumerate(zip(start, end, strict=True), start=1):
        demand(derivative(0, order, False), _boundary(first_value, order, n) * unit**order)
        demand(derivative(len(degrees) - 1, order, True), _boundary(last_value, order, n) * unit**order)
    matrix, values = np.array(rows), np.array(right)
    solution = np.linalg.solve(matrix, values)
    # Refined once, each condition holds to the rounding of its own terms (Skeel 1980), whichever LAPACK solves: high
    # derivatives are large beside positions, and their rounding would show in the configurations.
    solution += np.linalg.solve(matrix, values - matrix @ solution)
    coefficients = np.zeros((len(degrees), n, max(degrees) + 1))
    for s, degree in enumerate(degrees):
        scaled = solution[columns[s] : columns[s + 1]] / h[s] ** np.arange(degree + 1)[:, None]
        coefficients[s, :, : degree + 1] = scaled.T
    return Trajectory(times, coefficients)
