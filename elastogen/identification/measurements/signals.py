"""Zero-phase low pass and differentiation; which samples tell something; both sides of the equations through one filter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from scipy.interpolate import make_interp_spline
from scipy.signal import butter, sosfiltfilt, welch

from elastogen.identification.errors import IdentificationError
from elastogen.identification.measurements.clean import Piece
from elastogen.identification.measurements.read_table import Array

ORDER = 4  # of the Butterworth filter, forward and backward
RATE = 20.0  # samples per period of the cut-off that are kept for computing
MOTION = 0.99  # share of the velocities' power below ...
ABOVE = 20.0  # ... this part of the cut-off: reversals of friction have many harmonics
LEAST = 10.0  # ... or this, where velocities are noise above
NOISE = 4.0  # times the floor of their spectrum
STILL, LONG = 2e-3, 0.25  # a joint rests below this part of its largest velocity, for this long [s]


@dataclass(frozen=True)
class LowPass:
    """A Butterworth filter run forward and backward: no phase, the same for both sides of the equations; cut-off 0: none."""

    cutoff: float  # [Hz]
    step: float  # [s]

    def __call__(self, values: Array) -> Array:
        """Along the first axis."""
        if self.cutoff == 0:
            return values
        sections = butter(ORDER, self.cutoff, fs=1.0 / self.step, output="sos")
        return np.asarray(sosfiltfilt(sections, values, axis=0, padlen=min(len(values) - 1, self.margin)))

    @property
    def margin(self) -> int:
        """Samples at each end that the unknown past and future reach into."""
        return 0 if self.cutoff == 0 else int(np.ceil(2.0 / (self.cutoff * self.step)))


@dataclass(frozen=True)
class Motion:
    """A piece ready for computing: signals (n, joints), the rows that count, and the filter for both sides."""

    source: str
    time: Array
    q: Array
    qd: Array
    qdd: Array
    F: Array  # as measured, through the low pass
    low_pass: LowPass
    every: int  # of the filtered rows one in so many is independent of the others
    resting: Array  # (n, joints): friction there is whatever holds the joint, and no function of q, qd, qdd
    points: Mapping[str, Array] = field(default_factory=dict)  # readings (n,) of sensors by channel, through the low pass
    forced: bool = True  # whether F was measured

    @cached_property
    def rows(self) -> Array:
        """Numbers of the samples that are compared."""
        margin = self.low_pass.margin
        return np.arange(margin, len(self.time) - margin, self.every)

    def compared(self, values: Array) -> Array:
        """Computed values as the measured ones are: filtered, of the rows that are compared."""
        return self.low_pass(values)[self.rows]

    @cached_property
    def measured(self) -> Array:
        """F as it is compared."""
        return self.F[self.rows]

    @cached_property
    def counts(self) -> Array:
        """(rows, joints): 1 where a joint moves, 0 where it rests."""
        return 1.0 - self.resting[self.rows]


def chosen_cutoff(pieces: Sequence[Piece]) -> float:
    """A cut-off from the data: well above the frequencies of the motion, so that reversals of friction stay sharp [Hz].

    Where velocities are noise from some frequency on, what is computed from them is, too: then not above it.
    """
    highest, noisy, fastest = 0.0, 0.0, min(1.0 / piece.step for piece in pieces)
    for piece in pieces:
        rate = piece.qd if piece.qd is not None else np.gradient(piece.q, piece.step, axis=0)
        frequency, power = welch(rate, fs=1.0 / piece.step, nperseg=min(len(rate), 4096), axis=0)
        below = np.cumsum(power, axis=0) / np.maximum(power.sum(axis=0), 1e-300)
        highest = max(highest, float(max(frequency[np.argmax(column >= MOTION)] for column in below.T)))
        noisy = max(noisy, _above_noise(frequency, power))
    return float(np.clip(np.clip(noisy, LEAST * highest, ABOVE * highest), 1.0, 0.1 * fastest))


def _above_noise(frequency: Array, power: Array) -> float:
    """Up to which frequency a joint's velocity is above the floor of its spectrum, of the joint with the highest [Hz]."""
    floor = np.median(power[frequency > 0.5 * frequency[-1]], axis=0)
    buried = power <= NOISE * floor
    buried[0] = False
    return float(max(frequency[np.argmax(column)] if column.any() else frequency[-1] for column in buried.T))


def prepare(piece: Piece, cutoff: float, smooth: float | None = None) -> Motion:
    """Filter and differentiate a piece; ``smooth`` is the cut-off of its positions, where that is below ``cutoff`` [Hz]."""
    rate = 1.0 / piece.step
    if cutoff >= 0.45 * rate:
        raise IdentificationError(
            "cutoff", f"{cutoff:g} Hz", f"less than {0.45 * rate:.3g} Hz at this rate", "lower it, or 0: none"
        )
    full = LowPass(cutoff, piece.step)
    if len(piece.time) < 4 * full.margin + 20:
        raise IdentificationError(
            piece.source, f"{len(piece.time)} samples", f"at least {4 * full.margin + 20} for a cut-off of {cutoff:g} Hz",
            "record a longer motion, or raise the cut-off",
        )  # fmt: skip
    q, qd, qdd = _rates(piece, full if smooth is None else LowPass(smooth, piece.step))
    keep = 1 if cutoff == 0 else max(1, int(rate / (RATE * cutoff)))
    F = full(piece.F)[::keep]  # the filter is the one against aliasing, too
    low_pass = LowPass(cutoff, piece.step * keep)
    every = 1 if cutoff == 0 else max(1, int(0.5 / (cutoff * low_pass.step)))
    still = _resting(qd, piece.step)
    part = slice(None, None, keep)
    points = {name: full(value)[part] for name, value in piece.points.items()}
    return Motion(
        piece.source, piece.time[part], q[part], qd[part], qdd[part], F, low_pass, every, still[part], points, piece.forced
    )


def _rates(piece: Piece, low_pass: LowPass) -> tuple[Array, Array, Array]:
    """Filtered positions, velocities and accelerations, by splines where they were not measured."""
    q = low_pass(piece.q)
    t = piece.step * np.arange(len(q))
    qd = make_interp_spline(t, q, k=5).derivative()(t) if piece.qd is None else low_pass(piece.qd)
    qdd = make_interp_spline(t, qd, k=5).derivative()(t) if piece.qdd is None else low_pass(piece.qdd)
    return q, qd, qdd


def _resting(qd: Array, step: float) -> Array:
    """Where a joint is still for a while."""
    slow = np.abs(qd) < STILL * np.maximum(np.abs(qd).max(axis=0), 1e-12)
    least = max(2, int(LONG / step))
    found = np.zeros(qd.shape)
    for k, column in enumerate(slow.T):
        edges = np.flatnonzero(np.diff(np.concatenate([[0], column.astype(int), [0]])))
        for start, stop in edges.reshape(-1, 2):
            if stop - start >= least:
                found[start:stop, k] = 1.0
    return found
