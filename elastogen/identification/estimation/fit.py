"""Least squares: independent columns, noise of every joint, standard errors; free, or with bodies that can exist.

Forces are linear in almost all variables. So the rows of all samples are reduced to a triangle by QR at the present estimate,
the small problem that is left is solved with its bounds and coordinates by SciPy, and this is repeated until nothing changes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.linalg import qr
from scipy.optimize import least_squares
from scipy.stats import median_abs_deviation

from elastogen.identification.equations.problem import Problem
from elastogen.identification.equations.pseudo_inertia import LogCholesky
from elastogen.identification.errors import IdentificationError
from elastogen.identification.measurements.read_table import Array

DEPENDENT = 1e-8  # a scaled column within this of the span of others cannot be distinguished from them
ROUNDS = 3  # of estimating the noise of the joints
MOST_STEPS = 12  # of linearization
WEIGHTS: dict[str, Callable[[Array], Array]] = {
    "linear": np.ones_like,
    "huber": lambda x: 1.0 / np.maximum(np.abs(x) / 1.345, 1.0),
    "soft_l1": lambda x: 1.0 / np.sqrt(1.0 + x**2),
    "cauchy": lambda x: 1.0 / (1.0 + (x / 2.385) ** 2),
}
"""Loss functions: the weight of a residual in units of its noise."""
GAIN = 0.1  # prior uncertainty of gains
SPRING = 0.03  # prior uncertainty of springs: of the usual force, at the usual distance
LATEST = 30  # lags of residuals that count for standard errors


@dataclass(frozen=True)
class Fit:
    """Estimates and what is known about them."""

    z: Array  # all variables of the problem
    covariance: Array  # of them
    noise: Array  # standard deviation of each joint's residual [N m] or [N]
    inflation: Array  # of the variance of estimates by residuals that are correlated in time, per joint
    rank: int
    condition: float  # of the scaled independent columns
    independent: tuple[int, ...]  # variables that were estimated freely; the others are combinations, or stay as described
    combinations: Array = field(repr=False)  # (independent, variables): base parameters as combinations of all
    prior_share: Array = field(repr=False)  # 0: determined by data alone, 1: by the prior alone


def _weighted(values: Sequence[Array], noise: Array) -> Array:
    return np.concatenate(
        [(v / (noise if v.ndim == 2 else noise[:, None])).reshape(v.shape[0] * v.shape[1], -1) for v in values]
    )


def noise_of(problem: Problem, z: Array, count: int, loss: str = "linear") -> Array:
    """Standard deviation of each joint's residual, the freedom of ``count`` estimates taken off; robust with a robust loss."""
    differences = np.concatenate(problem.differences(z))
    moves = np.concatenate([motion.counts for motion in problem.motions]) > 0
    freedom = max(1.0 - count / max(float(moves.sum()), 1.0), 0.1)
    floor = 1e-12 * np.max([np.abs(motion.measured).max() for motion in problem.motions])
    found = []
    for x, used in zip(differences.T, moves.T, strict=True):
        part = x[used] if used.any() else np.zeros(1)
        found.append(np.sqrt(np.mean(part**2)) if loss == "linear" else median_abs_deviation(part, scale="normal"))
    return np.asarray(np.maximum(np.array(found) / np.sqrt(freedom), floor))


def inflation_of(problem: Problem, z: Array) -> Array:
    """1 + 2 sum of the autocorrelations of each joint's residual, up to the first that is not positive."""
    found = np.ones(problem.joints)
    for joint in range(problem.joints):
        sums = np.zeros(LATEST + 1)
        for difference in problem.differences(z):
            x = difference[:, joint]
            sums += [float(x[: len(x) - lag] @ x[lag:]) if len(x) > lag else 0.0 for lag in range(LATEST + 1)]
        if sums[0] <= 0:
            continue
        rho = sums / sums[0]
        last = next((lag for lag in range(1, LATEST + 1) if rho[lag] <= 0.05), LATEST)
        found[joint] = max(1.0, 1.0 + 2.0 * float(rho[1:last].sum()))
    return found


def independent_columns(A: Array) -> tuple[list[int], Array]:
    """Columns that are independent, preferring earlier ones, and all columns as combinations of them (independent, all)."""
    size = np.linalg.norm(A, axis=0)
    alive = [k for k in range(A.shape[1]) if size[k] > 1e-12 * size.max(initial=0.0)]
    R = qr(A[:, alive] / size[alive], mode="r")[0][: len(alive)]
    chosen: list[int] = []
    basis = np.zeros((R.shape[0], 0))
    for place in range(len(alive)):
        column = R[:, place]
        rest = column - basis @ (basis.T @ column)
        rest -= basis @ (basis.T @ rest)
        if np.linalg.norm(rest) > DEPENDENT:
            basis = np.column_stack([basis, rest / np.linalg.norm(rest)])
            chosen.append(place)
    combinations = np.zeros((len(chosen), A.shape[1]))
    combinations[:, alive] = np.linalg.lstsq(R[:, chosen], R, rcond=None)[0] * size[alive] / size[np.array(alive)[chosen], None]
    combinations[np.abs(combinations) < 1e-9] = 0.0
    return [alive[place] for place in chosen], combinations


def _bounds(problem: Problem, kept: Sequence[int]) -> tuple[Array, Array]:
    n = 10 * len(problem.bodies)
    lower = [-np.inf] * n + [unknown.lower for unknown in problem.unknowns] + [0.1] * problem.gains
    upper = [np.inf] * n + [unknown.upper for unknown in problem.unknowns] + [10.0] * problem.gains
    return np.array(lower)[list(kept)], np.array(upper)[list(kept)]


def _first_values(problem: Problem) -> Array:
    """As described, but friction not at zero, where the derivative by Stribeck's velocity vanishes."""
    z = problem.described
    n, usual = 10 * len(problem.bodies), np.sqrt(np.mean(np.concatenate([m.measured for m in problem.motions]) ** 2, axis=0))
    for k, unknown in enumerate(problem.unknowns):
        first = {"coulomb": 0.05, "breakaway": 0.06, "viscous": 0.05, "forward": 0.05, "backward": 0.05}.get(unknown.name, 0.0)
        if z[n + k] == 0 and first:
            z[n + k] = first * usual[unknown.joint]
        if unknown.name == "load" and z[n + k] == 0:
            z[n + k] = 0.01
    return z


@dataclass(frozen=True)
class _Reduced:
    """The sum of squares near z as |R (z' - z) + d|^2, but for a constant."""

    R: Array
    d: Array
    cost: float  # at z


def _reduced(problem: Problem, z: Array, noise: Array, loss: str) -> _Reduced:
    r = _weighted(problem.differences(z), noise).ravel()
    root = np.sqrt(WEIGHTS[loss](r))
    A = np.column_stack([_weighted(problem.slopes(z), noise), r]) * root[:, None]
    if problem.instruments is not None:
        A = _span(problem, noise).T @ A
        return _Reduced(A[:, :-1], A[:, -1], float(A[:, -1] @ A[:, -1]))
    R = qr(A, mode="r")[0][: A.shape[1]]
    return _Reduced(R[:, :-1], R[:, -1], float((root * r) @ (root * r)))


def _cost(problem: Problem, z: Array, noise: Array, loss: str) -> float:
    r = _weighted(problem.differences(z), noise).ravel()
    if problem.instruments is not None:
        return float(np.sum((_span(problem, noise).T @ (np.sqrt(WEIGHTS[loss](r)) * r)) ** 2))
    return float(WEIGHTS[loss](r) @ r**2)


def _span(problem: Problem, noise: Array) -> Array:
    """An orthonormal basis of the weighted instruments (rows, independent columns)."""
    assert problem.instruments is not None
    Z = _weighted(list(problem.instruments), noise)
    size = np.linalg.norm(Z, axis=0)
    Z = Z[:, size > 1e-12 * size.max(initial=0.0)]
    Q, R, _ = qr(Z / np.linalg.norm(Z, axis=0), mode="economic", pivoting=True)
    return np.asarray(Q[:, np.abs(np.diag(R)) > DEPENDENT])


def _curved(problem: Problem) -> Array:
    """How far a step may go in variables that forces are not linear in; elsewhere without limit."""
    n = 10 * len(problem.bodies)
    most = np.full(len(problem.described), np.inf)
    most[len(most) - problem.gains :] = 0.3
    for k, unknown in enumerate(problem.unknowns):
        if unknown.name == "stribeck_velocity":
            most[n + k] = 0.15 * (unknown.upper - unknown.lower)
        elif unknown.name == "load":
            most[n + k] = 0.2
        elif unknown.name == "log_width":
            most[n + k] = 0.7
    return most


@dataclass(frozen=True)
class _Coordinates:
    """Variables z of x, and what else is wanted of x."""

    at: Callable[[Array], Array]
    slopes: Callable[[Array], Array]
    lower: Array
    upper: Array
    pull: Array  # |pull (x - middle)|^2 is added
    middle: Array


def _solve(problem: Problem, x: Array, of: _Coordinates, noise: Array, loss: str) -> Array:
    """Repeat: linearize, reduce, solve the small problem.

    With a prior the valley between it and the data is narrow and bent: it is entered with noise that is larger at first, and
    smaller by ten each time.
    """
    curved = _curved(problem)
    cost = _cost(problem, of.at(x), noise, loss) + float(np.sum((of.pull * (x - of.middle)) ** 2))
    decades = int(np.ceil(0.5 * np.log10(max(cost, 1.0)))) if np.any(of.pull) else 0
    for step in range(MOST_STEPS):
        z = of.at(x)
        eases = [10.0**k for k in range(decades if step == 0 else 0, -1, -1)]
        reduced = _reduced(problem, z, noise, loss)
        slope = np.abs(of.slopes(x)) > 0
        reach = np.array([min((curved[k] for k in np.flatnonzero(column)), default=np.inf) for column in slope.T])
        for shorter in (1.0, 0.3, 0.1):
            lower, upper = np.maximum(of.lower, x - shorter * reach), np.minimum(of.upper, x + shorter * reach)
            y = np.clip(x, lower, upper)
            for ease in eases:
                found = least_squares(
                    lambda y, z=z, r=reduced, e=ease: np.concatenate(
                        [(r.R @ (of.at(y) - z) + r.d) / e, of.pull * (y - of.middle)]
                    ),
                    np.clip(y, lower, upper),
                    jac=lambda y, r=reduced, e=ease: np.vstack([r.R @ of.slopes(y) / e, np.diag(of.pull)]),
                    bounds=(lower, upper), x_scale="jac", xtol=1e-14, ftol=1e-14, gtol=1e-14, max_nfev=200,
                )  # fmt: skip
                y = found.x
            new = _snapped(found.x, of.lower, of.upper)
            after = _cost(problem, of.at(new), noise, loss) + float(np.sum((of.pull * (new - of.middle)) ** 2))
            if np.isfinite(after) and after <= cost * (1 + 1e-12):
                break
        else:
            return x
        done = cost - after <= 1e-10 * cost or (not problem.is_curved and loss == "linear")
        x, cost = new, after
        if done:
            break
    return x


def fit_free(problem: Problem, loss: str = "linear", rounds: int = ROUNDS) -> Fit:
    """Weighted least squares in independent variables; dependent ones stay as described. Bounds hold for friction only."""
    if loss not in WEIGHTS:
        raise IdentificationError("loss", repr(loss), f"one of {', '.join(WEIGHTS)}", "choose one of them")
    z = _first_values(problem)
    noise = np.maximum(noise_of(problem, z, 0, loss), 1e-300)
    kept, combinations = independent_columns(_weighted(problem.slopes(z), noise))
    if not kept:
        raise IdentificationError("data", "a motion that shows none of the parameters", "motion", "excite: elastogen excite")
    lower, upper = _bounds(problem, kept)
    unit = np.eye(len(z))[:, kept]

    def at(x: Array) -> Array:
        full = z.copy()
        full[kept] = x
        return np.asarray(full)

    of = _Coordinates(at, lambda x: unit, lower, upper, np.zeros(len(kept)), np.zeros(len(kept)))
    for _ in range(rounds):
        z = at(_solve(problem, np.clip(z[kept], lower, upper), of, noise, loss))
        noise = noise_of(problem, z, len(kept), loss)
    inflation = inflation_of(problem, z)
    R = _reduced(problem, z, noise * np.sqrt(inflation), "linear").R[:, kept]
    covariance = np.zeros((len(z), len(z)))
    covariance[np.ix_(kept, kept)], condition = _inverse_of_squares(R)
    return Fit(z, covariance, noise, inflation, len(kept), condition, tuple(kept), combinations, np.zeros(len(z)))


def _inverse_of_squares(R: Array) -> tuple[Array, float]:
    """(R^T R)^-1, and the condition of the scaled columns."""
    size = np.linalg.norm(R, axis=0)
    scale = np.where(size > 0, size, 1.0)
    _, singular, rows = np.linalg.svd(R / scale, full_matrices=False)
    half = (rows.T / np.maximum(singular, 1e-14 * singular[0])) / scale[:, None]
    return half @ half.T, float(singular[0] / max(singular[-1], 1e-300))


def _uncertain(problem: Problem) -> Array:
    """Prior standard deviations of the unknowns of drives, around the described ones: infinite but for springs."""
    q, F = (np.concatenate(x) for x in ([m.q for m in problem.motions], [m.measured for m in problem.motions]))
    size = SPRING * np.sqrt(np.mean(F**2, axis=0)) / np.maximum(np.std(q, axis=0), 1e-6)
    return np.array([size[unknown.joint] if unknown.name == "spring" else np.inf for unknown in problem.unknowns])


def _snapped(x: Array, lower: Array, upper: Array) -> Array:
    """Values next to a bound are at it: an interior method never reaches it."""
    size = np.maximum(np.abs(x), 1e-3)
    x = np.where(np.isfinite(lower) & (x - lower < 1e-6 * size), lower, x)
    return np.where(np.isfinite(upper) & (upper - x < 1e-6 * size), upper, x)


def fit_consistent(problem: Problem, free: Fit, prior: float, loss: str = "linear") -> Fit:
    """The same with every body's pseudo-inertia positive definite, and the description as prior.

    ``prior`` is the relative uncertainty of what is described: the standard deviation of the log-Cholesky coordinates. Rotors
    that the motion cannot tell from the inertia of links are what is left beside the described one.
    """
    n, count = 10 * len(problem.bodies), len(problem.described)
    coordinates = [LogCholesky(body.first) for body in problem.bodies]
    drives = np.arange(n, count)
    lower, upper = _bounds(problem, range(count))
    noise = free.noise * np.sqrt(free.inflation)

    def at(x: Array) -> Array:
        full = x.copy()
        for k, of in enumerate(coordinates):
            full[10 * k : 10 * k + 10] = of.parameters(x[10 * k : 10 * k + 10])
        return np.asarray(full)

    def slopes(x: Array) -> Array:
        found = np.eye(count)
        for k, of in enumerate(coordinates):
            rows = slice(10 * k, 10 * k + 10)
            found[rows, rows] = of.slopes(x[rows])
        return found

    width = prior * np.repeat([body.vague for body in problem.bodies], 10)
    pull = np.concatenate([1.0 / width, np.zeros(count - n)])
    middle = np.zeros(count)
    last = n + len(problem.unknowns)
    pull[n:last], middle[n:last] = 1.0 / _uncertain(problem), problem.described[n:last]
    pull[count - problem.gains :], middle[count - problem.gains :] = 1.0 / GAIN, 1.0
    start = np.concatenate([np.zeros(n), np.clip(free.z[n:], lower[n:], upper[n:])])
    x = _solve(problem, start, _Coordinates(at, slopes, lower, upper, pull, middle), noise, loss)
    z, D = at(x), slopes(x)
    R = _reduced(problem, z, noise, "linear").R
    inner, _ = _inverse_of_squares(np.vstack([R @ D, np.diag(pull)]))
    covariance = D @ inner @ D.T
    share = np.zeros(count)
    share[:n] = np.diag(covariance)[:n] / np.maximum((D[:n, :n] ** 2) @ width**2, 1e-300)
    share[[k for k in drives if k not in free.independent]] = 1.0
    return Fit(
        z, covariance, noise_of(problem, z, free.rank, loss), free.inflation, free.rank, free.condition, free.independent,
        free.combinations, np.clip(share, 0.0, 1.0),
    )  # fmt: skip
