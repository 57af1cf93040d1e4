"""Gains, limits, shaper and live parameters of a loop: one block, handed over as a whole."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from elastogen.runtime import real_numbers
from elastogen.runtime.errors import ModelError
from elastogen.runtime.loop import checks
from elastogen.runtime.loop.controllers import Controller, StateFeedback, UserController, default_gains, stiffness_by_columns
from elastogen.runtime.loop.library import LoopLibrary
from elastogen.runtime.loop.stability import Growth, LinearRobot, growth
from elastogen.runtime.motion.shaping import Shaper
from elastogen.runtime.words import flag


@dataclass(frozen=True, eq=False)
class Limits:
    """What the watchdog allows; None is no limit. Numbers, or arrays over the driven coordinates.

    Commands are cut to ``force`` [N m, N]; all others stop the loop: a command beyond ``force_trip``, a ``velocity``
    [rad/s, m/s], a tracking ``error`` [rad, m], a position outside ``position`` = (least, greatest) [rad, m], and a last
    reference or heartbeat that is older than ``reference_age`` [s]; 0: it may be of any age.
    """

    force: ArrayLike | None = None
    force_trip: ArrayLike | None = None
    velocity: ArrayLike | None = None
    error: ArrayLike | None = None
    position: tuple[ArrayLike, ArrayLike] | None = None
    reference_age: float = 0.0


@dataclass(frozen=True, eq=False)
class SafeCommand:
    """What the loop writes when it stops: ``force`` + gravity compensation - ``damping`` times the last sound velocity."""

    force: ArrayLike = 0.0
    damping: ArrayLike = 0.0
    gravity: bool = False


class Tuning:
    """The block of one loop, as arrays; the loop sees a change after ``publish``."""

    def __init__(self, library: LoopLibrary) -> None:
        self._library = library
        self._ffi = library.ffi
        self._model = library.model
        self._block = self._ffi.new("eg_loop_tuning_t *")
        self._most_taps = library.constants["TAPS"]
        self.bandwidths: NDArray[Any] | None = None  # of gains that were found here [rad/s], (nv,)
        self._law = Controller()  # whose gains these are
        self.set_parameters({})

    def array(self, field: str) -> NDArray[Any]:
        """A field of the block."""
        return self._library.view(self._block, "eg_loop_tuning_t", field)

    def publish(self, loop: Any) -> None:
        """Hand the block over; the loop takes it at its next cycle."""
        self._library.lib.eg_loop_set_tuning(loop, self._block)

    def set_parameters(self, values: Mapping[str, float]) -> None:
        """Change live parameters of the controller's model."""
        parameters = self._model.parameters
        parameters.update(values)
        snapshot = parameters.snapshot
        if len(snapshot):
            self._ffi.memmove(self._ffi.addressof(self._block.p), self._ffi.from_buffer(snapshot), snapshot.nbytes)

    def set_controller(self, controller: Controller, q: NDArray[Any], period: float) -> None:
        """Gains of a controller; what it leaves out is found for the configuration q."""
        self._law = controller
        kp, kd = controller.kp, controller.kd
        if (kp is None or kd is None) and not isinstance(controller, (StateFeedback, UserController)):
            found = default_gains(controller, LinearRobot.of(self._model, q), period)
            kp, kd = found[0] if kp is None else kp, found[1] if kd is None else kd
            self.bandwidths = found[2]
        values = controller.values if isinstance(controller, UserController) else None
        K = controller.K if isinstance(controller, StateFeedback) else None
        if isinstance(controller, StateFeedback):
            self._block.feedforward = int(flag("StateFeedback: feedforward", controller.feedforward))
            if K is None:
                raise ModelError(f"{self._model.name}: StateFeedback without K. Fix: K=lqr(...).")
        self.set_gains(kp=kp, kd=kd, K=K, values=values)
        elastic = list(self._model.elastic)
        if controller.name == "feedforward" and elastic:
            stiffness = stiffness_by_columns(self._model, q)[np.ix_(elastic, elastic)]
            self.array("compliance").reshape(len(elastic), -1)[:] = np.linalg.inv(stiffness)

    def growth(self, controller: Controller, q: NDArray[Any], period: float) -> Growth | None:
        """How fast the linearized closed loop grows or decays with the present gains; None: unknown."""
        robot = LinearRobot.of(self._model, q)
        kp, kd = (self.array(name).astype(float) for name in ("kp", "kd"))
        feedback = controller.feedback(robot, kp, kd)
        return None if feedback is None else growth(robot, feedback, period)

    def set_gains(
        self,
        kp: ArrayLike | None = None,
        kd: ArrayLike | None = None,
        K: ArrayLike | None = None,
        values: ArrayLike | None = None,
    ) -> None:
        """Change gains, all or, where one is refused, none of them; None leaves them as they are."""
        n, driven = self._model.nv, list(self._model.driven)
        changed: dict[str, NDArray[Any]] = {}
        if kp is not None:
            changed["kp"] = self._not_negative(f"{self._law.name}: kp", kp)
        if kd is not None:
            changed["kd"] = self._not_negative(f"{self._law.name}: kd", kd)
        if K is not None:
            given = real_numbers.finite(f"{self._model.name}: K", K)
            if given.shape not in ((len(driven), 2 * n), (n, 2 * n)):
                raise ModelError(f"{self._model.name}: K has shape {given.shape}, expected ({len(driven)}, {2 * n}).")
            full = np.zeros((n, 2 * n))
            full[driven if given.shape[0] == len(driven) else slice(None)] = given
            changed["K"] = full.reshape(-1)
        if values is not None:
            given = np.atleast_1d(real_numbers.finite(f"{self._model.name}: values", values))
            if given.ndim != 1 or given.size > self.array("user").size:
                most = self.array("user").size
                raise ModelError(f"{self._model.name}: got {given.size} values, expected at most {most}.")
            changed["user"] = given
        for field, numbers in changed.items():
            self.array(field)[: numbers.size] = numbers

    def _not_negative(self, name: str, value: ArrayLike) -> NDArray[Any]:
        """Gains over all velocities; those of a law of the user's own, and of one without kp and kd, may have any sign."""
        gains = self.expand(name, real_numbers.finite(f"{self._model.name}: {name}", value))
        below = np.flatnonzero(gains < 0.0)
        if below.size and not isinstance(self._law, (StateFeedback, UserController)):
            where = ", ".join(f"{gains[k]:g} for {self._model.velocity_names[k]}" for k in below)
            raise ModelError(
                f"{self._model.name}: {name}: got {where}, expected numbers from 0: a negative one drives away from the "
                "reference. Fix: change its sign, the law has that of the error in it."
            )
        return gains

    def set_limits(self, limits: Limits, period: float) -> None:
        """All limits anew, for a loop of that period [s]."""
        checks.instance(f"{self._model.name}: limits", limits, Limits, "a Limits(...)")
        expected = f"seconds up to {(2**32 - 1) * period:g}; 0: references of any age"
        age = checks.number(f"{self._model.name}: reference_age", limits.reference_age, 0.0, (2**32 - 1) * period, expected)
        least, greatest = self._range(limits.position)
        fields = {
            "F_max": limits.force, "F_trip": limits.force_trip, "qd_max": limits.velocity,
            "error_max": limits.error,
        }  # fmt: skip
        values = {field: self.expand(field, np.inf if value is None else value, np.inf) for field, value in fields.items()}
        values["q_max"] = self.expand_positions(
            "q_max", np.inf if greatest is None else greatest, np.full(self._model.nq, np.inf)
        )
        values["q_min"] = self.expand_positions("q_min", -np.inf if least is None else least, np.full(self._model.nq, -np.inf))
        for field in ("F_max", "F_trip", "qd_max", "error_max"):
            if (values[field] < 0.0).any():
                raise ModelError(f"{self._model.name}: limits: {field} is {values[field]}, expected numbers from 0.")
        if (values["q_min"] > values["q_max"]).any():
            raise ModelError(f"{self._model.name}: limits: position={limits.position!r}, expected (least, greatest).")
        for field, value in values.items():
            self.array(field)[:] = value
        self._block.reference_age = max(1, round(age / period)) if age > 0.0 else 0

    def _range(self, position: Any) -> tuple[Any, Any]:
        if position is None:
            return None, None
        if not isinstance(position, (tuple, list)) or len(position) != 2:
            raise ModelError(f"{self._model.name}: limits: got position={position!r}, expected a pair (least, greatest).")
        return position[0], position[1]

    def set_safe(self, safe: SafeCommand) -> None:
        """What is written when the loop stops."""
        checks.instance(f"{self._model.name}: safe", safe, SafeCommand, "a SafeCommand(...)")
        gravity = flag("SafeCommand: gravity", safe.gravity)
        force, damping = (real_numbers.finite(f"SafeCommand: {name}", getattr(safe, name)) for name in ("force", "damping"))
        if (damping < 0.0).any():
            raise ModelError(f"SafeCommand: damping: got {safe.damping!r}, expected numbers from 0: a negative one speeds up.")
        self.array("safe_F")[:] = self.expand("safe force", force)
        self.array("safe_damping")[:] = self.expand("safe damping", damping)
        self._block.safe_gravity = int(gravity)

    def set_shaper(self, shaper: Shaper | None, period: float, rows: int) -> None:
        """Impulses of the input shaper; ``rows`` is the length of the loop's memory in periods."""
        if shaper is not None:
            checks.instance(
                f"{self._model.name}: shaper", shaper, Shaper, "None or a Shaper, for example shaping.zv(frequency)"
            )
        delays, gains = (np.empty(0), np.empty(0)) if shaper is None else shaper.taps(period)
        if len(delays) > self._most_taps:
            raise ModelError(
                f"{self._model.name}: the shaper has {len(delays)} impulses, at most {self._most_taps} are possible."
            )
        if len(delays) and delays[-1] >= rows:
            raise ModelError(
                f"{self._model.name}: the shaper reaches back {delays[-1] * period:g} s, "
                f"the loop remembers {max(0, rows - 1) * period:g} s. Fix: a greater shaper_memory=."
            )
        self._block.taps = len(delays)
        self._block.tap_delay[0 : len(delays)] = [int(delay) for delay in delays]
        self.array("tap_gain")[: len(gains)] = gains

    def expand(self, name: str, value: ArrayLike, elsewhere: float = 0.0) -> NDArray[Any]:
        """A value over all velocities from a number, or from an array over all or over the driven ones."""
        return self._spread(name, value, np.full(self._model.nv, elsewhere), list(self._model.driven))

    def expand_positions(self, name: str, value: ArrayLike, elsewhere: NDArray[Any]) -> NDArray[Any]:
        """The same over all coordinates."""
        return self._spread(name, value, elsewhere, list(self._model.driven_coordinates))

    def _spread(self, name: str, value: ArrayLike, full: NDArray[Any], driven: list[int]) -> NDArray[Any]:
        n = len(full)
        given = real_numbers.numbers(f"{self._model.name}: {name}", value)
        if given.shape not in ((), (n,), (len(driven),)):
            expected = f"a number or an array of {n}" + (f" or {len(driven)}" if len(driven) != n else "")
            raise ModelError(f"{self._model.name}: {name} has shape {given.shape}, expected {expected}.")
        if given.shape == (n,):
            return given
        full[driven] = given
        return full
