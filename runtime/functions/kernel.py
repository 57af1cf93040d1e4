"""One compiled function behind numpy arrays: conversion, broadcasting, one C loop, failures.

There are three paths into the C code. A single state in arrays of the model's own type is copied into a workspace and one
pointer is passed (``Kernel.single``); dense arrays of states are passed as they are (``Kernel.dense``). Everything else takes
:meth:`Kernel.batch`, which converts, checks and broadcasts, then runs one C loop over all states without the
GIL.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import combinations, pairwise
from threading import Thread
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from elastogen.runtime.choices import one_of
from elastogen.runtime.errors import ModelError
from elastogen.runtime.functions.fast_paths import compile_batch, compile_lists, compile_single
from elastogen.runtime.functions.metadata import FunctionInfo
from elastogen.runtime.functions.parameters import Parameters
from elastogen.runtime.interface.argument import Argument
from elastogen.runtime.interface.error import shortened

Outputs = Sequence[NDArray[Any]]
FEWEST_PER_THREAD = 2000  # states: below, starting a thread costs more than it saves
BLOCKS_PER_THREAD = 8  # a thread that is done takes the next: threads begin late, and cores are not equally fast
RAISE = "raise"
ON_FAILURE = (RAISE, "nan")
OVERLAP_WORK = 1000  # of numpy's exact search, 0.1 ms at most; what it does not settle counts as overlapping


class Batch(NamedTuple):
    """Arrays of a batched call: item ``i`` of input ``k`` starts at ``i * strides[k]``; outputs are dense."""

    inputs: list[NDArray[Any]]  # the parameters first
    strides: list[int]
    outputs: list[NDArray[Any]]


class Kernel:
    """A compiled function of one model."""

    def __init__(self, lib: Any, ffi: Any, model_name: str, info: FunctionInfo, parameters: Parameters) -> None:
        self.info = info
        self.input_names = dict.fromkeys(argument.name for argument in info.inputs)  # in their order
        self.label = f"{model_name}.{info.name}"
        self.real: np.dtype[Any] = parameters.snapshot.dtype
        self.ffi = ffi
        self._lib = lib
        self._batch = getattr(lib, f"eg_batch_{info.name}")
        self.call = getattr(lib, f"eg_call_{info.name}")
        self._array_type = ffi.typeof("eg_real_t[]")
        self.parameters = parameters
        self.single: Callable[..., Any] = self._first_single
        self.dense: Callable[..., Any] = self._first_dense
        self.lists: Callable[..., Any] = self._first_lists
        self.diagnose: Callable[[NDArray[Any], NDArray[Any]], str] | None = None
        """From q and the live parameters to the cause of a failed factorization, where the model can tell."""
        self.problem = "the mass matrix is not positive definite"

    @property
    def address(self) -> int:
        """Return the address of the C loop over a batch, ``eg_batch_<name>``, which is valid as long as the process."""
        return int(self.ffi.cast("intptr_t", self.ffi.addressof(self._lib, f"eg_batch_{self.info.name}")))

    @property
    def single_address(self) -> int:
        """Return the address of ``eg_call_<name>``, for one state in one block; it is valid as long as the process."""
        return int(self.ffi.cast("intptr_t", self.ffi.addressof(self._lib, f"eg_call_{self.info.name}")))

    # Fast paths are written when they are first taken.

    def _first_single(self, arguments: Sequence[Any], out: Any) -> Any:
        self.single = compile_single(self)
        return self.single(arguments, out)

    def _first_dense(self, arguments: Sequence[Any], out: Any) -> Any:
        self.dense = compile_batch(self, self._batch)
        return self.dense(arguments, out)

    def _first_lists(self, arguments: Sequence[Any], out: Any) -> Any:
        self.lists = compile_lists(self, self._batch)
        return self.lists(arguments, out)

    # Workspaces: parameters, inputs and outputs in one block, as eg_call_* expects them.

    def workspace(self) -> tuple[Any, list[NDArray[Any]], list[NDArray[Any]], NDArray[Any]]:
        """Return a new workspace: pointer, views of inputs, of outputs and of the (current) parameters."""
        arguments = (*self.info.inputs, *self.info.outputs)
        start = len(self.parameters)
        block = np.zeros(start + sum(argument.size for argument in arguments), dtype=self.real)
        parameters = block[:start]
        parameters[...] = self.parameters.snapshot
        views = []
        for argument in arguments:
            views.append(block[start : start + argument.size].reshape(argument.shape))
            start += argument.size
        pointer = self.ffi.cast("void *", self.ffi.from_buffer(block, require_writable=True))
        split = len(self.info.inputs)
        return pointer, views[:split], views[split:], parameters

    def first_block(self, last: Sequence[float] = ()) -> list[float]:
        """Return a workspace before the first call: live parameters, zeros, ``last`` as the last input, zeros."""
        block = [*map(float, self.parameters.snapshot), *[0.0] * sum(argument.size for argument in self.info.inputs)]
        block[len(block) - len(last) :] = last
        return [*block, *[0.0] * sum(argument.size for argument in self.info.outputs)]

    # The general way.

    def batch(
        self,
        arguments: Sequence[ArrayLike],
        out: NDArray[Any] | Outputs | None = None,
        parameters: Mapping[str, ArrayLike] | None = None,
        on_failure: str = "raise",
        threads: int = 1,
    ) -> Any:
        """Evaluate for all states of the broadcast batch axes; see :meth:`Model.evaluate`."""
        if isinstance(threads, bool) or not isinstance(threads, int) or threads < 1:
            raise ModelError(f"{self.label}: threads={shortened(threads)}, expected a whole number of threads, at least 1.")
        one_of(f"{self.label}: on_failure", on_failure, ON_FAILURE)
        values = self.parameters.snapshot if parameters is None else self.parameters.merged(parameters)
        arrays = [values, *(self._convert(*pair) for pair in zip(self.info.inputs, arguments, strict=True))]
        ranks = [1, *(len(argument.shape) for argument in self.info.inputs)]
        shape = self._common_batch(arrays, ranks)
        count = math.prod(shape)
        dense = [_dense(array, rank, shape, self.real) for array, rank in zip(arrays, ranks, strict=True)]
        inputs, strides = [array for array, _ in dense], [stride for _, stride in dense]
        usual = None if out is None else self._usual_out(out, shape, arrays)
        given = self._check_out(out, shape) if usual is None else None
        outputs = [usual] if usual is not None else self._destinations(given, arrays, shape)
        job = Batch(inputs, strides, outputs)
        if count and self._run(job, 0, count, threads):
            self._report(job, shape, count, on_failure)
        if usual is not None:
            return usual
        if given is None:
            results = [array if array.ndim else array[()] for array in outputs]
            return results[0] if len(results) == 1 else tuple(results)
        for array, destination in zip(outputs, given, strict=True):
            if array is not destination:
                np.copyto(destination, array, casting="same_kind")
        return out

    def _run(self, job: Batch, start: int, stop: int, threads: int = 1) -> int:
        """Run the C loop over the items start..stop, in blocks, and return the number of failures."""
        threads = min(threads, (stop - start) // FEWEST_PER_THREAD)
        if threads < 2:
            return int(self.loop(job, start, stop)())
        count = threads * BLOCKS_PER_THREAD
        blocks = deque(pairwise(start + (stop - start) * k // count for k in range(count + 1)))
        failures: list[int] = []
        problems: list[BaseException] = []

        def share() -> None:
            """Work on blocks until none is left; this holds the job, so that a Ctrl-C during a start does not free it."""
            try:
                while True:
                    try:
                        block = blocks.popleft()
                    except IndexError:
                        return
                    failures.append(int(self.loop(job, *block)()))
            except BaseException as problem:  # raised by the caller's thread
                problems.append(problem)
                blocks.clear()

        others: list[Thread] = []  # for this call: a fork copies nothing of them
        try:
            for _ in range(threads - 1):
                thread = Thread(target=share)
                thread.start()
                others.append(thread)
        except RuntimeError:  # the system starts no more: those that there are do all
            pass
        except BaseException as problem:
            problems.append(problem)
            blocks.clear()
        share()
        for thread in others:
            thread.join()
        if problems:
            raise problems[0]
        return sum(failures)

    def loop(self, job: Batch, start: int, stop: int) -> Callable[[], int]:
        """Return the C loop over the items start..stop, ready to be called; the job must outlive it."""
        pointer, kind = self.ffi.from_buffer, self._array_type
        inputs: list[Any] = []
        for array, stride in zip(job.inputs, job.strides, strict=True):
            inputs += (pointer(kind, array) + start * stride, stride)
        outputs = [
            pointer(kind, array, require_writable=True) + start * argument.size
            for array, argument in zip(job.outputs, self.info.outputs, strict=True)
        ]
        return partial(self._batch, *inputs[:2], stop - start, *inputs[2:], *outputs)

    # Inputs.

    def _convert(self, argument: Argument, given: ArrayLike) -> NDArray[Any]:
        """Return the argument as an array of real numbers whose last axes have the right shape."""
        try:
            array = np.asarray(given)
        except (ValueError, TypeError) as error:
            raise self._wrong(argument, f"cannot become an array ({error})") from error
        if array.dtype.kind not in "iuf":
            raise self._wrong(argument, f"has dtype {array.dtype}")
        rank = len(argument.shape)
        if array.ndim < rank or array.shape[array.ndim - rank :] != argument.shape:
            raise self._wrong(argument, f"has shape {array.shape}")
        return array

    def _wrong(self, argument: Argument, what: str) -> ModelError:
        unit = f" [{argument.unit}]" if argument.unit else ""
        shape = ", ".join(str(length) for length in ("...", *argument.shape))
        return ModelError(
            f"{self.label}: argument {argument.name!r} {what}, "
            f"expected real numbers{unit} of shape ({shape}), where ... are any batch axes."
        )

    def _common_batch(self, arrays: Sequence[NDArray[Any]], ranks: Sequence[int]) -> tuple[int, ...]:
        shapes = [array.shape[: array.ndim - rank] for array, rank in zip(arrays, ranks, strict=True)]
        distinct = {shape for shape in shapes if shape}
        if len(distinct) < 2:  # the usual case, and numpy's general answer is slow
            return distinct.pop() if distinct else ()
        try:
            return np.broadcast_shapes(*distinct)
        except ValueError:
            names = ("parameters", *(argument.name for argument in self.info.inputs))
            listed = ", ".join(f"{name} {shape}" for name, shape in zip(names, shapes, strict=True) if shape)
            raise ModelError(f"{self.label}: the batch axes do not broadcast against each other: {listed}.") from None

    # Outputs.

    def _usual_out(self, out: Any, batch: tuple[int, ...], arrays: Sequence[NDArray[Any]]) -> NDArray[Any] | None:
        """Return the only output if the C code can write it directly: dense, in memory of its own and of no input."""
        outputs = self.info.outputs
        if len(outputs) != 1 or type(out) is not np.ndarray or out.dtype is not self.real:
            return None
        flags = out.flags
        if not (flags.carray and flags.owndata) or out.shape != batch + outputs[0].shape:
            return None
        for array in arrays:
            base = array.base  # of a view, the array that owns the memory
            if array is out or (base is not None and (base is out or type(base) is not np.ndarray or base.base is not None)):
                return None
        return out

    def _check_out(self, out: NDArray[Any] | Outputs | None, batch: tuple[int, ...]) -> Outputs | None:
        """Return the arrays given by ``out=`` as a sequence, after checking them."""
        if out is None:
            return None
        infos = self.info.outputs
        given: NDArray[Any] | Outputs = out
        if isinstance(out, np.ndarray) and len(infos) == 1:
            given = (out,)
            if out.dtype is self.real and out.shape == batch + infos[0].shape and out.flags.writeable:
                return given  # the usual case
        if not isinstance(given, (tuple, list)) or len(given) != len(infos):
            expected = "an array" if len(infos) == 1 else f"a tuple of {len(infos)} arrays"
            raise ModelError(f"{self.label}: out= got {type(out).__name__}, expected {expected}.")
        for info, array in zip(infos, given, strict=True):
            shape = (*batch, *info.shape)
            problem = ""
            if not isinstance(array, np.ndarray):
                problem = f"got {type(array).__name__}"
            elif array.shape != shape or not self._holds_results(array.dtype):
                problem = f"got shape {array.shape} and dtype {array.dtype}"
            elif not array.flags.writeable:
                problem = "got a read-only array"
            if problem:
                raise ModelError(
                    f"{self.label}: out= for {info.name!r}: {problem}, "
                    f"expected a writeable array of shape {shape} and dtype {self.real}."
                )
        if any(_overlap(*pair) for pair in combinations(given, 2)):
            raise ModelError(f"{self.label}: out= has arrays that overlap, expected separate ones.")
        return given

    def _holds_results(self, dtype: np.dtype[Any]) -> bool:
        """Whether numbers can be written to this type; numpy would also cast them to text and cut it to the width."""
        return dtype == self.real or (dtype.kind in "fcO" and np.can_cast(self.real, dtype, "same_kind"))

    def _destinations(
        self, given: Outputs | None, arrays: Sequence[NDArray[Any]], batch: tuple[int, ...]
    ) -> list[NDArray[Any]]:
        return [self._destination(k, given, arrays, batch) for k in range(len(self.info.outputs))]

    def _destination(
        self, k: int, given: Outputs | None, arrays: Sequence[NDArray[Any]], batch: tuple[int, ...]
    ) -> NDArray[Any]:
        """Return the array that the C code writes: the user's own where that is possible, else a new one.

        ``arrays`` are those given; what the C code reads are these, views of them, or copies.
        """
        if given is not None:
            array = given[k]
            if array.dtype == self.real and array.flags.carray:
                owned = array.flags.owndata
                for other in arrays:
                    if other is array or (not (owned and other.flags.owndata) and np.may_share_memory(array, other)):
                        break
                else:
                    return array
        return np.empty((*batch, *self.info.outputs[k].shape), dtype=self.real)

    # Failures.

    def _report(self, job: Batch, shape: tuple[int, ...], count: int, on_failure: str) -> None:
        """Raise for the failed items of a batch, or fill them with NaN."""
        failed = list(self._failures(job, 0, count))
        if on_failure == "nan":
            for array, info in zip(job.outputs, self.info.outputs, strict=True):
                array.reshape((count, *info.shape))[failed] = np.nan
            return
        where = f" for {len(failed)} of {count} states, first at index {_index(failed[0], shape)}" * bool(shape)
        self._check_range(job, failed[0], where)
        if self.info.name == "contact_inverse_dynamics":
            needs = "three points that are not in line, or a flat foot, where the base is free in space"
            raise ModelError(f"{self.label}: the active contacts cannot carry the base{where}, expected {needs}.")
        raise ModelError(
            f"{self.label}: {self.problem}{where}; likely cause: {self._cause(job, failed[0])}. "
            "Fix: correct it, or pass on_failure='nan'."
        )

    def _cause(self, job: Batch, item: int) -> str:
        """Return the likely cause of a failed item."""
        if not all(np.isfinite(array).all() for array in job.inputs):
            return "NaN or infinity in the arguments"
        if self.diagnose is None:
            return "a link without inertia"
        sizes = (len(self.parameters), self.info.inputs[0].size)
        values, q = (job.inputs[k].reshape(-1)[item * job.strides[k] :][:size] for k, size in enumerate(sizes))
        return self.diagnose(q, values)

    def _check_range(self, job: Batch, item: int, where: str) -> None:
        """Raise for a sliding joint beyond the end of its beam."""
        start = item * job.strides[1] if self.info.sliding else 0
        for joint in self.info.sliding:
            q = job.inputs[1].reshape(-1)[start : start + self.info.inputs[0].size].tolist()
            if joint.is_out_of_range(q):
                raise ModelError(
                    f"{self.label}: joint {joint.joint} is at q[{joint.coordinate}] = {q[joint.coordinate]:.9g} m{where}, "
                    f"expected {'above' if joint.positive else 'at least'} 0 and at most {joint.upper:.9g} m. "
                    f"Fix: keep it on its beam, or evaluate({self.info.name!r}, ..., on_failure='nan')."
                )

    def _failures(self, job: Batch, start: int, stop: int) -> list[int]:
        """Find the failed items by bisection: the C loop only counts them."""
        failures = self._run(job, start, stop)
        if failures in (0, stop - start):
            return list(range(start, start + failures))
        middle = (start + stop) // 2
        return self._failures(job, start, middle) + self._failures(job, middle, stop)


def _index(flat: int, shape: tuple[int, ...]) -> Any:
    index = tuple(int(i) for i in np.unravel_index(flat, shape))
    return index[0] if len(index) == 1 else index


def _overlap(a: NDArray[Any], b: NDArray[Any]) -> bool:
    """Whether arrays of any strides share numbers; undecided cases of numpy's search count as shared."""
    work: Any = OVERLAP_WORK  # its types know no limit and no search only
    return _share(a, b) and np.may_share_memory(a, b, work)


def _share(a: NDArray[Any], b: NDArray[Any]) -> bool:
    """Whether arrays may share memory, by a test faster than numpy's."""
    return a is b or (not (a.flags.owndata and b.flags.owndata) and np.may_share_memory(a, b))


def _dense(array: NDArray[Any], rank: int, batch: tuple[int, ...], real: np.dtype[Any]) -> tuple[NDArray[Any], int]:
    """Return a dense array of C numbers and the number of elements from one item to the next."""
    item = array.shape[array.ndim - rank :]
    axes = array.shape[: array.ndim - rank]
    one_for_all = math.prod(axes) == 1
    if one_for_all:
        array = array.reshape(item)
    elif axes != batch:
        array = np.broadcast_to(array, (*batch, *item))
    if array.dtype is not real or not array.flags.c_contiguous or not array.flags.aligned:
        array = np.require(array, real, ("C", "ALIGNED"))
    return array, 0 if one_for_all else math.prod(item)
