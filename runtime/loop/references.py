"""What a loop follows. Each call hands over a whole reference; the loop takes the newest at its next cycle."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from elastogen.runtime import real_numbers
from elastogen.runtime.errors import ModelError
from elastogen.runtime.loop import checks
from elastogen.runtime.loop.options import LONGEST_MOVE, reference_table
from elastogen.runtime.loop.positions import unit_positions
from elastogen.runtime.loop.safety.within import check_reference
from elastogen.runtime.loop.tuning import Tuning
from elastogen.runtime.model.model import Model

FASTEST = {False: 15.0 / 8.0, True: 315.0 / 128.0}  # speed of a move in its middle, over the mean; True: with elastic links


class ReferenceMethods:
    """References of a loop."""

    model: Model
    period: float
    tuning: Tuning
    _lib: Any
    _ffi: Any
    _lock: threading.Lock
    _constants: dict[str, int]
    _loop: Any  # eg_loop_t
    _reference: Any  # eg_loop_reference_t: the last one
    _last_table: NDArray[Any] | None  # that it points to
    _tables: dict[int, NDArray[Any]]  # by the copy of a reference that points to them: at most three
    _number: int
    _sent: bool  # while the loop did not run
    running: Any

    def set_reference(
        self, q: ArrayLike, qd: ArrayLike = 0.0, qdd: ArrayLike = 0.0, F: ArrayLike = 0.0, *, seconds: float = 0.0
    ) -> int:
        """Follow these values from the next cycle on; returns the number that the records will carry.

        They are joined in ``seconds`` without a jump; 0: at once. Arrays over all coordinates (velocities) or over the driven
        ones; ``F`` [N m, N] is added to the controller's forces.
        """
        fields = {"q": q, "qd": qd, "qdd": qdd, "F": F}
        return self._send("HOLD", fields, duration=self._joined_in("set_reference", seconds))

    def move_to(self, q: ArrayLike, seconds: float, F: ArrayLike = 0.0) -> int:
        """Go to q in that time on a quintic that begins with the reference's present position, velocity, acceleration.

        A robot with elastic coordinates takes a polynomial of degree 9, which continues jerk and snap too. With quaternions
        this is a path of displacements on the manifold, from rest the geodesic.
        """
        expected = f"a positive number of seconds, from one period ({self.period:g}) to {LONGEST_MOVE:g}"
        duration = checks.number(f"{self.model.name}.move_to: seconds", seconds, 0.999 * self.period, LONGEST_MOVE, expected)
        return self._send("MOVE", {"q": q, "F": F}, duration=duration)

    def follow(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        F: ArrayLike = 0.0,
        *,
        qddd: ArrayLike | None = None,
        qdddd: ArrayLike | None = None,
        seconds: float = 0.0,
    ) -> int:
        """Follow tables of shape (rows, nq), of derivatives (rows, nv), one row for each period; the last row is held.

        ``F`` [N m, N] is added to the controller's forces: numbers for the whole table, or rows (rows, nv) of their own, as of
        :func:`elastogen.motion.tip_inversion`; a shaper does not act on these.
        A table that begins elsewhere is joined in ``seconds`` without a jump (0: at once).
        Jerk and snap matter to ``Feedforward`` on flexible arms; without them they are differences of qdd.
        """
        parts = {"q": q, "qd": qd, "qdd": qdd, "qddd": qddd, "qdddd": qdddd}
        rows_of_F = np.ndim(F) == 2
        table, orders = reference_table(self.model, parts, F if rows_of_F else None)
        duration = self._joined_in("follow", seconds)
        if duration > 0.0 and self.model.nq != self.model.nv:
            raise ModelError(
                f"{self.model.name}.follow: seconds={seconds!r}, expected 0: tables of robots with quaternions are not joined. "
                "Fix: move_to the first row before."
            )
        constant = np.zeros(self.model.nv) if rows_of_F else F
        return self._send("TABLE", {"F": constant}, duration=duration, table=table, orders=orders, forces=rows_of_F)

    def _joined_in(self, method: str, seconds: float) -> float:
        what = f"{self.model.name}.{method}: seconds"
        return checks.number(what, seconds, 0.0, LONGEST_MOVE, f"seconds from 0 to {LONGEST_MOVE:g}")

    def heartbeat(self) -> None:
        """Say that the last reference still holds, for a loop with ``Limits(reference_age=...)``."""
        with self._lock:
            self._lib.eg_loop_heartbeat(self._loop)

    def _send(
        self,
        kind: str,
        fields: dict[str, ArrayLike],
        duration: float = 0.0,
        table: NDArray[Any] | None = None,
        orders: int = 0,
        forces: bool = False,
    ) -> int:
        what = f"{self.model.name}: reference"
        finite = {name: real_numbers.finite(f"{what} {name}", value) for name, value in fields.items()}
        expanded = {name: self._whole(name, value) for name, value in finite.items()}
        with self._lock:
            listed = {**expanded, "F": table[:, -self.model.nv :]} if forces and table is not None else expanded
            check_reference(self.model, self.tuning, listed, table, self._peak(kind, expanded.get("q"), duration))
            reference = self._reference
            reference.kind, reference.duration = self._constants[kind], duration
            for name, value in expanded.items():
                getattr(reference, name)[0 : len(value)] = [float(x) for x in value]
            if table is not None:
                reference.rows, reference.orders, reference.forces = len(table), orders, int(forces)
                reference.table = self._ffi.from_buffer("eg_real_t[]", table)
            self._number += 1
            reference.number = self._number
            self._hand_over(table)
            self._sent = not self.running
            return self._number

    def _peak(self, kind: str, goal: NDArray[Any] | None, duration: float) -> NDArray[Any] | None:
        """Greatest speeds of a move that begins at rest, (nv,); None: it may begin in motion, the loop watches it."""
        loop, n = self._loop, self.model.nv
        if kind == "TABLE" or goal is None or duration <= 0.0 or not loop.started or any(loop.view.qd_ref[0:n]):
            return None
        way = np.asarray(self.model.difference(list(loop.view.q_ref[0 : self.model.nq]), goal), dtype=float)
        peak: NDArray[Any] = np.abs(way) * (FASTEST[bool(self.model.elastic)] / duration)
        return peak

    def _whole(self, name: str, value: NDArray[Any]) -> NDArray[Any]:
        """A field of a reference over all coordinates, with unit quaternions, or over all velocities."""
        if name != "q":
            return self.tuning.expand(name, value)
        return unit_positions(self.model, "reference q", self.tuning.expand_positions(name, value, self.model.neutral()))

    def _hand_over(self, table: NDArray[Any] | None) -> None:
        """Publish the reference. The copy that it goes into was given back by the loop: so was the table of that copy."""
        copy = int(self._loop.reference_exchange.writer)
        self._tables.pop(copy, None)
        if table is not None:
            self._tables[copy] = table
        self._last_table = table
        self._lib.eg_loop_set_reference(self._loop, self._reference)
