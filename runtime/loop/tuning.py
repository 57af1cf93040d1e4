"""Gains, limits, shaper and live parameters of a loop: one block, handed over as a whole."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from elastogen.runtime import real_numbers
from elastogen.runtime.choices import flag
from elastogen.runtime.errors import ModelError
from elastogen.runtime.loop import checks
from elastogen.runtime.loop.controllers import (
    ComputedTorqueLaw,
    Controller,
    StateFeedback,
    UserController,
    default_gains,
    stiffness_by_columns,
)
from elastogen.runtime.loop.library import LoopLibrary
from elastogen.runtime.loop.safety.braking import SPEED, Braking, BrakingDesign
from elastogen.runtime.loop.safety.limits import Limits, limit_fields
from elastogen.runtime.loop.safety.safe_command import AFTER, STOPS, SafeCommand, checked_safe_command
from elastogen.runtime.loop.stability import Growth, LinearRobot, growth
from elastogen.runtime.motion.shaping import Shaper

__all__ = ["Limits", "SafeCommand", "Tuning"]
LAW_FIELDS = ("kp", "kd", "K", "compliance", "user")  # numbers that belong to a controller


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
        self.braking: Braking | None = None  # the gains that bring the robot to rest
        self.set_parameters({})

    def array(self, field: str) -> NDArray[Any]:
        """A field of the block."""
        return self._library.view(self._block, "eg_loop_tuning_t", field)

    def publish(self, loop: Any, ramp: int = 0) -> None:
        """Hand the block over; the loop takes it at its next cycle, its command goes over in ``ramp`` cycles."""
        self._block.ramp = ramp
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
            if self._model.loops is not None and not isinstance(controller, ComputedTorqueLaw):
                raise ModelError(
                    f"{self._model.name}: {controller.name}: got no gains, expected kp and kd of the drives: none are found "
                    f"for robots with closed loops. Fix: {type(controller).__name__}(kp=..., kd=...)."
                )
            found = default_gains(controller, LinearRobot.of(self._model, q), period)
            kp, kd = found[0] if kp is None else kp, found[1] if kd is None else kd
            self.bandwidths = found[2]
        values = controller.values if isinstance(controller, UserController) else None
        K = controller.gain_at(self._model, q) if isinstance(controller, StateFeedback) else None
        if isinstance(controller, StateFeedback):
            self._block.feedforward = int(flag("StateFeedback: feedforward", controller.feedforward))
            if K is None:
                raise ModelError(f"{self._model.name}: StateFeedback without K. Fix: K=lqr(...).")
        self.set_gains(kp=kp, kd=kd, K=K, values=values)
        elastic = list(self._model.elastic)
        if controller.name == "feedforward" and elastic:
            stiffness = stiffness_by_columns(self._model, q)[np.ix_(elastic, elastic)]
            self.array("compliance").reshape(len(elastic), -1)[:] = np.linalg.inv(stiffness)

    def law_values(self) -> dict[str, Any]:
        """What belongs to the present controller, to be set again by :meth:`use_law`."""
        fields = {name: self.array(name).copy() for name in LAW_FIELDS}
        return {**fields, "feedforward": int(self._block.feedforward), "bandwidths": self.bandwidths}

    def use_law(self, index: int, controller: Controller, values: Mapping[str, Any]) -> None:
        """Change to another controller of the loop, with what belongs to it."""
        self._law, self.bandwidths = controller, values["bandwidths"]
        self._block.law, self._block.feedforward = index, values["feedforward"]
        for name in LAW_FIELDS:
            self.array(name)[:] = values[name]

    def growth(self, controller: Controller, q: NDArray[Any], period: float) -> Growth | None:
        """How fast the linearized closed loop grows or decays with the present gains; None: unknown."""
        if self._model.loops is not None:
            return None
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
        arrays, whole = limit_fields(self._model, limits, period, self.expand, self.expand_positions)
        for field, value in arrays.items():
            self.array(field)[:] = value
        for field, number in whole.items():
            setattr(self._block, field, number)

    def set_safe(self, safe: SafeCommand, q: NDArray[Any], period: float, substeps: int = 1) -> Braking:
        """How the loop comes to rest; gains that are not given are found, about q and other configurations."""
        name, block, constants = self._model.name, self._block, self._library.constants
        checked = checked_safe_command(name, safe)
        given = {
            field: None if value is None else self.expand(f"safe {field}", value, 1.0 if field == "rest" else 0.0)
            for field, value in checked.arrays.items()
        }
        rest, force = given["rest"], given["force"]
        if rest is None or force is None:
            raise ModelError(f"{name}: SafeCommand: got rest={safe.rest!r}, force={safe.force!r}, expected numbers.")
        design = BrakingDesign(self._model, q, period, checked.gravity)
        limit = self.array("qd_max").astype(float)
        speed = np.where(limit < 0.1 * np.finfo(self._model.dtype).max, limit, SPEED)
        damping = given["damping"]
        if damping is None:
            damping = design.damping(checked.seconds, speed, rest)
        elif not design.is_stable(np.zeros_like(damping), damping):
            raise ModelError(
                f"{name}: SafeCommand: damping={safe.damping!r} is unstable at {1.0 / period:g} Hz, as linearized. "
                "Fix: leave it out, it is then found, or a higher rate."
            )
        found = design.hold() if given["kp"] is None or given["kd"] is None else (given["kp"], given["kd"])
        kp, kd = (value if own is None else own for own, value in zip((given["kp"], given["kd"]), found, strict=True))
        if not kd.any():
            kd = damping  # at least it does not get faster
        if not design.is_stable(kp, kd):
            raise ModelError(
                f"{name}: SafeCommand: kp={safe.kp!r} and kd={safe.kd!r} are unstable at {1.0 / period:g} Hz, as linearized. "
                "Fix: leave them out, they are then found, or a higher rate."
            )
        fields = {"safe_F": force, "safe_damping": damping, "safe_kp": kp, "safe_kd": kd, "rest": rest}
        for field, value in fields.items():
            self.array(field)[:] = value
        block.stop, block.after = constants[STOPS[checked.stop]], constants[AFTER[checked.after]]
        block.stop_ticks, block.fade_ticks = max(1, round(checked.seconds / period)), round(checked.fade / period)
        block.safe_gravity, block.predict, block.substeps = int(checked.gravity), int(checked.predict), substeps
        time, joint = self._stopping_time(design, checked.stop, checked.seconds, (damping, kp, kd), speed, rest)
        self.braking = Braking(damping, kp, kd, time, joint)
        return self.braking

    def stop_seconds(self, period: float) -> float:
        """In which the robot should come to rest."""
        return int(self._block.stop_ticks) * period

    def _stopping_time(
        self, design: BrakingDesign, stop: str, seconds: float, gains: Any, speed: NDArray[Any], rest: NDArray[Any]
    ) -> tuple[float, str]:
        """By the gains as linearized, and by the forces that the limits leave for braking."""
        if stop == "off":
            return seconds, ""
        time, joint = design.whole_time(gains, stop, seconds, speed, rest)
        force = self.array("F_max").astype(float) - design.weights()
        for k in design.driven:
            needed = float(design.inertia[k] * speed[k] / force[k]) if force[k] > 0.0 else np.inf
            if needed > time:
                time, joint = needed, self._model.velocity_names[k]
        return time, joint

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
        return self._scatter(name, value, np.full(self._model.nv, elsewhere), list(self._model.driven))

    def expand_positions(self, name: str, value: ArrayLike, elsewhere: NDArray[Any]) -> NDArray[Any]:
        """The same over all coordinates."""
        return self._scatter(name, value, elsewhere, list(self._model.driven_coordinates))

    def _scatter(self, name: str, value: ArrayLike, full: NDArray[Any], driven: list[int]) -> NDArray[Any]:
        n = len(full)
        given = real_numbers.numbers(f"{self._model.name}: {name}", value)
        if given.shape not in ((), (n,), (len(driven),)):
            expected = f"a number or an array of {n}" + (f" or {len(driven)}" if len(driven) != n else "")
            raise ModelError(f"{self._model.name}: {name} has shape {given.shape}, expected {expected}.")
        if given.shape == (n,):
            return given
        scatter: NDArray[Any] = full.copy()
        scatter[driven] = given
        return scatter
