"""Calls from XLA, the compiler behind JAX, straight into a model's C: no Python in between."""

from __future__ import annotations

import ctypes
import secrets
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from elastogen.runtime.bridges.differentiable import Differentiable

HIGHEST = 2  # order of derivatives
TARGET = "elastogen_xla_batch"
MOST_INPUTS, MOST_OUTPUTS = 6, 2  # of a function that the library calls
PROCESS = np.int64(secrets.randbits(62))  # addresses of one process mean nothing to another

_LOADED: list[Any] = []
_LOCK = Lock()


class XlaCalls:
    """The kernels of a function and of its derivatives, as operations of XLA on rows."""

    def __init__(self, jax: Any, function: Differentiable, library: Path) -> None:
        self._jax, self.function = jax, function
        self._live = np.array(function.model.parameters.snapshot)
        self._kernels = function.kernels()
        _register(jax, library)

    @staticmethod
    def take(function: Differentiable) -> bool:
        """Whether the library has a call for functions with so many arguments."""
        return all(
            len(kernel.info.inputs) <= MOST_INPUTS and len(kernel.info.outputs) <= MOST_OUTPUTS for kernel in function.kernels()
        )

    def __call__(self, x: Any, order: int) -> Any:
        """The derivative of this order at x (..., nx), its axes in one or, of order 2, in two."""
        function, kernel, rows = self.function, self._kernels[order], x
        if order == HIGHEST:  # the Hessians of one output after the other: rows are x and weights
            jnp, axes = self._jax.numpy, (*x.shape[:-1], function.ny)
            weights = jnp.broadcast_to(jnp.eye(function.ny, dtype=x.dtype), (*axes, function.ny))
            rows = jnp.concatenate([jnp.broadcast_to(x[..., None, :], (*axes, function.nx)), weights], axis=-1)
        starts = np.cumsum([0, *function.sizes])
        inputs = [*starts[: len(function.sizes) - function.with_parameters]]
        if order == HIGHEST:
            inputs.append(starts[-1])
        leading = rows.shape[:-1]
        shapes = tuple(self._jax.ShapeDtypeStruct((*leading, out.size), rows.dtype) for out in kernel.info.outputs)
        found = self._jax.ffi.ffi_call(TARGET, shapes)(
            rows,
            self._live,
            address=np.int64(kernel.address),
            inputs=np.array(inputs, dtype=np.int64),
            parameters=np.int64(starts[-2] if function.with_parameters else -1),
            process=PROCESS,
        )
        return self._jax.numpy.concatenate(found, axis=-1)


def _register(jax: Any, library: Path) -> None:
    """Make the library known to XLA, once in a process: libraries for models of other compilers do the same."""
    with _LOCK:
        if not _LOADED:
            loaded = ctypes.CDLL(str(library))
            jax.ffi.register_ffi_target(TARGET, jax.ffi.pycapsule(loaded.elastogen_xla_batch), platform="cpu")
            _LOADED.append(loaded)
