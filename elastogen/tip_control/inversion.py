"""Stable inversion: the motion of a flexible arm whose tip goes exactly along its path.

The tip of a flexible arm does not answer its drives at once, nor in the same direction: forces that make it follow a path
grow without bound if they are computed forward in time. There is one bounded solution, which begins before the tip moves and
ends after it (Devasia, Chen, Paden, IEEE Trans. Automatic Control 41, 1996). It is found here as a boundary value
problem on a grid of times, all at once: at each time the tip's error in the drives' directions vanishes, and no force acts on
the coordinates without drives; at both ends the arm rests. Derivatives are central differences of fourth order; Newton's method
takes the exact derivatives of the emitted inverse dynamics. Where there is no such motion, the tip may err a little.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from elastogen.runtime import real_numbers
from elastogen.runtime.errors import ModelError
from elastogen.runtime.interface.error import shortened
from elastogen.runtime.model.model import Model
from elastogen.runtime.motion.trajectory import Trajectory
from elastogen.tip_control.equations import ACCELERATION, VELOCITY, differences, exact_motion, free_coordinates
from elastogen.tip_control.near import TOLERANCE, nearly, unrested
from elastogen.tip_control.tip_path import TipPath, check_arm, tip_path

Array = NDArray[np.float64]
SHARE, SMALLEST = 1 / 6, 1 / 96  # of a stroke that is reached by growing ones: the first step, and the last that is tried
DECAYS = 14.0  # time constants of the internal motion before and after the move: e^-14 is 8e-7
STEPS_OF_MOVE, MOST_NODES = 400, 40000
STRETCHES = (1, 3)  # times before and after where the tip may err, in durations of the move
LITTLE = 0.1  # of the inertia of the free coordinates


@dataclass(frozen=True, eq=False)
class TipMotion:
    """A motion of the whole arm with its tip on the path; row k is time ``t[k]``, the move begins at 0."""

    t: Array  # (rows,) [s], from -before
    q: Array  # (rows, n)
    qd: Array
    qdd: Array
    F: Array  # (rows, n): forces of the drives [N m, N], zero elsewhere
    tip: Array  # (rows, 3): where the tip is to be [m]
    before: float  # [s]
    after: float
    model: Model
    error: float = 0.0  # greatest distance of the tip from its path that is planned [m]: 0 of an exact motion

    def sampled(self, period: float) -> TipMotion:
        """Sample the motion at multiples of a period [s], for ``loop.follow(m.q, m.qd, m.qdd, F=m.F)``."""
        from scipy.interpolate import CubicSpline, make_interp_spline

        step = real_numbers.number("sampled: period", period, "a positive number of seconds")
        if step <= 0.0:
            raise ModelError(f"sampled: period={period!r}, expected a positive number of seconds.")
        count = int(np.floor((self.t[-1] - self.t[0]) / step + 1e-9)) + 1
        t = self.t[0] + step * np.arange(count)
        curve = make_interp_spline(self.t, self.q, k=7)
        q, qd, qdd = (np.asarray(curve(t, nu)) for nu in range(3))
        F = drive_forces(self.model, q, qd, qdd)
        tip = np.asarray(CubicSpline(self.t, self.tip)(t))
        return TipMotion(t, q, qd, qdd, F, tip, self.before, self.after, self.model, self.error)


def internal_rates(model: Model, path: TipPath) -> Array:
    """Rates [1/s] of the internal motion with the tip at rest at the first row of the path: the zeros of drives to tip."""
    from scipy.linalg import eig

    n, zero = model.nv, np.zeros(model.nv)
    free = free_coordinates(model)
    if not free:
        return np.zeros(0)
    K, D, M = (np.asarray(block) for block in model.evaluate("inverse_dynamics_derivatives", q=path.q[0], qd=zero, qdd=zero))
    single = TipPath(path.q[:1], path.pose[:1], path.weights[:1])
    C = single.errors(model, path.q[:1])[1][0]
    drives = n - len(free)
    left, right = np.zeros((2 * n, 2 * n)), np.zeros((2 * n, 2 * n))
    right[:n, :n] = left[:n, n:] = np.eye(n)
    right[n : n + len(free), n:] = M[free]
    left[n : n + len(free), :n], left[n : n + len(free), n:] = -K[free], -D[free]
    left[n + len(free) :, :n] = C / np.abs(C).max()
    found = eig(left, right, right=False)
    finite = found[np.isfinite(found)]
    fastest = np.sqrt(np.abs(np.linalg.eigvals(np.linalg.solve(M, K))).max())
    rates: Array = finite[np.abs(finite) < 1e3 * max(fastest, 1.0)]
    return rates if drives else np.zeros(0)


def tip_inversion(
    model: Model,
    joints: Trajectory | ArrayLike,
    goal: ArrayLike | None = None,
    seconds: float | None = None,
    *,
    before: float | None = None,
    after: float | None = None,
    step: float | None = None,
    tolerance: float = TOLERANCE,
) -> TipMotion:
    """The motion in which the tip goes where the tip of the arm at rest would go along a motion of its driven joints.

    ``joints`` is a :class:`Trajectory` of the driven joints, from rest to rest; or a start (drives,), with ``goal`` and
    ``seconds``, between which the tip's path is a polynomial of degree 9 (continuous up to the snap). The arm begins to
    move ``before`` the tip does and comes to rest ``after`` it [s]; by default 14 time constants of the internal motion.
    ``step`` is that of the grid [s], by default a 400th of the move. Weights bend the arm at rest, too: the path includes
    that. Needs SciPy.

    The tip goes exactly there if it can. With a heavy load, deflections can turn the sign of the little inertia that the
    internal motion has: no bounded motion is exact then, and one is taken in which the tip errs by at most ``tolerance`` of
    its way (``motion.error``; 0: only exact ones). ModelError where there is none, and where the internal motion neither
    grows nor decays.
    """
    what = "tip_inversion"
    allowed = real_numbers.number(f"{what}: tolerance", tolerance, "a number from 0 to 0.1, of the stroke")
    if not 0.0 <= allowed <= 0.1:
        raise ModelError(f"{what}: tolerance={tolerance!r}, expected a number from 0 to 0.1, of the stroke.")
    check_arm(model, what)
    reference = joints if isinstance(joints, Trajectory) else rest_to_rest(model, joints, goal, seconds, what)
    if reference.size != len(model.driven):
        raise ModelError(
            f"{what}: the trajectory has {reference.size} coordinates, expected {len(model.driven)}, of the drives."
        )
    for end, time in (("begin", reference.breaks[0]), ("end", reference.breaks[-1])):
        if max(np.abs(reference(time, 1)).max(), np.abs(reference(time, 2)).max()) > 1e-9 * max(
            np.abs(reference.coefficients).max(), 1.0
        ):
            raise ModelError(f"{what}: the trajectory does not {end} at rest. Fix: septic, or a start, goal and seconds.")
    h = reference.duration / STEPS_OF_MOVE if step is None else _positive(f"{what}: step", step)
    lead, tail = (
        None if time is None else _positive(f"{what}: {name}", time) for name, time in (("before", before), ("after", after))
    )
    if lead is None or tail is None:
        pre, post = _decay(model, tip_path(model, reference([reference.breaks[0]]), what), what)
        lead, tail = pre if lead is None else lead, post if tail is None else tail
    t, joints_at, path = _grid(model, reference, lead, tail, h, what)
    q, reached = _by_strokes(model, joints_at, h, what)
    error, least = 0.0, np.inf
    for stretch in STRETCHES if q is None and allowed > 0.0 else ():
        span = stretch * reference.duration
        if (2 * span + reference.duration) / h > MOST_NODES:
            break
        lead, tail = (max(time, span) if given is None else time for time, given in ((lead, before), (tail, after)))
        t, joints_at, path = _grid(model, reference, lead, tail, h, what)
        found = nearly(model, path, h, reference.duration, allowed)
        least = min(least, found.least)
        if found.best is not None and found.least <= allowed:
            q, error = found.best[0], found.least * path.stroke
            break
    if q is None:
        nearest = f", and none errs by less than {least:.1e} of it" if np.isfinite(least) else ""
        raise ModelError(
            f"{what}: no motion of {model.name} is found whose tip is exactly on its path for more than {reached:.0%} of "
            f"the stroke{nearest}. {_why(model, path)}Fix: a slower move, a shorter one, or a greater "
            f"tolerance= (it is {allowed:g})."
        )
    qd, qdd = differences(q, VELOCITY) / h, differences(q, ACCELERATION) / h**2
    _check_ends(model, path, q, lead, tail, what)
    return TipMotion(t, q, qd, qdd, drive_forces(model, q, qd, qdd), path.pose[:, :3, 3].copy(), lead, tail, model, error)


def _grid(model: Model, reference: Trajectory, lead: float, tail: float, h: float, what: str) -> tuple[Array, Array, TipPath]:
    """Return times, positions of the driven joints, and the tip's path."""
    first, last = int(np.ceil(lead / h)), int(np.ceil((reference.duration + tail) / h))
    if first + last + 1 > MOST_NODES:
        raise ModelError(
            f"{what}: {first + last + 1} times of {h:g} s, expected at most {MOST_NODES}: an internal motion decays slowly. "
            "Fix: before= and after= [s], or a greater step=."
        )
    t = h * np.arange(-first, last + 1, dtype=np.float64)
    joints = reference(reference.breaks[0] + t)
    return t, joints, tip_path(model, joints, what)


def rest_to_rest(model: Model, start: Any, goal: Any, seconds: float | None, what: str, order: int = 4) -> Trajectory:
    """Check both places and return the motion of the driven joints between them."""
    if goal is None or seconds is None:
        raise ModelError(f"{what}: got positions of joints, expected goal= and seconds=, too; or a Trajectory.")
    duration, count = _positive(f"{what}: seconds", seconds), len(model.driven)
    ends = [np.atleast_1d(real_numbers.finite(f"{what}: {name}", given)) for name, given in (("start", start), ("goal", goal))]
    for name, value in zip(("start", "goal"), ends, strict=True):
        if value.shape != (count,):
            raise ModelError(f"{what}: {name} has shape {value.shape}, expected ({count},): the driven joints.")
    return smooth_move(ends[0], ends[1], duration, order)


def smooth_move(start: Array, goal: Array, seconds: float, order: int = 4) -> Trajectory:
    """Return the polynomial of degree 2 order + 1 from rest to rest whose derivatives up to ``order`` vanish at both ends."""
    rising = [comb(order + k, k) * comb(2 * order + 1, order - k) * (-1.0) ** k for k in range(order + 1)]
    s = np.array([0.0] * (order + 1) + rising) / seconds ** np.arange(2 * order + 2)
    coefficients = np.outer(goal - start, s)
    coefficients[:, 0] = start
    return Trajectory(np.array([0.0, seconds]), coefficients[None])


def _positive(what: str, given: Any) -> float:
    value = real_numbers.number(what, given, "a positive number of seconds")
    if value <= 0.0:
        raise ModelError(f"{what}={shortened(given)}, expected a positive number of seconds.")
    return value


def _decay(model: Model, path: TipPath, what: str) -> tuple[float, float]:
    """Return the times before and after the move in which the internal motion grows and decays."""
    rates = internal_rates(model, path)
    still = np.abs(rates.real) < 1e-4 * np.abs(rates)
    if still.any():
        rate = rates[still][0]
        raise ModelError(
            f"{what}: with its tip at rest, {model.name} vibrates at {abs(rate) / (2 * np.pi):.3g} Hz and neither grows nor "
            "decays: the tip has no bounded inverse. Fix: damping of the links, a tip at their end, or before= and after= [s]."
        )
    growing, falling = rates.real[rates.real > 0.0], -rates.real[rates.real < 0.0]
    return (
        DECAYS / float(growing.min()) if growing.size else 0.0,
        DECAYS / float(falling.min()) if falling.size else 0.0,
    )


def _why(model: Model, path: TipPath) -> str:
    """Say what is known about the cause."""
    free, drives = free_coordinates(model), list(model.driven)
    M, C = np.asarray(model.mass_matrix(path.q[0])), path.weights[0] @ np.asarray(model.jacobian(path.q[0]))
    left = M[np.ix_(free, free)] - M[np.ix_(free, drives)] @ np.linalg.solve(C[:, drives], C[:, free])
    share = float(np.abs(np.linalg.eigvals(np.linalg.solve(M[np.ix_(free, free)], left))).min())
    if share > LITTLE:
        return ""
    return (
        f"With its tip held, {share:.1%} of the inertia of the free coordinates is left, and where bending takes that away, "
        "the tip has no bounded inverse. "
    )


def _by_strokes(model: Model, joints: Array, h: float, what: str) -> tuple[Array | None, float]:
    """Solve at once or for strokes of growing size; return the motion, or None, and the share of the stroke that was reached.

    Each solution starts with the scaled deflections of the last one.
    """
    whole = tip_path(model, joints, what)
    at_once = exact_motion(model, whole, whole.q, h)
    if at_once is not None:
        return at_once, 1.0
    bent, reached, step = np.zeros((len(joints), model.nv)), 0.0, SHARE
    while True:
        share = min(1.0, reached + step)
        path = tip_path(model, joints[:1] + share * (joints - joints[:1]), what)
        q = exact_motion(model, path, path.q + bent * (share / reached if reached else 1.0), h)
        if q is None:
            step /= 2
            if step < SMALLEST:
                return None, reached
            continue
        if share == 1.0:
            return q, 1.0
        bent, reached, step = q - path.q, share, min(SHARE, 2 * step)


def drive_forces(model: Model, q: Array, qd: Array, qdd: Array) -> Array:
    """Return the forces of the drives; forces on other coordinates vanish up to the errors of the differences."""
    F: Array = np.array(model.inverse_dynamics(q, qd, qdd), dtype=np.float64)
    F[:, [k for k in range(model.nv) if k not in model.driven]] = 0.0
    return F


def _check_ends(model: Model, path: TipPath, q: Array, before: float, after: float, what: str) -> None:
    """Check that the arm rests at the ends of the grid; otherwise the solution belongs to an arm that is held there."""
    moving = unrested(model, path, q)
    if moving is not None:
        end, name = moving
        raise ModelError(
            f"{what}: {name} does not come to rest in the {before if end == 'before' else after:g} s {end} the move. "
            f"Fix: a longer {end}= [s], or more damping."
        )
