"""State and command in memory that a loop and the robot's driver share: the two ends, from Python.

The layout and its functions are C, ``<name>_shared.h`` and ``.c``; a driver in C or C++ uses the same ones. Each side holds
a lock that the system releases when its process dies, so that a side that was killed can come back; the last one to leave
removes the block.
"""

from __future__ import annotations

import os
import re
import secrets
import threading
import time
import weakref
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from elastogen.runtime.errors import ModelError
from elastogen.runtime.interface.error import shortened
from elastogen.runtime.loop import checks
from elastogen.runtime.loop.library import LoopLibrary
from elastogen.runtime.loop.pointers import connect_functions

UNNAMED = "elastogen-"  # begins the names of blocks that were given none
OBJECTS = Path("/dev/shm")  # where Linux shows shared memory objects
NAME = re.compile(r"[A-Za-z0-9_.-]{1,62}")
LONGEST_WAIT = 1e6  # [s]
PAUSE = 0.0005  # between two looks while waiting [s]


class _End:
    """One side of a block; its memory stays mapped as long as this object lives, for a loop that still uses it."""

    def __init__(self, library: LoopLibrary, name: str, side: str) -> None:
        self.library, self.name, self.side = library, _checked_name(name), side
        self.struct = library.ffi.new("eg_shared_t *")
        self.is_open = False

    def open(self, timeout: float) -> None:
        """Take the side; where it is held, or a robot finds no block, wait for it until the timeout [s]."""
        lib, codes, finish = self.library.lib, self.library.shared, time.monotonic() + timeout
        path, code = f"/{self.name}".encode(), codes["ERROR_ABSENT"]
        while code in (codes["ERROR_ABSENT"], codes["ERROR_BUSY"]):
            code = lib.eg_shared_open(self.struct, path, codes[self.side])
            if code == codes["OK"]:
                self._release = weakref.finalize(self, lib.eg_shared_close, self.struct)
                self.is_open = True
                return
            if time.monotonic() >= finish:
                break
            time.sleep(PAUSE)
        raise ModelError(f"shared memory {self.name!r}: {self._problem(code, timeout)}")

    def _problem(self, code: int, timeout: float) -> str:
        name = next(name for name, value in self.library.shared.items() if value == code and name.startswith("ERROR_"))
        who, robot = f"process {self.struct.other}" if self.struct.other else "another process", self.library.model.name
        return {
            "ERROR_ABSENT": f"no loop has made it within {timeout:g} s. Fix: start the loop first, with "
            f"SharedMemory({self.name!r}), or wait longer, timeout=.",
            "ERROR_BUSY": f"{who} is its {self.side.lower()} side already. Fix: end that process, or use another name.",
            "ERROR_FOREIGN": "is not a block of elastogen and is left alone. Fix: use another name.",
            "ERROR_MISMATCH": f"was made for another robot, precision or version, not for this {robot} "
            f"({self.library.model.dtype}), and is in use. Fix: build both sides from the same robot file.",
            "ERROR_SYSTEM": f"the system refused it ({os.strerror(self.struct.error)}). Fix: both sides must run as the same "
            "user, and /dev/shm must have room.",
        }.get(name, f"cannot be opened ({name}).")

    def leave(self) -> None:
        """Give the side back. A thread that still uses the memory may go on, but nobody is at the other end."""
        if self.is_open:
            self.is_open = False
            self.library.lib.eg_shared_leave(self.struct)

    def require(self) -> None:
        """Refuse to work on a side that was given back."""
        if not self.is_open:
            raise ModelError(f"shared memory {self.name!r}: was closed. Fix: make a new object, or close it later.")


class SharedMemory:
    """A plant in shared memory: another process puts the state there and takes the command.

    ``name`` is that of the block, which is made where there is none; one that a loop left behind is taken over, with the
    robot that may still hold it. None makes up a name (attribute ``name``). After ``stale_limit`` cycles, or
    ``stale_seconds``, without a new state the loop stops with STATUS_STALE_STATE; 0: never. ``loop.start()`` waits up to
    ``timeout`` [s] for the robot's first state. The other process uses :class:`SharedRobot` or ``<name>_shared.h``.
    """

    def __init__(
        self, name: str | None = None, *, stale_limit: int = 0, stale_seconds: float = 0.1, timeout: float = 1.0
    ) -> None:
        expected = "a number of cycles from 0"
        self._stale_limit = checks.whole("shared memory: stale_limit", stale_limit, 0, 2**32 - 1, expected)
        self._stale_seconds, self._timeout = _seconds("stale_seconds", stale_seconds), _seconds("timeout", timeout)
        self.name = "" if name is None else _checked_name(name)
        self._end: _End | None = None
        self._loops: weakref.WeakSet[Any] = weakref.WeakSet()

    def connect(self, library: LoopLibrary, loop: Any, period: float) -> None:
        """Let the loop use the block."""
        if self._end is None:
            if not self.name:
                _remove_leftovers(library)
                self.name = f"{UNNAMED}{os.getpid()}-{secrets.token_hex(4)}"
            self._end = _End(library, self.name, "LOOP")
            try:
                self._end.open(0.0)
            except ModelError:
                self._end = None
                raise
        end = self._end
        end.require()
        if end.library.lib is not library.lib:
            raise ModelError(f"shared memory {self.name!r}: belongs to a loop of {end.library.model.name}; make another one.")
        limits = [self._stale_limit, min(2**32 - 1, int(np.ceil(self._stale_seconds / period - 1e-9)))]
        end.struct.stale_limit, end.struct.stale = min((limit for limit in limits if limit > 0), default=0), 0
        end.struct.started = 0
        connect_functions(library.ffi, loop, library.address("eg_shared_read"), library.address("eg_shared_write"), end.struct)

    def begin(self, owner: Any, *, wait: bool) -> None:
        """Called before cycles run: the block must be there, and a state in it."""
        if self._end is None:
            raise ModelError(f"shared memory {self.name!r}: is not connected to a loop.")
        end = self._end
        end.require()
        self._loops.add(owner)
        struct, finish = end.struct, time.monotonic() + self._timeout
        while wait and not end.library.lib.eg_shared_ready(struct):
            if time.monotonic() >= finish:
                robot = int(struct.block.robot_process)
                who = f"its robot side (process {robot})" if robot else "nobody is its robot side, so that nobody"
                raise ModelError(
                    f"shared memory {self.name!r}: {who} has put a state within {self._timeout:g} s. Fix: start the driver, or "
                    f"SharedRobot(library, {self.name!r}).put(q, qd), before the loop; or wait longer, timeout=."
                )
            time.sleep(PAUSE)

    def close(self) -> None:
        """Give the side back; without a robot at the other end this removes the block. No loop may run on it."""
        if self._end is None:
            return
        running = [loop for loop in self._loops if loop.running]
        if running:
            raise ModelError(
                f"shared memory {self.name!r}: the loop of {running[0].model.name} runs on it. Fix: stop() it first."
            )
        self._end.leave()

    def __enter__(self) -> SharedMemory:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


class SharedRobot:
    """The other side of :class:`SharedMemory`: what stands for the robot.

    Waits up to ``timeout`` [s] for the block. A loop that is killed and started again under the same name finds the robot
    where it is; nothing has to be done here. May be used from several threads.
    """

    def __init__(self, library: LoopLibrary, name: str, *, timeout: float = 1.0) -> None:
        _seconds("timeout", timeout)
        self._library, self._lock = library, threading.Lock()
        self._end = _End(library, name, "ROBOT")
        self._end.open(timeout)
        self._F = np.zeros(library.model.nv, library.model.dtype)
        self._pointer = library.ffi.from_buffer("eg_real_t[]", self._F)

    @property
    def name(self) -> str:
        """Of the block."""
        return self._end.name

    def put(self, q: ArrayLike, qd: ArrayLike) -> None:
        """Offer a new state, (nq,) and (nv,) numbers; quaternions of length 1."""
        ffi = self._library.ffi
        values = [self._checked(name, value) for name, value in (("q", q), ("qd", qd))]
        with self._lock:
            self._end.require()
            self._library.lib.eg_shared_put(self._end.struct, *(ffi.from_buffer("eg_real_t[]", value) for value in values))

    def get(self, timeout: float = 0.0) -> NDArray[Any]:
        """The last command; with a ``timeout`` [s], wait for one that was not returned before."""
        _seconds("timeout", timeout)
        codes, finish = self._library.shared, time.monotonic() + timeout
        while True:
            with self._lock:
                self._end.require()
                code = self._library.lib.eg_shared_get(self._end.struct, self._pointer)
                if code == codes["OK"] or (code == codes["OLD"] and timeout == 0.0):
                    command: NDArray[Any] = self._F.copy()
                    return command
            if time.monotonic() >= finish:
                raise ModelError(f"shared memory {self.name!r}: {self._silence(timeout)}")
            time.sleep(PAUSE)

    def _silence(self, timeout: float) -> str:
        block = self._end.struct.block
        process = int(block.loop_process)
        if process and not block.command_given:
            return f"the loop (process {process}) has given no command yet. Fix: start it, or wait for it, get(timeout=1.0)."
        if not process:
            return "no loop is attached, so that there is no command. Fix: start the loop."
        return f"the loop (process {process}) has given no new command within {timeout:g} s: it was killed or not started."

    def _checked(self, name: str, given: ArrayLike) -> NDArray[Any]:
        model = self._library.model
        size = model.nq if name == "q" else model.nv
        try:
            value = np.ascontiguousarray(given, dtype=model.dtype)
        except (TypeError, ValueError) as error:
            raise ModelError(f"{model.name}, shared robot: {name}={shortened(given)}, expected {size} real numbers.") from error
        if value.shape != (size,):
            raise ModelError(f"{model.name}, shared robot: {name} has shape {value.shape}, expected ({size},).")
        return value

    def close(self) -> None:
        """Give the side back; without a loop at the other end this removes the block."""
        with self._lock:
            self._end.leave()

    def __enter__(self) -> SharedRobot:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def _checked_name(name: object) -> str:
    if not isinstance(name, str) or not NAME.fullmatch(name) or name in (".", ".."):
        raise ModelError(f"shared memory: got name={name!r}, expected up to 62 letters, digits, '_', '-' and '.'.")
    return name


def _seconds(what: str, given: object) -> float:
    return checks.number(f"shared memory: {what}", given, 0.0, LONGEST_WAIT, f"seconds from 0 to {LONGEST_WAIT:g}")


def _remove_leftovers(library: LoopLibrary) -> None:
    """Remove blocks without a name of their own whose processes were all killed."""
    if not OBJECTS.is_dir():
        return
    for path in OBJECTS.glob(f"{UNNAMED}*"):
        if NAME.fullmatch(path.name):
            library.lib.eg_shared_remove(f"/{path.name}".encode())  # refuses those that are in use
