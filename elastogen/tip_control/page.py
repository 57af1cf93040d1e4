"""The page of a comparison: where the tips went, and how far they were from their paths."""

from __future__ import annotations

import numpy as np

from elastogen.build.files.templating import fill
from elastogen.build.pages.page_text import MARK, asset
from elastogen.build.pages.report.chart import Chart
from elastogen.build.pages.report.section import ReportSection, table
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
        numbers = (100 * run.error, 100 * run.overshoot, 100 * run.residual, np.abs(run.F).max())
        rows.append([run.name, MEANING[run.name], *(f"{number:.3g}" for number in numbers)])
    heads = ["controller", "", "on the way [%]", "after the move [%]", "residual [%]", "greatest force [N m, N]"]
    stroke = float(np.linalg.norm(found.path[-1] - found.path[0]))
    text = f"A move of {1e3 * stroke:.3g} mm in {found.seconds:.3g} s. Distances of the tip from its path, of the stroke:"
    return ReportSection("In numbers", text, (table(heads, rows, (2, 3, 4, 5)),))


def _distances(found: TipComparison) -> ReportSection:
    chart = Chart("time [s], the move begins at 0", "distance from the path [mm]")
    for run in found.runs:
        chart.add(run.t, 1e3 * np.linalg.norm(run.tip - found.path, axis=1), run.name)
    return ReportSection("Distance from the path", "", (chart.svg(),))


def _forces(found: TipComparison) -> ReportSection:
    parts = []
    for place in found.model.driven:
        chart = Chart("time [s]", f"{found.model.velocity_names[place]} [N m, N]")
        for run in found.runs:
            chart.add(run.t, run.F[:, place], run.name)
        parts.append(chart.svg())
    return ReportSection("Forces of the drives", "", tuple(parts))
