"""What a loop reports: records of its cycles, and statistics of their timing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elastogen.runtime.loop.library import LoopLibrary

FINE = 64  # buckets of 1 ns; above, HALF buckets for each power of two
HALF = 32


@dataclass(frozen=True, eq=False)
class Distribution:
    """Times in a histogram that is finer than 3.2 %; all values in seconds."""

    counts: NDArray[np.uint64]
    mean: float
    least: float
    most: float

    @property
    def number(self) -> int:
        """How many times were counted."""
        return int(self.counts.sum())

    def percentile(self, percent: float) -> float:
        """The time that ``percent`` of all do not exceed, to the width of a bucket."""
        total = self.number
        if total == 0:
            return 0.0
        bucket = int(np.searchsorted(np.cumsum(self.counts), np.ceil(total * percent / 100.0)))
        return min(float(bucket_edges(len(self.counts))[bucket + 1] - 1) * 1e-9, self.most)

    def histogram(self) -> tuple[NDArray[np.float64], NDArray[np.uint64]]:
        """Edges [s] (one more than counts) and counts of the buckets up to the last that is used."""
        used = np.flatnonzero(self.counts)
        last = int(used[-1]) + 1 if used.size else 0
        return bucket_edges(len(self.counts))[: last + 1] * 1e-9, self.counts[:last]

    def __str__(self) -> str:
        """One line in microseconds."""
        parts = [f"p{p:g} {self.percentile(p) * 1e6:.1f}" for p in (50, 90, 99, 99.9)]
        return f"mean {self.mean * 1e6:.1f}, {', '.join(parts)}, max {self.most * 1e6:.1f} us"


@dataclass(frozen=True, eq=False)
class LoopStatistics:
    """Counts and timing of one run."""

    rate: float  # [Hz]
    cycles: int  # that ran
    safe: int  # of these while stopping, holding or ended
    late: int  # cycles that began after the next deadline
    overruns: int  # cycles that ended after the next deadline, those that began late among them
    skipped: int  # periods without a cycle
    longest_row: int  # most periods in a row that were over when a cycle ended
    bridged: int  # cycles whose state came from the model
    overtime: int  # cycles of a stop beyond its time
    unfinished: int  # stops that ended before the robot was at rest
    saturations: int  # cycles in which a force was cut to its limit
    lost: int  # records that the reader of the telemetry did not get
    lateness: Distribution  # from the deadline to the beginning of the cycle
    execution: Distribution  # from the beginning to the end of the cycle

    def __str__(self) -> str:
        """Return a few readable lines."""
        return "\n".join(
            (
                f"cycles {self.cycles} at {self.rate:g} Hz, late {self.late}, overruns {self.overruns} (at most "
                f"{self.longest_row} periods in a row), skipped {self.skipped}, saturated {self.saturations}, "
                f"records lost {self.lost}",
                *([f"of these {self.safe} to stop and to hold"] if self.safe else []),
                *([f"states by the model {self.bridged}"] if self.bridged else []),
                *([f"stops that took too long {self.unfinished}"] if self.unfinished else []),
                f"lateness:  {self.lateness}",
                f"execution: {self.execution}",
            )
        )


class Telemetry:
    """The reader's side of the ring; one thread at a time may read."""

    def __init__(self, library: LoopLibrary, loop: Any) -> None:
        self._lib, self._ffi, self._loop = library.lib, library.ffi, loop
        self._most = int(loop.capacity)
        self._dtype = library.dtype("eg_loop_record_t")
        self._buffer: NDArray[Any] = np.zeros(self._most, self._dtype)
        self._pointer = self._ffi.cast("eg_loop_record_t *", self._ffi.from_buffer(self._buffer))
        self._lost = self._ffi.new("uint32_t *")

    @property
    def dtype(self) -> np.dtype[Any]:
        """Fields of a record."""
        return self._dtype

    @property
    def lost(self) -> int:
        """Number of records that were overwritten or found no place, so far."""
        return int(self._lost[0]) + int(self._lib.eg_loop_dropped(self._loop))

    def read(self) -> NDArray[Any]:
        """Take all records that are there, oldest first, as a structured array of its own."""
        count = self._lib.eg_loop_take_records(self._loop, self._pointer, self._most, self._lost)
        records: NDArray[Any] = self._buffer[:count].copy()
        return records

    def checksum(self, record: NDArray[Any]) -> int:
        """The sum that a whole record carries in its field ``checksum``."""
        pointer = self._ffi.cast("eg_loop_record_t *", self._ffi.from_buffer(np.atleast_1d(record)))
        return int(self._lib.eg_loop_checksum(pointer))


def bucket_edges(buckets: int) -> NDArray[np.float64]:
    """Lower edges of the buckets of a histogram [ns], and the upper edge of the last."""
    k = np.arange(buckets + 1)
    exponent = np.maximum(k // HALF - 1, 0)
    edges: NDArray[np.float64] = np.where(k < FINE, k, (k % HALF + HALF) * 2.0**exponent)
    return edges


def distribution(histogram: Any, ffi: Any) -> Distribution:
    """Copy a histogram out of C."""
    counts = np.frombuffer(ffi.buffer(histogram.counts), dtype=np.uint64).copy()
    number = max(1, int(counts.sum()))
    least = 0 if histogram.number == 0 else int(histogram.least)
    return Distribution(counts, int(histogram.sum) * 1e-9 / number, least * 1e-9, int(histogram.most) * 1e-9)
