"""The real-time loop, driven from Python: it runs in a C thread that never waits for the interpreter."""

from __future__ import annotations

import os
import threading
import time
import warnings
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from elastogen.runtime.errors import ModelError
from elastogen.runtime.loop import checks
from elastogen.runtime.loop.controllers import Controller, UserController
from elastogen.runtime.loop.library import LoopLibrary
from elastogen.runtime.loop.options import (
    as_controller,
    as_plant,
    delay_rows,
    period_fraction,
    ring_capacity,
    run_length,
    run_options,
)
from elastogen.runtime.loop.plants import Plant, Simulated
from elastogen.runtime.loop.pointers import address_of, function_address
from elastogen.runtime.loop.references import ReferenceMethods
from elastogen.runtime.loop.status import NOTICES, LoopStatus, LoopWarning
from elastogen.runtime.loop.telemetry import LoopStatistics, Telemetry, distribution
from elastogen.runtime.loop.tuning import Limits, SafeCommand, Tuning
from elastogen.runtime.motion.shaping import Shaper
from elastogen.runtime.words import one_of

if TYPE_CHECKING:
    from elastogen.runtime.simulation.results import Simulation

MOST_CYCLES = 1 << 62  # that step() is asked for
LEAD = 1_000_000  # from the start of the thread to the first deadline [ns]


class Loop(ReferenceMethods):
    """A control loop in a C thread with absolute deadlines.

    >>> with model.loop(controller=ComputedTorqueLaw(kp=400, kd=40), rate=1000) as loop:
    ...     loop.move_to([0.5, -0.3], seconds=1.0)
    ...     time.sleep(1.5)
    ...     records = loop.read()
    >>> print(loop.statistics())

    - ``controller``: a name ("pd_gravity", "computed_torque", "feedforward", "state_feedback", "user") or an object of
      :mod:`elastogen.runtime.loop.controllers`; ``plant``: "simulated", "user", or an object of
      :mod:`elastogen.runtime.loop.plants`;
    - ``rate`` [Hz]; ``on_overrun``: "skip" periods that are over, "catch_up", or "stop"; ``free_running``: no deadlines;
    - ``fifo``: SCHED_FIFO, True or a priority; ``cpu``: the processor to stay on; ``lock_memory`` (None: with fifo);
      ``spin`` [s]: wait the last part of each period busily;
    - ``limits``, ``safe``: what the watchdog allows and what it writes when it stops the loop;
    - ``shaper``: an input shaper; ``shaper_memory`` [s]: how far back one that is set later may reach;
    - ``telemetry``: records that the ring holds (0: none); ``keep``: "newest" or "oldest" when nobody reads.

    Without a reference the loop holds the position that it finds. Methods may be called from several threads.
    """

    def __init__(
        self,
        library: LoopLibrary,
        *,
        controller: str | Controller = "computed_torque",
        plant: str | Plant = "simulated",
        rate: float = 1000.0,
        on_overrun: str = "skip",
        free_running: bool = False,
        fifo: bool | int = False,
        cpu: int | None = None,
        lock_memory: bool | None = None,
        spin: float = 0.0,
        limits: Limits | None = None,
        safe: SafeCommand | None = None,
        shaper: Shaper | None = None,
        shaper_memory: float | None = None,
        telemetry: int = 16384,
        keep: str = "newest",
    ) -> None:
        checks.instance("loop: library", library, LoopLibrary, "what elastogen.build_loop returns, or use model.loop(...)")
        self.library, self.model = library, library.model
        self.animator: Callable[..., Path] | None = None  # draws motions; loops of models that were built from a robot have it
        self._lib, self._ffi = library.lib, library.ffi
        self._constants = library.constants
        self._lock = threading.Lock()  # of Python's threads; the loop never takes it
        self._running = threading.Lock()  # held by who starts the thread or runs cycles himself
        self._fraction = period_fraction(rate)
        self.rate = float(rate)
        self.period = 1.0 / self.rate
        self.controller = as_controller(controller)
        self.plant: Plant = as_plant(plant)
        self._run_options = run_options(
            self._constants, self.period, on_overrun, free_running, fifo, cpu, lock_memory, spin
        )  # fmt: skip
        self._keep = self._constants[f"KEEP_{one_of('loop: keep', keep, ('newest', 'oldest')).upper()}"]
        self._capacity = ring_capacity(telemetry)
        self._delay_rows = delay_rows(shaper, shaper_memory, self.rate)
        self._shaper = shaper
        self.tuning = Tuning(library)
        self.tuning.set_limits(Limits() if limits is None else limits, self.period)
        self.tuning.set_safe(SafeCommand() if safe is None else safe)
        self._allocate()

    def _allocate(self) -> None:
        """All memory of the loop; the thread gets none of its own."""
        ffi, n = self._ffi, self.model.nq
        self._loop = ffi.new("eg_loop_t *")
        self._slots = ffi.new("eg_loop_slot_t[]", max(1, self._capacity))
        self._delay_line = ffi.new("eg_real_t[]", max(1, self._delay_rows * 5 * n))
        self._thread = ffi.new("eg_loop_thread_t *")
        self._reference = ffi.new("eg_loop_reference_t *")
        self._copy = ffi.new("eg_loop_statistics_t *")
        self._tables = {}
        self._joined, self._number = True, 0
        self._prepare()
        q = np.array(self.model.neutral(), dtype=float)
        if isinstance(self.plant, Simulated) and self.plant.q.size == n:
            q[:] = self.plant.q
        self.tuning.set_controller(self.controller, q, self.period)
        self.tuning.publish(self._loop)
        self._warn_of_growth(q)

    def _warn_of_growth(self, q: NDArray[Any]) -> None:
        """Say before the start that the loop will not be stable."""
        found = self.tuning.growth(self.controller, q, self.period)
        if found is not None and not found.is_stable:
            warnings.warn(
                f"{self.model.name}: {self.controller.name} with these gains is unstable at {self.rate:g} Hz, as linearized: "
                f"{found.coordinate} grows by a factor of e in {1.0 / found.rate:.2g} s. Fix: smaller kp and kd for "
                f"{found.coordinate} (without them they are chosen), or a higher rate.",
                LoopWarning,
                stacklevel=4,
            )

    def _prepare(self) -> None:
        """Put the loop at its beginning."""
        ffi, loop = self._ffi, self._loop
        self._lib.eg_loop_init(loop, self.period)
        self.plant.connect(self.library, loop, self.period)
        if isinstance(self.controller, UserController):
            function = self.controller.function
            address = (
                self.library.controller("user") if function is None else function_address(ffi, "user controller", function)
            )
            loop.controller = ffi.cast("eg_loop_controller_t", address)
            loop.context = ffi.cast("void *", address_of(ffi, self.controller.context))
        else:
            loop.controller = self.library.controller(self.controller.name)
            loop.context = ffi.addressof(loop.elastic)
        if self._capacity:
            loop.slots, loop.capacity, loop.keep = self._slots, self._capacity, self._keep
        if self._delay_rows:
            loop.delay_line, loop.delay_rows = self._delay_line, self._delay_rows
        self.tuning.set_shaper(self._shaper, self.period, self._delay_rows)
        self.tuning.publish(loop)
        self._telemetry = Telemetry(self.library, loop)
        self._fresh, self._sent = True, False
        self._tables.clear()
        self._last_table = None

    # Running.

    def start(self, seconds: float | None = None, *, cycles: int | None = None) -> Loop:
        """Start the thread; it ends after ``seconds`` or ``cycles``, at a fault, or when it is stopped.

        What was set since the end of the last run is kept; the simulated robot goes on from where it was.
        """
        periods, most = run_length(seconds, cycles, self.rate)
        with self._alone("start() it"):
            self._join()
            self._make_ready(wait=True)
            options = self._thread.options
            options.period_ns, options.period_parts = self._fraction
            options.cycles, options.lead_ns, options.periods = most, LEAD, periods
            for name, value in self._run_options.items():
                setattr(options, name, value)
            self._thread.loop = self._loop
            error = self._lib.eg_loop_thread_start(self._thread)
            if error:
                raise ModelError(f"{self.model.name}: the thread could not be started ({os.strerror(error)}).")
            self._joined = False
            keep = (self._loop, self._slots, self._delay_line, self._tables, self.plant, self.controller)
            self._finalizer = weakref.finalize(self, _end, self._lib, self._thread, keep)
            while self._state == self._constants["THREAD_STARTING"]:
                time.sleep(0.0002)
        for name, text in NOTICES.items():
            if self._thread.notices & self._constants[name]:
                warnings.warn(f"{self.model.name}: {text}", LoopWarning, stacklevel=2)
        return self

    def step(self, cycles: int = 1) -> LoopStatus:
        """Run cycles in the calling thread, one after the other without deadlines, as a timer interrupt would."""
        number = checks.whole("step: cycles", cycles, 0, MOST_CYCLES, "a whole number from 0")
        with self._alone("step()"):
            self._join()
            self._begin_plant(wait=False)
            self._fresh = False
            for _ in range(number):
                self._lib.eg_loop_step(self._loop)
        return self.status

    @contextmanager
    def _alone(self, what: str) -> Iterator[None]:
        """Cycles run in one thread at a time: in the loop's own, or in one of Python's."""
        if not self._running.acquire(blocking=False):
            raise ModelError(
                f"{self.model.name}: another thread starts or steps the loop at this moment. Fix: {what} from one."
            )
        try:
            if self.running:
                raise ModelError(
                    f"{self.model.name}: the loop runs already in its own thread. Fix: stop() it before you {what}."
                )
            yield
        finally:
            self._running.release()

    def _make_ready(self, *, wait: bool) -> None:
        """Put a loop that ran before back to its beginning, with the last reference if it was sent since."""
        with self._lock:
            sent, last = self._sent, self._last_table
            if not self._fresh:
                self._prepare()
                if sent:
                    self._hand_over(last)
            self._fresh = self._sent = False
        self._begin_plant(wait=wait)

    def _begin_plant(self, *, wait: bool) -> None:
        begin = getattr(self.plant, "begin", None)
        if begin is not None:
            begin(self, wait=wait)

    def stop(self) -> LoopStatus:
        """End the loop within one cycle: it writes the safe command; return how it ended."""
        self._lib.eg_loop_thread_stop(self._thread)
        self._join()
        return self.status

    def wait(self, timeout: float | None = None) -> LoopStatus:
        """Wait for the end of a loop that was given seconds or cycles, or stops at a fault."""
        if timeout is not None:
            timeout = checks.number("wait: timeout", timeout, 0.0, float("inf"), "None or seconds from 0")
        finish = None if timeout is None else time.monotonic() + timeout
        while self.running:
            if finish is not None and time.monotonic() >= finish:
                raise ModelError(f"{self.model.name}: the loop still runs after timeout={timeout} s. Fix: stop() it.")
            time.sleep(min(0.005, self.period))
        self._join()
        return self.status

    @property
    def running(self) -> bool:
        """Whether cycles run."""
        return self._state in (self._constants["THREAD_STARTING"], self._constants["THREAD_RUNNING"])

    @property
    def status(self) -> LoopStatus:
        """Whether there was a fault, and which."""
        code = int(self._thread.status) or int(self._loop.status)
        name = next(name for name, value in self._constants.items() if name.startswith("STATUS_") and value == code)
        index = int(self._loop.fault_index) if code else -1
        return LoopStatus(code, name, self._named(name, index) if index >= 0 else "")

    def _named(self, status: str, index: int) -> str:
        """What a fault's index stands for: a coordinate, or a velocity; of a state, positions come first."""
        names = self.model.coordinate_names
        if status == "STATUS_STATE_NOT_FINITE":
            return (*names, *self.model.velocity_names)[index]
        return (names if status in ("STATUS_POSITION", "STATUS_OUTSIDE") else self.model.velocity_names)[index]

    @property
    def _state(self) -> int:
        return int(self._lib.eg_loop_thread_state(self._thread))

    def _join(self) -> None:
        with self._lock:
            if not self._joined:
                self._finalizer.detach()
                self._lib.eg_loop_thread_join(self._thread)
                self._joined = True

    def __enter__(self) -> Loop:
        return self if self.running else self.start()

    def __exit__(self, *exception: object) -> None:
        self.stop()

    # What may change while it runs, each as a whole.

    def set_gains(
        self,
        kp: ArrayLike | None = None,
        kd: ArrayLike | None = None,
        K: ArrayLike | None = None,
        values: ArrayLike | None = None,
    ) -> None:
        """Change gains; None leaves them as they are. See :mod:`elastogen.runtime.loop.controllers` for units."""
        with self._lock:
            self.tuning.set_gains(kp, kd, K, values)
            self.tuning.publish(self._loop)

    def set_limits(self, limits: Limits) -> None:
        """Change all limits."""
        with self._lock:
            self.tuning.set_limits(limits, self.period)
            self.tuning.publish(self._loop)

    def set_shaper(self, shaper: Shaper | None) -> None:
        """Change the input shaper; None: none."""
        with self._lock:
            self.tuning.set_shaper(shaper, self.period, self._delay_rows)
            self._shaper = shaper
            self.tuning.publish(self._loop)

    def set_parameters(self, **values: float) -> None:
        """Change live parameters of the controller's model, for example a payload that was picked up."""
        with self._lock:
            self.tuning.set_parameters(values)
            self.tuning.publish(self._loop)

    # What it tells.

    def read(self) -> NDArray[Any]:
        """Records since the last call, a structured array: cycle, tick, lateness_ns, q, qd, q_ref, F, ..."""
        with self._lock:
            return self._telemetry.read()

    def errors(self, records: NDArray[Any]) -> NDArray[np.float64]:
        """q - q_ref of records, (rows, nv): along the velocities where there are quaternions."""
        from elastogen.runtime.loop.recorded import check_records

        check_records(self.model.name, records)
        return np.asarray(self.model.difference(records["q_ref"], records["q"]), dtype=float)

    @property
    def telemetry(self) -> Telemetry:
        """The reader of the records."""
        return self._telemetry

    def motion(self, records: NDArray[Any]) -> Simulation:
        """Records that :meth:`read` returned, as a motion with ``animate("run.html")``, ``plot`` and ``save``."""
        from elastogen.runtime.loop.recorded import recorded_motion

        return recorded_motion(self, records)

    def statistics(self) -> LoopStatistics:
        """Counts and distributions of the present or the last run."""
        with self._lock:
            self._lib.eg_loop_thread_statistics(self._thread, self._copy)
            copy = self._copy
            return LoopStatistics(
                rate=self.rate,
                cycles=int(copy.cycles),
                overruns=int(copy.overruns),
                skipped=int(copy.skipped),
                saturations=int(self._loop.saturations),
                lost=self._telemetry.lost,
                lateness=distribution(copy.lateness, self._ffi),
                execution=distribution(copy.execution, self._ffi),
            )

    def __repr__(self) -> str:
        state = "running" if self.running else str(self.status)
        return f"Loop({self.model.name!r}, {self.controller.name}, {self.rate:g} Hz, {state})"


def _end(lib: Any, thread: Any, memory: tuple[Any, ...]) -> None:
    """Stop a thread whose loop nobody holds any more; ``memory`` lives until then."""
    lib.eg_loop_thread_stop(thread)
    lib.eg_loop_thread_join(thread)
    del memory
