"""Plots of simulations; needs matplotlib, the extra ``plot``."""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

from elastogen.runtime.errors import ModelError

if TYPE_CHECKING:
    from elastogen.runtime.simulation.results import Simulation

MOST_NAMES = 12  # coordinates that a legend has room for


def matplotlib_figures() -> Any:
    """The module ``matplotlib.figure``: figures without a window, drawn by Agg or the writer of the file's ending."""
    try:
        return import_module("matplotlib.figure")
    except ImportError as error:
        raise ModelError("plots need matplotlib. Fix: pip install 'elastogen[plot]'.") from error


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
        figure.savefig(path, dpi=150)
    return figure
