"""The result for people: measured over predicted forces, what is left, parameters with bars, before and after."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from elastogen.build.files.templating import fill
from elastogen.build.pages.page_text import MARK, asset
from elastogen.build.pages.report.section import COLORS, ReportSection, figure, graph_objects, plotly_script, table
from elastogen.identification.estimates import Estimate
from elastogen.identification.measurements.columns import driven_names
from elastogen.identification.measurements.read_table import Array
from elastogen.identification.measurements.signals import Motion
from elastogen.runtime import Model

if TYPE_CHECKING:
    from elastogen.identification.result import Identification

MOST_POINTS = 2000  # of a curve: more cannot be seen on a screen


@dataclass(frozen=True)
class IdentificationPage:
    """For ``pages/identification.html.j2``."""

    mark: str
    css: str
    plotly: str
    title: str
    sections: tuple[ReportSection, ...]


def page(found: Identification, data: object) -> str:
    """The page as HTML; ``data`` are the runs to draw."""
    script = plotly_script()
    import elastogen

    before = elastogen.build_model(replace(found.described, functions=()), outputs=["inverse_dynamics"])
    sections = [_summary(found)]
    for run in found.motions(data):
        sections.append(_curves(found, before, run))
    sections.append(bars(found.estimates))
    context = IdentificationPage(MARK, asset("page.css"), script, f"Identification of {found.robot.name}", tuple(sections))
    return fill("pages/identification.html.j2", context)


def _summary(found: Identification) -> ReportSection:
    names = driven_names(found.robot)
    rows = []
    for kind, runs in (("trained", found.trained), ("tested", found.validated)):
        for run in runs:
            errors = [f"{100 * value:.2f}" for value in (run.total, run.moving, *run.joints)]
            rows.append([kind, Path(run.source).name, *errors])
    quality = table(["", "run", "all [%]", "moving [%]", *(f"{name} [%]" for name in names)], rows, range(2, 4 + len(names)))
    tests = table(
        ["joint", "noise", "whiteness p", "friction p"],
        [
            [name, f"{noise:.4g}", f"{white:.2g}", f"{law:.2g}"]
            for name, noise, white, law in zip(names, found.fit.noise, found.whiteness, found.friction_test, strict=True)
        ],
        (1, 2, 3),
    )
    text = (
        f"{found.free.rank} independent parameters, condition {found.free.condition:.3g}, both sides through a zero-phase low "
        f"pass of {found.cutoff:.3g} Hz. Relative RMS of predicted less measured forces:"
    )
    notes = table(["notes and warnings"], [[note] for note in (*found.notes, *found.warnings)])
    return ReportSection("Quality", text, (quality, tests, notes))


def _curves(found: Identification, before: Model, run: list[Motion]) -> ReportSection:
    go, parts = graph_objects(), []
    for k, name in enumerate(driven_names(found.robot)):
        chart = go.Figure()
        for motion in run:
            time = motion.time[motion.rows] - run[0].time[0]
            described = motion.compared(before.inverse_dynamics(motion.q, motion.qd, motion.qdd))[:, k]
            after = motion.compared(found.predict(motion))[:, k]
            curves = {
                "measured": motion.measured[:, k],
                "described": described,
                "identified": after,
                "left": after - motion.measured[:, k],
            }
            for color, (label, values) in zip((COLORS[7], COLORS[5], COLORS[0], COLORS[6]), curves.items(), strict=True):
                chart.add_scatter(**thinned(time, values), name=label, line={"color": color, "width": 1.2})
        chart.update_layout(title=name, xaxis_title="t [s]", yaxis_title="F")
        parts.append(figure(chart))
    return ReportSection(f"Forces: {Path(run[0].source).name}", "", tuple(parts))


def thinned(time: Array, values: Array) -> dict[str, Any]:
    """A curve with no more points than can be seen."""
    every = max(1, len(time) // MOST_POINTS)
    return {
        "x": np.round(time[::every], 4).tolist(),
        "y": [float(f"{value:.5g}") for value in values[::every]],
        "mode": "lines",
    }


def bars(estimates: Sequence[Estimate]) -> ReportSection:
    """All estimates with their errors, as a picture and a table."""
    go = graph_objects()
    chart = go.Figure()
    for k, by in enumerate(("data", "both", "prior", "bound")):
        part = [e for e in estimates if e.determined_by == by]
        size = [max(abs(e.described), abs(e.value), e.standard_error, 1e-300) for e in part]
        change = [(e.value - e.described) / s for e, s in zip(part, size, strict=True)]
        bars = [min(e.standard_error / s, 2.0) for e, s in zip(part, size, strict=True)]
        marker = {"color": COLORS[k]}
        chart.add_scatter(x=[e.name for e in part], y=change, error_y={"array": bars}, mode="markers", name=by, marker=marker)
    chart.update_layout(yaxis_title="relative change")
    rows = [
        [e.name, e.unit, f"{e.described:.5g}", f"{e.value:.5g}", f"{e.standard_error:.2g}", e.determined_by] for e in estimates
    ]
    head = ["parameter", "unit", "described", "identified", "standard error", "determined by"]
    return ReportSection("Parameters", "", (figure(chart, height=520), table(head, rows, (2, 3, 4))))
