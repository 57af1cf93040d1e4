"""Estimation of payload and friction while a robot moves: emitted recursive least squares, stepwise or over a recording."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from elastogen.runtime.errors import ModelError

if TYPE_CHECKING:
    from elastogen.runtime.online.online_methods import OnlineMethods

WHY = {-1: "an option out of range", -2: "NaN or infinity in q, qd or F", -3: "a state at which the model has no numbers"}
PAYLOAD = ("m", "mx", "my", "mz", "Lxx", "Lxy", "Lxz", "Lyy", "Lyz", "Lzz")
FRICTION = ("viscous", "coulomb", "offset")


class OnlineEstimate(NamedTuple):
    """Changes to the model's numbers after each state, and their standard deviations: (n, numbers) each."""

    theta: NDArray[Any]
    deviation: NDArray[Any]


class OnlineEstimator:
    """The emitted ``<name>_online_estimator`` of a model; ``names`` says what its numbers are."""

    def __init__(
        self, owner: OnlineMethods, dt: float, noise: ArrayLike, uncertainty: ArrayLike, bandwidth: float, memory: float
    ) -> None:
        self._owner, self._lib, self._ffi = owner, owner._lib, owner._ffi
        count = int(self._lib.eg_online_estimated())
        joints = [owner.velocity_names[k] for k in owner.driven]
        friction = [f"{joint}.{kind}" for joint in joints for kind in FRICTION]
        payload = [f"payload.{name}" for name in PAYLOAD]
        self.names = tuple({len(payload): payload, len(friction): friction}.get(count, [*payload, *friction]))
        label = f"{owner._name}.online_estimator"
        try:
            self.dt = float(dt)
            parts = [float(bandwidth), float(memory)]
            sizes = ((noise, owner.nv), (uncertainty, count))
            arrays = [np.broadcast_to(np.asarray(x, dtype=float), (size,)) for x, size in sizes]
        except (TypeError, ValueError):
            raise ModelError(
                f"{label}: got noise={noise!r}, uncertainty={uncertainty!r}, expected one each, or {owner.nv} and {count}."
            ) from None
        self._options = np.concatenate([parts, *arrays]).astype(owner.dtype)
        good = np.all(np.isfinite(self._options)) and self.dt > 0 and parts[0] > 0 and parts[1] >= 0
        if not (good and np.all(arrays[0] > 0) and np.all(arrays[1] >= 0)):
            raise ModelError(
                f"{label}: got dt={dt!r}, noise={noise!r}, uncertainty={uncertainty!r}, bandwidth={bandwidth!r}, "
                f"memory={memory!r}, expected positive numbers; uncertainty and memory may be 0."
            )
        size = int(self._lib.eg_online_estimator_size())
        self._memory = self._ffi.new("char[]", size + 64)
        self._place = self._memory + (-int(self._ffi.cast("uintptr_t", self._memory)) % 64)
        self.reset()

    def reset(self) -> None:
        """Start again from the initial estimate."""
        self._call(*(np.zeros((0, n), self._owner.dtype) for n in (self._owner.nq, self._owner.nv, self._owner.nv)))

    def update(self, q: ArrayLike, qd: ArrayLike, F: ArrayLike) -> OnlineEstimate:
        """The estimates after states (n, nq), (n, nv) and forces (n, nv) that are ``dt`` apart; it goes on where it was."""
        given = [np.ascontiguousarray(np.atleast_2d(np.asarray(x, dtype=self._owner.dtype))) for x in (q, qd, F)]
        for name, array, width in zip(("q", "qd", "F"), given, (self._owner.nq, self._owner.nv, self._owner.nv), strict=True):
            if array.shape != (len(given[0]), width):
                raise ModelError(
                    f"{self._owner._name}.online_estimator: got {name} of shape {array.shape}, expected (n, {width})."
                )
        return self._call(*given)

    def _call(self, q: NDArray[Any], qd: NDArray[Any], F: NDArray[Any]) -> OnlineEstimate:
        ffi, real = self._ffi, self._owner.dtype
        kind, count = ffi.typeof("eg_real_t[]"), int(self._lib.eg_online_estimated())
        theta, variance = np.zeros((len(q), count), real), np.zeros((len(q), count), real)
        values = np.ascontiguousarray(self._owner._parameters.snapshot)

        def pointer(array: NDArray[Any]) -> Any:
            return ffi.from_buffer(kind, array) if array.size else ffi.NULL

        status = self._lib.eg_estimate_online(
            pointer(values), len(q), self.dt, pointer(self._options), *map(pointer, (q, qd, F)), self._place,
            *map(pointer, (theta, variance)),
        )  # fmt: skip
        if status:
            raise ModelError(f"{self._owner._name}.online_estimator: {WHY[int(status)]}; the estimate is as it was before.")
        return OnlineEstimate(theta, np.sqrt(np.maximum(variance, 0.0)))
