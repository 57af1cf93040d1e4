"""How a loop is, and the way back from a fault."""

from __future__ import annotations

import threading
import time
from typing import Any

from elastogen.runtime.errors import ModelError
from elastogen.runtime.loop.status import PHASES, LoopStatus
from elastogen.runtime.model.model import Model

ANSWER = 10.0  # in which a running loop answers to a reset [s]
OF_COORDINATES = ("STATUS_POSITION", "STATUS_OUTSIDE", "STATUS_IMPLAUSIBLE", "STATUS_JUMP")  # their index is one of q


class RecoveryMethods:
    """Status, phase and reset of a loop."""

    model: Model
    running: Any
    _lib: Any
    _loop: Any
    _lock: threading.Lock
    _running: threading.Lock
    _constants: dict[str, int]
    _sent: bool

    @property
    def phase(self) -> str:
        """One of "running"; after a fault or stop() "stopping", then "holding" (at rest after a fault) or "ended"."""
        return PHASES[int(self._loop.phase)]

    @property
    def blind(self) -> bool:
        """Whether the sensors are not trusted any more, since one of them failed; until reset()."""
        return bool(self._loop.blind)

    @property
    def status(self) -> LoopStatus:
        """Whether there was a fault, and which; it stays until reset()."""
        return self._status_of(int(self._loop.status), int(self._loop.fault_index))

    def _status_of(self, code: int, index: int) -> LoopStatus:
        name = next(name for name, value in self._constants.items() if name.startswith("STATUS_") and value == code)
        return LoopStatus(code, name, self._named(name, index) if code and index >= 0 else "", self.phase)

    def _named(self, status: str, index: int) -> str:
        """What a fault's index stands for: a coordinate, or a velocity; of a state, positions come first."""
        names = self.model.coordinate_names
        if status == "STATUS_STATE_NOT_FINITE":
            return (*names, *self.model.velocity_names)[index]
        return (names if status in OF_COORDINATES else self.model.velocity_names)[index]

    def reset(self) -> None:
        """Clear a fault when the robot is at rest and its cause is gone; the loop then holds where the robot is.

        A cycle is tried: if it finds a fault, a ModelError names it and the loop stays as it is. References that were sent
        before are void, states of own functions begin anew. A loop whose thread runs goes on at once; another one may be
        started, or stepped, after it.
        """
        if not self.status and self.phase == "stopping":
            raise ModelError(
                f"{self.model.name}.reset: the robot is not at rest yet ({self.status.meaning}). Fix: wait for it."
            )
        answer = self._ask() if self.running else self._reset_here()
        if answer == self._constants["RESET_TOO_EARLY"]:
            raise ModelError(
                f"{self.model.name}.reset: the robot is not at rest yet ({self.status.meaning}). Fix: wait for it."
            )
        if answer:
            found = self._status_of(answer, int(self._loop.reset_index))
            raise ModelError(f"{self.model.name}.reset: the cause persists: {found}")
        self._sent = False

    def _reset_here(self) -> int:
        """The calling thread tries a cycle."""
        if not self._running.acquire(blocking=False):
            raise ModelError(f"{self.model.name}.reset: another thread starts or steps the loop at this moment.")
        try:
            return int(self._lib.eg_loop_reset(self._loop))
        finally:
            self._running.release()

    def _ask(self) -> int:
        """The loop's thread tries a cycle, in the place of its next one."""
        loop, until = self._loop, time.monotonic() + ANSWER
        with self._lock:
            self._lib.eg_loop_ask_reset(loop)
        while loop.reset_answered != loop.reset_asked:
            if not self.running:
                return self._reset_here()
            if time.monotonic() > until:
                raise ModelError(f"{self.model.name}.reset: no answer of the loop in {ANSWER:g} s. Fix: see what blocks it.")
            time.sleep(0.0005)
        return int(loop.reset_answer)

    def _refuse_after_fault(self) -> None:
        """A fault is not forgotten by a new start."""
        if not self.status:
            raise ModelError(
                f"{self.model.name}: start() after a fault: {self.status.meaning}. Fix: see to its cause, then reset(); the "
                "loop then holds where the robot is, until a new reference comes."
            )
