"""The page of a result: measured and predicted forces, residuals, parameters with error bars, before and after."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from elastogen.build.files.templating import fill
from elastogen.build.pages.page_text import MARK, asset
from elastogen.build.pages.report.chart import COLORS, Chart
from elastogen.build.pages.report.section import ReportSection, table
from elastogen.build.pages.skeleton import FORCE_UNITS
from elastogen.identification.measurements.columns import driven_names
from elastogen.identification.measurements.signals import Motion
from elastogen.identification.results.estimates import Estimate
from elastogen.runtime import Model

if TYPE_CHECKING:
    from elastogen.identification.results.result import Identification

PER_CHART = 16  # estimates whose names have room beside each other


@dataclass(frozen=True)
class IdentificationPage:
    """For ``pages/identification.html.j2``."""

    mark: str
    css: str
    title: str
    sections: tuple[ReportSection, ...]


def page(found: Identification, data: object) -> str:
    """The page as HTML; ``data`` are the runs to draw."""
    import elastogen

    before = elastogen.build_model(replace(found.described, functions=()), outputs=["inverse_dynamics"])
    sections = [_summary(found)]
    for run in found.motions(data):
        sections.append(_curves(found, before, run))
    sections.append(bars(found.estimates))
    context = IdentificationPage(MARK, asset("page.css"), f"Identification of {found.robot.name}", tuple(sections))
    return fill("pages/identification.html.j2", context)


def _summary(found: Identification) -> ReportSection:
    names = driven_names(found.robot)
    runs = [("trained", run) for run in found.trained] + [("tested", run) for run in found.validated]
    rows = [
        [k, kind, Path(run.source).name, *(f"{100 * value:.2f}" for value in (run.total, run.held, run.moving))]
        for k, (kind, run) in enumerate(runs, 1)
    ]
    quality = table(["run", "", "data", "all [%]", "held [%]", "moving [%]"], rows, (3, 4, 5))
    tests = table(
        ["joint", *(f"run {row[0]} [%]" for row in rows), "noise", "whiteness p", "friction p"],
        [
            [name, *(f"{100 * run.joints[k]:.2f}" for _, run in runs), f"{noise:.4g}", f"{white:.2g}", f"{law:.2g}"]
            for k, (name, noise, white, law) in enumerate(
                zip(names, found.fit.noise, found.whiteness, found.friction_test, strict=True)
            )
        ],
        range(1, 4 + len(runs)),
    )
    text = (
        f"{found.free.rank} independent parameters, condition {found.free.condition:.3g}, both sides through a zero-phase low "
        f"pass of {found.cutoff:.3g} Hz. Relative RMS of predicted less measured forces; "
        "held: with friction that holds resting joints; moving: without resting joints."
    )
    notes = [[note] for note in (*found.notes, *found.warnings)]
    return ReportSection("Quality", text, (quality, tests, *([table(["notes and warnings"], notes)] if notes else [])))


def _curves(found: Identification, before: Model, run: list[Motion]) -> ReportSection:
    parts = []
    for k, velocity in enumerate(velocity for velocity in found.robot.velocities if velocity.driven):
        chart = Chart("t [s]", f"F [{FORCE_UNITS[velocity.unit]}]", velocity.name)
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
                chart.add(time, values, label, color=color)
        parts.append(chart.svg())
    return ReportSection(f"Forces: {Path(run[0].source).name}", "", tuple(parts))


def bars(estimates: Sequence[Estimate]) -> ReportSection:
    """All estimates with their errors, as a picture and a table."""
    charts = [_bars(estimates[start : start + PER_CHART]) for start in range(0, len(estimates), PER_CHART)]
    rows = [
        [e.name, e.unit, f"{e.described:.5g}", f"{e.value:.5g}", f"{e.standard_error:.2g}", e.determined_by] for e in estimates
    ]
    head = ["parameter", "unit", "described", "identified", "standard error", "determined by"]
    return ReportSection("Parameters", "", (*charts, table(head, rows, (2, 3, 4))))


def _bars(estimates: Sequence[Estimate]) -> str:
    """Relative changes with their standard errors."""
    place = {estimate.name: k for k, estimate in enumerate(estimates)}
    chart = Chart("", "relative change", height=420, names=[estimate.name for estimate in estimates])
    for k, by in enumerate(("data", "both", "prior", "bound")):
        part = [e for e in estimates if e.determined_by == by]
        size = [max(abs(e.described), abs(e.value), e.standard_error, 1e-300) for e in part]
        change = [(e.value - e.described) / s for e, s in zip(part, size, strict=True)]
        half = [min(e.standard_error / s, 2.0) for e, s in zip(part, size, strict=True)]
        chart.add([place[e.name] for e in part], change, by, color=COLORS[k], line=False, marks=True, bars=half)
    return chart.svg()
