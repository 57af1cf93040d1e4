"""Controllers of a flexible arm on the same move of its tip, simulated with sensors that are sampled and noisy.

Six of them: PD with gravity on the joints; PD with the inverse dynamics of the joints' motion; the same with a reference
shaped for the lowest mode; LQG, state feedback of what a Kalman filter estimates from the sensors, about the motion of stable
inversion; that motion with PD; and its causal approximation. Forces are computed at a rate and held, the arm is integrated
between by RK4.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from elastogen.observers.design import design_observer
from elastogen.runtime import real_numbers
from elastogen.runtime.errors import ModelError
from elastogen.runtime.loop.controllers import BANDWIDTH, lqr
from elastogen.runtime.model.model import Model
from elastogen.runtime.motion.shaping import zvd
from elastogen.runtime.motion.trajectory import Trajectory
from elastogen.runtime.whole_files import file_path, replacing
from elastogen.tip_control.causal import causal_tip_inversion
from elastogen.tip_control.inversion import TipMotion, smooth_move, tip_inversion
from elastogen.tip_control.tip_path import check_arm, tip_path

Array = NDArray[np.float64]
SUBSTEPS = 8  # of RK4 in a period
PRICE, SPRINGS = 0.1, 0.3  # of LQG: of forces, and of joints beside the energy of the errors
NAMES = ("pd", "feedforward", "shaping", "lqg", "causal", "inversion")


@dataclass(frozen=True, eq=False)
class TipRun:
    """The motion under one controller; row k is time ``t[k]``, the tip moves from 0 to ``seconds``."""

    name: str
    t: Array
    tip: Array  # (rows, 3) [m]
    F: Array  # (rows, nv) [N m, N]
    error: float  # greatest distance of the tip from its path during the move, over the stroke
    overshoot: float  # greatest distance from the goal after the move, over the stroke
    residual: float  # the same in the second half of the time that is watched: what is left of vibrations


@dataclass(frozen=True, eq=False)
class TipComparison:
    """All controllers on one move."""

    model: Model
    seconds: float
    t: Array
    path: Array  # (rows, 3) [m]
    runs: tuple[TipRun, ...]

    def __getitem__(self, name: str) -> TipRun:
        found = {run.name: run for run in self.runs}
        if name not in found:
            raise ModelError(f"comparison: got {name!r}, expected one of {', '.join(found)}.")
        return found[name]

    def table(self) -> str:
        """Return the errors in percent of the stroke."""
        lines = [f"{'controller':<14}{'on the way [%]':>16}{'after [%]':>12}{'residual [%]':>16}{'greatest force':>16}"]
        for run in self.runs:
            numbers = (100 * run.error, 100 * run.overshoot, 100 * run.residual)
            lines.append(f"{run.name:<14}{numbers[0]:>16.3g}{numbers[1]:>12.3g}{numbers[2]:>16.3g}{np.abs(run.F).max():>16.3g}")
        return "\n".join(lines)

    def page(self, path: str | Path) -> Path:
        """Write a page with the motions of the tips and their errors."""
        from elastogen.tip_control.page import page

        target, text = file_path(path), page(self)
        with replacing(target) as scratch:
            scratch.write_text(text, encoding="utf-8")
        return target


def compare_tip_control(
    model: Model,
    start: ArrayLike,
    goal: ArrayLike,
    seconds: float,
    *,
    sensors: Sequence[str] | str | None = None,
    rate: float = 1000.0,
    after: float | None = None,
    controllers: Sequence[str] = NAMES,
    noise: ArrayLike | dict[str, float] | None = None,
    seed: int = 0,
) -> TipComparison:
    """Move the tip from rest at joints ``start`` to rest at ``goal`` (drives,) in ``seconds``, with each controller.

    ``sensors`` and ``noise`` are those of the Kalman filter; PD reads exact joints. ``after`` [s] is how long the arm
    is watched behind the move, six periods of its lowest vibration by default. Needs SciPy.
    """
    what = "compare_tip_control"
    check_arm(model, what)
    unknown = [name for name in controllers if name not in NAMES]
    if unknown or not controllers:
        raise ModelError(f"{what}: controllers={list(controllers)!r}, expected some of {', '.join(NAMES)}.")
    hertz = real_numbers.number(f"{what}: rate", rate, "a number of Hz above 0")
    if hertz <= 0.0:
        raise ModelError(f"{what}: rate={rate!r}, expected a number of Hz above 0.")
    if not model.elastic:
        raise ModelError(f"{what}: {model.name} has no elastic coordinates: its tip is where its joints are.")
    motion = tip_inversion(model, start, goal, seconds)
    scene = _Scene(model, np.atleast_1d(start), np.atleast_1d(goal), float(seconds), hertz, motion, after)
    makers: dict[str, Callable[[], Any]] = {
        "pd": lambda: scene.pd(None),
        "feedforward": lambda: scene.pd(scene.joints),
        "shaping": lambda: scene.pd(scene.shaped()),
        "lqg": lambda: scene.lqg(sensors, noise, seed),
        "causal": lambda: scene.inversion(causal_tip_inversion(model, scene.joints, rounds=1)),
        "inversion": lambda: scene.inversion(motion),
    }
    runs = tuple(scene.run(name, makers[name]()) for name in NAMES if name in controllers)
    return TipComparison(model, float(seconds), scene.t, scene.path, runs)


class _Scene:
    """The move, the plant and the controllers."""

    def __init__(
        self, model: Model, start: Array, goal: Array, seconds: float, rate: float, motion: Any, after: float | None
    ) -> None:
        self.model, self.seconds, self.dt, self.motion = model, seconds, 1.0 / rate, motion
        self.drives, self.n = list(model.driven), model.nv
        self.joints = smooth_move(start, goal, seconds)
        first = tip_path(model, start[None], "compare_tip_control").q[0]
        frequencies = model.modes(first).frequencies
        self.mode = float(frequencies[frequencies > 0.0][0])
        watched = 6.0 * 2.0 * np.pi / self.mode if after is None else after
        before = int(np.ceil(motion.before / self.dt))
        self.t: Array = self.dt * np.arange(-before, int(np.ceil((seconds + watched) / self.dt)) + 1, dtype=np.float64)
        whole = tip_path(model, self.joints(self.t), "compare_tip_control")
        self.path: Array = whole.pose[:, :3, 3].copy()
        self.rest = np.asarray(whole.q)
        self.start, self.goal = whole.q[0], whole.q[-1]
        M = np.asarray(model.mass_matrix(self.start))
        joint = np.diag(M)[self.drives]
        self.kp, self.kd = joint * BANDWIDTH**2, 2.0 * joint * BANDWIDTH

    def run(self, name: str, law: Callable[[int, Array, Array], Array]) -> TipRun:
        model, h = self.model, self.dt / SUBSTEPS
        q, qd = self.start.copy(), np.zeros(self.n)
        states, forces = [], []
        for k in range(len(self.t)):
            F = np.zeros(self.n)
            F[self.drives] = law(k, q, qd)
            states.append(q)
            forces.append(F)
            for _ in range(SUBSTEPS):
                a = model.forward_dynamics(q, qd, F)
                b = model.forward_dynamics(q + h / 2 * qd, qd + h / 2 * a, F)
                c = model.forward_dynamics(q + h / 2 * qd + h * h / 4 * a, qd + h / 2 * b, F)
                d = model.forward_dynamics(q + h * qd + h * h / 2 * b, qd + h * c, F)
                q, qd = q + h * qd + h * h / 6 * (a + b + c), qd + h / 6 * (a + 2 * b + 2 * c + d)
        tip: Array = np.array(model.forward_kinematics(np.array(states)), dtype=np.float64)[:, -1, :3, 3]
        stroke = float(np.linalg.norm(self.path[-1] - self.path[0]))
        away = np.linalg.norm(tip - self.path, axis=1) / stroke
        ended = self.t >= self.seconds
        late = self.t >= 0.5 * (self.seconds + self.t[-1])
        parts = (float(away[rows].max()) for rows in (~ended, ended, late))
        return TipRun(name, self.t, tip, np.array(forces), *parts)

    def feedback(self, q: Array, qd: Array, q_ref: Array, qd_ref: Array) -> Array:
        d = self.drives
        result: Array = self.kp * (q_ref[d] - q[d]) + self.kd * (qd_ref[d] - qd[d])
        return result

    def pd(self, reference: Trajectory | None) -> Callable[[int, Array, Array], Array]:
        """PD about the reference of the joints, or about their goal in the plain move, with the forces of the rigid motion."""
        plain = self.joints if reference is None else reference
        places, zero = np.clip(self.t, 0.0, None), np.zeros(self.n)
        q, qd, qdd = (plain(places, order) for order in range(3))

        def law(k: int, measured: Array, rate: Array) -> Array:
            whole, speed, acceleration = self.rest[k].copy(), zero.copy(), zero.copy()
            whole[self.drives], speed[self.drives], acceleration[self.drives] = q[k], qd[k], qdd[k]
            moving = reference is not None
            F = self.model.inverse_dynamics(whole, speed if moving else zero, acceleration if moving else zero)
            result: Array = np.asarray(F)[self.drives] + self.feedback(measured, rate, whole, speed)
            return result

        return law

    def shaped(self) -> Any:
        """Shape the reference for the lowest mode."""
        shaper = zvd(self.mode, 0.0)

        def shape(t: Array, order: int = 0) -> Array:
            impulses = zip(shaper.gains, shaper.times, strict=True)
            parts = [gain * self.joints(np.asarray(t) - delay, order) for gain, delay in impulses]
            result: Array = np.sum(parts, axis=0)
            return result

        return shape

    def sampled(self, motion: TipMotion) -> tuple[Array, Array, Array]:
        """Sample a motion of the whole arm at the times of the scene, with the mean force of each period."""
        table = motion.sampled(self.dt)
        last = len(table.t) - 1
        rows = np.clip(np.arange(len(self.t)) + round((self.t[0] - table.t[0]) / self.dt), 0, last)
        return table.q[rows], table.qd[rows], 0.5 * (table.F[rows] + table.F[np.minimum(rows + 1, last)])

    def inversion(self, motion: TipMotion) -> Callable[[int, Array, Array], Array]:
        """Take forces and joint references from the inverted motion of the whole arm, with PD on the joints."""
        q_ref, qd_ref, F_ref = self.sampled(motion)

        def law(k: int, q: Array, qd: Array) -> Array:
            result: Array = F_ref[k][self.drives] + self.feedback(q, qd, q_ref[k], qd_ref[k])
            return result

        return law

    def lqg(self, sensors: Any, noise: Any, seed: int) -> Callable[[int, Array, Array], Array]:
        """Feed back the filter's estimate about the motion of stable inversion, with its forces.

        If the reference were a motion that the arm cannot do, feedback itself would make the arm vibrate.
        """
        model, rng, zero = self.model, np.random.default_rng(seed), np.zeros(self.n)
        hold = np.asarray(model.inverse_dynamics(self.goal, zero, zero))
        linear = model.linearize(self.goal, zero, hold)
        M, K = np.asarray(model.mass_matrix(self.goal)), np.asarray(model.stiffness_matrix())
        joint = np.diag(M)[self.drives] * self.mode**2  # [N m/rad]: springs that would swing a joint as fast as the mode
        K[self.drives, self.drives] += SPRINGS * joint
        energy = np.zeros((2 * self.n, 2 * self.n))
        energy[: self.n, : self.n], energy[self.n :, self.n :] = K, M
        gain = lqr(linear.A, linear.B, energy, PRICE / joint)
        design = design_observer(model, sensors, q=self.goal, rate=1.0 / self.dt, noise=noise)
        ekf = design.filter(self.start, zero)
        reference = self.sampled(self.motion)
        last = np.asarray(model.inverse_dynamics(self.start, zero, zero))

        def law(k: int, q: Array, qd: Array) -> Array:
            nonlocal last
            y = model.measurement(q, qd, last, sensors=design.asked).y
            if k:
                ekf.step(last, y + design.noise * rng.standard_normal(len(y)), self.dt)
            q_ref, qd_ref, F_ref = (part[k] for part in reference)
            error = np.concatenate([ekf.q - q_ref, ekf.qd - qd_ref])
            result: Array = F_ref[self.drives] - gain @ error
            last = np.zeros(self.n)
            last[self.drives] = result
            return result

        return law
