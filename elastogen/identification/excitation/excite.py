"""``elastogen.excite``: motions that show as much of a robot's parameters as its limits allow.

The information of a motion is log det(A^T A), A the base regressor along it with columns of equal size. Its derivative by A is
2 A (A^T A)^-1, that of A by the motion comes from the compiled tangent of the base regressor, so that gradients are exact. The
condition number is reported, not used: it has no gradient where singular values meet.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from elastogen.generator.description.load_robot import load
from elastogen.generator.robot.robot import Robot
from elastogen.identification.equations.bodies import check_supported, without_drives
from elastogen.identification.errors import IdentificationError, require_scipy
from elastogen.identification.measurements.columns import driven_names
from elastogen.identification.measurements.read_table import Array
from elastogen.runtime import Model
from elastogen.runtime.whole_files import replacing

SAMPLES = 12  # of the search, per period of the highest harmonic
STRICT = 1e3  # weight of what goes beyond a limit
INSIDE = 0.95  # share of the limits that is used
NEAR = 0.03  # [m] from a box that the search keeps
FAR, FAST, STRONG = np.pi / 2, 1.0, 4.0  # range [rad or m], velocity and acceleration (over that squared) without limits


@dataclass(frozen=True)
class Box:
    """A box in the base frame that the tip stays out of."""

    lower: tuple[float, float, float]
    upper: tuple[float, float, float]


@dataclass(frozen=True)
class Excitation:
    """A motion that excites: one period, at rest at both ends."""

    robot: str
    joints: tuple[str, ...]
    time: Array  # [s]
    q: Array
    qd: Array
    qdd: Array
    condition: float  # of the base regressor with columns of equal size
    information: float  # log det per column

    def save(self, path: str | Path) -> Path:
        """Write the motion as a table: time, q.<joint>, qd.<joint>, qdd.<joint>."""
        names = [f"{signal}.{joint}" for signal in ("q", "qd", "qdd") for joint in self.joints]
        rows = np.column_stack([self.time, self.q, self.qd, self.qdd])
        with replacing(Path(path)) as scratch:
            np.savetxt(scratch, rows, delimiter=",", header=",".join(["time", *names]), comments="", fmt="%.9g")
        return Path(path)


@dataclass(frozen=True)
class _Limits:
    lower: Array
    upper: Array
    velocity: Array
    acceleration: Array
    force: Array


def excite(
    robot: Robot | str | Path,
    *,
    harmonics: int = 5,
    seconds: float = 10.0,
    rate: float = 100.0,
    tries: int = 3,
    acceleration: float | Mapping[str, float] | None = None,
    keep_out: Sequence[Box | tuple[Sequence[float], Sequence[float]]] = (),
    iterations: int = 150,
    seed: int = 0,
    tell: Callable[[str], None] = lambda text: None,
) -> Excitation:
    """Find a periodic motion that shows the inertial parameters of a robot.

    One period of ``seconds`` with so many ``harmonics``, sampled at ``rate`` [Hz], inside the joints' limits of position,
    velocity and force, and of ``acceleration`` [rad/s^2] or [m/s^2] (default: what reaches the velocity in 0.25 s).
    The tip stays out of the boxes ``keep_out``, corners in the base frame [m]. The best of several ``tries`` is returned,
    each of at most ``iterations`` steps from a start that ``seed`` draws. ``tell`` gets lines about the progress.
    """
    require_scipy("excite")
    given = robot if isinstance(robot, Robot) else load(robot)
    check_supported(given)
    _check(harmonics, seconds, rate, tries)
    boxes = [box if isinstance(box, Box) else Box(*(_corner(corner) for corner in box)) for box in keep_out]
    limits = _limits(given, acceleration)
    search = _Search(given, limits, boxes, harmonics, seconds)
    best: tuple[float, Array] | None = None
    for k in range(tries):
        found = search.one(np.random.default_rng(seed + k), iterations)
        tell(f"try {k + 1} of {tries}: log det {-found[0]:.1f}")
        if best is None or found[0] < best[0]:
            best = found
    assert best is not None
    return search.motion(best[1], rate)


def _corner(corner: Sequence[float]) -> tuple[float, float, float]:
    values = tuple(float(x) for x in corner)
    if len(values) != 3:
        raise IdentificationError("keep_out", corner, "corners of three numbers [m]", "for example ([0, -1, 0], [1, 1, 0.1])")
    return values


def _check(harmonics: int, seconds: float, rate: float, tries: int) -> None:
    if not (isinstance(harmonics, int) and 2 <= harmonics <= 50):
        raise IdentificationError("harmonics", harmonics, "2 to 50: two are needed to start and end at rest", "5 is usual")
    if not seconds > 0 or not rate > 2.5 * harmonics / seconds:
        needed = 2.5 * harmonics / seconds if seconds > 0 else 0.0
        raise IdentificationError("rate", f"{rate} Hz over {seconds} s", f"more than {needed:.3g} Hz", "raise it, or 100")
    if not (isinstance(tries, int) and tries >= 1):
        raise IdentificationError("tries", tries, "at least 1", "3 is usual")


def _limits(robot: Robot, acceleration: float | Mapping[str, float] | None) -> _Limits:
    names = driven_names(robot)
    joints = [joint for joint in robot.joints if joint.has_drives for _ in joint.type.velocities]
    lower = np.array([-FAR if joint.limits.lower is None else float(joint.limits.lower) for joint in joints])
    upper = np.array([FAR if joint.limits.upper is None else float(joint.limits.upper) for joint in joints])
    fast = np.array([joint.limits.velocity or FAST for joint in joints], dtype=float)
    force = np.array([joint.limits.effort or np.inf for joint in joints], dtype=float)
    if isinstance(acceleration, Mapping):
        unknown = [name for name in acceleration if name not in names]
        if unknown:
            raise IdentificationError("acceleration", unknown[0], "a driven joint", f"one of {', '.join(names)}")
        strong = np.array([float(acceleration.get(name, STRONG * v)) for name, v in zip(names, fast, strict=True)])
    else:
        strong = STRONG * fast if acceleration is None else np.full(len(names), float(acceleration))
    if np.any(strong <= 0) or np.any(upper <= lower):
        raise IdentificationError("limits", "an empty range", "upper above lower, accelerations above zero", "check the robot")
    return _Limits(lower, upper, fast, strong, force)


class _Search:
    """Everything about one robot that the search needs."""

    def __init__(self, robot: Robot, limits: _Limits, boxes: Sequence[Box], harmonics: int, seconds: float) -> None:
        import elastogen
        from elastogen.identification.excitation.fourier import FourierSeries

        self.robot, self.limits, self.boxes, self.seconds = robot, limits, boxes, seconds
        self.series = FourierSeries(harmonics, 1.0 / seconds)
        plain = replace(without_drives(robot), functions=(), terms=())
        self.regressor: Model = elastogen.build_model(plain, outputs=["base_regressor", "base_regressor_tangent"])
        self.forced = bool(np.any(np.isfinite(limits.force)))
        outputs = ["inverse_dynamics", *(["inverse_dynamics_derivatives"] if self.forced else [])]
        outputs += ["forward_kinematics", "jacobian"] if boxes else []
        self.model: Model = elastogen.build_model(replace(robot, functions=()), outputs=outputs)
        self.joints, self.strict = len(limits.lower), STRICT
        self.t = np.arange(0, seconds, seconds / (SAMPLES * harmonics))
        self.bases = self.series.basis(self.t)

    def one(self, rng: np.random.Generator, iterations: int) -> tuple[float, Array]:
        """A motion from a random start: its cost, and its numbers."""
        from scipy.optimize import minimize

        width = np.minimum(0.25 * (self.limits.upper - self.limits.lower), self.limits.velocity)
        start = rng.normal(size=(self.series.size, self.joints)) * 0.15 * width
        start[0] = 0.5 * (np.maximum(self.limits.lower, -np.pi) + np.minimum(self.limits.upper, np.pi))
        Y = self._regressor(start)
        self.size = np.maximum(np.sqrt(np.mean(Y**2, axis=(0, 1))), 1e-12)
        x = start.ravel()
        for self.strict in (STRICT, 30 * STRICT):  # the second only pulls back what is left beyond a limit
            found = minimize(self.cost, x, jac=True, method="L-BFGS-B", options={"maxiter": iterations})
            x = found.x
        x = self._shrunk(x.reshape(self.series.size, self.joints))
        return self._information_cost(x)[0], x

    def _regressor(self, x: Array) -> Array:
        return np.asarray(self.regressor.base_regressor(*(basis @ x for basis in self.bases)))

    def _information_cost(self, x: Array) -> tuple[float, Array]:
        """-log det, and 2 A (A^T A)^-1 in the shape of the regressor."""
        Y = self._regressor(x) / self.size
        A = Y.reshape(-1, Y.shape[2])
        _, R = np.linalg.qr(A)
        diagonal = np.abs(np.diag(R))
        if diagonal.min() < 1e-12 * diagonal.max():
            return 1e6, np.zeros_like(Y)
        inner = np.linalg.inv(R)
        return float(-2.0 * np.log(diagonal).sum()), np.asarray((A @ inner @ inner.T).reshape(Y.shape) / self.size)

    def cost(self, flat: Array) -> tuple[float, Array]:
        """What is minimized, with its exact gradient by the free numbers."""
        x = flat.reshape(self.series.size, self.joints)
        motion = tuple(basis @ x for basis in self.bases)
        value, weights = self._information_cost(x)
        slopes = [np.zeros_like(part) for part in motion]
        still = [np.zeros_like(part) for part in motion]
        for k, part in enumerate(motion):
            for joint in range(self.joints):
                change = list(still)
                change[k] = np.zeros_like(part)
                change[k][:, joint] = 1.0
                dY = self.tangent(*motion, *change)
                slopes[k][:, joint] = -2.0 * np.einsum("tij,tij->t", weights, dY)
        value += self._beyond(motion, slopes)
        gradient = sum(basis.T @ slope for basis, slope in zip(self.bases, slopes, strict=True))
        return value, np.asarray(gradient).ravel()

    def tangent(self, *arguments: Array) -> Array:
        """How the base regressor changes along a change of q, qd, qdd."""
        named = dict(zip(("q", "qd", "qdd", "dq", "dqd", "dqdd"), arguments, strict=True))
        return np.asarray(self.regressor.evaluate("base_regressor_tangent", **named))  # type: ignore[arg-type]

    def _beyond(self, motion: Sequence[Array], slopes: list[Array]) -> float:
        """Penalties of limits; adds their derivatives to ``slopes``."""
        limits, total, count = self.limits, 0.0, len(self.t)
        middle, half = 0.5 * (limits.upper + limits.lower), 0.5 * INSIDE * (limits.upper - limits.lower)
        for k, (center, most) in enumerate(
            ((middle, half), (0.0, INSIDE * limits.velocity), (0.0, INSIDE * limits.acceleration))
        ):
            over = (np.abs(motion[k] - center) / most - 1.0).clip(0.0)
            total += self.strict * float(np.sum(over**2)) / count
            slopes[k] += 2 * self.strict / count * over * np.sign(motion[k] - center) / most
        if self.forced:
            F = self.model.inverse_dynamics(*motion)
            over = (np.abs(F) / (INSIDE * limits.force) - 1.0).clip(0.0)
            total += self.strict * float(np.sum(over**2)) / count
            if np.any(over):
                weights = 2 * self.strict / count * over * np.sign(F) / (INSIDE * limits.force)
                for k, block in enumerate(self.model.inverse_dynamics_derivatives(*motion)):
                    slopes[k] += np.einsum("ti,tij->tj", weights, block)
        if self.boxes:
            tip = self.model.forward_kinematics(motion[0])[:, -1, :3, 3]
            J = self.model.jacobian(motion[0])[:, :3]
            for box in self.boxes:
                depth, direction = _depth(tip, box, NEAR)
                total += self.strict * float(np.sum((depth / NEAR) ** 2)) / count
                slopes[0] += 2 * self.strict / count / NEAR**2 * np.einsum("t,tx,txj->tj", depth, direction, J)
        return total

    def _worst(self, x: Array, rate: float) -> float:
        """The largest share of a limit that a motion uses; above 1 it breaks one."""
        t = np.arange(0, self.seconds, 1.0 / rate)
        q, qd, qdd = (basis @ x for basis in self.series.basis(t))
        limits = self.limits
        middle, half = 0.5 * (limits.upper + limits.lower), 0.5 * (limits.upper - limits.lower)
        shares = [np.abs(q - middle) / half, np.abs(qd) / limits.velocity, np.abs(qdd) / limits.acceleration]
        shares.append(np.abs(self.model.inverse_dynamics(q, qd, qdd)) / limits.force)
        worst = max(float(share.max()) for share in shares)
        if self.boxes:
            tip = self.model.forward_kinematics(q)[:, -1, :3, 3]
            worst = max([worst, *(2.0 for box in self.boxes if np.any(_depth(tip, box)[0] > 0))])
        return worst

    def _shrunk(self, x: Array) -> Array:
        """The motion, smaller about its middle until it keeps every limit at every instant."""
        for _ in range(60):
            if self._worst(x, 40 * self.series.harmonics / self.seconds) <= 1.0:
                return x
            x = np.vstack([x[:1], 0.95 * x[1:]])
        raise IdentificationError(
            "excite",
            "no motion inside all limits and outside all boxes",
            "one",
            "more tries, smaller boxes or higher limits",
        )

    def motion(self, x: Array, rate: float) -> Excitation:
        """The motion at its rate, with its condition."""
        t = np.arange(round(self.seconds * rate) + 1) / rate
        q, qd, qdd = (basis @ x for basis in self.series.basis(t))
        Y = np.asarray(self.regressor.base_regressor(q, qd, qdd))
        A = Y.reshape(-1, Y.shape[2])
        singular = np.linalg.svd(A / np.linalg.norm(A, axis=0), compute_uv=False)
        information = -self._information_cost(x)[0] / Y.shape[2]
        joints = tuple(driven_names(self.robot))
        return Excitation(self.robot.name, joints, t, q, qd, qdd, float(singular[0] / singular[-1]), information)


def _depth(tip: Array, box: Box, margin: float = 0.0) -> tuple[Array, Array]:
    """How deep places are inside a box that is wider by a margin [m], and the direction in which that grows."""
    to_lower, to_upper = tip - np.array(box.lower) + margin, np.array(box.upper) + margin - tip
    both = np.stack([to_lower, to_upper], axis=1)  # (n, side, axis)
    inside = np.all(both > 0, axis=(1, 2))
    nearest = both.reshape(len(tip), 6).argmin(axis=1)
    direction = np.zeros_like(tip)
    direction[np.arange(len(tip)), nearest % 3] = np.where(nearest < 3, 1.0, -1.0)
    depth = np.where(inside, both.reshape(len(tip), 6).min(axis=1), 0.0)
    return depth, direction
