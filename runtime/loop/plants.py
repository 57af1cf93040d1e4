"""Where a loop reads the state and writes the command: a simulated robot, the user's C functions, shared memory."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Mapping, Sequence
from multiprocessing import shared_memory
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from elastogen.runtime.errors import ModelError
from elastogen.runtime.loop.controllers import mass_by_columns, stiffness_by_columns
from elastogen.runtime.loop.library import LoopLibrary

METHODS = {"rk4": "RK4", "semi_implicit": "SEMI_IMPLICIT"}
STEPS_PER_RADIAN = 1.0  # of the fastest vibration, for the default number of substeps


class Plant(Protocol):
    """Anything that can connect itself to a loop."""

    def connect(self, library: LoopLibrary, loop: Any, period: float) -> None:
        """Set the fields read, write and io of a loop; called before each start."""


class Simulated:
    """A simulated robot, integrated by the generated forward dynamics with the command held between the cycles.

    ``method`` is "rk4" or "semi_implicit" (Euler, velocities first), with ``substeps`` for each period (None: by the
    fastest vibration). ``parameters`` are its own live parameters, so that controller and robot may disagree. ``library``
    is the loop of another robot, ``measured`` the coordinates of it that this loop reads and drives: a controller of
    a rigid model may so meet a flexible robot. ``q``, ``qd`` and ``disturbance`` (forces that are added, [N m, N]) are arrays
    that the loop uses; write to them while it does not run, or accept that a cycle may see part of it.
    """

    def __init__(
        self,
        q: ArrayLike | None = None,
        qd: ArrayLike | None = None,
        *,
        method: str = "rk4",
        substeps: int | None = None,
        parameters: Mapping[str, float] | None = None,
        library: LoopLibrary | None = None,
        measured: Sequence[int] | None = None,
    ) -> None:
        if method not in METHODS:
            raise ModelError(f"simulated plant: got method={method!r}, expected one of {', '.join(METHODS)}.")
        if substeps is not None and substeps < 1:
            raise ModelError(f"simulated plant: got substeps={substeps!r}, expected at least 1.")
        self._initial = (q, qd)
        self._method, self._substeps = method, substeps
        self._parameters = dict(parameters or {})
        self._library, self._measured = library, measured
        self._plant: Any = None
        self.q: NDArray[Any] = np.empty(0)
        self.qd: NDArray[Any] = np.empty(0)
        self.disturbance: NDArray[Any] = np.empty(0)

    def connect(self, library: LoopLibrary, loop: Any, period: float) -> None:
        """Take the place of the robot; a state that was reached before is kept."""
        own = self._library or library
        if self._plant is None:
            self._make(own, library)
        plant = self._plant
        plant.period, plant.tick = period, 0
        if hasattr(plant, "held"):
            plant.held = 0  # the state may have been written since
        plant.substeps = self._substeps or self._needed_substeps(own, period)
        read, write = (own.address(f"eg_loop_plant_{what}") for what in ("read", "write"))
        _connect(library.ffi, loop, read, write, plant)

    @property
    def switches(self) -> int:
        """How often the element inside a sliding joint changed; the state is carried over at the end of the substep."""
        return int(getattr(self._plant, "switches", 0))

    def _make(self, own: LoopLibrary, library: LoopLibrary) -> None:
        model, ffi = own.model, own.ffi
        measured = tuple(range(model.nq)) if self._measured is None else tuple(self._measured)
        if len(measured) != library.model.nq or any(not 0 <= k < model.nq for k in measured):
            raise ModelError(
                f"{library.model.name}: the simulated {model.name} offers the coordinates {measured} of its {model.nq}, "
                f"expected {library.model.nq} of them. Fix: name them in measured=."
            )
        if model.dtype != library.model.dtype:
            raise ModelError(f"{library.model.name} and the simulated {model.name} differ in precision.")
        plant = ffi.new("eg_loop_plant_t *")
        plant.method = own.constants[METHODS[self._method]]
        plant.measured = len(measured)
        plant.map[0 : len(measured)] = measured
        values = model.parameters.merged(self._parameters)
        if len(values):
            ffi.memmove(ffi.addressof(plant.p), ffi.from_buffer(np.ascontiguousarray(values)), values.nbytes)
        self._plant = plant
        self.q, self.qd, self.disturbance = (
            np.frombuffer(ffi.buffer(field), dtype=model.dtype) for field in (plant.q, plant.qd, plant.disturbance)
        )
        for name, view, given in zip(("q", "qd"), (self.q, self.qd), self._initial, strict=True):
            if given is not None:
                try:
                    view[:] = given
                except ValueError as error:
                    raise ModelError(f"simulated plant: {name} has shape {np.shape(given)}, expected ({model.nq},).") from error

    def _needed_substeps(self, own: LoopLibrary, period: float) -> int:
        if len(own.model.driven) == own.model.nq:
            return 1
        q = np.asarray(self.q, dtype=float)
        squares = np.linalg.eigvals(np.linalg.solve(mass_by_columns(own.model, q), stiffness_by_columns(own.model, q)))
        fastest = float(np.sqrt(np.abs(squares).max()))
        return max(1, int(np.ceil(period * fastest * STEPS_PER_RADIAN)))


class Callbacks:
    """The user's own C functions: addresses, cffi or ctypes pointers; "user" takes those that were compiled in.

    ``int read(void *io, uint64_t tick, real *q, real *qd)`` and ``int write(void *io, uint64_t tick, const real *F)``.
    """

    def __init__(self, read: Any = "user", write: Any = "user", io: Any = None) -> None:
        self._given = (read, write, io)

    def connect(self, library: LoopLibrary, loop: Any, period: float) -> None:
        """Let the loop call them."""
        read, write, io = self._given
        if "user" in [given for given in (read, write) if isinstance(given, str)] and not library.user_plant:
            raise ModelError(
                f"{library.model.name}: the plant is the user's own, but none was compiled in. Fix: pass plant_source=, C text "
                "or the path of a file that defines user_read and user_write."
            )
        read = library.address("user_read") if isinstance(read, str) else read
        write = library.address("user_write") if isinstance(write, str) else write
        _connect(library.ffi, loop, read, write, io)


class SharedMemory:
    """A block of shared memory, ``<name>_loop_shared_t``, that another process fills with the state and reads.

    ``name`` attaches to a block that exists, None makes one (its name: attribute ``name``). After ``stale_limit`` cycles,
    or ``stale_seconds``, without a new state the loop stops with STATUS_STALE_STATE; 0: never. The other process uses
    :class:`SharedRobot`, or the C functions ``<name>_loop_shared_put`` and ``_get``.
    """

    def __init__(self, name: str | None = None, *, stale_limit: int = 0, stale_seconds: float = 0.0) -> None:
        if stale_limit < 0 or not 0.0 <= stale_seconds < np.inf:
            raise ModelError(
                f"shared memory: got stale_limit={stale_limit!r}, stale_seconds={stale_seconds!r}, expected numbers from 0."
            )
        self.name = name or ""
        self._stale_limit, self._stale_seconds = stale_limit, stale_seconds
        self._block: shared_memory.SharedMemory | None = None

    def connect(self, library: LoopLibrary, loop: Any, period: float) -> None:
        """Let the loop use the block."""
        if self._block is None:
            size = library.ffi.sizeof("eg_loop_shared_t")
            self._block = _attach(self.name) if self.name else shared_memory.SharedMemory(create=True, size=size)
            self.name = self._block.name
        shared = _shared(library, self._block)
        limits = [self._stale_limit, int(np.ceil(self._stale_seconds / period - 1e-9))]
        shared.stale_limit, shared.stale = min((limit for limit in limits if limit > 0), default=0), 0
        _connect(library.ffi, loop, library.address("eg_loop_shared_read"), library.address("eg_loop_shared_write"), shared)

    def close(self) -> None:
        """Give the block back, when no loop uses it any more."""
        if self._block is not None:
            block, self._block = self._block, None
            block.close()
            block.unlink()


class SharedRobot:
    """The other side of :class:`SharedMemory`: what stands for the robot."""

    def __init__(self, library: LoopLibrary, name: str) -> None:
        self._library = library
        self._block = _attach(name)
        self._shared = _shared(library, self._block)
        self._F = np.zeros(library.model.nq, library.model.dtype)

    def put(self, q: ArrayLike, qd: ArrayLike) -> None:
        """Offer a new state."""
        ffi, real = self._library.ffi, self._library.model.dtype
        both = (np.ascontiguousarray(value, dtype=real) for value in (q, qd))
        self._library.lib.eg_loop_shared_put(self._shared, *(ffi.from_buffer("eg_real_t[]", value) for value in both))

    def get(self) -> NDArray[Any]:
        """The last command."""
        pointer = self._library.ffi.from_buffer("eg_real_t[]", self._F)
        while self._library.lib.eg_loop_shared_get(self._shared, pointer) != 0:
            pass  # the loop is writing; this takes a few nanoseconds
        command: NDArray[Any] = self._F.copy()
        return command

    def close(self) -> None:
        """Let go of the block."""
        self._shared = None
        self._block.close()


def address_of(ffi: Any, given: Any) -> int:
    """The address in an integer, a cffi pointer, a ctypes function or None (0)."""
    if given is None:
        return 0
    if isinstance(given, int):
        return given
    if hasattr(given, "argtypes") or isinstance(given, ctypes._Pointer):
        return ctypes.cast(given, ctypes.c_void_p).value or 0
    try:
        return int(ffi.cast("uintptr_t", given))
    except TypeError as error:
        raise ModelError(f"got {given!r}, expected an address, or a pointer of cffi or ctypes.") from error


def _connect(ffi: Any, loop: Any, read: Any, write: Any, io: Any) -> None:
    loop.read = ffi.cast("eg_loop_read_t", address_of(ffi, read))
    loop.write = ffi.cast("eg_loop_write_t", address_of(ffi, write))
    loop.io = ffi.cast("void *", address_of(ffi, io))


def _shared(library: LoopLibrary, block: shared_memory.SharedMemory) -> Any:
    if block.size < library.ffi.sizeof("eg_loop_shared_t"):
        raise ModelError(f"shared memory {block.name}: {block.size} bytes are too few for {library.model.name}.")
    # the address outlives the view, so that the block can be closed
    view = library.ffi.from_buffer(block.buf)
    return library.ffi.cast("eg_loop_shared_t *", int(library.ffi.cast("uintptr_t", view)))


def _attach(name: str) -> shared_memory.SharedMemory:
    if sys.version_info >= (3, 13):  # only the maker removes the block
        return shared_memory.SharedMemory(name, track=False)
    return shared_memory.SharedMemory(name)
