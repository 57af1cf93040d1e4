"""Output error for people: signals as measured and as predicted, numbers with bars."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from elastogen.build.files.templating import fill
from elastogen.build.pages.page_text import MARK, asset
from elastogen.build.pages.report.section import COLORS, ReportSection, figure, graph_objects, plotly_script, table
from elastogen.identification.page import IdentificationPage, bars, thinned

if TYPE_CHECKING:
    from elastogen.identification.output_error.refinement import Refinement


def page(found: Refinement, data: object) -> str:
    """The page as HTML; ``data`` are the runs to draw."""
    script = plotly_script()
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
    go = graph_objects()
    for track, difference in found.compared(data):
        parts = []
        for c, name in enumerate(found.channels):
            chart, time = go.Figure(), track.motion.time[track.motion.rows] - track.motion.time[0]
            measured = track.measured[:, c]
            curves = {"measured": measured, "predicted": measured + difference[:, c], "left": difference[:, c]}
            for color, (label, values) in zip((COLORS[7], COLORS[0], COLORS[6]), curves.items(), strict=True):
                chart.add_scatter(**thinned(time, values), name=label, line={"color": color, "width": 1.2})
            chart.update_layout(title=name, xaxis_title="t [s]")
            parts.append(figure(chart))
        sections.append(ReportSection(f"Signals: {Path(track.motion.source).name}", "", tuple(parts)))
    sections.append(bars(found.estimates))
    context = IdentificationPage(MARK, asset("page.css"), script, f"Identification of {found.described.name}", tuple(sections))
    return fill("pages/identification.html.j2", context)
