"""A flexible robot's motion compared with that of the rigid robot of the same numbers."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elastogen.runtime.errors import ModelError
from elastogen.runtime.simulation.results import Simulation

AXES = ("x", "y", "z")
_FEWEST = 32  # samples that a residual vibration is read from


@dataclass(frozen=True, eq=False)
class TipDeflection:
    """The motion of the tip of a flexible link relative to the undeformed link, in the axes of the link's frame."""

    link: str
    displacement: NDArray[Any]
    """(n, 3) [m], linear in the elastic coordinates."""
    rotation: NDArray[Any]
    """(n, 3) rotation vector [rad]; about z it is the slope of bending in y."""
    moving: tuple[int, ...]
    """Axes along which some elastic coordinate displaces the tip."""
    rotating: tuple[int, ...]
    """Axes about which some elastic coordinate rotates the tip."""


@dataclass(frozen=True)
class Residual:
    """The vibration of a tip after the driving forces have ended."""

    link: str
    axis: str
    start: float
    """When the forces ended [s]."""
    amplitude: float
    """Half of the largest swing from one extreme to the other [m]."""
    frequency: float
    """Of the strongest line of its spectrum [Hz]."""


@dataclass(frozen=True, eq=False)
class Comparison:
    """One motion of a flexible robot and of its rigid counterpart under the same forces, at the same sample times."""

    flexible: Simulation
    rigid: Simulation
    flexible_tip: NDArray[Any]
    """Poses of the tip frame (n, 4, 4) in the base frame."""
    rigid_tip: NDArray[Any]
    deflections: tuple[TipDeflection, ...]
    """One for each flexible link."""
    note: str = ""
    """Where the numbers of the experiment come from."""

    def __post_init__(self) -> None:
        if self.flexible.q.ndim != 2 or self.rigid.q.ndim != 2:
            shape = self.flexible.q.shape[:-2] or self.rigid.q.shape[:-2]
            raise ModelError(f"{self.flexible.name}: got a batch of shape {shape}, a comparison shows one motion.")

    @property
    def t(self) -> NDArray[Any]:
        """Return the sample times [s] that both motions reached."""
        return self.flexible.t[: min(len(self.flexible.t), len(self.rigid.t))]

    @cached_property
    def joints(self) -> tuple[tuple[int, int], ...]:
        """Return the indices of every joint in the coordinates of the flexible and of the rigid robot."""
        return tuple((self.flexible.coordinate_names.index(name), k) for k, name in enumerate(self.rigid.coordinate_names))

    @property
    def deviation(self) -> NDArray[Any]:
        """Return the tip position of the flexible robot minus that of the rigid one (n, 3) [m], in the base frame."""
        n = len(self.t)
        difference: NDArray[Any] = self.flexible_tip[:n, :3, 3] - self.rigid_tip[:n, :3, 3]
        return difference

    @property
    def forces_end(self) -> float | None:
        """Return the time of the last change of the driving forces [s]; None if they change until the end or never."""
        changes = np.flatnonzero(np.any(np.diff(self.flexible.F, axis=0) != 0, axis=1))
        if not len(changes) or len(self.flexible.t) - changes[-1] < _FEWEST:
            return None
        return float(self.flexible.t[changes[-1] + 1])

    def residuals(self) -> Iterator[Residual]:
        """Return the vibration of every tip, along each axis in which its link bends, after the forces have ended."""
        start = self.forces_end
        if start is None:
            return
        after = self.flexible.t >= start
        for tip in self.deflections:
            for axis in tip.moving:
                swing = tip.displacement[after, axis]
                frequency = _strongest_frequency(self.flexible.t[after], swing)
                yield Residual(tip.link, AXES[axis], start, float(np.ptp(swing)) / 2, frequency)

    def report(self) -> str:
        """Report costs and energies, deflections, residual vibration and deviation, in lines for a terminal."""
        t, lines = self.flexible.t, [self.flexible.report(), self.rigid.report()]
        if not len(self.t):  # interrupted before the first sample
            return "\n".join(lines)
        for tip in self.deflections:
            for axis in tip.moving:
                k = int(np.argmax(np.abs(tip.displacement[:, axis])))
                value = tip.displacement[k, axis]
                lines.append(f"{tip.link}: largest tip deflection {1e3 * value:.3g} mm in {AXES[axis]} at t = {t[k]:.3g} s")
            for axis in tip.rotating:
                k = int(np.argmax(np.abs(tip.rotation[:, axis])))
                value = tip.rotation[k, axis]
                lines.append(f"{tip.link}: largest tip slope {1e3 * value:.3g} mrad about {AXES[axis]} at t = {t[k]:.3g} s")
        lines += [
            f"{left.link}: residual vibration in {left.axis} after t = {left.start:.3g} s: amplitude "
            f"{1e3 * left.amplitude:.3g} mm, strongest at {left.frequency:.3g} Hz"
            for left in self.residuals()
        ]
        distance = np.linalg.norm(self.deviation, axis=1)
        k = int(np.argmax(distance))
        lines.append(f"end-effector: up to {1e3 * distance[k]:.3g} mm from the rigid robot's, at t = {t[k]:.3g} s")
        return "\n".join(lines)

    def save(self, path: str | os.PathLike[str]) -> tuple[Path, Path]:
        """Write both motions, each to a ``.csv`` or ``.npz`` file; the rigid one's name ends in ``_rigid``."""
        target = Path(path)
        return self.flexible.save(target), self.rigid.save(target.with_name(f"{target.stem}_rigid{target.suffix}"))

    def plot(self, path: str | os.PathLike[str] | None = None) -> Any:
        """Draw forces, joints, tip deflections and end-effector of both robots; return the figure, write it to ``path``."""
        from elastogen.runtime.simulation.comparison_plot import plot_comparison

        return plot_comparison(self, path)


def _strongest_frequency(t: NDArray[Any], values: NDArray[Any]) -> float:
    """Return the frequency [Hz] of the spectrum's highest peak, interpolated by a parabola."""
    line = np.polyfit(t, values, 1)
    spectrum = np.abs(np.fft.rfft((values - np.polyval(line, t)) * np.hanning(len(t))))
    k = int(np.argmax(spectrum[1:-1])) + 1
    low, peak, high = np.log(np.maximum(spectrum[k - 1 : k + 2], np.finfo(float).tiny))
    curvature = low - 2 * peak + high
    shift = 0.5 * (low - high) / curvature if curvature < 0 else 0.0
    return float((k + shift) / (len(t) * (t[1] - t[0])))
