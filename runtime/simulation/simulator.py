"""The compiled integrators behind Python data: structs for C, one thread per motion, progress and cancellation."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from elastogen.runtime.errors import ModelError
from elastogen.runtime.interface.error import shortened
from elastogen.runtime.interface.integrators import integrator
from elastogen.runtime.interface.plane import GroundEvent
from elastogen.runtime.simulation.inputs import CFunction, InputData
from elastogen.runtime.simulation.lane_blocks import LaneBlocks
from elastogen.runtime.simulation.motions import Motion, Motions, Passed
from elastogen.runtime.simulation.progress_bar import ProgressBar
from elastogen.runtime.simulation.stops import StopData
from elastogen.runtime.simulation.switches import Switch

_ROWS = ("values", "rates", "accelerations", "position_gain", "velocity_gain", "actuated")
POLL = 0.1  # seconds between looks at the progress
MOST_SWITCHES = 4096  # that are kept of one motion; all are counted


@dataclass(frozen=True)
class Method:
    """A way to integrate, as the options struct takes it; see :meth:`SimulationMethods.simulate`."""

    name: str
    step: float
    max_step: float
    rtol: float
    atol: float
    rho_inf: float


@dataclass(frozen=True)
class _Watch:
    """Structs of C that live as long as one motion is computed."""

    stops: Any
    input: Any
    workspace: Any


class _PythonForce:
    """A user's Python function with the memory of its first exception."""

    def __init__(self, ffi: Any, function: Any, nq: int, nv: int) -> None:
        self._ffi, self._function, self._nq, self._nv = ffi, function, nq, nv
        self.error: BaseException | None = None

    def __call__(self, t: float, q: Any, qd: Any, F: Any) -> int:
        try:
            sizes = ((q, self._nq), (qd, self._nv))
            state = (np.frombuffer(self._ffi.buffer(x, 8 * size), dtype=np.float64).copy() for x, size in sizes)
            answer = self._function(t, *state)
            try:
                given = np.asarray(answer, dtype=np.float64)
            except (TypeError, ValueError):
                raise ModelError(f"F= is a function that returned {answer!r}, expected {self._nv} real numbers.") from None
            if given.shape != (self._nv,):
                raise ModelError(f"F= is a function that returned shape {given.shape}, expected ({self._nv},).")
            np.frombuffer(self._ffi.buffer(F, 8 * self._nv), dtype=np.float64)[...] = given
        except BaseException as error:
            self.error = self.error or error
            return 1
        return 0


def _holding(memory: list[Any], task: Callable[[], None]) -> None:
    """Run a task that reads memory of C: a Ctrl-C while its thread starts leaves the thread alone with it."""
    task()
    del memory


class Simulator:
    """The integrators of one extension module."""

    def __init__(
        self, lib: Any, ffi: Any, functions: Sequence[str], nq: int, nv: int, sliding: Sequence[str], grounded: Sequence[str]
    ) -> None:
        self._lib, self.ffi, self._nq, self._nv, self._sliding = lib, ffi, nq, nv, tuple(sliding)
        self.functions = frozenset(functions)
        self._grounded = tuple(grounded) if "ground_motion" in self.functions else ()
        names = [name for name in dir(lib) if name.startswith("EG_SIM_STATUS_")]
        self._status = {int(getattr(lib, name)): name[len("EG_SIM_STATUS_") :] for name in names}

        @ffi.def_extern(name="eg_sim_python")  # type: ignore[untyped-decorator]
        def call(context: Any, t: float, q: Any, qd: Any, F: Any) -> int:
            force: _PythonForce = ffi.from_handle(context)
            return force(t, q, qd, F)

    # Data for C.

    def _pointer(self, array: NDArray[Any] | None, kind: str = "double[]") -> Any:
        return self.ffi.NULL if array is None else self.ffi.from_buffer(kind, array)

    def _input(self, data: InputData) -> tuple[Any, list[Any], _PythonForce | None]:
        """The input struct, what must outlive it, and the Python function in it."""
        struct = self.ffi.new("eg_sim_input_t *")
        struct.kind = getattr(self._lib, f"EG_SIM_INPUT_{data.kind}")
        keep: list[Any] = [data]
        if data.times is not None:
            struct.rows = len(data.times)
            struct.times = self._pointer(data.times)
            for name in _ROWS:
                array = getattr(data, name)
                setattr(struct, name, self._pointer(array, "int[]" if name == "actuated" else "double[]"))
        python = None
        if isinstance(data.function, CFunction):
            address = self._address(data.function.address)
            if isinstance(data.function.address, bool) or address <= 0:
                raise ModelError(
                    f"CFunction: got the address {data.function.address!r}, expected that of a function in memory."
                )
            struct.function = self.ffi.cast("eg_sim_function_t", address)
            struct.context = self.ffi.cast("void *", self._address(data.function.context))
        elif data.function is not None:
            python = _PythonForce(self.ffi, data.function, self._nq, self._nv)
            handle = self.ffi.new_handle(python)
            keep.append(handle)
            struct.function = self.ffi.addressof(self._lib, "eg_sim_python")
            struct.context = handle
        return struct, keep, python

    def _address(self, given: Any) -> int:
        if isinstance(given, int):
            return given
        if isinstance(given, self.ffi.CData):
            return int(self.ffi.cast("uintptr_t", given))
        import ctypes

        try:
            if not isinstance(given, (str, bytes)):  # ctypes would take the address of the text
                return ctypes.cast(given, ctypes.c_void_p).value or 0
        except ctypes.ArgumentError:
            pass
        raise ModelError(f"CFunction: got {shortened(given)}, expected an integer address, a cffi pointer or a ctypes pointer.")

    # Evaluation.

    def force(self, parameters: NDArray[Any], data: InputData, t: float, q: NDArray[Any], qd: NDArray[Any]) -> NDArray[Any]:
        """Driving forces (nq,) of an input at one time and state."""
        F = np.zeros(self._nv)
        struct, keep, python = self._input(data)
        workspace = self.ffi.new("eg_sim_workspace_t *")
        values = self._pointer(parameters, "eg_real_t[]")
        status = self._lib.eg_simulate_input(
            values, struct, t, self._pointer(q), self._pointer(qd), self._pointer(F), workspace
        )
        del keep
        if python is not None and python.error is not None:
            raise python.error
        if status:
            raise ModelError(f"F= failed at t = {t:g} s: {self._status[status]}.")
        return F

    def run(
        self, motions: Motions, times: NDArray[Any], data: InputData, method: Method, progress: bool | None,
        stops: StopData | None = None, threads: int | None = None,
    ) -> None:  # fmt: skip
        """Compute all motions, on all cores; after Ctrl-C, those not finished have the status CANCELLED."""
        from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait  # a slow import

        for motion in motions:
            motion.control.time = times[0]
        struct, keep, python = self._input(data)
        workers = max(1, min(len(motions), threads or os.cpu_count() or 1))
        bar, span = ProgressBar("simulating", progress), float(times[-1] - times[0]) or 1.0
        tasks: Sequence[Callable[[], None]]
        if self._in_lanes(method, data, stops) and len(motions) > 1:
            block = LaneBlocks(self._lib, self.ffi, motions, times, struct, self._options(method), stops)
            tasks = block.tasks(workers)
        else:
            block = None
            tasks = [partial(self._run_one, motions, k, times, struct, method, stops) for k in range(len(motions))]
        with ThreadPoolExecutor(max_workers=workers) as pool:
            pending: set[Future[None]] = set()
            done: set[Future[None]] = set()
            try:
                for task in tasks:
                    pending.add(pool.submit(_holding, keep, task))
                while pending:
                    finished, pending = wait(pending, timeout=POLL, return_when=FIRST_COMPLETED)
                    done |= finished
                    if bar.due:
                        bar.show(sum((motion.control.time - float(times[0])) / span for motion in motions) / len(motions))
            except BaseException as interruption:  # also what a signal handler of the user's raises
                for motion in motions:
                    motion.control.cancel = 1
                done |= wait(pending).done
                if not isinstance(interruption, KeyboardInterrupt):
                    raise
        bar.close()
        del keep
        if python is not None and python.error is not None:
            raise python.error
        for future in done:
            future.result()
        if block is not None:
            block.tell(self._status)

    def _in_lanes(self, method: Method, data: InputData, stops: StopData | None) -> bool:
        """Whether several motions can take the same steps: equal ones, under forces that are not a function of the caller's."""
        equal = not integrator(method.name).adaptive and data.function is None and (stops is None or stops.stiffness is None)
        return equal and hasattr(self._lib, "eg_sim_lanes") and self._lib.eg_sim_lanes() > 1

    def _options(self, method: Method) -> Any:
        options = self.ffi.new("eg_sim_options_t *")
        options.method = getattr(self._lib, f"EG_SIM_METHOD_{method.name.upper()}")
        for field in ("step", "max_step", "rtol", "atol", "rho_inf"):
            setattr(options, field, getattr(method, field))
        return options

    def _run_one(
        self, motions: Motions, k: int, times: NDArray[Any], struct: Any, method: Method, stops: StopData | None
    ) -> None:  # fmt: skip
        ffi, motion, options = self.ffi, motions[k], self._options(method)
        record = ffi.new("eg_sim_record_t *")
        for field, array in motions.samples.items():
            setattr(record, field, self._pointer(array[k]))
        workspace = ffi.new("eg_sim_workspace_t *")
        watch = None if stops is None else self._watch(motion, float(times[0]), struct, stops)
        if watch is not None:
            options.event, options.event_context = ffi.addressof(self._lib, "eg_sim_watch"), watch.stops
            struct = watch.input
        switches = ffi.new("eg_switch_t[]", MOST_SWITCHES) if self._sliding else None
        if switches is not None:
            record.switches, record.most_switches = switches, MOST_SWITCHES
        touches = ffi.new("eg_sim_touch_t[]", MOST_SWITCHES) if self._grounded else None
        if touches is not None:
            record.touches, record.most_touches = touches, MOST_SWITCHES
        status = self._lib.eg_simulate(
            self._pointer(motion.parameters, "eg_real_t[]"), struct, options, self._pointer(motion.q0),
            self._pointer(motion.qd0), len(times), self._pointer(times), record, workspace, motion.control,
        )  # fmt: skip
        motion.status = self._status[status]
        if watch is not None and watch.stops.index >= 0:
            motion.passed = Passed(int(watch.stops.index), bool(watch.stops.side > 0), float(watch.stops.time))
        if switches is not None:
            count = min(int(motion.control.switches), MOST_SWITCHES)
            motion.switches = tuple(self._switch(switches[number]) for number in range(count))
        if touches is not None:
            count = min(int(motion.control.touches), MOST_SWITCHES)
            motion.ground_events = tuple(self._touch(touches[number]) for number in range(count))

    def _watch(self, motion: Motion, start: float, struct: Any, data: StopData) -> _Watch:
        """What looks at the limits after every step and, with springs, is asked for the forces in place of the input."""
        ffi = self.ffi
        stops, workspace = ffi.new("eg_sim_stops_t *"), ffi.new("eg_sim_workspace_t *")
        stops.lower, stops.upper = self._pointer(data.lower), self._pointer(data.upper)
        stops.ends, stops.index, stops.before_t = int(data.ends), -1, start
        stops.before_q, stops.before_qd = list(motion.q0), list(motion.qd0)
        if data.stiffness is None:
            return _Watch(stops, struct, workspace)
        stops.stiffness, stops.damping = self._pointer(data.stiffness), self._pointer(data.damping)
        stops.params, stops.input, stops.workspace = self._pointer(motion.parameters, "eg_real_t[]"), struct, workspace
        springs = ffi.new("eg_sim_input_t *")
        springs.kind, springs.rows, springs.times = self._lib.EG_SIM_INPUT_FUNCTION, struct.rows, struct.times
        springs.function, springs.context = ffi.addressof(self._lib, "eg_sim_stop_force"), stops
        return _Watch(stops, springs, workspace)

    def _switch(self, report: Any) -> Switch:
        joint = self._sliding[report.joint]
        return Switch(report.time, joint, report.before, report.after, report.energy_before, report.energy_after)

    def _touch(self, found: Any) -> GroundEvent:
        kind: Literal["touch", "lift"] = "touch" if found.touches else "lift"
        return GroundEvent(found.time, self._grounded[found.point], kind, found.speed)

    def switch(self, parameters: NDArray[Any], elements: Sequence[int], q: NDArray[Any], qd: NDArray[Any]) -> Switch:
        """Carry a state that is just beyond a border of the elements over to the next one: q and qd are changed."""
        k, report = self.ffi.new("int[]", list(elements)), self.ffi.new("eg_switch_t *", {"time": math.nan})
        work = self.ffi.new("eg_switch_work_t *")
        status = self._lib.eg_switch(
            self._pointer(parameters, "eg_real_t[]"), k, self._pointer(q), self._pointer(qd), report, work
        )
        if status != 1:
            raise ModelError(f"the state at a border of the elements {list(elements)} cannot be carried over: status {status}.")
        return self._switch(report)
