"""The real-time loop, driven from Python: it runs in a C thread that never waits for the interpreter."""

from __future__ import annotations

import os
import threading
import time
import warnings
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from elastogen.runtime.choices import one_of
from elastogen.runtime.errors import ModelError
from elastogen.runtime.loop import checks
from elastogen.runtime.loop.changes import ChangeMethods, all_controllers
from elastogen.runtime.loop.controllers import Controller
from elastogen.runtime.loop.library import LoopLibrary
from elastogen.runtime.loop.observing.observer import Observer, ObserverStage
from elastogen.runtime.loop.options import (
    as_plant,
    delay_rows,
    period_fraction,
    ring_capacity,
    run_length,
    run_options,
)
from elastogen.runtime.loop.plants import Plant, Simulated, needed_substeps
from elastogen.runtime.loop.references import ReferenceMethods
from elastogen.runtime.loop.safety.braking import Braking
from elastogen.runtime.loop.safety.limits import Limits, most_overruns
from elastogen.runtime.loop.safety.recovery import RecoveryMethods
from elastogen.runtime.loop.safety.safe_command import SafeCommand
from elastogen.runtime.loop.status import NOTICES, LoopStatus, LoopWarning
from elastogen.runtime.loop.telemetry import LoopStatistics, Telemetry, distribution
from elastogen.runtime.loop.tuning import Tuning
from elastogen.runtime.motion.shaping import Shaper

if TYPE_CHECKING:
    from elastogen.runtime.simulation.results import Simulation

__all__ = ["Limits", "Loop", "LoopStatus", "LoopWarning", "SafeCommand"]
MOST_CYCLES = 1 << 62  # that step() is asked for
MUCH = 10.0  # times of a stop: beyond it the time that it takes is not reported
LEAD = 1_000_000  # from the start of the thread to the first deadline [ns]


class Loop(ReferenceMethods, ChangeMethods, RecoveryMethods):
    """A control loop in a C thread with absolute deadlines.

    >>> with model.loop(controller=ComputedTorqueLaw(kp=400, kd=40), rate=1000) as loop:
    ...     loop.move_to([0.5, -0.3], seconds=1.0)
    ...     time.sleep(1.5)
    ...     records = loop.read()
    >>> print(loop.statistics())

    - ``controller``: a name ("pd_gravity", "computed_torque", ...: those of :mod:`elastogen.runtime.loop.laws.registry`) or an
      object of :mod:`elastogen.runtime.loop.controllers`; ``plant``: "simulated", "user", or an object of
      :mod:`elastogen.runtime.loop.plants`;
    - ``controllers``: those that :meth:`use` can switch to while the loop runs; it starts with ``controller``, or the first;
    - ``rate`` [Hz]; ``on_overrun``: "skip" missed periods, "catch_up", or "stop"; ``free_running``: no deadlines;
    - ``fifo``: SCHED_FIFO, True or a priority; ``cpu``: the processor to run on; ``lock_memory`` (None: with fifo);
      ``spin`` [s]: the last part of each period in which it waits busily;
    - ``limits``, ``safe``: what the watchdog allows, and how the loop comes to rest after a fault and when it ends;
    - ``observer``: an :class:`~elastogen.runtime.loop.observing.observer.Observer`, whose estimate the controller sees;
    - ``shaper``: an input shaper; ``shaper_memory`` [s]: how far back one that is set later may reach;
    - ``telemetry``: size of the ring of records (0: none); ``keep``: "newest" or "oldest" records stay when nobody reads.

    Without a reference the loop holds the position that it finds. After a fault it brings the robot to rest, see :attr:`phase`;
    only :meth:`reset` lets it run again. Methods may be called from several threads.
    """

    def __init__(
        self,
        library: LoopLibrary,
        *,
        controller: str | Controller | None = None,
        controllers: Sequence[str | Controller] = (),
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
        observer: Observer | None = None,
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
        self.controllers = all_controllers(controller, controllers, self._constants["OTHER_LAWS"])
        self.controller = self.controllers[0]
        self.plant: Plant = as_plant(plant)
        self._run_options = run_options(
            self._constants, self.period, on_overrun, free_running, fifo, cpu, lock_memory, spin
        )  # fmt: skip
        self._keep = self._constants[f"KEEP_{one_of('loop: keep', keep, ('newest', 'oldest')).upper()}"]
        self._capacity = ring_capacity(telemetry)
        self._delay_rows = delay_rows(shaper, shaper_memory, self.rate)
        self._shaper = shaper
        self.observer = None if observer is None else ObserverStage(library, observer)
        self.tuning = Tuning(library)
        limits = Limits() if limits is None else limits
        self.tuning.set_limits(limits, self.period)
        self._run_options["most_overruns"] = most_overruns(limits, self.period)
        self._allocate(SafeCommand() if safe is None else safe)

    def _allocate(self, safe: SafeCommand) -> None:
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
        self._law_values = []
        for controller in self.controllers:
            self.tuning.set_controller(controller, q, self.period)
            self._warn_of_growth(controller, q)
            self._law_values.append(self.tuning.law_values())
        self._law = 0
        self.tuning.use_law(0, self.controller, self._law_values[0])
        substeps = needed_substeps(self.model, q, self.period)
        self._warn_of_slow_stops(self.tuning.set_safe(safe, q, self.period, substeps))
        self.tuning.publish(self._loop)

    def _warn_of_slow_stops(self, found: Braking) -> None:
        """Say before the start that the robot cannot be stopped in time."""
        seconds = self.tuning.stop_seconds(self.period)
        if found.seconds > seconds * (1.0 + 1e-9):
            how_long = "much longer" if found.seconds > MUCH * seconds else f"about {found.seconds:.2g} s"
            warnings.warn(
                f"{self.model.name}: after a fault {found.slowest} needs {how_long} to come to rest at {self.rate:g} Hz, as "
                f"linearized; SafeCommand has seconds={seconds:g}. Fix: more seconds, a higher rate, inertia of the motors, or "
                "more force.",
                LoopWarning,
                stacklevel=4,
            )

    def _warn_of_growth(self, controller: Controller, q: NDArray[Any]) -> None:
        """Say before the start that the loop will not be stable."""
        found = self.tuning.growth(controller, q, self.period)
        if found is not None and not found.is_stable:
            warnings.warn(
                f"{self.model.name}: {controller.name} with these gains is unstable at {self.rate:g} Hz, as linearized: "
                f"{found.coordinate} grows by a factor of e in {1.0 / found.rate:.2g} s. Fix: smaller kp and kd for "
                f"{found.coordinate} (without them they are chosen), or a higher rate.",
                LoopWarning,
                stacklevel=4,
            )

    def _prepare(self) -> None:
        """Put the loop at its beginning."""
        loop = self._loop
        self._lib.eg_loop_init_again(loop, self.period)  # its memory was zero: there is no other trip than one that counts
        self.plant.connect(self.library, loop, self.period)
        self._connect_controllers()
        if self.observer is not None:
            self.observer.connect(loop, self.plant)
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
        """Start the thread; it ends after ``seconds`` or ``cycles``, or when it is stopped, with the robot at rest.

        What was set since the end of the last run is kept; the simulated robot goes on from where it was. After a fault,
        reset() comes first.
        """
        periods, most = run_length(seconds, cycles, self.rate)
        with self._alone("start() it"):
            self._join()
            self._lib.eg_loop_resume(self._loop)  # finds a trip that came since the end
            self._refuse_after_fault()
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
            keep = (self._loop, self._slots, self._delay_line, self._tables, self.plant, self.controllers, self.observer)
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
            self._lib.eg_loop_resume(self._loop)
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
        """Bring the robot to rest and end the loop, within one cycle where it is at rest; return how it ended."""
        self._lib.eg_loop_thread_stop(self._thread)
        self._join()
        return self.status

    def wait(self, timeout: float | None = None) -> LoopStatus:
        """Wait for the end of a loop that was given seconds or cycles, or for rest after a fault."""
        if timeout is not None:
            timeout = checks.number("wait: timeout", timeout, 0.0, float("inf"), "None or seconds from 0")
        finish = None if timeout is None else time.monotonic() + timeout
        while self.running:
            if not self.status and self.phase == "holding":
                return self.status
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

    # What it reports.

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
                safe=int(copy.safe),
                late=int(copy.late),
                overruns=int(copy.overruns),
                skipped=int(copy.skipped),
                longest_row=int(copy.longest_row),
                bridged=int(self._loop.bridges),
                overtime=int(self._loop.overtime),
                unfinished=int(self._loop.unfinished),
                saturations=int(self._loop.saturations),
                lost=self._telemetry.lost,
                lateness=distribution(copy.lateness, self._ffi),
                execution=distribution(copy.execution, self._ffi),
            )

    def __repr__(self) -> str:
        state = str(self.status) if not self.status else (self.phase if self.running else "not running")
        return f"Loop({self.model.name!r}, {self.controller.name}, {self.rate:g} Hz, {state})"


def _end(lib: Any, thread: Any, memory: tuple[Any, ...]) -> None:
    """Stop a thread whose loop nobody holds any more; ``memory`` lives until then."""
    lib.eg_loop_thread_stop(thread)
    lib.eg_loop_thread_join(thread)
    del memory
