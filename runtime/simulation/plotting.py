"""Plots of simulations; needs matplotlib, the extra ``plot``."""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elastogen.runtime.errors import ModelError

if TYPE_CHECKING:
    from elastogen.runtime.simulation.results import Simulation

MARK = "elastogen"  # stands in the PNG files that are drawn here, so that they are known again
MOST_NAMES = 12  # coordinates that a legend has room for


def matplotlib_figures() -> Any:
    """The module ``matplotlib.figure``: figures without a window, drawn by Agg or the writer of the file's ending."""
    try:
        return import_module("matplotlib.figure")
    except ImportError as error:
        raise ModelError("plots need matplotlib. Fix: pip install 'elastogen[plot]'.") from error


def check_plot_file(path: str | os.PathLike[str]) -> None:
    """Refuse a file that no plot can be written to, before anything is computed for it."""
    target = Path(path)
    kinds = sorted(matplotlib_figures().Figure().canvas.get_supported_filetypes())
    if target.suffix.lower().removeprefix(".") not in kinds:
        endings = ", ".join(f".{kind}" for kind in kinds)
        raise ModelError(f"{target}: got the ending {target.suffix!r}, expected one of {endings}. Fix: {target.stem}.png")
    if not target.parent.is_dir():
        raise ModelError(f"{target}: no folder {str(target.parent)!r} for this plot. Fix: make it, or name another file.")


def is_own_plot(path: Path) -> bool:
    """Whether a PNG file was drawn here."""
    return f"Software\0{MARK}".encode() in path.read_bytes()[:4096]


def save_figure(figure: Any, path: str | os.PathLike[str], dpi: int = 150) -> None:
    """Write a figure into a file of any kind that matplotlib knows: the whole file, or none."""
    check_plot_file(path)
    target = Path(path)
    scratch = target.with_name(f".{target.stem}-{os.getpid()}{target.suffix}")
    try:
        metadata = {"Software": MARK} if target.suffix.lower() == ".png" else None
        figure.savefig(scratch, dpi=dpi, metadata=metadata)
        os.replace(scratch, target)
    finally:
        scratch.unlink(missing_ok=True)


def legend_beside(axes: Any) -> None:
    """A legend to the right of a panel, where it covers no line."""
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False, fontsize="small", borderaxespad=0.2)


def plot_simulation(simulation: Simulation, path: str | os.PathLike[str] | None = None) -> Any:
    """Draw positions, velocities, forces and energies of one motion."""
    figures = matplotlib_figures()
    if simulation.q.ndim != 2:
        raise ModelError(f"{simulation.name}: got a batch of shape {simulation.q.shape[:-2]}, a plot shows one motion.")
    figure = figures.Figure(figsize=(9, 9), layout="constrained")
    top = figure.subplots(4, 1, sharex=True)
    panels = (("q [rad, m]", simulation.q), ("qd [rad/s, m/s]", simulation.qd), ("F [N m, N]", simulation.F))
    for axes, (label, values) in zip(top, panels, strict=False):
        axes.plot(simulation.t, values, label=simulation.coordinate_names, linewidth=1.1)
        axes.set_ylabel(label)
        axes.margins(x=0)
        axes.grid(alpha=0.3)
    if len(simulation.coordinate_names) <= MOST_NAMES:
        legend_beside(top[0])
    for name in ("kinetic", "potential", "work", "dissipated"):
        values = getattr(simulation, name)
        if values is not None:
            top[3].plot(simulation.t, values, label=name, linewidth=1.1)
    top[3].set_ylabel("energy [J]")
    top[3].set_xlabel("t [s]")
    top[3].grid(alpha=0.3)
    top[3].margins(x=0)
    if top[3].lines:
        legend_beside(top[3])
    top[0].set_title(f"{simulation.name}, {simulation.method}")
    if path is not None:
        save_figure(figure, path)
    return figure
