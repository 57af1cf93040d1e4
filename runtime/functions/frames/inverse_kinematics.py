"""Inverse kinematics of frames, solved in C."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from elastogen.runtime.errors import ModelError
from elastogen.runtime.functions.evaluation import Array, ParameterValues
from elastogen.runtime.functions.frames.frame_methods import Frames
from elastogen.runtime.functions.frames.framed_evaluation import FramedEvaluation
from elastogen.runtime.functions.frames.search import Module, Search, Targets
from elastogen.runtime.functions.quaternions import unit_quaternions
from elastogen.runtime.interface.error import shortened

FUNCTION = "inverse_kinematics"
TOLERANCE = {8: 1e-6, 4: 1e-4}  # [m, rad] by the bytes of a number
NOT_ORTHOGONAL = {8: 1e-6, 4: 1e-4}
OUT_OF_RANGE = -3  # the status of a sliding joint beyond its beam


class InverseKinematics(NamedTuple):
    """The result of :meth:`Model.inverse_kinematics`, with one entry for each item of the batch."""

    q: Array  # (..., nq), between the limits
    converged: NDArray[np.bool_]  # (...): whether all errors are within the tolerances
    position_error: Array  # (...) [m], the largest over the frames; 0 where positions are free
    rotation_error: Array  # (...) [rad], the same
    iterations: NDArray[np.int32]  # (...)


class InverseKinematicsMethods(FramedEvaluation):
    """Inverse kinematics of any frames, in batches."""

    _lib: Any
    _ffi: Any
    _build: Callable[[str, tuple[str, ...]], Any] | None = None
    nq: Any
    dtype: Any
    neutral: Any
    random_configuration: Any
    position_limits: Any

    def inverse_kinematics(
        self,
        frames: Frames,
        position: ArrayLike | None = None,
        rotation: ArrayLike | None = None,
        *,
        q0: ArrayLike | None = None,
        posture: ArrayLike | None = None,
        iterations: int = 100,
        damping: float = 0.1,
        tolerance: float | tuple[float, float] | None = None,
        weights: tuple[float, float] = (1.0, 1.0),
        posture_gain: float = 0.5,
        longest_step: float = 0.5,
        limits: tuple[ArrayLike, ArrayLike] | None = None,
        attempts: int = 1,
        rng: np.random.Generator | int | None = 0,
        parameters: ParameterValues = None,
    ) -> InverseKinematics:
        """Find coordinates that put a frame, or several at once, on ``position`` and ``rotation``.

        ``position`` is (..., 3) [m], ``rotation`` a matrix (..., 3, 3) whose columns are the frame's axes, both in the base
        frame; with a list of n frames (..., n, 3) and (..., n, 3, 3). What is None is free. Damped least squares from
        ``q0`` (None: the middle of the limits, else neutral), at most ``iterations`` steps, none longer than
        ``longest_step`` [rad] or [m], between the limits of the robot's description or ``limits`` (lower, upper), (nq,)
        each. What is left of the freedom moves towards ``posture``, by ``posture_gain`` (0 to 1) of the way in an
        iteration. ``tolerance`` [m], [rad] is 1e-6 (1e-4 in single precision), ``weights`` are those of metres and radians.
        Elastic coordinates stay as in ``q0``. What did not converge is tried again from ``attempts`` - 1 random
        configurations, by a generator or a seed. An unreachable target is not an error: look at ``converged``.
        """
        asked = self._asked_frames(FUNCTION, frames)
        names = self._checked_frames(FUNCTION, (asked,) if isinstance(asked, str) else asked)
        shape = () if isinstance(asked, str) else (len(names),)
        batch, targets = self._problem(shape, position, rotation, q0, posture, parameters)
        pair = self._weights(weights, (position is not None, rotation is not None))
        settings = self._settings(damping, tolerance, posture_gain if posture is not None else 0.0, longest_step)
        steps, tries, draw = self._whole("iterations", iterations), self._whole("attempts", attempts), self._generator(rng)
        bounds = None if limits is None else self._limits(limits)
        search = Search(self._module(names), names, steps, settings, pair, bounds)
        found = search(targets)
        self._check_status(found.status, batch)
        for _ in range(tries - 1):
            remaining = np.flatnonzero(found.status)
            if not remaining.size:
                break
            others = targets.of(remaining)
            found.improve(remaining, search(others.started_at(self._elsewhere(others.q0, draw))))
        return InverseKinematics(
            found.q.reshape(*batch, self.nq),
            (found.status == 0).reshape(batch)[()],
            found.error[:, 0].reshape(batch)[()],
            found.error[:, 1].reshape(batch)[()],
            found.iterations.reshape(batch)[()],
        )

    def _problem(
        self,
        shape: tuple[int, ...],
        position: ArrayLike | None,
        rotation: ArrayLike | None,
        q0: ArrayLike | None,
        posture: ArrayLike | None,
        parameters: ParameterValues,
    ) -> tuple[tuple[int, ...], Targets]:
        """Return the batch axes, and dense arrays over all items."""
        if position is None and rotation is None:
            raise ModelError(f"{self._name}.{FUNCTION}: got no target, expected a position, a rotation, or both.")
        values = self._parameters.snapshot if parameters is None else self._parameters.merged(parameters)
        given = {
            "parameters": (np.asarray(values), (len(self._parameters),)),
            "position": (self._targets("position", position, (*shape, 3)), (*shape, 3)),
            "rotation": (self._targets("rotation", rotation, (*shape, 3, 3)), (*shape, 3, 3)),
            "q0": (self._configuration("q0", self._start() if q0 is None else q0), (self.nq,)),
            "posture": (self._configuration("posture", self._start() if posture is None else posture), (self.nq,)),
        }
        self._check_rotation(given["rotation"][0])
        try:
            batch = np.broadcast_shapes(*(array.shape[: array.ndim - len(item)] for array, item in given.values()))
        except ValueError:
            listed = ", ".join(f"{name} {array.shape}" for name, (array, _) in given.items())
            raise ModelError(f"{self._name}.{FUNCTION}: the batch axes do not broadcast: {listed}.") from None
        count, each = math.prod(batch), math.prod(shape)  # items, and frames of each
        items = {"position": (each, 3), "rotation": (each, 3, 3)}
        dense = {}
        for name, (array, item) in given.items():
            full = np.ascontiguousarray(np.broadcast_to(array, (*batch, *item)), dtype=self.dtype)
            dense[name] = full.reshape(count, *items.get(name, item))
        return batch, Targets(**dense)

    def _elsewhere(self, q0: NDArray[Any], draw: np.random.Generator) -> NDArray[Any]:
        """Return other configurations to start from, with unchanged elastic coordinates."""
        q = np.ascontiguousarray(self.random_configuration(draw, q0.shape[:1]), dtype=self.dtype)
        if any(self._metadata.elastic_coordinates):
            names = self._metadata.coordinate_names
            elastic = {
                name
                for name, bends in zip(self._metadata.velocity_names, self._metadata.elastic_coordinates, strict=True)
                if bends
            }
            still = [k for k, name in enumerate(names) if name in elastic]
            q[:, still] = q0[:, still]
        return q

    def _module(self, names: tuple[str, ...]) -> Module:
        """Return the model's own module, or build one."""
        known: list[Module] = self.__dict__.setdefault("_searches", [])
        if not known and hasattr(self._lib, "eg_inverse_kinematics"):
            known.append(Module(self._lib, self._ffi, self._metadata.chosen_frames))
        enough = [module for module in known if set(names) <= set(module.frames)]
        if not enough:
            if self._build is None:
                raise ModelError(
                    f"{self._name} was built without {FUNCTION} of {', '.join(names)}. Fix: name them in the options "
                    "outputs= and frames= of elastogen.build_model"
                )
            other = self._build(FUNCTION, names)
            enough = [Module(other._lib, other._ffi, names)]
            known += enough
        return min(enough, key=lambda module: len(module.frames))

    def _start(self) -> Array:
        lower, upper = self.position_limits
        q: Array = self.neutral()
        bounded = np.isfinite(lower) & np.isfinite(upper)
        q[bounded] = 0.5 * (lower[bounded] + upper[bounded])
        return q

    def _numbers(self, name: str, given: ArrayLike, item: tuple[int, ...]) -> NDArray[Any]:
        expected = f"expected finite real numbers of shape ({', '.join(map(str, ('...', *item)))})"
        try:
            array = np.asarray(given)
        except (TypeError, ValueError):
            raise ModelError(f"{self._name}.{FUNCTION}: {name}={shortened(given)}, {expected}.") from None
        if array.dtype.kind not in "iuf" or array.shape[max(array.ndim - len(item), 0) :] != item:
            raise ModelError(f"{self._name}.{FUNCTION}: {name} has shape {array.shape} and dtype {array.dtype}, {expected}.")
        if not np.isfinite(array).all():
            raise ModelError(f"{self._name}.{FUNCTION}: {name} has NaN or infinity in it, {expected}.")
        return array

    def _targets(self, name: str, given: ArrayLike | None, item: tuple[int, ...]) -> NDArray[Any]:
        if given is None:
            return np.broadcast_to(np.eye(3) if name == "rotation" else np.zeros(3), item)
        return self._numbers(name, given, item)

    def _configuration(self, name: str, given: ArrayLike) -> NDArray[Any]:
        array = self._numbers(name, given, (self.nq,))
        return np.asarray(unit_quaternions(array, self._quaternions)) if self._quaternions else array

    def _check_rotation(self, R: NDArray[Any]) -> None:
        allowed = NOT_ORTHOGONAL[np.dtype(self.dtype).itemsize]
        off = np.abs(np.swapaxes(R, -1, -2) @ R - np.eye(3)).max(initial=0.0)
        if off > allowed or (np.linalg.det(R) < 0).any():
            raise ModelError(
                f"{self._name}.{FUNCTION}: rotation is not a rotation matrix (R^T R differs from 1 by {off:.2g}, or its "
                "determinant is negative). Fix: make its columns right-handed unit vectors."
            )

    def _weights(self, weights: tuple[float, float], given: tuple[bool, bool]) -> NDArray[Any]:
        pair = self._numbers("weights", weights, (2,)) * given
        if pair.shape != (2,) or (pair < 0).any() or not pair.any():
            raise ModelError(
                f"{self._name}.{FUNCTION}: weights={weights!r}, expected two numbers, of metres and radians, not negative."
            )
        return pair

    def _generator(self, rng: Any) -> np.random.Generator:
        try:
            return np.random.default_rng(rng)
        except (TypeError, ValueError):
            raise ModelError(f"{self._name}.{FUNCTION}: rng={rng!r}, expected a generator or a seed.") from None

    def _whole(self, name: str, given: int) -> int:
        if isinstance(given, bool) or not isinstance(given, (int, np.integer)) or not 1 <= given <= 1_000_000:
            raise ModelError(
                f"{self._name}.{FUNCTION}: {name}={shortened(given)}, expected a whole number from 1 to a million."
            )
        return int(given)

    def _settings(
        self, damping: float, tolerance: float | tuple[float, float] | None, gain: float, longest: float
    ) -> NDArray[Any]:
        usual = TOLERANCE[np.dtype(self.dtype).itemsize]
        pair = self._numbers("tolerance", usual if tolerance is None else tolerance, ())
        if pair.shape not in ((), (2,)):
            raise ModelError(f"{self._name}.{FUNCTION}: tolerance={tolerance!r}, expected one number or two, [m] and [rad].")
        pair = np.broadcast_to(pair, (2,))
        for name, value, least, most in (
            ("damping", damping, 0.0, math.inf),
            ("tolerance", float(pair.min()), 0.0, math.inf),
            ("posture_gain", gain, 0.0, 1.0),
            ("longest_step", longest, 1e-9, math.inf),
        ):
            if self._numbers(name, value, ()).shape != () or not least <= float(value) <= most:
                raise ModelError(f"{self._name}.{FUNCTION}: {name}={value!r}, expected a number from {least:g} to {most:g}.")
        return np.array([damping, *pair, gain, longest], dtype=self.dtype)

    def _limits(self, limits: Any) -> tuple[NDArray[Any], NDArray[Any]]:
        try:
            lower, upper = (np.ascontiguousarray(each, dtype=self.dtype) for each in limits)
        except (TypeError, ValueError):
            lower = upper = np.empty(0, dtype=self.dtype)
        if lower.shape != (self.nq,) or upper.shape != (self.nq,) or not (lower <= upper).all():
            raise ModelError(
                f"{self._name}.{FUNCTION}: limits={limits!r}, expected (lower, upper) of shape ({self.nq},) each, "
                "lower at most upper."
            )
        return lower, upper

    def _check_status(self, status: NDArray[np.int32], batch: tuple[int, ...]) -> None:
        failed = np.flatnonzero(status < 0)
        if failed.size:
            where = f" for {failed.size} of {status.size} targets, first at index {failed[0]}" * bool(batch)
            cause = "a sliding joint of q0 is beyond the end of its beam" if status[failed[0]] == OUT_OF_RANGE else (
                "a number is not finite"
            )  # fmt: skip
            raise ModelError(f"{self._name}.{FUNCTION}: {cause}{where}. Fix: start elsewhere, or correct the parameters.")
