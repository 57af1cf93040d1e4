"""Calls of a model's C on PyTorch tensors as they come, one by one and without copies: the fast way of ``to_torch``."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from elastogen.runtime.bridges.differentiable import Differentiable

if TYPE_CHECKING:
    from elastogen.runtime.functions.kernel import Kernel


def direct(torch: Any, function: Differentiable, gradient: Callable[[Any, Any], Any]) -> Callable[[tuple[Any, ...]], Any]:
    """From tensors to the output, or None where they need more: other types, shapes to broadcast, ``vmap``.

    ``gradient(x, w)`` is that of weighted outputs at joined inputs, and has derivatives: what second derivatives start from.
    """
    transformed, forward = getattr(torch._C, "_are_functorch_transforms_active", None), torch.autograd.forward_ad
    plain = len(function.result_shapes) == 1 and function.result_shapes[0] and not (function.quaternions or function.live)
    if transformed is None or not plain:
        return lambda tensors: None
    value, adjoint = function.kernel(""), function.kernel("_adjoint")
    dtype = torch.float64 if function.dtype == np.float64 else torch.float32
    shapes, sizes = function.shapes, function.sizes
    first = len(shapes[0])

    def computed(kernel: Kernel, tensors: list[Any]) -> Any:
        arrays = [tensor.detach().numpy() for tensor in tensors]
        found = kernel.single(arrays, None)  # None: a singular mass matrix, or arrays that are not dense
        return torch.from_numpy(kernel.batch(arrays, None, None, "nan", 1) if found is None else found)

    class Direct(torch.autograd.Function):  # type: ignore[misc]
        """The function with its inputs apart."""

        @staticmethod
        def forward(ctx: Any, *tensors: Any) -> Any:
            ctx.save_for_backward(*tensors)
            return computed(value, list(tensors))

        @staticmethod
        def backward(ctx: Any, w: Any) -> Any:
            tensors = ctx.saved_tensors
            leading = tensors[0].shape[: tensors[0].ndim - first]
            weights = w.reshape(*leading, -1)
            if torch.is_grad_enabled():  # second derivatives will be asked for
                x = torch.cat([tensor.reshape(*leading, -1) for tensor in tensors], dim=-1)
                found = gradient(x, weights)
            else:
                found = computed(adjoint, [*tensors, weights.contiguous()])
            parts = torch.split(found, sizes, dim=-1)
            return tuple(part.reshape(tensor.shape) for part, tensor in zip(parts, tensors, strict=True))

    def call(tensors: tuple[Any, ...]) -> Any:
        leading: Any = None
        for tensor, shape in zip(tensors, shapes, strict=True):
            if type(tensor) is not torch.Tensor and type(tensor) is not torch.nn.Parameter:
                return None
            given = tensor.shape
            axes = given[: len(given) - len(shape)]
            if tensor.dtype is not dtype or given[len(axes) :] != shape or axes != (axes if leading is None else leading):
                return None
            if tensor.device.type != "cpu" or not tensor.is_contiguous():
                return None
            leading = axes
        if transformed() or getattr(forward, "_current_level", -1) >= 0 or leading != leading[:1]:
            return None
        if torch.is_grad_enabled() and any(tensor.requires_grad for tensor in tensors):
            return Direct.apply(*tensors)
        return computed(value, list(tensors))

    return call
