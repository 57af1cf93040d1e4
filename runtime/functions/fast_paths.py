"""Fast paths into a compiled function, written for its arguments: a loop over them costs as much as the call.

All return None where the general way must be taken: other types or shapes, failures, outputs that are refused. Every array is
checked in every call, for it may have been changed in place since the last one: reshaped, retyped, made read-only, moved.

Of an array that is copied, length and size are looked at, not the shape, which costs more than both: numpy, where it copies,
refuses whatever it cannot broadcast, and broadcasts only axes of length 1, which change the size or come first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import combinations
from textwrap import indent
from typing import TYPE_CHECKING, Any

import numpy as np

from elastogen.runtime.interface.argument import Argument

if TYPE_CHECKING:
    from elastogen.runtime.functions.kernel import Kernel

_WORKSPACE = """\
workspace = pool.pop() if pool else new({count})
values, bound, {views} = workspace
if values is not parameters.snapshot:
    _, bound, {views} = workspace = new({count})
{copies}
if {call}:
    return None
if out is None:
    out = {read}
else:
    {taken}
    if {wrong_out}:
        return None
    {write}
pool.append(workspace)
return out
"""
_SINGLE = (
    """
def single(arguments, out):
    try:
        {arguments} = arguments
        {lists}
        if {wrong}:
            return kernel.dense(arguments, out)
"""
    + indent(_WORKSPACE, " " * 8)
    + """    except (AttributeError, TypeError, ValueError, IndexError):
        return kernel.dense(arguments, out)
"""
)
_FEW = (
    """
def few(arguments, out):
    try:
        {arguments} = arguments
        count = len(a0)
        if count > MOST:
            return many(arguments, out)
        {bytes}
        if {wrong}:
            return None
        pool = pools[count]
"""
    + indent(_WORKSPACE, " " * 8)
    + """    except (AttributeError, TypeError, ValueError, IndexError):
        return None
"""
)
_MANY = """
def many(arguments, out):
    {arguments} = arguments
    count = len(a0)
    {shapes}
    if {wrong}:
        return None
    {inputs}
    aside = True
    if out is not None:
        {taken}
        if {wrong_out}:
            return None
        if {writable}:
            {outputs}
            aside = False
            if not ({apart}):
                {lengths}
                aside = {overlap}
    if aside:
        {results}
    known = held[0]
    if known[0] is not parameters.snapshot:
        values = parameters.snapshot
        known = held[0] = values, pointer(kind, values)
    if call(known[1], 0, count, {passed}):
        return None
    if out is None:
        return {returned}
    if aside:
        {write}
    return out
"""
_NUMBERS = """
def numbers(arguments, out):
    {arguments} = arguments
    if {wrong}:
        return None
""" + indent(_WORKSPACE, " " * 4)
_ROWS = (
    """
def rows(arguments, out):
    try:
        {arguments} = arguments
        if type(a0[0]) is not list:
            return numbers(arguments, out)
        count = len(a0)
        if count > MOST or {wrong}:
            return None
        {lengths}
        {bytes}
        pool = pools[count]
"""
    + indent(_WORKSPACE, " " * 8)
    + """    except (AttributeError, TypeError, ValueError, IndexError, OverflowError):
        return None
"""
)
_ROW_LENGTHS = """\
for row in {name}:
            if len(row) != {size}:
                return None"""
MOST = 64  # states in a workspace


def compile_single(kernel: Kernel) -> Callable[..., Any]:
    """Return the fast path for one state, and from there to that for several: takes the inputs, and an output or None.

    Workspaces are kept in a pool and leave it during a call, so threads never share one. A workspace made
    with other parameter values than the current ones is replaced.
    """
    inputs = kernel.info.inputs
    wrong = []
    for k, argument in enumerate(inputs):
        unlike = f"a{k}.dtype is not real or {_unlike(f'a{k}', argument, kernel)}"
        if k and len(argument.shape) == 1 and argument.size > 1:  # the first one says if there are several states
            unlike = f"a{k}.dtype is not real or len(a{k}) != {argument.size}"
        wrong.append(unlike if argument.shape else f"type(a{k}) is not float and ({unlike})")
    source = _SINGLE.format(
        arguments=_tuple("a", inputs) or "_",
        lists="if type(a0) is list: return kernel.lists(arguments, out)" if inputs else "pass",
        wrong=" or ".join(wrong) or "False",
        **_workspace(kernel, "call(bound)", "[...]", batch=False),
    )
    return _compiled(source, "single", kernel, pool=[], new=partial(_one, kernel), call=kernel.call)


def compile_batch(kernel: Kernel, call: Any) -> Callable[..., Any]:
    """Return the fast path for arrays of states, (number, ...) each, of the model's own type.

    A few states are copied into a workspace. Many are read and written where they are, and must be dense; for an output that is
    not, or that overlaps an input, they are computed aside.
    """
    inputs = kernel.info.inputs
    if not inputs:
        return lambda arguments, out: None
    most = _few_states(kernel)
    wrong = [f"a{k}.dtype is not real or a{k}.nbytes != b{argument.size}" for k, argument in enumerate(inputs)]
    wrong += [f"len(a{k}) != count" for k in range(1, len(inputs))]
    source = _FEW.format(
        arguments=_tuple("a", inputs),
        bytes=_bytes(kernel, inputs),
        wrong=f"{' or '.join(wrong)} or {_wrong_row(inputs)}",
        **_workspace(kernel, "call(*bound)", "[...]", batch=True),
    )
    return _compiled(
        source + _many(kernel), "few", kernel, call=call, MOST=most, pools=_pools(most), new=partial(_few, kernel),
        empty=np.empty, pointer=kernel.ffi.from_buffer, kind=kernel.ffi.typeof("eg_real_t *"), held=[(None, None)],
    )  # fmt: skip


def _many(kernel: Kernel) -> str:
    inputs, outputs = kernel.info.inputs, kernel.info.outputs
    shape_of = {shape: f"s{k}" for k, shape in enumerate(dict.fromkeys(a.shape for a in (*inputs, *outputs)))}
    frame_assignments = [
        f"a{k}.dtype is not real or a{k}.shape != {shape_of[argument.shape]} "
        f"or not ((f{k} := a{k}.flags).carray or f{k}.c_contiguous and f{k}.aligned)"
        for k, argument in enumerate(inputs)
    ]
    overlaps = [
        f"-n{output.size} < x{k} - p{j} < n{argument.size}"
        for k, output in enumerate(outputs)
        for j, argument in enumerate(inputs)
    ]
    owners = [*(f"g{k}.owndata" for k in range(len(outputs))), *(f"f{k}.owndata" for k in range(len(inputs)))]
    empty = [f"r{k} = empty({shape_of[a.shape]}, real); x{k} = pointer(kind, r{k})" for k, a in enumerate(outputs)]
    passed = [*(f"p{k}, {argument.size}" for k, argument in enumerate(inputs)), *(f"x{k}" for k in range(len(outputs)))]
    out = _out_names(outputs)
    return _MANY.format(
        arguments=_tuple("a", inputs),
        shapes="; ".join(f"{name} = (count, {''.join(f'{x}, ' for x in shape)})" for shape, name in shape_of.items()),
        wrong=" or ".join(frame_assignments),
        inputs="; ".join(f"p{k} = pointer(kind, a{k})" for k in range(len(inputs))),
        wrong_out=_wrong_out(out, [f"{name}.shape != {shape_of[a.shape]}" for name, a in zip(out, outputs, strict=True)]),
        writable=" and ".join(f"(g{k} := {name}.flags).carray" for k, name in enumerate(out)),
        lengths="; ".join(f"n{size} = {size} * count" for size in dict.fromkeys(a.size for a in (*inputs, *outputs))),
        outputs="; ".join(f"x{k} = pointer(kind, {name})" for k, name in enumerate(out)),
        apart=" and ".join([*owners, *(f"{name} is not a{k}" for name in out for k in range(len(inputs)))]),
        overlap=" or ".join(overlaps),
        results="; ".join(empty),
        passed=", ".join(passed),
        returned=", ".join(f"r{k}" for k in range(len(outputs))),
        **_into(out),
    )


def compile_lists(kernel: Kernel, call: Any) -> Callable[..., Any]:
    """Return the fast path for lists, of numbers or of a few rows of them: cffi reads them in half of numpy's time."""
    inputs = kernel.info.inputs
    if any(len(argument.shape) != 1 for argument in inputs) or not inputs:
        return lambda arguments, out: None
    numbers = _NUMBERS.format(
        arguments=_tuple("a", inputs),
        wrong=" or ".join(  # the sum has another type where numpy knows more of one than cffi does
            f"type(a{k}) is not list or len(a{k}) != {argument.size} or type(sum(a{k})) is not float"
            for k, argument in enumerate(inputs)
        ),
        **_workspace(kernel, "call(bound)", "[0]", batch=False),
    )
    wrong = [
        f"type(a{k}) is not list or len(a{k}) != count or type(a{k}[0]) is not list or type(a{k}[0][0]) is bool"
        for k in range(len(inputs))
    ]
    rows = _ROWS.format(
        arguments=_tuple("a", inputs),
        wrong=f"{' or '.join(wrong)} or {_wrong_row(())}",
        lengths="\n        ".join(_ROW_LENGTHS.format(name=f"a{k}", size=a.size) for k, a in enumerate(inputs)),
        bytes=_bytes(kernel, ()),
        **_workspace(kernel, "call(*bound)", "[0]", batch=True),
    )
    one = _compiled(numbers, "numbers", kernel, pool=[], new=partial(_one, kernel, lists=True), call=kernel.call)
    few = partial(_few, kernel, lists=True)
    most = max(16, _few_states(kernel))
    return _compiled(rows, "rows", kernel, numbers=one, call=call, MOST=most, pools=_pools(most), new=few)


# Workspaces: the parameters' values, what the C function takes, inputs (arrays, or pointers that read lists) and outputs.


def _one(kernel: Kernel, lists: bool = False) -> tuple[Any, ...]:
    values = kernel.parameters.snapshot
    pointer, inputs, outputs, parameters = kernel.workspace()
    parameters[...] = values
    if lists:
        inputs = [_reader(kernel, kernel.ffi.from_buffer(view), view.shape) for view in inputs]
    return values, pointer, *inputs, *outputs


def _few(kernel: Kernel, count: int, lists: bool = False) -> tuple[Any, ...]:
    ffi, info, values = kernel.ffi, kernel.info, kernel.parameters.snapshot
    arrays: list[Any] = [np.zeros((count, *argument.shape), kernel.real) for argument in (*info.inputs, *info.outputs)]
    pointers = [ffi.from_buffer("eg_real_t[]", array) for array in (values, *arrays)]
    split = len(info.inputs)
    bound = [pointers[0], 0, count]
    for k, argument in enumerate(info.inputs):
        bound += (pointers[1 + k], argument.size)
        if lists:
            arrays[k] = _reader(kernel, pointers[1 + k], arrays[k].shape)
    return values, (*bound, *pointers[1 + split :]), *arrays


def _reader(kernel: Kernel, pointer: Any, shape: tuple[int, ...]) -> Any:
    return kernel.ffi.cast(f"eg_real_t(*){''.join(f'[{length}]' for length in shape)}", pointer)


def _pools(most: int) -> list[list[Any]]:
    """Return empty pools of workspaces, one for each number of states."""
    return [[] for _ in range(most + 1)]


def _few_states(kernel: Kernel) -> int:
    """Return the number of states up to which copies are faster than pointers to the caller's arrays (0.3 us each)."""
    arguments = (*kernel.info.inputs, *kernel.info.outputs)
    state = sum(argument.size for argument in arguments) * kernel.real.itemsize
    return min(MOST, 4096 * len(arguments) // state)


# Parts of the texts.


def _tuple(letter: str, arguments: Sequence[Argument]) -> str:
    return "".join(f"{letter}{k}, " for k in range(len(arguments)))


def _out_names(outputs: Sequence[Argument]) -> list[str]:
    return ["out"] if len(outputs) == 1 else [f"o{k}" for k in range(len(outputs))]


def _bytes(kernel: Kernel, inputs: Sequence[Argument]) -> str:
    """Define the bytes that arrays of ``count`` states have."""
    sizes = dict.fromkeys(argument.size for argument in (*inputs, *kernel.info.outputs))
    return "; ".join(f"b{size} = {size * kernel.real.itemsize} * count" for size in sizes)


def _unlike(name: str, argument: Argument, kernel: Kernel) -> str:
    """Test whether an array of one state has another shape than the argument."""
    if not argument.shape:
        return f"{name}.ndim"
    if argument.shape[0] == 1:
        return f"{name}.shape != {argument.shape}"
    return f"len({name}) != {argument.shape[0]} or {name}.nbytes != {argument.size * kernel.real.itemsize}"


def _wrong_row(inputs: Sequence[Argument]) -> str:
    """Test whether there is no state, or one state in arrays of another rank, which length and size do not show."""
    ranks = [f"a{k}.ndim != {len(argument.shape) + 1}" for k, argument in enumerate(inputs)]
    return f"count < 2 and ({' or '.join(['not count', *ranks])})"


def _workspace(kernel: Kernel, call: str, whole: str, *, batch: bool) -> dict[str, str]:
    """Return the parts of a call with a workspace; ``whole`` is the index that assigns to all of an input."""
    inputs, outputs = kernel.info.inputs, kernel.info.outputs
    out = _out_names(outputs)
    into = _into(out)
    reads = [f"r{k}.copy()" if batch or argument.shape else f"r{k}[()]" for k, argument in enumerate(outputs)]
    shape_of = {argument.shape: str(argument.shape) for argument in outputs[1:]}
    for k, shape in enumerate(shape_of if batch else ()):
        shape_of[shape] = f"s{k}"
        into["taken"] += f"; s{k} = (count, {''.join(f'{x}, ' for x in shape)})"
    unlike = [_unlike(out[0], outputs[0], kernel)]  # of what is written first, numpy refuses the shapes that this leaves
    if batch:
        rank = f"count < 2 and {out[0]}.ndim != {len(outputs[0].shape) + 1}"
        unlike = [f"len({out[0]}) != count or {out[0]}.nbytes != b{outputs[0].size} or {rank}"]
    unlike += [f"{name}.shape != {shape_of[argument.shape]}" for name, argument in zip(out[1:], outputs[1:], strict=True)]
    wrong = _wrong_out(out, unlike)
    changed = unlike if batch else [_changed_shape(kernel, k, name) for k, name in enumerate(out)]
    return {
        "count": "count" * batch,
        "views": f"{_tuple('v', inputs)}{_tuple('r', outputs)}",
        "copies": "; ".join(f"v{k}{whole} = a{k}" for k in range(len(inputs))) or "pass",
        "call": call,
        "read": ", ".join(reads),
        "wrong_out": wrong if len(out) == 1 else f"({_not_as_before(out, changed)}) and ({wrong} or remember(out))",
        **into,
    }


def _into(out: Sequence[str]) -> dict[str, str]:
    """Copy results into outputs; numpy refuses a read-only output even as its own source, which copies nothing."""
    writes = [*(f"{name}[()] = {name}" for name in out[1:]), *(f"{name}[()] = r{k}" for k, name in enumerate(out))]
    return {"taken": "pass" if len(out) == 1 else f"{', '.join(out)} = out", "write": "; ".join(writes)}


def _wrong_out(out: Sequence[str], unlike: Sequence[str]) -> str:
    """Test whether outputs are refused before one of them is written; numpy itself finds those that are read-only."""
    wrong = " or ".join(
        f"{name}.__class__ is not ndarray or {name}.dtype is not real or {other}"
        for name, other in zip(out, unlike, strict=True)
    )
    if len(out) == 1:
        return wrong
    views = " or ".join(f"{name}.base is not None" for name in out)
    same, share = (" or ".join(text.format(*pair) for pair in combinations(out, 2)) for text in ("{} is {}", "share({}, {})"))
    return f"type(out) is not tuple and type(out) is not list or {wrong} or {same} or ({views}) and ({share})"


def _not_as_before(out: Sequence[str], unlike: Sequence[str]) -> str:
    """Test whether several outputs are others than in the last call, or were changed since then."""
    same = (f"{'before' if k else '(before := seen[0])'}[{k}] is not {name}" for k, name in enumerate(out))
    return " or ".join([*same, *(f"{name}.dtype is not real or {other}" for name, other in zip(out, unlike, strict=True))])


def _changed_shape(kernel: Kernel, k: int, name: str) -> str:
    """Test whether a known output of one state has another shape now, with a faster test if it owns its memory.

    Its size in memory is then 16 bytes for each axis and its numbers, beside a head; with the length that identifies a matrix.
    """
    array = np.empty(kernel.info.outputs[k].shape, kernel.real)
    other = f"{name}.shape != {array.shape}"
    if array.ndim > 2 or array.__sizeof__() - array[...].__sizeof__() != array.nbytes:
        return other  # another numpy, or not enough to tell the shape
    length = f" or len({name}) != {len(array)}" if k and array.ndim == 2 else ""
    return f"(sizeof({name}) != {array.__sizeof__()}{length}) and {other}"


def _compiled(source: str, name: str, kernel: Kernel, **more: Any) -> Callable[..., Any]:
    namespace = {"kernel": kernel, "parameters": kernel.parameters, "real": kernel.real, "ndarray": np.ndarray, **more}
    seen: list[Any] = [[None] * len(kernel.info.outputs)]  # the outputs of the last call, where there are several

    def remember(out: Sequence[Any]) -> None:
        seen[0] = tuple(out)

    namespace |= {"share": np.may_share_memory, "sizeof": np.ndarray.__sizeof__, "seen": seen, "remember": remember}
    exec(source, namespace)
    function: Callable[..., Any] = namespace[name]
    return function
