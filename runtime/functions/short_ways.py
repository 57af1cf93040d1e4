"""Short ways into a compiled function, written for its number of arguments: a loop over them costs as much as the call.

Both return None where the general way must be taken: other types, shapes or layouts, overlapping memory, failures.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from textwrap import indent
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from elastogen.runtime.functions.kernel import Kernel

_SINGLE = """
def single(arguments, out):
    try:
        {arguments} = arguments
        if {wrong}:
            return kernel.dense(arguments, out)
        workspace = pool.pop() if pool else new()
        if workspace[-3] is not parameters.snapshot:
            workspace = new()
        {views}pointer, values, read, result = workspace
        if not (out is None or (out.shape == {shape} and out.dtype is real and out.flags.writeable)):
            return kernel.dense(arguments, out)
        {copies}
    except (AttributeError, TypeError, ValueError, IndexError):
        return kernel.dense(arguments, out)  # as many states as coordinates
    if call(pointer):
        return None
    if out is None:
        out = read()
    else:
        out[...] = result
    pool.append(workspace)
    return out
"""
_FEW_STATES = """\
workspaces = pools[count]
workspace = workspaces.pop() if workspaces else new(count)
if workspace[0] is not parameters.snapshot:
    workspace = new(count)
_, bound, read, r0, {views} = workspace
{copies}
if call(*bound):
    return None
if out is None:
    out = read()
elif {wrong_copy}:
    return None
else:
    out[...] = r0
workspaces.append(workspace)
return out
"""
_BATCH = (
    """
def batch(arguments, out):
    try:
        {arguments} = arguments
        count = len(a0)
        {shapes}
        if count == 0 or {wrong}:
            return None
        if count <= FEW:
"""
    + indent(_FEW_STATES, " " * 12)
    + """        if {wrong_layout}:
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
)
_LISTS = (
    """
def lists(arguments, out):
    try:
        {arguments} = arguments
        count = len(a0)
        if count > FEW or {wrong}:
            return None
"""
    + indent(_FEW_STATES, " " * 8)
    + """    except (AttributeError, TypeError, ValueError, IndexError, OverflowError):
        return None
"""
)
FEW = 16  # states: up to so many, copies cost less than pointers to arrays of the caller's


def compile_single(kernel: Kernel) -> Callable[..., Any]:
    """Return the short way for one state, and from there to that for several: takes the inputs, and an output or None.

    Workspaces are kept in a pool and leave it during a call, so threads never share one. A workspace made
    with other parameter values than the current ones is replaced. ``len`` and the assignment together check
    the shape (``len`` costs a fifth of ``shape``; only an axis of length 1 could be broadcast unnoticed).
    """
    inputs, outputs = kernel.info.inputs, kernel.info.outputs
    if any(len(argument.shape) != 1 for argument in inputs):
        return lambda arguments, out: kernel.dense(arguments, out)

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
    """Return the short way for arrays of states, (number, ...) each, of the model's own type; many of them are dense.

    A few states are copied into a workspace. Of many, an output of the caller's is written directly where it owns its memory
    and so do the inputs: then they cannot overlap.
    """
    inputs, outputs = kernel.info.inputs, kernel.info.outputs
    if not inputs:
        return lambda arguments, out: None
    names = [f"a{k}" for k in range(len(inputs))]
    sizes = list(dict.fromkeys(argument.shape for argument in (*inputs, *outputs)))
    shape_of = {shape: f"s{k}" for k, shape in enumerate(sizes)}
    results = [f"r{k}" for k in range(len(outputs))]
    apart = " or ".join(f"{name}.base is not None or {name} is out" for name in names)
    one = len(outputs) == 1
    wrong_copy = f"out.shape != {shape_of[outputs[0].shape]} or out.dtype is not real" if one else "True"
    pairs = list(zip(names, inputs, strict=True))
    source = _BATCH.format(
        arguments="".join(f"{name}, " for name in names),
        shapes="; ".join(f"{name} = (count, {''.join(f'{x}, ' for x in shape)})" for shape, name in shape_of.items()),
        wrong=" or ".join(f"{n}.dtype is not real or {n}.shape != {shape_of[a.shape]}" for n, a in pairs),
        wrong_layout=" or ".join(f"not {name}.flags.carray" for name in names),
        views="".join(f"v{k}, _, " for k in range(len(inputs))),
        copies="; ".join(f"v{k}[...] = {name}" for k, name in enumerate(names)),
        wrong_copy=wrong_copy,
        results="; ".join(f"{r} = empty({shape_of[a.shape]}, real)" for r, a in zip(results, outputs, strict=True)),
        wrong_out=f"{wrong_copy} or not out.flags.carray or out.base is not None or {apart}" if one else "True",
        passed=", ".join([*(f"pointer(kind, {n}), {a.size}" for n, a in pairs), *(f"pointer(kind, {r})" for r in results)]),
        returned=", ".join(results),
    )
    return _compiled(
        source, "batch", kernel, call=call, empty=np.empty, pointer=kernel.ffi.from_buffer, FEW=FEW, pools=kernel.pools,
        kind=kernel.ffi.typeof("eg_real_t[]"), held=[(None, None)], new=partial(_few, kernel),
    )  # fmt: skip


def compile_lists(kernel: Kernel, call: Any) -> Callable[..., Any]:
    """Return the short way for lists of a few states, a list of numbers each: cffi reads them in half of numpy's time."""
    inputs, outputs = kernel.info.inputs, kernel.info.outputs
    if any(len(argument.shape) != 1 for argument in inputs) or not inputs:
        return lambda arguments, out: None
    names = [f"a{k}" for k in range(len(inputs))]
    one = len(outputs) == 1
    shape = "".join(f"{length}, " for length in outputs[0].shape)
    source = _LISTS.format(
        arguments="".join(f"{name}, " for name in names),
        wrong=" or ".join(
            f"type({name}) is not list or len({name}) != count or type({name}[0]) is not list or type({name}[0][0]) is bool "
            f"or sum(map(len, {name})) != {argument.size} * count"  # longer rows are refused by cffi: none is shorter
            for name, argument in zip(names, inputs, strict=True)
        ),
        views="".join(f"_, v{k}, " for k in range(len(inputs))),
        copies="; ".join(f"v{k}[0] = {name}" for k, name in enumerate(names)),
        wrong_copy=f"out.shape != (count, {shape}) or out.dtype is not real" if one else "True",
    )
    return _compiled(source, "lists", kernel, call=call, FEW=FEW, pools=kernel.pools, new=partial(_few, kernel))


def _few(kernel: Kernel, count: int) -> tuple[Any, ...]:
    """A workspace for so many states: parameters, arguments of the C call, reader, result, views and pointers of inputs."""
    ffi, info, values = kernel.ffi, kernel.info, kernel.parameters.snapshot
    arrays = [np.zeros((count, *argument.shape), kernel.real) for argument in (*info.inputs, *info.outputs)]
    pointers = [ffi.from_buffer("eg_real_t[]", array) for array in (values, *arrays)]
    split = len(info.inputs)
    bound = [pointers[0], 0, count]
    for pointer, argument in zip(pointers[1:], info.inputs, strict=False):
        bound += (pointer, argument.size)
    results = arrays[split:]
    read = results[0].copy if len(results) == 1 else lambda: tuple(result.copy() for result in results)
    views: list[Any] = []
    for array, pointer, argument in zip(arrays, pointers[1:], info.inputs, strict=False):
        views += (array, ffi.cast(f"eg_real_t(*)[{count}][{argument.size}]", pointer))
    return values, (*bound, *pointers[1 + split :]), read, results[0], *views


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
    namespace: dict[str, Any] = {"kernel": kernel, "parameters": kernel.parameters, "real": kernel.real, **more}
    exec(source, namespace)
    function: Callable[..., Any] = namespace[name]
    return function
