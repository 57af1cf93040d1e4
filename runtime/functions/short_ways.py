"""Short ways into a compiled function, written for its number of arguments: a loop over them costs as much as the call.

Both return None where the general way must be taken: other types, shapes or layouts, overlapping memory, failures.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from elastogen.runtime.functions.kernel import Kernel

_SINGLE = """
def single(arguments, out):
    try:
        {arguments} = arguments
        if {wrong}:
            return None
        workspace = pool.pop() if pool else new()
        if workspace[-3] is not parameters.snapshot:
            workspace = new()
        {views}pointer, values, read, result = workspace
        if not (out is None or (out.shape == {shape} and out.dtype is real and out.flags.writeable)):
            return None
        {copies}
    except (AttributeError, TypeError, ValueError, IndexError):
        return None
    if call(pointer):
        return None
    if out is None:
        out = read()
    else:
        out[...] = result
    pool.append(workspace)
    return out
"""
_BATCH = """
def batch(arguments, out):
    try:
        {arguments} = arguments
        count = len(a0)
        if {wrong}:
            return None
        if out is None:
            {results}
        elif {wrong_out}:
            return None
        else:
            r0 = out
    except (AttributeError, TypeError, ValueError):
        return None
    known = held[0]
    if known[0] is not parameters.snapshot:
        values = parameters.snapshot
        known = held[0] = values, pointer(kind, values)
    if call(known[1], 0, count, {passed}):
        return None
    return {returned}
"""


def compile_single(kernel: Kernel) -> Callable[..., Any]:
    """Return the short way for one state: takes the inputs, and an array for the output or None.

    Workspaces are kept in a pool and leave it during a call, so threads never share one. A workspace made
    with other parameter values than the current ones is replaced. ``len`` and the assignment together check
    the shape (``len`` costs a fifth of ``shape``; only an axis of length 1 could be broadcast unnoticed).
    """
    inputs, outputs = kernel.info.inputs, kernel.info.outputs
    if any(len(argument.shape) != 1 for argument in inputs):
        return lambda arguments, out: None

    def new() -> tuple[Any, ...]:
        values = kernel.parameters.snapshot
        pointer, in_views, out_views, parameters = kernel.workspace()
        parameters[...] = values
        readers = [view.copy if view.ndim else lambda view=view: view[()] for view in out_views]
        read = readers[0] if len(readers) == 1 else lambda: tuple(reader() for reader in readers)
        return *in_views, pointer, values, read, out_views[0]

    names = [f"a{k}" for k in range(len(inputs))]
    shapes = [f"len({n}) != {a.size}" if a.size != 1 else f"{n}.shape != (1,)" for n, a in zip(names, inputs, strict=True)]
    source = _SINGLE.format(
        arguments="".join(f"{name}, " for name in names) or "_",
        views="".join(f"v{k}, " for k in range(len(inputs))),
        wrong=" or ".join(f"{name}.dtype is not real or {shape}" for name, shape in zip(names, shapes, strict=True)) or "False",
        copies="; ".join(f"v{k}[...] = {name}" for k, name in enumerate(names)) or "pass",
        shape=outputs[0].shape if len(outputs) == 1 else "'several outputs'",
    )
    return _compiled(source, "single", kernel, pool=[], new=new, call=kernel.call)


def compile_batch(kernel: Kernel, call: Any) -> Callable[..., Any]:
    """Return the short way for arrays of states, (number, ...) each, dense and of the model's own type.

    An output of the caller's is written directly where it owns its memory and so do the inputs: then they cannot overlap.
    """
    inputs, outputs = kernel.info.inputs, kernel.info.outputs
    if not inputs:
        return lambda arguments, out: None
    names = [f"a{k}" for k in range(len(inputs))]
    shapes = ["(count, " + "".join(f"{length}, " for length in argument.shape) + ")" for argument in (*inputs, *outputs)]
    given, made = shapes[: len(inputs)], shapes[len(inputs) :]
    results = [f"r{k}" for k in range(len(outputs))]
    apart = " or ".join(f"{name}.base is not None or {name} is out" for name in names)
    alone = f"out.shape != {made[0]} or out.dtype is not real or not out.flags.carray or out.base is not None or {apart}"
    source = _BATCH.format(
        arguments="".join(f"{name}, " for name in names),
        wrong="count == 0 or "
        + " or ".join(
            f"{n}.dtype is not real or {n}.shape != {shape} or not {n}.flags.carray"
            for n, shape in zip(names, given, strict=True)
        ),
        results="; ".join(f"{name} = empty({shape}, real)" for name, shape in zip(results, made, strict=True)),
        wrong_out=alone if len(outputs) == 1 else "True",
        passed=", ".join(
            [f"pointer(kind, {n}), {a.size}" for n, a in zip(names, inputs, strict=True)]
            + [f"pointer(kind, {name})" for name in results]
        ),
        returned=", ".join(results),
    )
    return _compiled(
        source, "batch", kernel, call=call, empty=np.empty, pointer=kernel.ffi.from_buffer,
        kind=kernel.ffi.typeof("eg_real_t[]"), held=[(None, None)],
    )  # fmt: skip


def as_arrays(arguments: Sequence[Any], real: np.dtype[Any]) -> Sequence[Any]:
    """Lists of real numbers as arrays of the model's type; whatever else there is stays, for the general way to judge."""
    arrays = []
    for given in arguments:
        if isinstance(given, list):
            try:
                array = np.array(given)
            except ValueError:  # ragged
                return arguments
            if array.dtype is not real:
                if array.dtype.kind not in "iuf":
                    return arguments
                array = array.astype(real)
            arrays.append(array)
        else:
            arrays.append(given)
    return arrays


def _compiled(source: str, name: str, kernel: Kernel, **more: Any) -> Callable[..., Any]:
    namespace: dict[str, Any] = {"parameters": kernel.parameters, "real": kernel.real, **more}
    exec(source, namespace)
    function: Callable[..., Any] = namespace[name]
    return function
