"""A motion of the robot: its own experiment, or a fall from its place with the drives off."""

from __future__ import annotations

from html import escape

import numpy as np

from elastogen.build.pages.report.section import COLORS, ReportSection, figure, graph_objects
from elastogen.build.pages.report.subject import Subject
from elastogen.runtime import Simulation

SECONDS = 2.0


def simulation(subject: Subject, result: Simulation, note: str = "") -> ReportSection:
    """Coordinates by unit, energies, and the motion to play."""
    go = graph_objects()
    figures = [_panel(go, subject, result, unit) for unit in dict.fromkeys(result.coordinate_units)]
    if result.kinetic is not None and result.potential is not None:
        chart = go.Figure()
        for name, values in (("kinetic", result.kinetic), ("potential", result.potential), ("sum", result.energy)):
            chart.add_scatter(x=result.t, y=values, name=name)
        chart.update_layout(xaxis_title="t [s]", yaxis_title="energy [J]")
        figures.append(figure(chart))
    motion = subject.motion("simulation", result.t, np.asarray(result.q, dtype=float), speed="1")
    text = (f"{note} " if note else "") + result.report().replace("\n", "; ")
    return ReportSection("Simulation", text, tuple(figures), (("", motion),))


def _panel(go: object, subject: Subject, result: Simulation, unit: str) -> str:
    chart = go.Figure()  # type: ignore[attr-defined]
    chosen = [k for k, of in enumerate(result.coordinate_units) if of == unit]
    for number, k in enumerate(chosen[:12]):
        chart.add_scatter(
            x=result.t, y=result.q[:, k], name=result.coordinate_names[k], line_color=COLORS[number % len(COLORS)]
        )
    left_out = f" (the first 12 of {len(chosen)})" if len(chosen) > 12 else ""
    chart.update_layout(xaxis_title="t [s]", yaxis_title=f"coordinates [{escape(unit) or '-'}]{left_out}")
    return figure(chart)
