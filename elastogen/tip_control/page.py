"""The page of a comparison: where the tips went, and how far they were from their paths."""

from __future__ import annotations

import numpy as np

from elastogen.build.files.templating import fill
from elastogen.build.pages.page_text import MARK, asset
from elastogen.build.pages.report.chart import Chart
from elastogen.build.pages.report.section import ReportSection, table
from elastogen.build.pages.skeleton import FORCE_UNITS
from elastogen.observers.page import ObserverPage
from elastogen.tip_control.comparison import TipComparison

MEANING = {
    "pd": "PD with gravity on the joints",
    "feedforward": "PD and inverse dynamics of the joints' motion",
    "shaping": "the same, reference shaped for the lowest mode (ZVD)",
    "lqg": "state feedback of a Kalman filter's estimate",
    "inversion": "stable inversion of the tip's motion, and PD",
}


def page(found: TipComparison) -> str:
    """Return the page as HTML."""
    title = f"The tip of {found.model.name}, by {len(found.runs)} controllers"
    sections = (_numbers(found), _distances(found), _forces(found))
    return fill("pages/identification.html.j2", ObserverPage(MARK, asset("page.css"), title, sections))


def _numbers(found: TipComparison) -> ReportSection:
    rows = []
    for run in found.runs:
        forces = np.abs(run.F[:, found.model.driven]).max(axis=0)
        numbers = (100 * run.error, 100 * run.overshoot, 100 * run.residual, *forces)
        rows.append([run.name, MEANING[run.name], *(f"{number:.3g}" for number in numbers)])
    heads = ["controller", "", "on the way [%]", "after the move [%]", "residual [%]"]
    heads += [f"greatest force, {name}" for name in _drives(found)]
    stroke = float(np.linalg.norm(found.path[-1] - found.path[0]))
    text = f"A move of {1e3 * stroke:.3g} mm in {found.seconds:.3g} s. Distances of the tip from its path, of the stroke:"
    return ReportSection("In numbers", text, (table(heads, rows, range(2, len(heads))),))


def _distances(found: TipComparison) -> ReportSection:
    chart = Chart("time [s], the move begins at 0", "distance from the path [mm]")
    for run in found.runs:
        chart.add(run.t, 1e3 * np.linalg.norm(run.tip - found.path, axis=1), run.name)
    return ReportSection("Distance from the path", "", (chart.svg(),))


def _forces(found: TipComparison) -> ReportSection:
    parts = []
    for place, name in zip(found.model.driven, _drives(found), strict=True):
        chart = Chart("time [s]", name)
        for run in found.runs:
            chart.add(run.t, run.F[:, place], run.name)
        parts.append(chart.svg())
    return ReportSection("Forces of the drives", "", tuple(parts))


def _drives(found: TipComparison) -> list[str]:
    """Names of the drives with the units of their forces."""
    model = found.model
    return [f"{model.velocity_names[k]} [{FORCE_UNITS[model.metadata.velocity_units[k]]}]" for k in model.driven]
