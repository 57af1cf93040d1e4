"""JAX: a function of a model as an operation with ``jit``, ``vmap`` and derivatives of first and second order in both modes."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from elastogen.runtime.bridges.differentiable import Array, Differentiable, target
from elastogen.runtime.bridges.xla_calls import HIGHEST, XlaCalls
from elastogen.runtime.errors import ModelError

if TYPE_CHECKING:
    from elastogen.runtime.model.model import Model

TANGENTS = ("...ij,...j->...i", "...ijk,...k->...ij")  # of y, of dy/dx
Calls: TypeAlias = "HostCalls | XlaCalls"


def to_jax(model: Model, name: str, *, parameters: bool = False) -> Callable[..., Any]:
    """The function ``name`` on JAX arrays of shape (..., size), differentiable twice, on the CPU.

    It takes the inputs of the function, with ``parameters`` a last one with the live parameters, and returns an array, or a
    tuple of them where the function has several outputs. The type of the arrays must be the model's precision. Live parameters
    that are not inputs keep the values that they have now.
    """
    jax = target("jax", "jax", (0, 5))
    if model.dtype == np.float64 and not jax.config.jax_enable_x64:
        raise ModelError(
            f"{model.name}.to_jax: the model is in float64, and JAX is set to float32. Fix: "
            "jax.config.update('jax_enable_x64', True) at the start, or build the model with precision='float'."
        )
    function = Differentiable(model, name, parameters)
    function.prepare(2)
    function.fixed = dict(model.parameters) or None
    jnp, label, dtype = jax.numpy, f"{model.name}.{name}", np.dtype(function.dtype)
    operation = partial(_primitive().bind, calls=_calls(jax, function), order=0)

    def computed(*given: Any) -> Any:
        for word, array in zip(function.inputs, given, strict=True):
            if array.dtype != dtype:
                raise ModelError(
                    f"{label}: {word} is {array.dtype}, expected {dtype}. Fix: array.astype('{dtype}'), or build the "
                    f"model with precision={'float' if array.dtype == np.float32 else 'double'!r}."
                )
        leading = function.leading([array.shape for array in given])
        flat = [
            jnp.broadcast_to(array, (*leading, *shape)).reshape(*leading, size)
            for array, shape, size in zip(given, function.shapes, function.sizes, strict=True)
        ]
        y = operation(_normalized(jnp, jnp.concatenate(flat, axis=-1), function.quaternions))
        parts = jnp.split(y, np.cumsum(function.result_sizes)[:-1], axis=-1)
        shaped = tuple(part.reshape((*leading, *shape)) for part, shape in zip(parts, function.result_shapes, strict=True))
        return shaped[0] if len(shaped) == 1 else shaped

    compiled = jax.jit(computed)

    def call(*arrays: Any) -> Any:
        if len(arrays) != len(function.inputs):
            raise ModelError(f"{label}: got {len(arrays)} arrays, expected {', '.join(function.inputs)}.")
        return compiled(*(array if isinstance(array, jax.Array) else jnp.asarray(array) for array in arrays))

    call.__name__, call.__doc__ = name, f"{label}({', '.join(function.inputs)}) on JAX arrays."
    return call


def _normalized(jnp: Any, x: Any, starts: tuple[int, ...]) -> Any:
    """The inputs with unit quaternions, so that gradients are those of the normalized configuration."""
    pieces, last = [], 0
    for start in starts:
        quaternion = x[..., start : start + 4]
        pieces += [x[..., last:start], quaternion / jnp.linalg.norm(quaternion, axis=-1, keepdims=True)]
        last = start + 4
    return jnp.concatenate([*pieces, x[..., last:]], axis=-1) if starts else x


@cache
def _primitive() -> Any:
    """The derivative of some order of y(x): one operation of JAX, (..., nx) to (..., ny), (..., ny, nx) or (..., ny, nx, nx).

    It is a primitive because JAX forgets ``custom_jvp`` where it differentiates a loop twice.
    """
    jax, core = import_module("jax"), import_module("jax.extend.core")
    ad, batching, mlir = (import_module(f"jax.interpreters.{name}") for name in ("ad", "batching", "mlir"))
    operation = core.Primitive("elastogen")

    def shaped(x: Any, *, calls: Calls, order: int) -> Any:
        return jax.core.ShapedArray(_result_shape(calls.function, x, order), x.dtype)

    def computed(x: Any, *, calls: Calls, order: int) -> Any:
        return calls(x, order).reshape(_result_shape(calls.function, x, order))

    def tangent(primals: Any, tangents: Any, *, calls: Calls, order: int) -> Any:
        (x,), (dx,) = primals, tangents
        if order == HIGHEST:
            function = calls.function
            raise ModelError(
                f"{function.model.name}.{function.name}: third derivatives are asked for, expected at most second ones."
            )
        by_x = operation.bind(x, calls=calls, order=order + 1)
        return operation.bind(x, calls=calls, order=order), jax.numpy.einsum(TANGENTS[order], by_x, dx)

    def batched(arrays: Any, axes: Any, *, calls: Calls, order: int) -> Any:
        x = jax.numpy.moveaxis(arrays[0], axes[0], 0)
        return operation.bind(x, calls=calls, order=order), 0

    operation.def_abstract_eval(shaped)
    operation.def_impl(jax.jit(operation.bind, static_argnames=("calls", "order")))
    ad.primitive_jvps[operation] = tangent
    batching.primitive_batchers[operation] = batched
    mlir.register_lowering(operation, mlir.lower_fun(computed, multiple_results=False), platform="cpu")
    return operation


def _result_shape(function: Differentiable, x: Any, order: int) -> tuple[int, ...]:
    return (*x.shape[:-1], function.ny, *order * (function.nx,))


def _calls(jax: Any, function: Differentiable) -> Calls:
    """XLA calls the C of a model that was built; one that was loaded has no compiler, and is called through Python."""
    maker = function.model._maker
    if maker is None or not XlaCalls.take(function):
        return HostCalls(jax, function)
    return XlaCalls(jax, function, maker.xla_library(Path(jax.ffi.include_dir())))


class HostCalls:
    """A function and its derivatives, called through Python."""

    def __init__(self, jax: Any, function: Differentiable) -> None:
        self._jax, self.function = jax, function

    def __call__(self, x: Any, order: int) -> Any:
        """The derivative of this order at x (..., nx)."""
        shape = self._jax.ShapeDtypeStruct(_result_shape(self.function, x, order), x.dtype)
        return self._jax.pure_callback(partial(self._evaluated, order), shape, x, vmap_method="sequential")

    def _evaluated(self, order: int, x: Any) -> Array:
        function, given = self.function, np.asarray(x)
        flat = given.reshape(-1, function.nx)
        if order == HIGHEST:  # the Hessians of one output after the other
            weights = np.tile(np.eye(function.ny, dtype=function.dtype), (len(flat), 1))
            found = function.hessian(np.repeat(flat, function.ny, axis=0), weights)
        else:
            found = function.jacobian(flat) if order else function.value(flat)
        return np.asarray(found, dtype=function.dtype).reshape(_result_shape(function, given, order))
