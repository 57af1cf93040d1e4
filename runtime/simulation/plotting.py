"""Plots of simulations; needs matplotlib, the extra ``plot``."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from elastogen.runtime.errors import ModelError
from elastogen.runtime.whole_files import file_path, replacing

if TYPE_CHECKING:
    from numpy.typing import NDArray

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
    target = file_path(path)
    kinds = sorted(matplotlib_figures().Figure().canvas.get_supported_filetypes())
    if target.suffix.lower().removeprefix(".") not in kinds:
        endings = ", ".join(f".{kind}" for kind in kinds)
        raise ModelError(f"{target}: got the ending {target.suffix!r}, expected one of {endings}. Fix: {target.stem}.png")


def is_own_plot(path: Path) -> bool:
    """Whether a PNG file was drawn here."""
    return f"Software\0{MARK}".encode() in path.read_bytes()[:4096]


def save_figure(figure: Any, path: str | os.PathLike[str], dpi: int = 150) -> None:
    """Write a figure into a file of any kind that matplotlib knows: the whole file, or none."""
    check_plot_file(path)
    with replacing(Path(path)) as scratch:
        metadata = {"Software": MARK} if scratch.suffix.lower() == ".png" else None
        figure.savefig(scratch, dpi=dpi, metadata=metadata)


def legend_beside(axes: Any) -> None:
    """A legend to the right of a panel, where it covers no line."""
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False, fontsize="small", borderaxespad=0.2)


@dataclass(frozen=True)
class Panel:
    """What one panel shows: a label with its unit, and lines (name, values over time, style)."""

    label: str
    lines: Sequence[tuple[str, NDArray[Any], str]]


def by_unit(units: Sequence[str]) -> dict[str, list[int]]:
    """Coordinates by their unit, in the order in which the units occur: a panel shows one unit."""
    found: dict[str, list[int]] = {}
    for k, unit in enumerate(units):
        found.setdefault(unit, []).append(k)
    return found


def per_second(unit: str) -> str:
    """The unit of a velocity."""
    return f"{unit}/s"


def of_force(unit: str) -> str:
    """The unit of a generalized force: its work over the coordinate's unit is in J."""
    return {"rad": "N m", "m": "N"}.get(unit, f"J/({unit})")


def draw_panels(figure: Any, t: NDArray[Any], panels: Sequence[Panel]) -> list[Any]:
    """Panels below each other over one time axis, with a legend beside each that has room for one."""
    drawn = list(figure.subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0])
    for axes, panel in zip(drawn, panels, strict=True):
        for name, values, style in panel.lines:
            axes.plot(t, values, style, label=name, linewidth=1.1)
        axes.set_ylabel(panel.label)
        axes.margins(x=0)
        axes.grid(alpha=0.3)
        if len(panel.lines) <= MOST_NAMES:
            legend_beside(axes)
    drawn[-1].set_xlabel("t [s]")
    return drawn


def coordinate_panels(
    label: str, values: NDArray[Any], names: Sequence[str], units: Sequence[str], unit: Callable[[str], str] = str
) -> list[Panel]:
    """A panel for each unit of the coordinates; those that are zero all the time are left out, unless all are."""
    panels = []
    for own, members in by_unit(units).items():
        if np.any(values[:, members]):
            panels.append(Panel(f"{label} [{unit(own)}]", [(names[k], values[:, k], "-") for k in members]))
    return panels


def plot_simulation(simulation: Simulation, path: str | os.PathLike[str] | None = None) -> Any:
    """Draw positions, velocities, forces and energies of one motion, one unit per panel and no empty panels."""
    figures = matplotlib_figures()
    if simulation.q.ndim != 2:
        raise ModelError(f"{simulation.name}: got a batch of shape {simulation.q.shape[:-2]}, a plot shows one motion.")
    names, units = simulation.coordinate_names, simulation.coordinate_units
    moving, rates = ([pair[k] for pair in simulation.velocities] for k in (0, 1))
    panels = [
        *coordinate_panels("q", simulation.q, names, units),
        *coordinate_panels("qd", simulation.qd, moving, rates, per_second),
        *coordinate_panels("F", simulation.F, moving, rates, of_force),
    ]
    energies = [(name, getattr(simulation, name), "-") for name in ("kinetic", "potential", "work", "dissipated")]
    if any(values is not None for _, values, _ in energies):
        shown = [(name, values, style) for name, values, style in energies if values is not None and np.any(values)]
        panels += [Panel("energy [J]", shown)] if shown else []
    panels = panels or [Panel("q", [(name, simulation.q[:, k], "-") for k, name in enumerate(names)])]  # all at rest
    figure = figures.Figure(figsize=(9, 1.2 + 2.1 * len(panels)), layout="constrained")
    drawn = draw_panels(figure, simulation.t, panels)
    drawn[0].set_title(f"{simulation.name}, {simulation.method}")
    if path is not None:
        save_figure(figure, path)
    return figure
