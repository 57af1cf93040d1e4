"""PyTorch: a function of a model as an operation with gradients of first and second order, batches and ``vmap``."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from elastogen.runtime.bridges.differentiable import Differentiable, target
from elastogen.runtime.bridges.torch_direct import direct
from elastogen.runtime.errors import ModelError

if TYPE_CHECKING:
    from elastogen.runtime.model.model import Model


def to_torch(model: Model, name: str, *, parameters: bool = False) -> Callable[..., Any]:
    """The function ``name`` on tensors of shape (..., size), differentiable twice, on the CPU.

    It takes the inputs of the function, with ``parameters`` a last one with the live parameters, and returns a tensor, or a
    tuple of them where the function has several outputs. The type of the tensors must be the model's precision.
    """
    torch = target("torch", "torch", (2, 0))
    function = Differentiable(model, name, parameters)
    function.prepare(2)
    dtype = torch.float64 if function.dtype == np.float64 else torch.float32
    operation, gradient = _operations(torch, function)
    fast = direct(torch, function, gradient)

    def call(*tensors: Any) -> Any:
        if len(tensors) == len(function.inputs) and (found := fast(tensors)) is not None:
            return found
        if len(tensors) != len(function.inputs):
            wanted = ", ".join(function.inputs)
            raise ModelError(f"{model.name}.{name}: got {len(tensors)} tensors, expected {wanted}.")
        given = [torch.as_tensor(tensor) for tensor in tensors]
        for word, tensor in zip(function.inputs, given, strict=True):
            if tensor.dtype != dtype:
                raise ModelError(
                    f"{model.name}.{name}: {word} is {tensor.dtype}, expected {dtype}. Fix: tensor.to({dtype}), or build the "
                    f"model with precision={'float' if tensor.dtype == torch.float32 else 'double'!r}."
                )
            if tensor.device.type != "cpu":
                raise ModelError(
                    f"{model.name}.{name}: {word} is on {tensor.device}, expected the CPU, where the model's C runs. "
                    "Fix: tensor.cpu()."
                )
        leading = function.leading([tuple(tensor.shape) for tensor in given])
        flat = [t.expand(*leading, *s).reshape(*leading, -1) for t, s in zip(given, function.shapes, strict=True)]
        x = _normalized(torch, torch.cat(flat, dim=-1), function.quaternions)
        y = operation(x)
        parts = torch.split(y, function.result_sizes, dim=-1)
        shaped = tuple(part.reshape((*leading, *shape)) for part, shape in zip(parts, function.result_shapes, strict=True))
        return shaped[0] if len(shaped) == 1 else shaped

    call.__name__, call.__doc__ = name, f"{model.name}.{name}({', '.join(function.inputs)}) on tensors."
    return call


def _normalized(torch: Any, x: Any, starts: tuple[int, ...]) -> Any:
    """The inputs with unit quaternions, so that gradients are those of the normalized configuration."""
    pieces, last = [], 0
    for start in starts:
        quaternion = x[..., start : start + 4]
        pieces += [x[..., last:start], quaternion / torch.linalg.vector_norm(quaternion, dim=-1, keepdim=True)]
        last = start + 4
    return torch.cat([*pieces, x[..., last:]], dim=-1) if starts else x


def _operations(torch: Any, function: Differentiable) -> tuple[Callable[[Any], Any], Callable[[Any, Any], Any]]:
    """Y(x) as an operation whose gradient is another, the second one, whose gradient again is of Hessian and Jacobian."""

    def computed(compute: Callable[..., Any], *tensors: Any) -> Any:
        """Call with arrays of one leading axis; others are folded into it."""
        leading = tensors[0].shape[:-1]
        arrays = [tensor.detach().contiguous().numpy().reshape(-1, tensor.shape[-1]) for tensor in tensors]
        found = torch.from_numpy(np.ascontiguousarray(compute(*arrays)))
        return found.reshape(*leading, *found.shape[1:])

    def batched(operation: Any, info: Any, in_dims: Any, *tensors: Any) -> tuple[Any, int]:
        """``vmap``: the mapped axis becomes a leading one."""
        moved = [
            tensor.expand(info.batch_size, *tensor.shape) if dim is None else tensor.movedim(dim, 0)
            for tensor, dim in zip(tensors, in_dims, strict=True)
        ]
        return operation.apply(*moved), 0

    class Jacobian(torch.autograd.Function):  # type: ignore[misc]
        """dy/dx: what second derivatives by weights need; it has no derivative of its own here."""

        @staticmethod
        def forward(x: Any) -> Any:
            return computed(function.jacobian, x)

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.set_materialize_grads(False)

        @staticmethod
        def backward(ctx: Any, cotangent: Any) -> Any:
            raise ModelError(
                f"{function.model.name}.{function.name}: third derivatives are asked for, expected at most second ones."
            )

        @staticmethod
        def vmap(info: Any, in_dims: Any, x: Any) -> Any:
            return batched(Jacobian, info, in_dims, x)

    class Hessian(Jacobian):
        """d2(w^T y)/dx2."""

        @staticmethod
        def forward(x: Any, w: Any) -> Any:  # type: ignore[override]
            return computed(function.hessian, x, w)

        @staticmethod
        def vmap(info: Any, in_dims: Any, x: Any, w: Any) -> Any:  # type: ignore[override]
            return batched(Hessian, info, in_dims, x, w)

    class Gradient(torch.autograd.Function):  # type: ignore[misc]
        """(dy/dx)^T w."""

        @staticmethod
        def forward(x: Any, w: Any) -> Any:
            return computed(function.gradient, x, w)

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.save_for_backward(*inputs)
            ctx.save_for_forward(*inputs)

        @staticmethod
        def backward(ctx: Any, v: Any) -> Any:
            x, w = ctx.saved_tensors
            by_x = (Hessian.apply(x, w) @ v[..., None])[..., 0] if ctx.needs_input_grad[0] else None
            by_w = (Jacobian.apply(x) @ v[..., None])[..., 0] if ctx.needs_input_grad[1] else None
            return by_x, by_w

        @staticmethod
        def jvp(ctx: Any, dx: Any, dw: Any) -> Any:
            x, w = ctx.saved_tensors
            moved = 0 if dx is None else (Hessian.apply(x, w) @ dx[..., None])[..., 0]
            return moved if dw is None else moved + (dw[..., None, :] @ Jacobian.apply(x))[..., 0, :]

        @staticmethod
        def vmap(info: Any, in_dims: Any, x: Any, w: Any) -> Any:
            return batched(Gradient, info, in_dims, x, w)

    class Value(torch.autograd.Function):  # type: ignore[misc]
        """Y(x)."""

        @staticmethod
        def forward(x: Any) -> Any:
            return computed(function.value, x)

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.save_for_backward(*inputs)
            ctx.save_for_forward(*inputs)

        @staticmethod
        def backward(ctx: Any, w: Any) -> Any:
            (x,) = ctx.saved_tensors
            return Gradient.apply(x, w)

        @staticmethod
        def jvp(ctx: Any, dx: Any) -> Any:
            (x,) = ctx.saved_tensors
            return (Jacobian.apply(x) @ dx[..., None])[..., 0]

        @staticmethod
        def vmap(info: Any, in_dims: Any, x: Any) -> Any:
            return batched(Value, info, in_dims, x)

    return Value.apply, Gradient.apply
