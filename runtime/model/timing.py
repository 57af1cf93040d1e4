"""Measures the functions of a model, in C and called from Python."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from elastogen.runtime.functions.frames.frame_methods import FrameMethods
from elastogen.runtime.functions.kernel import Batch, Kernel
from elastogen.runtime.model.model import Model

_SEEDED = ("random_configuration",)  # methods that draw the arrays of their function themselves
_FRAMED = vars(FrameMethods)  # methods that take names of frames, or wrenches by them, in place of arrays
SMALL = 1e-3  # [m, rad]: links bend by that; a casting that bends by a metre has no mass matrix any more
_CACHE_BYTES = 32 << 10  # arrays of one timed loop: small enough to stay in the processor's cache


@dataclass(frozen=True)
class Timing:
    """One function: its operations and the shortest measured times."""

    function: str
    count: dict[str, int]
    c_seconds: float
    """One evaluation in C, in a loop over random states."""
    python_seconds: float
    """One call of the model's method for a single state."""


def time_functions(
    model: Model, functions: Iterable[str] | None = None, *, seconds: float = 0.02, seed: int = 0
) -> list[Timing]:
    """Time functions of a model, all of them by default, each for about twice ``seconds``."""
    rng = np.random.default_rng(seed)
    names = list(model.functions) if functions is None else list(functions)
    return [_time(model, model.kernel(name), seconds, rng) for name in names]


def _time(model: Model, kernel: Kernel, seconds: float, rng: np.random.Generator) -> Timing:
    info, itemsize = kernel.info, kernel.real.itemsize
    size = itemsize * sum(argument.size for argument in (*info.inputs, *info.outputs))
    items = max(4, min(1000, _CACHE_BYTES // max(1, size)))
    states = [rng.uniform(-1, 1, (items, *argument.shape)).astype(kernel.real) for argument in info.inputs]
    bending = {model.velocity_names[k] for k in model.elastic}
    small = [k for k, name in enumerate(model.coordinate_names) if name in bending]
    for argument, values in zip(info.inputs, states, strict=True):
        if argument.name == "q" and values.ndim == 2:
            values[:, small] *= SMALL
    for joint in info.sliding:  # beams end
        states[0][:, joint.coordinate] = rng.uniform(0.05, 0.95, items) * joint.upper
    results = [np.empty((items, *argument.shape), kernel.real) for argument in info.outputs]
    strides = [0, *(argument.size for argument in info.inputs)]
    job = Batch([model.parameters.snapshot, *states], strides, results)
    loop, empty = (shortest(kernel.loop(job, 0, stop), seconds / 2) for stop in (items, 0))
    method: Callable[..., object] = (info.name not in _FRAMED and getattr(model, info.name, None)) or (
        lambda *arguments: model.evaluate(info.name, **{a.name: value for a, value in zip(info.inputs, arguments, strict=True)})
    )
    call = partial(method, *(state[0] for state in states if info.name not in _SEEDED))
    return Timing(info.name, info.count, max(0.0, loop - empty) / items, shortest(call, seconds))


def shortest(call: Callable[[], object], seconds: float) -> float:
    """Return the shortest time of one call, measured for about that many seconds."""
    clock = time.perf_counter
    repeat, best, finish = 1, float("inf"), clock() + seconds
    while True:
        rounds = range(repeat)
        start = clock()
        for _ in rounds:
            call()
        stop = clock()
        best = min(best, (stop - start) / repeat)
        if stop >= finish:
            return best
        if stop - start < seconds / 40:
            repeat *= 2


def timing_table(timings: Sequence[Timing]) -> str:
    """Return the timings as a readable table."""
    width = max([len("function"), *(len(timing.function) for timing in timings)])
    lines = [f"{'function':<{width}}  {'mul':>6} {'add':>6} {'sincos':>6}  {'C':>10}  {'Python':>10}"]
    for timing in timings:
        counts = " ".join(f"{timing.count.get(key, 0):>6}" for key in ("mul", "add", "sincos"))
        c_time, python_time = f"{timing.c_seconds * 1e9:.0f} ns", f"{timing.python_seconds * 1e6:.2f} us"
        lines.append(f"{timing.function:<{width}}  {counts}  {c_time:>10}  {python_time:>10}")
    return "\n".join(lines)
