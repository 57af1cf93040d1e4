"""The page of an output error: measured and predicted signals, numbers with error bars."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from elastogen.build.files.templating import fill
from elastogen.build.pages.page_text import MARK, asset
from elastogen.build.pages.report.chart import COLORS, Chart
from elastogen.build.pages.report.section import ReportSection, table
from elastogen.identification.results.page import IdentificationPage, bars

if TYPE_CHECKING:
    from elastogen.identification.output_error.refinement import Refinement


def page(found: Refinement, data: object) -> str:
    """The page as HTML; ``data`` are the runs to draw."""
    rows = [
        [kind, Path(run.source).name, *(f"{100 * value:.2f}" for value in run.channels.values())]
        for kind, runs in (("trained", found.trained), ("tested", found.validated))
        for run in runs
    ]
    head = ["", "run", *(f"{name} [%]" for name in found.channels)]
    text = f"Output error, low pass of {found.cutoff:.3g} Hz, condition {found.condition:.3g}. Relative RMS of every signal:"
    sections = [
        ReportSection("Quality", text, (table(head, rows, range(2, len(head))), table(["notes"], [[n] for n in found.notes])))
    ]
    for track, difference in found.compared(data):
        parts = []
        for c, name in enumerate(found.channels):
            chart, time = Chart("t [s]", name), track.motion.time[track.motion.rows] - track.motion.time[0]
            measured = track.measured[:, c]
            curves = {"measured": measured, "predicted": measured + difference[:, c], "left": difference[:, c]}
            for color, (label, values) in zip((COLORS[7], COLORS[0], COLORS[6]), curves.items(), strict=True):
                chart.add(time, values, label, color=color)
            parts.append(chart.svg())
        sections.append(ReportSection(f"Signals: {Path(track.motion.source).name}", "", tuple(parts)))
    sections.append(bars(found.estimates))
    context = IdentificationPage(MARK, asset("page.css"), f"Identification of {found.described.name}", tuple(sections))
    return fill("pages/identification.html.j2", context)
