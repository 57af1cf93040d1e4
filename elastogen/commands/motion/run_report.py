"""The report of a run in Markdown: events and timing, with plots if matplotlib is installed."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from elastogen.runtime.simulation.plotting import (
    Panel,
    by_unit,
    coordinate_panels,
    draw_panels,
    matplotlib_figures,
    of_force,
    save_figure,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from elastogen.runtime.loop.loop import Loop

FAR = 0.1  # of the amplitude: a move that ends farther from its goal has failed
NEAR = 1e-3  # [rad, m] that no move is blamed for
PERCENTILES = (50.0, 90.0, 99.0, 99.9, 99.99)


def summary(loop: Loop, records: NDArray[Any]) -> str:
    """Summarize a run in a few lines for the terminal."""
    lines = [str(loop.statistics()), f"status: {loop.status.meaning}"]
    if len(records):
        worst = np.abs(loop.errors(records))[:, list(loop.model.driven)].max(initial=0.0)
        lines.append(f"largest tracking error of a driven coordinate: {worst:.3g}")
    return "\n".join(lines)


def facts(loop: Loop, records: NDArray[Any]) -> dict[str, Any]:
    """Summarize a run for scripts; times are in seconds."""
    statistics, driven = loop.statistics(), list(loop.model.driven)
    times = {
        name: {f"p{percent:g}": of.percentile(percent) for percent in PERCENTILES} | {"mean": of.mean, "worst": of.most}
        for name, of in (("lateness", statistics.lateness), ("execution", statistics.execution))
    }
    error = np.abs(loop.errors(records))[:, driven].max(axis=0) if len(records) else np.zeros(len(driven))
    names = [loop.model.velocity_names[k] for k in driven]
    return {
        "name": loop.model.name, "controller": loop.controller.name, "rate": loop.rate, "status": loop.status.name,
        "meaning": loop.status.meaning, "cycles": statistics.cycles, "overruns": statistics.overruns,
        "skipped": statistics.skipped, "saturations": statistics.saturations, "records_lost": statistics.lost, **times,
        "largest_tracking_errors": dict(zip(names, error.tolist(), strict=True)),
    }  # fmt: skip


def far_off(loop: Loop, records: NDArray[Any], amplitude: NDArray[Any]) -> str:
    """Say which moves ended far from their goals, and how far; "" if none did."""
    driven = list(loop.model.driven)
    for last in _last_of_moves(records):
        error = np.abs(loop.errors(records[last]))
        beyond = error - np.maximum(FAR * np.abs(amplitude), NEAR)
        k = max(driven, key=lambda index: beyond[index], default=0)
        if not beyond[k] <= 0.0:
            name, unit = loop.model.velocity_names[k], loop.model.metadata.velocity_units[k]
            return f"a move of {abs(amplitude[k]):.3g} {unit} ended {error[k]:.3g} {unit} off ({name})."
    return ""


def _last_of_moves(records: NDArray[Any]) -> list[int]:
    """Return the last record of every move whose reference came to rest."""
    numbers = records["reference"]
    ends = [*np.flatnonzero(np.diff(numbers) != 0), len(records) - 1] if len(records) else []
    return [int(k) for k in ends if numbers[k] > 0 and not np.any(records["qd_ref"][k])]


def write_report(loop: Loop, records: NDArray[Any], directory: Path) -> list[Path]:
    """Write report.md, records.npz and, with matplotlib, two plots; return their paths."""
    directory.mkdir(parents=True, exist_ok=True)
    data = directory / "records.npz"
    names = records.dtype.names or ()
    np.savez_compressed(data, allow_pickle=False, **{name: records[name] for name in names})
    plots = _plots(loop, records, directory)
    report = directory / "report.md"
    report.write_text(_markdown(loop, records, plots), encoding="utf-8")
    return [report, data, *plots]


def _markdown(loop: Loop, records: NDArray[Any], plots: list[Path]) -> str:
    statistics, model = loop.statistics(), loop.model
    late, execution = statistics.lateness, statistics.execution
    rows = [
        f"| {percent:g} % | {late.percentile(percent) * 1e6:.1f} | {execution.percentile(percent) * 1e6:.2f} |"
        for percent in PERCENTILES
    ]
    lines = [
        f"# {model.name}: {loop.controller.name} at {loop.rate:g} Hz",
        "",
        f"- status: {loop.status.meaning}",
        f"- cycles {statistics.cycles}, overruns {statistics.overruns}, skipped periods {statistics.skipped}",
        f"- cycles with a force cut to its limit: {statistics.saturations}; records lost: {statistics.lost}",
        "",
        "## Punctuality",
        "",
        "| of all cycles | lateness below [us] | execution below [us] |",
        "|---|---|---|",
        *rows,
        f"| worst | {late.most * 1e6:.1f} | {execution.most * 1e6:.2f} |",
        "",
        "Lateness: from the deadline to the beginning of the cycle. Execution: reading, control, simulated robot, telemetry.",
        "",
        "## Tracking",
        "",
        "| coordinate | largest error | root mean square | largest force |",
        "|---|---|---|---|",
    ]
    errors = loop.errors(records) if len(records) else np.empty((0, model.nv))
    for k, (name, unit) in enumerate(zip(model.velocity_names, model.metadata.velocity_units, strict=True)):
        if len(records):
            error, force = errors[:, k], np.abs(records["F"][:, k]).max()
            rms = float(np.sqrt(np.mean(error**2)))
            lines.append(f"| {name} | {np.abs(error).max():.3g} {unit} | {rms:.3g} {unit} | {force:.4g} |")
    lines += ["", *(f"![{path.stem}]({path.name})" for path in plots)]
    if not plots:
        lines.append("Plots need matplotlib: pip install 'elastogen[plot]'.")
    return "\n".join(lines) + "\n"


def _plots(loop: Loop, records: NDArray[Any], directory: Path) -> list[Path]:
    if find_spec("matplotlib") is None or not len(records):
        return []
    paths = []
    for name, figure in (("tracking", tracking_figure(loop, records)), ("timing", timing_figure(loop))):
        paths.append(directory / f"{name}.png")
        save_figure(figure, paths[-1], dpi=130)
    return paths


def tracking_figure(loop: Loop, records: NDArray[Any]) -> Figure:
    """Plot measured positions with their references, tracking errors and forces, one unit per panel; needs matplotlib."""
    t, names, units = records["tick"] / loop.rate, loop.model.coordinate_names, loop.model.coordinate_units
    driven, along, moved = set(loop.model.driven_coordinates), loop.model.velocity_names, loop.model.metadata.velocity_units
    panels = []
    for unit, members in by_unit(units).items():
        measured = [(names[k], records["q"][:, k], f"C{i}-") for i, k in enumerate(members)]
        wanted = [(f"{names[k]} reference", records["q_ref"][:, k], f"C{i}--") for i, k in enumerate(members) if k in driven]
        if any(np.any(values) for _, values, _ in (*measured, *wanted)):
            panels.append(Panel(f"q [{unit}]", [*measured, *wanted]))
    chosen = list(loop.model.driven)  # elastic coordinates have no reference of their own
    errors = loop.errors(records)[:, chosen]
    panels += coordinate_panels("q - q_ref", errors, [along[k] for k in chosen], [moved[k] for k in chosen])
    panels += coordinate_panels("F", records["F"], along, moved, of_force)
    figure: Figure = matplotlib_figures().Figure(figsize=(9, 1.2 + 2.1 * len(panels)), layout="constrained")
    if panels:
        draw_panels(figure, t, panels)[0].set_title(f"{loop.model.name}, {loop.controller.name} at {loop.rate:g} Hz")
    return figure


def timing_figure(loop: Loop) -> Figure:
    """Plot histograms of lateness and execution time; needs matplotlib."""
    figure: Figure = matplotlib_figures().Figure(figsize=(9, 6), layout="constrained")
    statistics = loop.statistics()
    figure.suptitle(f"{loop.model.name}, {loop.controller.name} at {loop.rate:g} Hz, {statistics.cycles} cycles")
    for axes, name in zip(figure.subplots(2, 1), ("lateness", "execution"), strict=True):
        times = getattr(statistics, name)
        edges, counts = times.histogram()
        if len(counts):
            axes.stairs(counts, np.maximum(edges, 1e-9) * 1e6, fill=True)
            axes.set_xlim(left=max(times.least * 0.5e6, 1e-3))
        axes.set(xscale="log", yscale="log", xlabel=f"{name} [us]", ylabel="cycles")
        axes.set_ylim(bottom=0.5)  # a single cycle shows
        axes.grid(alpha=0.3)
    return figure
