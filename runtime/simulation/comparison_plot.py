"""The figure of a flexible robot and its rigid counterpart, with panels as in paper 003, Figs. 4 to 9."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from elastogen.runtime.simulation.comparison import AXES
from elastogen.runtime.simulation.plotting import matplotlib_figures, save_figure

if TYPE_CHECKING:
    from elastogen.runtime.simulation.comparison import Comparison

FORCE_UNIT = {"rad": "N m", "m": "N"}
_MOVES = 1e-9  # [m] an end-effector that moves less along an axis does not move along it
_BESIDE_TITLE, _INSIDE = 3, 16  # lines that a legend has room for
_FLEXIBLE = {"linewidth": 1.1}
_RIGID = {"linewidth": 1.1, "linestyle": "--"}


@dataclass(frozen=True)
class _Panel:
    title: str
    draw: Callable[[Any], None]


def plot_comparison(comparison: Comparison, path: str | os.PathLike[str] | None = None) -> Any:
    """Draw forces, joints, deflections, the end-effector's path and its deviation; return the figure."""
    figures = matplotlib_figures()
    panels = _panels(comparison)
    rows = (len(panels) + 1) // 2
    figure = figures.Figure(figsize=(10, 2.4 * rows + 0.6), layout="constrained")
    grid = figure.add_gridspec(rows, 2)
    for k, panel in enumerate(panels):
        odd = k == len(panels) - 1 and k % 2 == 0  # it takes the whole last row
        axes = figure.add_subplot(grid[k // 2, :] if odd else grid[k // 2, k % 2])
        panel.draw(axes)
        alone = len(axes.lines) == 1
        title = f"{panel.title}: {axes.lines[0].get_label()}" if alone else panel.title
        axes.set_title(f"({chr(ord('a') + k)}) {title}", fontsize="medium", loc="left")
        axes.grid(alpha=0.3)
        if not alone:
            _legend(axes)
    figure.suptitle(f"{comparison.flexible.name} and the rigid robot of the same numbers", fontsize="large")
    if path is not None:
        save_figure(figure, path)
    return figure


def _panels(c: Comparison) -> list[_Panel]:
    units = [unit for unit in FORCE_UNIT if unit in c.rigid.coordinate_units]
    words = {"rad": ("Driving torques", "Joint angles"), "m": ("Driving forces", "Joint displacements")}
    panels = [_Panel(words[unit][0], partial(_draw_forces, c, unit)) for unit in units if _forces(c, unit)]
    panels += [_Panel(words[unit][1], partial(_draw_joints, c, unit)) for unit in units]
    if any(tip.moving for tip in c.deflections):
        panels.append(_Panel("Tip deflection", partial(_draw_deflections, c)))
    if any(tip.rotating for tip in c.deflections):
        panels.append(_Panel("Tip slope", partial(_draw_slopes, c)))
    axes = _moving_axes(c)
    panels += [_Panel(f"End-effector, {AXES[axis]}", partial(_draw_position, c, axis)) for axis in axes]
    if len(axes) > 1:
        panels.append(_Panel("Path of the end-effector", partial(_draw_path, c, _plane(c, axes))))
    panels.append(_Panel("Deviation, flexible minus rigid", partial(_draw_deviation, c, axes)))
    return panels


def _moving_axes(c: Comparison) -> list[int]:
    ranges = [max(np.ptp(tip[:, axis, 3], axis=0) for tip in (c.flexible_tip, c.rigid_tip)) for axis in range(3)]
    return [axis for axis in range(3) if ranges[axis] > _MOVES] or [0]


def _plane(c: Comparison, axes: list[int]) -> tuple[int, int]:
    """Return the two axes along which the end-effector moves most."""
    widest = sorted(axes, key=lambda axis: -np.ptp(c.flexible_tip[:, axis, 3]))[:2]
    return min(widest), max(widest)


def _timed(axes: Any, label: str) -> None:
    axes.set_xlabel("t [s]")
    axes.set_ylabel(label)
    axes.margins(x=0)


def _legend(axes: Any) -> None:
    """Put the legend next to the title, where it covers no line; inside the panel if it is too long."""
    if len(axes.lines) <= _BESIDE_TITLE:
        axes.legend(
            loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=len(axes.lines), frameon=False, fontsize="small",
            borderaxespad=0.1, handlelength=1.6, columnspacing=1.0,
        )  # fmt: skip
    elif len(axes.lines) <= _INSIDE:
        axes.legend(loc="best", ncols=2, fontsize="x-small")


def _forces(c: Comparison, unit: str) -> list[tuple[str, int]]:
    """Return the drives of that unit that ever give a force, by name, with their index in F."""
    moving = [name for name, _ in c.flexible.velocities]
    listed = [(name, moving.index(name)) for name, own in c.rigid.velocities if own == unit]
    return [(name, k) for name, k in listed if np.any(c.flexible.F[:, k])]


def _draw_forces(c: Comparison, unit: str, axes: Any) -> None:
    for name, k in _forces(c, unit):
        axes.step(c.flexible.t, c.flexible.F[:, k], where="post", label=name, **_FLEXIBLE)
    _timed(axes, f"F [{FORCE_UNIT[unit]}]")
    end = c.forces_end
    if end is not None and end < 0.4 * c.flexible.t[-1]:
        axes.set_xlim(c.flexible.t[0], 1.5 * end)


def _draw_joints(c: Comparison, unit: str, axes: Any) -> None:
    chosen = [(k, own) for k, own in c.joints if c.rigid.coordinate_units[own] == unit]
    for number, (k, own) in enumerate(chosen):
        name, colour = c.rigid.coordinate_names[own], f"C{number}"
        axes.plot(c.flexible.t, c.flexible.q[:, k], color=colour, label=f"{name}, flexible", **_FLEXIBLE)
        colour = colour if len(chosen) > 1 else "C1"
        axes.plot(c.rigid.t, c.rigid.q[:, own], color=colour, label=f"{name}, rigid", **_RIGID)
    _timed(axes, f"q [{unit}]")


def _draw_deflections(c: Comparison, axes: Any) -> None:
    for tip in c.deflections:
        for axis in tip.moving:
            axes.plot(c.flexible.t, 1e3 * tip.displacement[:, axis], label=f"{tip.link}, {AXES[axis]}", **_FLEXIBLE)
    _timed(axes, "deflection [mm]")


def _draw_slopes(c: Comparison, axes: Any) -> None:
    for tip in c.deflections:
        for axis in tip.rotating:
            axes.plot(c.flexible.t, 1e3 * tip.rotation[:, axis], label=f"{tip.link}, about {AXES[axis]}", **_FLEXIBLE)
    _timed(axes, "slope [mrad]")


def _draw_position(c: Comparison, axis: int, axes: Any) -> None:
    axes.plot(c.flexible.t, c.flexible_tip[:, axis, 3], color="C0", label="flexible", **_FLEXIBLE)
    axes.plot(c.rigid.t, c.rigid_tip[:, axis, 3], color="C1", label="rigid", **_RIGID)
    _timed(axes, f"{AXES[axis]} [m]")


def _draw_path(c: Comparison, plane: tuple[int, int], axes: Any) -> None:
    across, up = plane
    axes.plot(c.flexible_tip[:, across, 3], c.flexible_tip[:, up, 3], color="C0", label="flexible", **_FLEXIBLE)
    axes.plot(c.rigid_tip[:, across, 3], c.rigid_tip[:, up, 3], color="C1", label="rigid", **_RIGID)
    axes.plot(*c.rigid_tip[0, [across, up], 3], "o", color="black", markersize=4, label="start")
    axes.set_xlabel(f"{AXES[across]} [m]")
    axes.set_ylabel(f"{AXES[up]} [m]")
    axes.set_aspect("equal", adjustable="datalim")
    axes.locator_params(nbins=6)


def _draw_deviation(c: Comparison, chosen: list[int], axes: Any) -> None:
    deviation = 1e3 * c.deviation
    for axis in chosen:
        axes.plot(c.t, deviation[:, axis], label=AXES[axis], **_FLEXIBLE)
    _timed(axes, "deviation [mm]")
