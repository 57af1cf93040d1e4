"""Gymnasium: a robot as a vectorized environment, many motions at once in the model's C."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from elastogen.runtime.bridges.differentiable import target
from elastogen.runtime.errors import ModelError
from elastogen.runtime.real_numbers import finite, number

if TYPE_CHECKING:
    from elastogen.runtime.model.model import Model

Array = NDArray[np.float64]
Reward = Callable[[Array, Array, Array], ArrayLike]
FORCE = 100.0  # [N m] or [N], of drives whose limit the robot does not tell
SPEED = 100.0  # [rad/s] or [m/s], beyond which a motion counts as lost
STEPS = 500  # of an episode
MOST_SUBSTEPS, MOST_ENVS = 1000, 1_000_000


def to_gymnasium(
    model: Model,
    *,
    dt: float = 0.01,
    reward: Reward | None = None,
    goal: ArrayLike | None = None,
    envs: int | None = None,
    force: ArrayLike | None = None,
    substeps: int = 1,
    start: ArrayLike | None = None,
) -> Any:
    """A ``gymnasium.Env`` of the robot, or with ``envs`` a ``gymnasium.vector.VectorEnv`` of so many.

    Observation: q and qd. Action: the driven forces, within ``force`` (one number, or one for each drive [N m] or [N]; by
    default the limits of the robot's joints, and 100 where there are none). A step holds the action for ``dt`` seconds, in
    ``substeps`` Runge-Kutta steps of order 4. ``reward(q, qd, F)`` gets arrays (envs, n) and gives (envs,); the default one is
    minus the squared distance to ``goal`` (nq,), the neutral configuration by default, with 0.1 qd^2 and 0.001 F^2. An
    episode begins at rest within 0.1 rad or m of ``start`` (nq,), the neutral configuration by default, is truncated after 500
    steps, and terminated where a motion is lost.
    """
    gymnasium = target("gymnasium", "gymnasium", (0, 29))
    if number(f"{model.name}.to_gymnasium: dt", dt, "a positive number of seconds") <= 0:
        raise ModelError(f"{model.name}.to_gymnasium: dt={dt!r}, expected a positive number of seconds.")
    if isinstance(substeps, bool) or not isinstance(substeps, int) or not 0 < substeps <= MOST_SUBSTEPS:
        raise ModelError(
            f"{model.name}.to_gymnasium: substeps={substeps!r}, expected a whole number from 1 to {MOST_SUBSTEPS}."
        )
    if reward is not None and not callable(reward):
        raise ModelError(f"{model.name}.to_gymnasium: reward={reward!r}, expected a function of (q, qd, F) or None.")
    if envs is not None and (isinstance(envs, bool) or not isinstance(envs, int) or not 0 < envs <= MOST_ENVS):
        raise ModelError(f"{model.name}.to_gymnasium: envs={envs!r}, expected a number of environments or None.")
    if not model.driven:
        raise ModelError(f"{model.name}.to_gymnasium: no joint has a drive. Fix: driven: true on a joint, or base='driven'.")
    physics = _Physics(model, float(dt), int(substeps), reward, goal, force, start)
    return _vector_env(gymnasium, physics, envs) if envs is not None else _env(gymnasium, physics)


def _own_limits(model: Model) -> Array:
    """Of the robot's drives; FORCE where the robot does not tell."""
    limits = np.asarray(model.force_limits)[list(model.driven)]
    return np.where(np.isfinite(limits) & (limits > 0), limits, FORCE)


class _Physics:
    """The robot in many copies: states, a step of all of them, rewards."""

    def __init__(
        self,
        model: Model,
        dt: float,
        substeps: int,
        reward: Reward | None,
        goal: ArrayLike | None,
        force: ArrayLike | None,
        start: ArrayLike | None,
    ) -> None:
        self.model, self.dt, self.substeps = model, dt, substeps
        self.goal, self.first = self._configuration("goal", goal), self._configuration("start", start)
        self.driven = list(model.driven)
        try:
            limits = np.broadcast_to(
                finite(f"{model.name}.to_gymnasium: force", _own_limits(model) if force is None else force), len(self.driven)
            ).copy()
        except ValueError:
            raise ModelError(
                f"{model.name}.to_gymnasium: force={force!r}, expected a number or {len(self.driven)} of them."
            ) from None
        if not (limits > 0).all():
            raise ModelError(f"{model.name}.to_gymnasium: force={force!r}, expected positive numbers.")
        self.force = limits
        self.reward = reward or self._distance
        self.size = model.nq + model.nv
        loops, quaternions = model.metadata.loops is not None, bool(model.metadata.quaternions)
        self.simulated = loops or quaternions  # where a step is more than sums of coordinates
        self.closes = loops
        q, qd = self.start(np.random.default_rng(0), 3)
        if not np.isfinite(self._accelerations(q, qd, np.zeros_like(qd))).all():
            raise ModelError(
                f"{model.name}.to_gymnasium: start={self.first.tolist()}, near which there are no accelerations (out of the "
                "range of a sliding joint, or no positive definite mass matrix). Fix: start=[...], where the robot can move."
            )
        if reward is not None:
            earned = np.asarray(reward(q, qd, np.zeros_like(qd)))
            if earned.shape not in ((), (3,)):
                raise ModelError(
                    f"{model.name}.to_gymnasium: reward gave the shape {earned.shape} for 3 robots, expected (3,). "
                    "Fix: sums over axis=-1."
                )

    def _configuration(self, name: str, given: ArrayLike | None) -> Array:
        """The neutral one where none is given."""
        found = finite(f"{self.model.name}.to_gymnasium: {name}", self.model.neutral() if given is None else given)
        if found.shape != (self.model.nq,):
            raise ModelError(f"{self.model.name}.to_gymnasium: {name} has shape {found.shape}, expected ({self.model.nq},).")
        return found

    def action(self, given: ArrayLike, shape: tuple[int, ...]) -> Array:
        """Forces of the drives, of this shape."""
        found = np.asarray(given, dtype=np.float64)
        if found.shape != shape:
            raise ModelError(
                f"{self.model.name}: the action has shape {found.shape}, expected {shape}: one number for each drive."
            )
        return found

    def _distance(self, q: Array, qd: Array, F: Array) -> Array:
        off = np.asarray(self.model.difference(self.goal, q))
        earned: Array = -np.sum(off**2, axis=-1) - 0.1 * np.sum(qd**2, axis=-1) - 1e-3 * np.sum(F**2, axis=-1)
        return earned

    def start(self, rng: np.random.Generator, count: int) -> tuple[Array, Array]:
        """Configurations near the first one, at rest."""
        model = self.model
        away = rng.uniform(-0.1, 0.1, (count, model.nv))
        away[:, list(model.elastic)] = 0.0
        q = np.asarray(model.integrate(np.broadcast_to(self.first, (count, model.nq)), away), dtype=np.float64)
        if self.closes:
            q = np.asarray(model.close_loops(q), dtype=np.float64)
        return q, np.zeros((count, model.nv))

    def step(self, q: Array, qd: Array, action: Array) -> tuple[Array, Array, Array]:
        """Hold forces (count, drives) for dt: the next q and qd, and the forces (count, nv)."""
        F = np.zeros((len(q), self.model.nv))
        F[:, self.driven] = np.clip(action, -self.force, self.force)
        h = self.dt / self.substeps
        if self.simulated:
            q, qd = self._simulated(q, qd, F, h)
        else:
            for _ in range(self.substeps):
                q, qd = self._runge_kutta(q, qd, F, h)
        if np.isnan(qd[:, 0].sum()) and np.isnan(action).any():  # the sum is quick, and nearly always enough
            raise ModelError(f"{self.model.name}: the action contains NaN, expected a force for each drive.")
        return q, qd, F

    def _runge_kutta(self, q: Array, v1: Array, F: Array, h: float) -> tuple[Array, Array]:
        a1 = self._accelerations(q, v1, F)
        v2 = v1 + 0.5 * h * a1
        a2 = self._accelerations(q + 0.5 * h * v1, v2, F)
        v3 = v1 + 0.5 * h * a2
        a3 = self._accelerations(q + 0.5 * h * v2, v3, F)
        v4 = v1 + h * a3
        a4 = self._accelerations(q + h * v3, v4, F)
        return q + h / 6.0 * (v1 + 2 * v2 + 2 * v3 + v4), v1 + h / 6.0 * (a1 + 2 * a2 + 2 * a3 + a4)

    def _simulated(self, q: Array, qd: Array, F: Array, h: float) -> tuple[Array, Array]:
        """One by one by the integrator of simulations, which keeps quaternions unit and loops closed; NaN: a lost motion."""
        after, rates = np.full_like(q, np.nan), np.full_like(qd, np.nan)
        options: dict[str, Any] = {"method": "rk4", "step": h, "energy": False, "on_failure": "keep"}
        for k in np.flatnonzero(np.isfinite(q).all(axis=-1) & np.isfinite(qd).all(axis=-1)):
            motion = self.model.simulate(q[k], qd[k], t=[0.0, self.dt], F=F[k], **options)
            if motion.ok:
                after[k], rates[k] = motion.q[-1], motion.qd[-1]
        return after, rates

    def _accelerations(self, q: Array, qd: Array, F: Array) -> Array:
        found: Array = self.model.evaluate("forward_dynamics", q=q, qd=qd, F=F, on_failure="nan")
        return found

    def lost(self, q: Array, qd: Array) -> NDArray[np.bool_]:
        """Which motions are not finite, or too fast to be one."""
        lost: NDArray[np.bool_] = ~(np.isfinite(q).all(axis=-1) & (np.abs(qd).max(axis=-1) <= SPEED))
        return lost


def _spaces(gymnasium: Any, physics: _Physics) -> tuple[Any, Any]:
    observation = gymnasium.spaces.Box(-np.inf, np.inf, (physics.size,), np.float64)
    return observation, gymnasium.spaces.Box(-physics.force, physics.force, dtype=np.float64)


def _env(gymnasium: Any, physics: _Physics) -> Any:
    class RobotEnv(gymnasium.Env):  # type: ignore[misc]
        """One robot: see ``Model.to_gymnasium``."""

        metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012 (gymnasium's own name and kind)

        def __init__(self) -> None:
            self.observation_space, self.action_space = _spaces(gymnasium, physics)
            self.dt, self.model = physics.dt, physics.model

        def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Array, dict[str, Any]]:
            super().reset(seed=seed)
            self._q, self._qd = physics.start(self.np_random, 1)
            self._steps = 0
            return self._observation(), {}

        def step(self, action: ArrayLike) -> tuple[Array, float, bool, bool, dict[str, Any]]:
            self._q, self._qd, F = physics.step(self._q, self._qd, physics.action(action, self.action_space.shape)[None])
            self._steps += 1
            lost = bool(physics.lost(self._q, self._qd)[0])
            earned = 0.0 if lost else float(np.ravel(physics.reward(self._q, self._qd, F))[0])
            return self._observation(), earned, lost, self._steps >= STEPS, {}

        def _observation(self) -> Array:
            return np.concatenate([self._q[0], self._qd[0]])

    return RobotEnv()


def _vector_env(gymnasium: Any, physics: _Physics, count: int) -> Any:
    class RobotVectorEnv(gymnasium.vector.VectorEnv):  # type: ignore[misc]
        """Many robots: see ``Model.to_gymnasium``. A robot whose episode is over starts anew with its next step."""

        metadata = {"autoreset_mode": gymnasium.vector.AutoresetMode.NEXT_STEP}  # noqa: RUF012 (gymnasium's own name and kind)

        def __init__(self) -> None:
            self.num_envs, self.dt, self.model = count, physics.dt, physics.model
            self.single_observation_space, self.single_action_space = _spaces(gymnasium, physics)
            batch = gymnasium.vector.utils.batch_space
            self.observation_space = batch(self.single_observation_space, count)
            self.action_space = batch(self.single_action_space, count)

        def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Array, dict[str, Any]]:
            super().reset(seed=seed)
            self._q, self._qd = physics.start(self.np_random, count)
            self._steps = np.zeros(count, dtype=np.int64)
            self._over = np.zeros(count, dtype=bool)
            return self._observation(), {}

        def step(self, actions: ArrayLike) -> tuple[Array, Array, NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
            begins = self._over
            q, qd, F = physics.step(self._q, self._qd, physics.action(actions, self.action_space.shape))
            if begins.any():
                q[begins], qd[begins] = physics.start(self.np_random, int(begins.sum()))
            self._q, self._qd = q, qd
            self._steps = np.where(begins, 0, self._steps + 1)
            lost = physics.lost(q, qd)
            with np.errstate(invalid="ignore", over="ignore"):
                earned = np.where(lost | begins, 0.0, np.asarray(physics.reward(q, qd, F), dtype=np.float64))
            truncated = self._steps >= STEPS
            self._over = lost | truncated
            return self._observation(), earned, lost, truncated, {}

        def _observation(self) -> Array:
            return np.concatenate([self._q, self._qd], axis=-1)

    return RobotVectorEnv()
