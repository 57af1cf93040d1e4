"""A measured motion beside a simulated one: deviation, frequency and damping, and both in one picture."""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from elastogen.runtime.errors import ModelError
from elastogen.runtime.simulation.plotting import legend_beside, matplotlib_figures, save_figure

if TYPE_CHECKING:
    from elastogen.runtime.simulation.results import Simulation

Array = NDArray[np.float64]
MOST_BYTES = 64 << 20
_FEWEST = 8  # samples of a measurement
_LEAST_AMPLITUDES = 3  # of a vibration whose damping can be measured
_LEAST_SAMPLES = 8  # of an amplitude


@dataclass(frozen=True)
class Measurement:
    """Measured samples: columns by name."""

    source: str
    t: Array
    columns: Mapping[str, Array]


@dataclass(frozen=True)
class Fit:
    """How well a simulated signal meets the measured one; frequencies [Hz] and damping ratios are NaN where none is seen."""

    name: str
    rms: float  # of the difference
    relative: float  # of that to the range of what was measured
    measured_frequency: float
    simulated_frequency: float
    measured_damping: float
    simulated_damping: float

    def __str__(self) -> str:
        """One line."""
        return (
            f"{self.name}: RMS deviation {self.rms:.3g} ({100 * self.relative:.3g} % of the measured range), frequency "
            f"{_shown(self.measured_frequency)} measured, {_shown(self.simulated_frequency)} simulated Hz, damping ratio "
            f"{_shown(self.measured_damping)}, {_shown(self.simulated_damping)}"
        )


def _shown(number: float) -> str:
    return f"{number:.3g}" if np.isfinite(number) else "none"


def read_measurement(path: str | os.PathLike[str]) -> Measurement:
    """Read a CSV file: a header, then rows of numbers. The first column is the time [s], growing.

    Names are those of coordinates (``joint1``, ``link2.y1``; as ``Simulation.save`` writes them, too: ``q joint1 [rad]``) or of
    strain gauges.
    """
    file = Path(path)
    try:
        if file.stat().st_size > MOST_BYTES:
            raise ModelError(f"{file}: got more than {MOST_BYTES >> 20} MiB, expected a measurement. Fix: keep fewer samples.")
        with file.open(encoding="utf-8-sig", newline="") as stream:
            header, *lines = list(csv.reader(stream)) or [[]]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise ModelError(f"{file}: cannot be read as CSV ({error}). Fix: a header, then rows of numbers.") from None
    names = [re.sub(r"^q (?=\S)|\s*\[.*\]$", "", name.strip()) for name in header]
    try:
        values = np.array([[float(cell) for cell in line] for line in lines if line], dtype=float)
    except ValueError as error:
        raise ModelError(f"{file}: got {error}, expected numbers below the header.") from None
    if values.ndim != 2 or values.shape[1] != len(names) or len(names) < 2 or len(values) < _FEWEST:
        raise ModelError(
            f"{file}: got {len(lines)} rows for the columns {', '.join(names) or 'none'}, expected a time, at least one "
            f"signal and {_FEWEST} rows of as many numbers."
        )
    if not np.isfinite(values).all() or (np.diff(values[:, 0]) <= 0).any():
        raise ModelError(f"{file}: got times that do not grow, or NaN. Fix: sort the rows, remove those without a reading.")
    if len(set(names)) != len(names):
        raise ModelError(f"{file}: got a column twice, expected names that occur once: {', '.join(names)}.")
    return Measurement(file.name, values[:, 0], dict(zip(names[1:], values[:, 1:].T, strict=True)))


def simulated_signals(measured: Measurement, simulation: Simulation, gauges: Mapping[str, Array]) -> dict[str, Array]:
    """The simulated counterparts of all columns, by name; ``gauges`` are strains (n,) by name."""
    if simulation.q.ndim != 2:
        raise ModelError(f"{simulation.name}: got a batch, a measurement is compared with one motion.")
    found: dict[str, Array] = {}
    for name in measured.columns:
        if name in simulation.coordinate_names:
            found[name] = simulation.q[:, simulation.coordinate_names.index(name)]
        elif name in gauges:
            found[name] = gauges[name]
        elif not re.match(r"(qd|F|T|V|E|work|dissipated|kinetic|potential)\b", name):  # further columns of Simulation.save
            known = ", ".join([*simulation.coordinate_names, *gauges])
            raise ModelError(f"{measured.source}: got the column {name!r}, expected coordinates or gauges: {known}.")
    if not found:
        raise ModelError(f"{measured.source}: no column that is a coordinate or a gauge of {simulation.name}.")
    return found


def fits(measured: Measurement, simulation: Simulation, gauges: Mapping[str, Array]) -> list[Fit]:
    """Compare every column with the simulation at the measured times that it reaches."""
    inside = (measured.t >= simulation.t[0]) & (measured.t <= simulation.t[-1]) if simulation.t.size else np.zeros(0, bool)
    if inside.sum() < _FEWEST:
        raise ModelError(f"{measured.source}: fewer than {_FEWEST} samples between the first and the last simulated time.")
    t, result = measured.t[inside], []
    for name, signal in simulated_signals(measured, simulation, gauges).items():
        real, ours = measured.columns[name][inside], np.interp(t, simulation.t, signal)
        rms, span = float(np.sqrt(np.mean((real - ours) ** 2))), float(np.ptp(real))
        frequencies = [strongest_frequency(t, x) for x in (real, ours)]
        dampings = [damping_ratio(t, x, f) for x, f in zip((real, ours), frequencies, strict=True)]
        result.append(Fit(name, rms, rms / span if span else np.inf, *frequencies, *dampings))
    return result


def _swing(t: Array, x: Array) -> tuple[Array, Array]:
    """Equal steps, without the mean course (a parabola)."""
    even = np.linspace(t[0], t[-1], len(t))
    values = np.interp(even, t, x)
    return even, values - np.polyval(np.polyfit(even - even[0], values, 2), even - even[0])


def strongest_frequency(t: Array, x: Array) -> float:
    """The frequency [Hz] of the largest line in the spectrum, between its neighbours by a parabola; NaN without one."""
    even, swing = _swing(t, x)
    if not np.ptp(swing) > 1e-12 * max(float(np.abs(x).max()), 1e-300):
        return float("nan")
    lines = np.abs(np.fft.rfft(swing * np.hanning(len(swing)), 4 * len(swing)))
    k = int(lines.argmax())
    if not 0 < k < len(lines) - 1:
        return float("nan")
    a, b, c = np.log(lines[k - 1 : k + 2] + 1e-300)
    shift = 0.5 * (a - c) / (a - 2 * b + c)
    return float((k + shift) / (4 * len(swing) * (even[1] - even[0])))


def damping_ratio(t: Array, x: Array, frequency: float) -> float:
    """By the logarithmic decrement: a line through ln a over time, a the amplitude of each period; NaN with too few of them.

    Amplitudes are those of the best sine of each period, not its largest sample: noise of a sensor hardly moves them. Larger
    ones weigh more in the line, so that it does not end in the noise.
    """
    if not np.isfinite(frequency):
        return float("nan")
    even, swing = _swing(t, x)
    span = np.ceil(_LEAST_SAMPLES * (even[1] - even[0]) * frequency) / frequency  # one period, or more where they are coarse
    times, amplitudes = [], []
    for k in range(int((even[-1] - even[0]) / span)):
        inside = (even >= even[0] + k * span) & (even < even[0] + (k + 1) * span)
        angle = 2 * np.pi * frequency * even[inside]
        waves = np.stack([np.cos(angle), np.sin(angle), np.ones_like(angle)], axis=1)
        a, b, _ = np.linalg.lstsq(waves, swing[inside], rcond=None)[0]
        times.append(even[inside].mean())
        amplitudes.append(np.hypot(a, b))
    seen = np.array(amplitudes) > 0.05 * max(amplitudes, default=0.0)
    if seen.sum() < _LEAST_AMPLITUDES:
        return float("nan")
    kept = np.array(amplitudes)[seen]
    decay = -np.polyfit(np.array(times)[seen], np.log(kept), 1, w=kept)[0]
    return float(decay / np.hypot(decay, 2 * np.pi * frequency))


def plot_measurement(
    measured: Measurement, simulation: Simulation, gauges: Mapping[str, Array], path: str | os.PathLike[str] | None = None
) -> Any:
    """Draw every measured column over the simulated one."""
    signals = simulated_signals(measured, simulation, gauges)
    figure = matplotlib_figures().Figure(figsize=(9, 1.5 + 2 * len(signals)), layout="constrained")
    panels = figure.subplots(len(signals), 1, sharex=True, squeeze=False)[:, 0]
    for axes, (name, signal) in zip(panels, signals.items(), strict=True):
        axes.plot(simulation.t, signal, label="simulated", linewidth=1.1)
        axes.plot(measured.t, measured.columns[name], label="measured", linewidth=1.1, linestyle="--")
        axes.set_ylabel(name)
        axes.margins(x=0)
        axes.grid(alpha=0.3)
    legend_beside(panels[0])
    panels[-1].set_xlabel("t [s]")
    panels[0].set_title(f"{simulation.name} and {measured.source}")
    if path is not None:
        save_figure(figure, path)
    return figure
