"""Estimation of external forces by the generalized momentum: the emitted observer, stepwise or over a recording."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from elastogen.runtime.errors import ModelError
from elastogen.runtime.functions.evaluation import Array

if TYPE_CHECKING:
    from elastogen.runtime.online.online_methods import OnlineMethods

WHY = {
    -1: "a gain below zero or a step that is not above zero",
    -2: "NaN or infinity in q, qd or F",
    -3: "a state at which the model has no numbers",
}


class ObserverInC:
    """An observer whose memory is a struct of the emitted C: what its Python class checks and keeps."""

    _why = WHY

    def __init__(self, owner: OnlineMethods, what: str, size: int, dt: float, gain: ArrayLike) -> None:
        self._owner, self._ffi, self._lib, self._size = owner, owner._ffi, owner._lib, size
        self._label = label = f"{owner._name}.{what}"
        try:
            self.dt = float(dt)
            self.gain: NDArray[Any] = np.array(np.broadcast_to(np.asarray(gain, dtype=owner.dtype), (owner.nv,)))
        except (TypeError, ValueError):
            raise ModelError(
                f"{label}: got dt={dt!r}, gain={gain!r}, expected a step [s] and one gain [1/s] or {owner.nv}."
            ) from None
        if not (np.isfinite(self.dt) and self.dt > 0):
            raise ModelError(f"{label}: got dt={dt!r}, expected a step [s] above zero.")
        if not np.all(np.isfinite(self.gain)) or np.any(self.gain < 0):
            raise ModelError(f"{label}: got gain={gain!r}, expected numbers [1/s] that are not negative.")
        self._memory = self._ffi.new("char[]", size + 64)
        base = int(self._ffi.cast("uintptr_t", self._memory))
        self._place = self._memory + (-base % 64)  # zeros: it has not begun

    def reset(self) -> None:
        """Reset: the next update begins with an estimate of zero."""
        self._ffi.memmove(self._place, bytes(self._size), self._size)

    def _states(self, q: ArrayLike, qd: ArrayLike, F: ArrayLike) -> list[Array]:
        """Return rows of states and forces, as many of each."""
        owner = self._owner
        given = []
        for name, value, width in (("q", q, owner.nq), ("qd", qd, owner.nv), ("F", F, owner.nv)):
            array = np.asarray(value, dtype=owner.dtype)
            if array.ndim not in (1, 2) or array.shape[-1] != width:
                raise ModelError(f"{self._label}: got {name} of shape {array.shape}, expected ({width},) or (n, {width}).")
            given.append(np.ascontiguousarray(np.atleast_2d(array)))
        if any(len(array) != len(given[0]) for array in given):
            raise ModelError(
                f"{self._label}: got {', '.join(str(len(array)) for array in given)} states of q, qd and F, "
                "expected as many of each."
            )
        return given

    def _real(self, array: Array) -> Any:
        """Return a pointer to an array of the model's precision."""
        return self._ffi.from_buffer(self._ffi.typeof("eg_real_t[]"), array) if array.size else self._ffi.NULL

    def _parameters(self) -> Any:
        return self._real(np.ascontiguousarray(self._owner._parameters.snapshot))

    def _check(self, status: int) -> None:
        if status < 0:
            raise ModelError(f"{self._label}: {self._why[status]}; the observer is as it was before.")


class MomentumObserver(ObserverInC):
    """The emitted ``<name>_momentum_observer`` of a model: dr/dt = gain (F_ext - r), from q, qd and F alone."""

    def __init__(self, owner: OnlineMethods, dt: float, gain: ArrayLike) -> None:
        super().__init__(owner, "momentum_observer", int(owner._lib.eg_momentum_observer_size()), dt, gain)

    def update(self, q: ArrayLike, qd: ArrayLike, F: ArrayLike) -> Array:
        """The estimate (n, nv) or (nv,) of external forces after states (n, nq), (n, nv) that are ``dt`` apart.

        ``F`` [N m] or [N] are the driving forces that acted since the state before each. The observer goes on where it was.
        """
        given = self._states(q, qd, F)
        force = np.zeros((len(given[0]), self._owner.nv), self._owner.dtype)
        arrays = [self._real(array) for array in (self.gain, *given)]
        status = self._lib.eg_observe_momentum(
            self._parameters(), len(given[0]), self.dt, *arrays, self._place, self._real(force)
        )
        self._check(int(status))
        return force if np.ndim(q) == 2 else force[0]
