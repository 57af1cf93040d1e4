"""Batches of forward dynamics with gradients in PyTorch and JAX, and what one call costs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import elastogen
from benchmarks.bridges.textbook import array_forward_dynamics, states
from benchmarks.race.mjx import OPTIONS, forward_dynamics
from benchmarks.race.robots import Subject

if TYPE_CHECKING:
    from benchmarks.bridges.report import Race

BATCH, CALLS, OVERHEAD = 4096, 500, 20e-6
FASTER = 5.0


def torch_races(subject: Subject, model: elastogen.Model, work: Path, quick: bool) -> list[Race]:
    """Beside a batched recursion of Newton and Euler in torch."""
    import torch

    from benchmarks.bridges.report import Race

    torch.set_num_threads(1)
    own = model.to_torch("forward_dynamics")
    peer = array_forward_dynamics(torch, torch.linalg.cross, subject, torch.tensor)
    given = [torch.tensor(array, requires_grad=True) for array in states(BATCH, model.nv)]

    def gradients(function: Callable[..., Any]) -> list[Any]:
        return list(torch.autograd.grad(function(*given).square().sum(), given))

    _agree("torch", [x.numpy() for x in gradients(own)], [x.numpy() for x in gradients(peer)])
    one = [tensor[0].detach().clone() for tensor in given]
    return [
        Race("torch, gradients of 4096 states beside torch's Newton-Euler", "a state", BATCH,
             lambda: gradients(own), lambda: gradients(peer), FASTER),
        Race("torch, one call", "a call", CALLS, lambda: [own(*one) for _ in range(CALLS)], None, OVERHEAD),
    ]  # fmt: skip


def jax_races(subject: Subject, model: elastogen.Model, work: Path, quick: bool) -> list[Race]:
    """Beside a batched recursion in jnp."""
    import jax

    from benchmarks.bridges.report import Race

    jnp = jax.numpy
    own = _jax_gradients(model)
    peer = _jax_gradients(model, array_forward_dynamics(jnp, jnp.cross, subject, jnp.asarray))
    _agree("jnp", own(), peer())
    function, one = model.to_jax("forward_dynamics"), [jnp.asarray(array[0]) for array in states(BATCH, model.nv)]
    jitted = jax.jit(function)
    return [
        Race("JAX, gradients of 4096 states beside jnp's Newton-Euler", "a state", BATCH, own, peer, FASTER),
        Race("JAX, one call inside jit", "a call", CALLS,
             lambda: jax.block_until_ready([jitted(*one) for _ in range(CALLS)]), None, OVERHEAD),
        Race("JAX, one call", "a call", CALLS,
             lambda: jax.block_until_ready([function(*one) for _ in range(CALLS)]), None, OVERHEAD),
    ]  # fmt: skip


def mjx_races(subject: Subject, model: elastogen.Model, work: Path, quick: bool) -> list[Race]:
    """Beside MJX, which takes long to compile."""
    import jax

    from benchmarks.bridges.report import Race

    if quick:
        return []
    single, place = forward_dynamics(subject.peer_text)
    if place != sorted(place):
        raise ValueError("MuJoCo orders these joints in its own way")
    own, mjx = _jax_gradients(model), _jax_gradients(model, jax.vmap(single))
    _agree("MJX", own(), mjx(), 1e-8)
    return [Race("JAX, gradients of 4096 states beside MJX", "a state", BATCH, own, mjx, FASTER)]


def _jax_gradients(model: elastogen.Model, function: Callable[..., Any] | None = None) -> Callable[[], Any]:
    """Those of a function, or of the model's forward dynamics, compiled for the batch."""
    import jax

    jax.config.update("jax_enable_x64", True)
    function, given = function or model.to_jax("forward_dynamics"), [jax.numpy.asarray(x) for x in states(BATCH, model.nv)]
    compiled = jax.jit(jax.grad(lambda *x: (function(*x) ** 2).sum(), argnums=(0, 1, 2))).lower(*given).compile(OPTIONS)
    return lambda: jax.block_until_ready(compiled(*given))


def _agree(label: str, found: Any, expected: Any, tolerance: float = 1e-9) -> None:
    for a, b in zip(found, expected, strict=True):
        error = float(np.abs(np.asarray(a) - np.asarray(b)).max() / np.abs(np.asarray(b)).max())
        if not error < tolerance:
            raise ArithmeticError(f"gradients of Panda: {label} differs by {error:.1e}")
